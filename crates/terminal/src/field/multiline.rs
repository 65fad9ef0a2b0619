//! A text of several lines, typed here or in the person's editor.

use super::*;

pub(crate) struct Multiline {
    pub edit: Edit,
    /// Lines told in plain mode, until an empty one.
    told: Option<String>,
}

impl Multiline {
    pub fn new(text: &str) -> Self {
        Self {
            edit: Edit::lines(text),
            told: None,
        }
    }
}

impl Input for Multiline {
    fn key(&mut self, key: Key, _look: &Look) -> Heard {
        typed(&mut self.edit, key)
    }

    fn paste(&mut self, text: &str) -> Heard {
        pasted(&mut self.edit, text)
    }

    fn read(&self, _look: &Look) -> Result<Option<Value>, Fault> {
        written(&self.edit)
    }

    fn draw(&self, page: &mut Page, _look: &Look) {
        page.edit("> ", &self.edit, false);
    }

    fn keys(&self) -> &'static [&'static str] {
        &["next", "new_line", "editor"]
    }

    fn options(&self, look: &Look) -> Vec<String> {
        vec![look.say("terminal.lines_hint")]
    }

    fn line(&mut self, line: &str, _look: &Look) -> Reply {
        match self.told.take() {
            Some(told) if line.is_empty() => {
                self.edit.set(&told);
                return Reply::Done;
            }
            Some(told) => self.told = Some(told + "\n" + line),
            None => self.told = Some(line.to_owned()),
        }
        Reply::More
    }

    fn text(&self) -> Option<(&str, &'static str)> {
        Some((self.edit.text(), ".txt"))
    }

    fn clear(&mut self) {
        self.edit.set("");
    }
}
