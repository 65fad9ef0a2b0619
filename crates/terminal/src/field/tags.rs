//! Any number of free texts. Enter or a comma adds one, Backspace in the empty line takes the last one back.

use super::*;
use crate::page::Style;
use crate::text::own;

pub(crate) struct Tags {
    entries: Vec<String>,
    edit: Edit,
    required: bool,
    is_secret: bool,
}

impl Tags {
    pub fn new(start: Option<&Value>, required: bool, is_secret: bool) -> Self {
        let entries = start.and_then(Value::as_array).into_iter().flatten();
        let entries = entries.filter_map(Value::as_str).map(str::to_owned);
        Self {
            entries: entries.collect(),
            edit: Edit::line(""),
            required,
            is_secret,
        }
    }

    fn add(&mut self, text: &str) {
        let entries = text
            .split([',', '\n'])
            .map(str::trim)
            .filter(|entry| !entry.is_empty());
        self.entries.extend(entries.map(str::to_owned));
    }

    fn shown(&self, entry: &str) -> String {
        if self.is_secret {
            "••••".to_owned()
        } else {
            own(entry)
        }
    }
}

impl Input for Tags {
    fn key(&mut self, key: Key, _look: &Look) -> Heard {
        let is_empty = self.edit.text().trim().is_empty();
        match key {
            Key::Enter | Key::Char(',') if !is_empty => {
                let text = self.edit.text().to_owned();
                self.add(&text);
                self.edit.set("");
                Heard::Changed
            }
            Key::Char(',') => Heard::Moved,
            Key::Backspace if self.edit.text().is_empty() && !self.entries.is_empty() => {
                self.entries.pop();
                Heard::Changed
            }
            key => typed(&mut self.edit, key),
        }
    }

    fn paste(&mut self, text: &str) -> Heard {
        if text.trim().contains([',', '\n', '\r']) {
            let text = self.edit.text().to_owned() + &text.replace('\r', "\n");
            self.edit.set("");
            self.add(&text);
            return Heard::Changed;
        }
        pasted(&mut self.edit, text)
    }

    /// What stands in the line counts too: an entry isn't lost for want of an Enter.
    fn read(&self, _look: &Look) -> Result<Option<Value>, Fault> {
        let line = Some(self.edit.text().trim()).filter(|line| !line.is_empty());
        let entries = self.entries.iter().map(String::as_str).chain(line);
        let entries: Vec<Value> = entries.map(Value::from).collect();
        Ok((!entries.is_empty() || self.required).then_some(Value::Array(entries)))
    }

    fn draw(&self, page: &mut Page, _look: &Look) {
        let from = self
            .entries
            .len()
            .saturating_sub((page.size.rows / 3).max(2));
        if from > 0 {
            page.text(Style::Muted, "  ", &format!("… +{from}"));
        }
        for entry in &self.entries[from..] {
            page.beginning(Style::Plain, "- ", &self.shown(entry), 2);
        }
        page.edit("> ", &self.edit, self.is_secret);
    }

    fn keys(&self) -> &'static [&'static str] {
        match (self.edit.text().is_empty(), self.entries.is_empty()) {
            (false, _) => &["add"],
            (true, true) => &["next"],
            (true, false) => &["next", "remove"],
        }
    }

    fn help(&self, look: &Look) -> Option<String> {
        Some(look.say("label.tags_hint"))
    }

    fn options(&self, look: &Look) -> Vec<String> {
        vec![look.say("tell.commas")]
    }

    fn line(&mut self, line: &str, _look: &Look) -> Reply {
        self.clear();
        self.add(line);
        Reply::Done
    }

    fn is_hidden(&self) -> bool {
        self.is_secret
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.edit.set("");
    }
}
