//! What passes between a gateway and its server, as the page shows it: each message as it was,
//! except for secrets. After the last one about a question comes `{"id", "outcome"}`, which says
//! how it ended.

use std::collections::{HashMap, HashSet};

use midcall_core::wire::{ElicitRequestParams, ElicitationCompleteParams, member, meta};
use midcall_core::{Asker, Elicitation, Limits, Wanted};
use serde_json::{Value, json};

use crate::relay::Passed;

/// The calls and questions that passed so far, by the ids of their requests.
#[derive(Default)]
pub struct Wire {
    calls: HashSet<String>,
    questions: HashMap<String, Question>,
}

/// A question that has not ended.
struct Question {
    /// Where its form has secrets.
    secrets: Vec<String>,
    /// What its link is known by.
    link: Option<String>,
    is_opened: bool,
}

impl Wire {
    /// The lines that a message makes. None if it is about something else: the opening, a list.
    pub fn pass(&mut self, message: Passed) -> Vec<Value> {
        let (frame, from_server) = match message {
            Passed::ToServer(frame) => (frame, false),
            Passed::FromServer(frame) => (frame, true),
        };
        let Ok(message) = serde_json::from_slice::<Value>(&frame.into_bytes()) else {
            return Vec::new();
        };
        match from_server {
            true => self.said(message),
            false => self.heard(message),
        }
    }

    /// The lines of what never ended by itself: links that somebody opened, and no more was heard.
    pub fn rest(self) -> Vec<Value> {
        let opened = self.questions.into_iter();
        let opened = opened.filter(|(_, question)| question.is_opened);
        opened.map(|(id, _)| followed(&id)).collect()
    }

    fn said(&mut self, message: Value) -> Vec<Value> {
        let id = message["id"].to_string();
        let method = message["method"].as_str();
        let ended = match method {
            Some(ElicitRequestParams::METHOD) => {
                self.questions.insert(id, Question::of(&message["params"]));
                None
            }
            Some("notifications/cancelled") => {
                let id = message["params"]["requestId"].clone();
                let Some(_) = self.questions.remove(&id.to_string()) else {
                    return Vec::new();
                };
                let outcome = json!({"state": "withdrawn", "reason": "by_server"});
                Some(json!({"id": id, "outcome": outcome}))
            }
            Some(ElicitationCompleteParams::METHOD) => {
                let link = &message["params"][member::ELICITATION_ID];
                let is_it =
                    |question: &Question| question.link.as_ref().is_some_and(|id| link == id);
                let mut questions = self.questions.iter();
                let id = questions.find(|(_, question)| is_it(question));
                id.map(|(id, _)| id.clone()).map(|id| {
                    self.questions.remove(&id);
                    followed(&id)
                })
            }
            None if self.calls.remove(&id) => None,
            _ => return Vec::new(),
        };
        [message].into_iter().chain(ended).collect()
    }

    fn heard(&mut self, mut message: Value) -> Vec<Value> {
        let id = message["id"].to_string();
        if message["method"] == "tools/call" {
            self.calls.insert(id);
            return vec![message];
        }
        if message.get("method").is_some() {
            return Vec::new();
        }
        let Some(question) = self.questions.get_mut(&id) else {
            return Vec::new();
        };
        for path in &question.secrets {
            if let Some(value) = message["result"]["content"].pointer_mut(path) {
                *value = "••••".into();
            }
        }
        let action = message["result"]["action"].clone();
        let outcome = message["result"]["_meta"].get(meta::OUTCOME);
        // Agreeing to open a link is not its end: that is told later.
        question.is_opened = question.link.is_some() && action == "accept";
        let outcome = outcome.filter(|_| !question.is_opened);
        let ended = outcome.cloned().map(|mut outcome| {
            if outcome["state"] == "answered" {
                outcome["action"] = action;
            }
            json!({"id": message["id"], "outcome": outcome})
        });
        if ended.is_some() {
            self.questions.remove(&id);
        }
        [message].into_iter().chain(ended).collect()
    }
}

impl Question {
    fn of(params: &Value) -> Self {
        // Read as a surface reads it: what is a secret may stand beside the form.
        let asker = Asker::named("demo");
        let read = Elicitation::read(&params.to_string(), asker, &Limits::default());
        let form = match read.as_ref().map(|read| &read.wanted) {
            Ok(Wanted::Form(form)) => Some(form),
            Ok(Wanted::Link(_)) | Err(_) => None,
        };
        let fields = form.map(|form| form.walk()).unwrap_or_default();
        let secret = |(path, field): &(String, &midcall_core::Field)| {
            field.secret().is_some().then(|| path.clone())
        };
        Self {
            secrets: fields.iter().filter_map(secret).collect(),
            link: params[member::ELICITATION_ID].as_str().map(str::to_owned),
            is_opened: false,
        }
    }
}

/// A link that was opened, and whatever it was for is over.
fn followed(id: &str) -> Value {
    let id: Value = serde_json::from_str(id).unwrap_or_default();
    json!({"id": id, "outcome": {"state": "answered", "action": "accept"}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    #[test]
    fn a_secret_is_not_shown_whoever_says_that_it_is_one() {
        let text = |title: &str| json!({"type": "string", "title": title});
        let fields = json!({"password": text("Password"), "word": text("The magic word"), "user": text("User")});
        let params = json!({"message": "Who are you?", "_meta": {meta::HINTS: {"/word": {"secret": true}}},
            "requestedSchema": {"type": "object", "properties": fields}});
        let question =
            json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params});
        let content = json!({"password": "xyzzy", "word": "plugh", "user": "ana"});
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": content,
            "_meta": {meta::OUTCOME: {"state": "answered"}}}});
        let mut wire = Wire::default();
        let told = wire.pass(Passed::FromServer(Frame::write(&question)));
        assert_eq!(told, [question]);
        let told = wire.pass(Passed::ToServer(Frame::write(&answer)));
        assert_eq!(
            told[0]["result"]["content"],
            json!({"password": "••••", "word": "••••", "user": "ana"})
        );
        let ended = json!({"id": 1, "outcome": {"state": "answered", "action": "accept"}});
        assert_eq!(told[1], ended);
    }
}
