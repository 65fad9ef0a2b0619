//! Asking by the model: for clients that cannot ask by themselves.
//!
//! The call returns what to ask the person, and an added tool hands in what they said. The names
//! and words are those of Midcall's gateway, so that a model meets one way of doing this.
//!
//! Elsewhere: the call that waits meanwhile (`park`), when a model may ask (`call`).

use std::collections::HashMap;
use std::sync::Arc;

use midcall_core::catalog::Locale;
use midcall_core::wire::{ElicitResult, Unreadable, meta};
use midcall_core::{Problem, Unfit};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Map, Value, json};

use crate::asking::Asking;
use crate::kind::Wants;
use crate::running::Outcome;
use crate::token;

/// What a tool says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hints {
    read_only: Option<bool>,
    destructive: Option<bool>,
    /// Whether it promises structured content.
    pub structured: bool,
}

/// The handler's tools, as far as a model matters to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    hints: HashMap<String, Hints>,
}

const SEND: &str = "sendElicitationResult";
const SEND_OTHERWISE: &str = "midcall_sendElicitationResult";

/// How many tools are remembered.
const MOST: usize = 10_000;

impl Hints {
    fn of(tool: &Tool) -> Self {
        let annotations = tool.annotations.as_ref();
        Self {
            read_only: annotations.and_then(|said| said.read_only_hint),
            destructive: annotations.and_then(|said| said.destructive_hint),
            structured: tool.output_schema.is_some(),
        }
    }

    /// Whether it says that it may destroy something.
    pub fn says_destructive(self) -> bool {
        self.read_only != Some(true) && self.destructive == Some(true)
    }

    /// Whether it says nothing of that.
    pub fn says_nothing(self) -> bool {
        self.read_only != Some(true) && self.destructive.is_none()
    }
}

impl Tools {
    pub fn learn(&mut self, tools: &[Tool]) {
        for tool in tools {
            if self.hints.len() < MOST {
                self.hints.insert(tool.name.to_string(), Hints::of(tool));
            }
        }
    }

    pub fn hints(&self, tool: &str) -> Hints {
        self.hints.get(tool).copied().unwrap_or_default()
    }

    /// What the added tool is called here: the handler may have one of that name.
    pub fn send_name(&self) -> &'static str {
        if self.hints.contains_key(SEND) {
            SEND_OTHERWISE
        } else {
            SEND
        }
    }

    /// The added tool.
    pub fn send_tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "elicitId": {"type": "string", "description": "The question, as the result named it"},
                "action": {"type": "string", "enum": ["accept", "decline", "cancel"]},
                "content": {"type": "object",
                    "description": "With accept: what the person said, as the question's schema wants it"}
            },
            "required": ["elicitId", "action"]
        });
        let description = "Call this only for a question that the result of another tool told you to ask the person, \
            and only with what the person said to it: never answer for them. Use decline if they say no, cancel if \
            they do not answer. Returns the result of the call in which the question came up, or the next question.";
        let annotations = rmcp::model::ToolAnnotations::new()
            .read_only(false)
            .destructive(false)
            .open_world(false);
        Tool::new(self.send_name(), description, object(schema))
            .with_title("Hand in a person's answer")
            .annotate(annotations)
    }
}

/// Lets a tool's result also be a question: strict clients hold results against this.
pub(crate) fn widen(schema: &JsonObject) -> Arc<JsonObject> {
    let mut result = schema.clone();
    let mut widened = Map::from_iter([("type".to_owned(), Value::from("object"))]);
    // `#/$defs/…` is meant from the top.
    for shared in ["$schema", "$defs", "definitions"] {
        if let Some(value) = result.shift_remove(shared) {
            widened.insert(shared.to_owned(), value);
        }
    }
    let pending = json!({
        "type": "object",
        "properties": {"elicitationPending": {"type": "object"}},
        "required": ["elicitationPending"]
    });
    widened.insert("anyOf".to_owned(), json!([result, pending]));
    Arc::new(widened)
}

