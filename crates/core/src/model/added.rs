//! The added tools.

use serde_json::{Value, json};

use crate::wire::{JsonObject, pending::ELICIT_ID};

/// A tool that clients see beside those of a server, if they need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedTool {
    /// Collects the result of a call that its client was told to wait for.
    Await,
    /// Hands in what a person said to a question that a model was told to ask.
    Send,
}

/// How long [`AddedTool::Await`] waits unless its call says otherwise, in seconds: less than the minute
/// after which many clients give up.
pub const WAIT_SECONDS: f64 = 40.0;

impl AddedTool {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Await, Self::Send];

    /// What it is called, unless the server has a tool of that name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Await => "awaitElicitation",
            Self::Send => "sendElicitationResult",
        }
    }

    /// What it is called if the server has a tool of its name.
    pub fn other_name(self) -> &'static str {
        match self {
            Self::Await => "midcall_awaitElicitation",
            Self::Send => "midcall_sendElicitationResult",
        }
    }

    /// The added tool that is called so beside some server's tools.
    ///
    /// ```
    /// use midcall_core::model::AddedTool;
    /// for name in ["awaitElicitation", "midcall_awaitElicitation", "midcall_awaitElicitation_2"] {
    ///     assert_eq!(AddedTool::of_name(name), Some(AddedTool::Await));
    /// }
    /// assert_eq!(AddedTool::of_name("awaitElicitations"), None);
    /// ```
    pub fn of_name(name: &str) -> Option<Self> {
        let is_so = |tool: &Self| {
            let rest = name.strip_prefix(tool.other_name());
            let is_numbered = |rest: &str| {
                let number = rest.strip_prefix('_');
                number.is_some_and(|number| number.parse::<u64>().is_ok())
            };
            name == tool.name() || rest.is_some_and(|rest| rest.is_empty() || is_numbered(rest))
        };
        Self::ALL.into_iter().find(is_so)
    }
}

/// [`AddedTool::Await`] as it is listed, under a name that nothing else has there. `wait` is how long it
/// waits unless its call says otherwise, in seconds.
pub fn await_tool(name: &str, wait: f64) -> JsonObject {
    object(json!({
        "name": name,
        "title": "Wait for a person's answer",
        "description": "Call this only with a claim from a result that says a person has been asked. \
            Waits until the person has answered and returns the result of the call that was waiting, \
            or says that it takes longer: then call it again. It never answers for the person.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "claim": {"type": "string", "description": "The claim, as the waiting result gave it"},
                "waitSeconds": {"type": "number", "minimum": 0, "default": wait,
                    "description": "How long to wait before saying that it takes longer"}
            },
            "required": ["claim"]
        },
        "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
    }))
}

/// [`AddedTool::Send`] as it is listed, under a name that nothing else has there.
pub fn send_tool(name: &str) -> JsonObject {
    object(json!({
        "name": name,
        "title": "Hand in a person's answer",
        "description": "Call this only for a question that the result of another tool told you to ask the person, \
            and only with what the person said to it: never answer for them. Use decline if they say no, cancel if \
            they do not answer. Returns the result of the call in which the question came up, or the next question.",
        "inputSchema": {
            "type": "object",
            "properties": {
                ELICIT_ID: {"type": "string", "description": "The question, as the result named it"},
                "action": {"type": "string", "enum": ["accept", "decline", "cancel"]},
                "content": {"type": "object",
                    "description": "With accept: what the person said, as the question's schema wants it"}
            },
            "required": [ELICIT_ID, "action"]
        },
        "annotations": {"readOnlyHint": false, "destructiveHint": false, "openWorldHint": false}
    }))
}

fn object(tool: Value) -> JsonObject {
    match tool {
        Value::Object(tool) => tool,
        _ => unreachable!("it is written as an object above"),
    }
}
