//! A secret: never shown, neither while it is typed nor in the review.

use super::*;
use crate::field::{json, number};
use midcall_core::Kind;

pub(crate) struct Secret {
    edit: Edit,
    is: Is,
}

/// How the text becomes a value.
enum Is {
    Text,
    Number,
    Integer,
    Json,
}

impl Secret {
    pub fn new(field: &Field, start: Option<&Value>) -> Self {
        let is = match field.kind {
            Kind::Number(_) => Is::Number,
            Kind::Integer(_) => Is::Integer,
            Kind::Json(_) => Is::Json,
            _ => Is::Text,
        };
        let text = match start {
            Some(Value::String(text)) if matches!(is, Is::Text) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        Self {
            edit: Edit::line(&text),
            is,
        }
    }
}

impl Input for Secret {
    fn key(&mut self, key: Key, _look: &Look) -> Heard {
        typed(&mut self.edit, key)
    }

    fn paste(&mut self, text: &str) -> Heard {
        pasted(&mut self.edit, text)
    }

    fn read(&self, look: &Look) -> Result<Option<Value>, Fault> {
        match self.is {
            Is::Text => written(&self.edit),
            Is::Number => number::read(&self.edit, false, look),
            Is::Integer => number::read(&self.edit, true, look),
            Is::Json => json::read(&self.edit),
        }
    }

    fn draw(&self, page: &mut Page, _look: &Look) {
        page.edit("> ", &self.edit, true);
    }

    fn keys(&self) -> &'static [&'static str] {
        &["next"]
    }

    fn options(&self, look: &Look) -> Vec<String> {
        vec![look.say("prompt.hidden")]
    }

    fn line(&mut self, line: &str, _look: &Look) -> Reply {
        self.edit.set(line);
        Reply::Done
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn clear(&mut self) {
        self.edit.set("");
    }
}
