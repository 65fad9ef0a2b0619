//! An answer that no form field can express: JSON, typed here or in the person's editor.

use super::multiline::Multiline;
use super::*;
use midcall_core::is_ambiguous;

pub(crate) struct Json(Multiline);

impl Json {
    pub fn new(start: Option<&Value>) -> Self {
        let text = start.and_then(|value| serde_json::to_string_pretty(value).ok());
        Self(Multiline::new(&text.unwrap_or_default()))
    }
}

impl Input for Json {
    fn key(&mut self, key: Key, look: &Look) -> Heard {
        self.0.key(key, look)
    }

    fn paste(&mut self, text: &str) -> Heard {
        self.0.paste(text)
    }

    fn read(&self, _look: &Look) -> Result<Option<Value>, Fault> {
        read(&self.0.edit)
    }

    fn draw(&self, page: &mut Page, look: &Look) {
        self.0.draw(page, look);
    }

    fn keys(&self) -> &'static [&'static str] {
        self.0.keys()
    }

    fn help(&self, look: &Look) -> Option<String> {
        Some(look.say("label.json"))
    }

    fn options(&self, look: &Look) -> Vec<String> {
        self.0.options(look)
    }

    fn line(&mut self, line: &str, look: &Look) -> Reply {
        self.0.line(line, look)
    }

    fn text(&self) -> Option<(&str, &'static str)> {
        self.0.text().map(|(text, _)| (text, ".json"))
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// The value that a text of JSON says.
pub(super) fn read(edit: &Edit) -> Result<Option<Value>, Fault> {
    let text = edit.text();
    if edit.has_overflowed() {
        return Err(Fault::TooBig);
    }
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value = serde_json::from_str(text).map_err(|_| Fault::NotJson)?; // the error would quote what was typed
    if is_ambiguous(text) {
        Err(Fault::NotJson)
    } else {
        Ok(Some(value))
    }
}
