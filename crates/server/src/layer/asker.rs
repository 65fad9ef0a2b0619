//! The requests in which a handler can ask.

use rmcp::model::{ClientRequest, InputResponses as Responses, JsonObject};

use crate::call::Method;

/// A request in which somebody can be asked, and the members that a retry adds.
pub(super) struct Asker<'a> {
    pub method: Method,
    pub name: String,
    pub arguments: Option<&'a JsonObject>,
    pub responses: &'a mut Option<Responses>,
    pub state: &'a mut Option<String>,
}

impl<'a> Asker<'a> {
    pub fn of(request: &'a mut ClientRequest) -> Option<Self> {
        Some(match request {
            ClientRequest::CallToolRequest(call) => Self {
                method: Method::Tool,
                name: call.params.name.to_string(),
                arguments: call.params.arguments.as_ref(),
                responses: &mut call.params.input_responses,
                state: &mut call.params.request_state,
            },
            ClientRequest::GetPromptRequest(get) => Self {
                method: Method::Prompt,
                name: get.params.name.clone(),
                arguments: get.params.arguments.as_ref(),
                responses: &mut get.params.input_responses,
                state: &mut get.params.request_state,
            },
            ClientRequest::ReadResourceRequest(read) => Self {
                method: Method::Resource,
                name: read.params.uri.clone(),
                arguments: None,
                responses: &mut read.params.input_responses,
                state: &mut read.params.request_state,
            },
            _ => return None,
        })
    }
}
