//! A text of one line.

use super::*;

pub(crate) struct Text(Edit);

impl Text {
    pub fn new(text: &str) -> Self {
        Self(Edit::line(text))
    }
}

impl Input for Text {
    fn key(&mut self, key: Key, _look: &Look) -> Heard {
        typed(&mut self.0, key)
    }

    fn paste(&mut self, text: &str) -> Heard {
        pasted(&mut self.0, text)
    }

    fn read(&self, _look: &Look) -> Result<Option<Value>, Fault> {
        written(&self.0)
    }

    fn draw(&self, page: &mut Page, _look: &Look) {
        page.edit("> ", &self.0, false);
    }

    fn keys(&self) -> &'static [&'static str] {
        &["next"]
    }

    fn options(&self, _look: &Look) -> Vec<String> {
        Vec::new()
    }

    fn line(&mut self, line: &str, _look: &Look) -> Reply {
        self.0.set(line);
        Reply::Done
    }

    fn clear(&mut self) {
        self.0.set("");
    }
}
