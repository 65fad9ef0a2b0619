//! What passes between a gateway and its server, as the page shows it: each message as it was,
//! except for secrets. After the last one about a question comes `{"id", "outcome"}`, which says
//! how it ended.

use std::collections::{HashMap, HashSet};

use midcall_core::wire::{ElicitRequestParams, ElicitationCompleteParams, meta};
use midcall_core::{Form, Limits};
use serde_json::{Value, json};

use crate::attend::Passed;

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
                let link = message["params"]["elicitationId"].as_str();
                let is_it = |question: &&Question| question.link.as_deref() == link;
                let found = self
                    .questions
                    .values()
                    .position(|question| is_it(&question));
                let id = found.and_then(|at| self.questions.keys().nth(at).cloned());
                id.map(|id| {
                    self.questions.remove(&id);
                    let id: Value = serde_json::from_str(&id).unwrap_or_default();
                    json!({"id": id, "outcome": {"state": "answered", "action": "accept"}})
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
        let schema = params["requestedSchema"].clone();
        let form = Form::from_value(schema, &Limits::default());
        let fields = form.as_ref().map(Form::walk).unwrap_or_default();
        let secret = |(path, field): &(String, &midcall_core::Field)| {
            field.secret().is_some().then(|| path.clone())
        };
        Self {
            secrets: fields.iter().filter_map(secret).collect(),
            link: params["elicitationId"].as_str().map(str::to_owned),
            is_opened: false,
        }
    }
}

/// A link that was opened, and whatever it was for is over.
fn followed(id: &str) -> Value {
    let id: Value = serde_json::from_str(id).unwrap_or_default();
    json!({"id": id, "outcome": {"state": "answered", "action": "accept"}})
}
