//! What a call returns that isn't over.

use serde_json::{Value, json};

use super::results::text;
use crate::catalog::Locale;
use crate::elicitation::Elicitation;
use crate::wire::{ElicitationPending, meta};

/// The result of a call that tells the client's model what to ask the person.
pub struct Pending<'a> {
    /// The secret that identifies the question: anyone who has it can answer.
    pub elicit_id: &'a str,
    /// The server that asks.
    pub server: &'a str,
    /// What [`AddedTool::Send`](super::AddedTool::Send) is called here.
    pub tool: &'a str,
    /// What the person is asked.
    pub message: &'a str,
    /// What the content of an answer has to fit.
    pub schema: Value,
    /// Whether the tool promises structured content, with a schema that was
    /// [widened](super::widened).
    pub is_structured: bool,
}

/// How a client is told to collect the result of a call later.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waiting {
    /// The question's deadline (RFC 3339).
    pub deadline: Option<String>,
    /// Where it can be answered, without any key.
    pub page: Option<String>,
}

impl<'a> Pending<'a> {
    /// A question as its server asks it, and what it is answered by: an id, and the name of
    /// [`AddedTool::Send`](super::AddedTool::Send).
    pub fn of(elicitation: &'a Elicitation, elicit_id: &'a str, tool: &'a str) -> Self {
        let params = serde_json::from_str::<Value>(elicitation.params().get());
        let schema = params.map(|mut params| params["requestedSchema"].take());
        Self {
            elicit_id,
            server: &elicitation.asker.server,
            tool,
            message: &elicitation.message,
            schema: schema.unwrap_or_default(),
            is_structured: false,
        }
    }

    /// The result of the call, which tells a model what to ask and how to hand in the answer.
    pub fn result(&self, locale: Locale) -> Value {
        let words = [
            ("server", self.server.into()),
            ("tool", self.tool.into()),
            ("id", self.elicit_id.into()),
        ];
        let instructions = locale.say("mcp.elicitation.model.ask", &words);
        let Self {
            message, schema, ..
        } = self;
        let pending = ElicitationPending {
            elicit_id: self.elicit_id,
            message,
            schema,
            instructions: &instructions,
        };
        let pending = json!({ElicitationPending::MEMBER: pending.write()});
        let mut result = text(&format!("{instructions}\n\n{message}\n\n{schema}"));
        if self.is_structured {
            result["_meta"] = pending.clone();
            result["structuredContent"] = pending;
        } else {
            result["_meta"] = pending;
        }
        result
    }
}

impl Waiting {
    /// The result of a call that is let go. `claim` is what the client collects the real one with; it
    /// takes the place of `{claim}` in the words. `is_structured` is whether the tool promises structured
    /// content, with a schema that was [widened](super::widened).
    pub fn result(&self, claim: &str, words: &str, is_structured: bool) -> Value {
        let mut waiting = json!({"claim": claim});
        if let Some(deadline) = &self.deadline {
            waiting["deadline"] = deadline.as_str().into();
        }
        if let Some(page) = &self.page {
            waiting["page"] = page.as_str().into();
        }
        let waiting = json!({meta::WAITING: waiting});
        let mut result = text(&words.replace("{claim}", claim));
        if is_structured {
            result["_meta"] = waiting.clone();
            result["structuredContent"] = waiting;
        } else {
            result["_meta"] = waiting;
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Asker, Limits};

    const ASK: &str = "books needs an answer from the person you are working for before this call can go on. \
        Ask them the question below and wait for what they say: do not answer for them. Then call the tool send \
        with elicitId x7 and action accept (with content that fits the schema below), decline if they say no, or \
        cancel if they do not answer";

    #[test]
    fn a_model_is_told_what_to_ask_and_how_to_hand_in_the_answer() {
        let params = json!({"message": "Which \"{tool}\"?", "requestedSchema":
            {"type": "object", "properties": {"pin": {"type": "string"}}}});
        let asker = Asker::named("books");
        let limits = Limits::default();
        let question = Elicitation::read(&params.to_string(), asker, &limits).unwrap();
        let mut pending = Pending::of(&question, "x7", "send");
        let schema = r#"{"type":"object","properties":{"pin":{"type":"string","dev.midcall/secret":"pin"}}}"#;
        let quoted = Value::from(schema).to_string();
        let quoted = quoted.trim_matches('"');
        let told = format!(
            r#"{{"elicitationPending":{{"elicitId":"x7","message":"Which \"{{tool}}\"?","schema":{schema},"instructions":"{ASK}"}}}}"#
        );
        let expected = format!(
            r#"{{"content":[{{"type":"text","text":"{ASK}\n\nWhich \"{{tool}}\"?\n\n{quoted}"}}],"_meta":{told}"#
        );
        let result = pending.result(Locale::EnUs);
        assert_eq!(result.to_string(), format!("{expected}}}"));

        pending.is_structured = true;
        let result = pending.result(Locale::EnUs);
        let expected = format!(r#"{expected},"structuredContent":{told}}}"#);
        assert_eq!(result.to_string(), expected);
        let promised = super::super::widened(json!({"type": "string"}).as_object().unwrap());
        let promised = jsonschema::validator_for(&Value::Object(promised)).unwrap();
        assert!(promised.is_valid(&result["structuredContent"]));
    }

    #[test]
    fn a_client_is_told_to_wait() {
        let nothing = Waiting::default();
        assert_eq!(
            nothing.result("c1", "Wait", false).to_string(),
            r#"{"content":[{"type":"text","text":"Wait"}],"_meta":{"dev.midcall/waiting":{"claim":"c1"}}}"#
        );
        let waiting = Waiting {
            deadline: Some("2026-11-16T12:00:00.000Z".to_owned()),
            page: Some("http://127.0.0.1:1".to_owned()),
        };
        let told = r#"{"dev.midcall/waiting":{"claim":"c1","deadline":"2026-11-16T12:00:00.000Z","page":"http://127.0.0.1:1"}}"#;
        let text = r#""content":[{"type":"text","text":"Collect with c1"}]"#;
        let result = waiting.result("c1", "Collect with {claim}", false);
        assert_eq!(result.to_string(), format!(r#"{{{text},"_meta":{told}}}"#));
        let result = waiting.result("c1", "Collect with {claim}", true);
        assert_eq!(
            result.to_string(),
            format!(r#"{{{text},"_meta":{told},"structuredContent":{told}}}"#)
        );
        let promised = super::super::widened(json!({"required": ["x"]}).as_object().unwrap());
        let promised = jsonschema::validator_for(&Value::Object(promised)).unwrap();
        assert!(promised.is_valid(&result["structuredContent"]));
    }
}
