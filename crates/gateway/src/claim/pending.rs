//! What a model is told of a question, and what it says for the person.

use midcall_core::catalog::Locale;
use midcall_core::wire::{ElicitResult, Unreadable};
use midcall_core::{Elicitation, Unfit};
use ring::digest;
use serde_json::{Map, Value, json};

use crate::token::Token;

/// The result of a call in which a question came up, for a model to ask the person.
pub fn pending(elicitation: &Elicitation, name: &Token, tool: &str, locale: Locale) -> Value {
    let params: Value = serde_json::from_str(elicitation.params().get()).unwrap_or_default();
    let schema = params.get("requestedSchema").cloned().unwrap_or_default();
    let words = [
        ("server", elicitation.asker.server.as_str().into()),
        ("tool", tool.into()),
        ("id", name.reveal().into()),
    ];
    let instructions = locale.say("mcp.elicitation.model.ask", &words);
    let question = &elicitation.message;
    let text = format!("{instructions}\n\n{question}\n\n{schema}");
    json!({
        "content": [{"type": "text", "text": text}],
        "_meta": {"elicitationPending": {
            "elicitId": name.reveal(), "message": question, "schema": schema, "instructions": instructions
        }}
    })
}

/// What a call of `sendElicitationResult` says.
pub struct Sent {
    /// The question it is about.
    pub name: String,
    pub result: Result<ElicitResult, Unreadable>,
    /// What all of it amounts to, to know it again.
    pub digest: [u8; 32],
}

impl Sent {
    pub fn read(params: Option<&[u8]>) -> Self {
        let params = params.and_then(|params| serde_json::from_slice::<Value>(params).ok());
        let arguments = params.and_then(|mut params| match params["arguments"].take() {
            Value::Object(arguments) => Some(arguments),
            _ => None,
        });
        let mut arguments = arguments.unwrap_or_default();
        let written = serde_json::to_vec(&arguments).unwrap_or_default();
        let digest = digest::digest(&digest::SHA256, &written);
        let name = arguments.remove("elicitId");
        let mut result = Map::new();
        for member in ["action", "content"] {
            if let Some(value) = arguments.remove(member) {
                result.insert(member.to_owned(), value);
            }
        }
        Self {
            name: name
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            result: ElicitResult::read(Value::Object(result)),
            digest: digest.as_ref().try_into().unwrap_or_default(),
        }
    }
}

/// Why an answer is none, problem by problem: to be mended and sent again.
pub fn unfit(unfit: &Unfit, locale: Locale) -> Value {
    let mut text = locale.say("mcp.elicitation.model.unfit", &[]);
    for problem in &unfit.problems {
        let path = match problem.path.as_str() {
            "" => "/",
            path => path,
        };
        let params = Vec::from_iter(problem.fault.param());
        text += &format!("\n{path}: {}", locale.say(problem.key(), &params));
    }
    let mut told = error(&text);
    told["_meta"] = json!({"dev.midcall/problems": unfit.problems});
    told
}

/// The result of a tool that could not do what it was called for.
pub fn error(text: &str) -> Value {
    json!({"isError": true, "content": [{"type": "text", "text": text}]})
}