/// The result of a call in which a question came up, for a model to ask the person.
pub(crate) fn pending(
    asking: &Asking,
    id: &str,
    tool: &str,
    server: &str,
    structured: bool,
    locale: Locale,
) -> Value {
    let schema = match &asking.wants {
        Wants::Form(shape) => Value::Object(shape.source.clone()),
        Wants::Link { .. } => Value::Null,
    };
    let words = [
        ("server", server.into()),
        ("tool", tool.into()),
        ("id", id.into()),
    ];
    let instructions = locale.say("mcp.elicitation.model.ask", &words);
    let question = asking.words(locale);
    let text = format!("{instructions}\n\n{question}\n\n{schema}");
    let pending = json!({"elicitId": id, "message": question, "schema": schema, "instructions": instructions});
    let mut result = json!({
        "content": [{"type": "text", "text": text}],
        "_meta": {"elicitationPending": pending}
    });
    if structured {
        result["structuredContent"] = json!({"elicitationPending": pending});
    }
    result
}

/// What a call of the added tool says.
pub(crate) struct Sent {
    /// The question it is about.
    pub id: String,
    pub result: Result<ElicitResult, Unreadable>,
    /// What all of it amounts to, to know it again.
    pub digest: [u8; 32],
}

impl Sent {
    pub fn read(arguments: Option<JsonObject>) -> Self {
        let mut arguments = arguments.unwrap_or_default();
        let digest = token::digest_of(&arguments);
        let id = arguments.remove("elicitId");
        let mut result = Map::new();
        for member in ["action", "content"] {
            if let Some(value) = arguments.remove(member) {
                result.insert(member.to_owned(), value);
            }
        }
        Self {
            id: id
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            result: ElicitResult::read(Value::Object(result)),
            digest,
        }
    }
}

/// What became of a call, after words about an answer that came too late.
pub(crate) fn after(late: &str, next: Outcome) -> Value {
    let Ok(Value::Object(mut next)) =
        next.map(|next| serde_json::to_value(next).unwrap_or_default())
    else {
        return error(late);
    };
    if let Some(Value::Array(content)) = next.get_mut("content") {
        content.insert(0, json!({"type": "text", "text": late}));
    }
    Value::Object(next)
}

/// Why an answer is none, problem by problem: to be mended and sent again.
pub(crate) fn unfit(unfit: &Unfit, locale: Locale) -> Value {
    let mut text = locale.say("mcp.elicitation.model.unfit", &[]);
    let line = |problem: &Problem| {
        let path = Some(problem.path.as_str()).filter(|path| !path.is_empty());
        format!("\n{}: {}", path.unwrap_or("/"), problem.fault.say(locale))
    };
    text.extend(unfit.problems.iter().map(line));
    let mut told = error(&text);
    told["_meta"] = json!({meta::PROBLEMS: unfit.problems});
    told
}

/// The result of a tool that could not do what it was called for.
pub(crate) fn error(text: &str) -> Value {
    json!({"isError": true, "content": [{"type": "text", "text": text}]})
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(object) => Arc::new(object),
        _ => unreachable!("it is written as an object above"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_widened_schema_takes_a_result_and_a_question() {
        let schema = json!({
            "$defs": {"day": {"type": "string"}},
            "type": "object",
            "properties": {"day": {"$ref": "#/$defs/day"}},
            "required": ["day"]
        });
        let widened = widen(schema.as_object().unwrap());
        assert_eq!(widened["type"], "object");
        assert_eq!(widened["$defs"], json!({"day": {"type": "string"}}));
        let widened = jsonschema::validator_for(&Value::Object((*widened).clone())).unwrap();
        assert!(widened.is_valid(&json!({"day": "Monday"})));
        assert!(widened.is_valid(&json!({"elicitationPending": {"elicitId": "x"}})));
        assert!(!widened.is_valid(&json!({"day": 3})));
    }
}
