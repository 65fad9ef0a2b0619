//! A number, whole or not.

use super::*;
use crate::number;

pub(crate) struct Number {
    edit: Edit,
    is_whole: bool,
}

impl Number {
    pub fn new(start: Option<&Value>, is_whole: bool, look: &Look) -> Self {
        let number = start.and_then(Value::as_number);
        let text = number.map(|number| number::write(number, look.locale));
        Self {
            edit: Edit::line(&text.unwrap_or_default()),
            is_whole,
        }
    }
}

impl Input for Number {
    fn key(&mut self, key: Key, _look: &Look) -> Heard {
        typed(&mut self.edit, key)
    }

    fn paste(&mut self, text: &str) -> Heard {
        pasted(&mut self.edit, text.trim())
    }

    fn read(&self, look: &Look) -> Result<Option<Value>, Fault> {
        read(&self.edit, self.is_whole, look)
    }

    fn draw(&self, page: &mut Page, _look: &Look) {
        page.edit("> ", &self.edit, false);
    }

    fn keys(&self) -> &'static [&'static str] {
        &["next"]
    }

    fn help(&self, look: &Look) -> Option<String> {
        let kind = if self.is_whole {
            "problem.not_integer"
        } else {
            "problem.not_number"
        };
        Some(look.say(kind))
    }

    fn options(&self, _look: &Look) -> Vec<String> {
        Vec::new()
    }

    fn line(&mut self, line: &str, _look: &Look) -> Reply {
        self.edit.set(line);
        Reply::Done
    }

    fn clear(&mut self) {
        self.edit.set("");
    }
}

/// The number that was typed.
pub(super) fn read(edit: &Edit, is_whole: bool, look: &Look) -> Result<Option<Value>, Fault> {
    if edit.text().trim().is_empty() && !edit.has_overflowed() {
        return Ok(None);
    }
    let fault = if is_whole {
        Fault::NotInteger
    } else {
        Fault::NotNumber
    };
    number::read(edit.text(), look.locale)
        .map(Some)
        .ok_or(fault)
}
