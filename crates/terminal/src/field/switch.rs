//! Yes or no, by one key.

use super::*;
use crate::page::Style;

pub(crate) struct Switch(Option<bool>);

impl Switch {
    pub fn new(start: Option<&Value>) -> Self {
        Self(start.and_then(Value::as_bool))
    }
}

impl Input for Switch {
    fn key(&mut self, key: Key, look: &Look) -> Heard {
        match key {
            Key::Char(letter) => {
                let letter = letter.to_string();
                let said = [true, false]
                    .into_iter()
                    .find(|yes| look.is_word(&letter, *yes));
                match said {
                    Some(said) => {
                        self.0 = Some(said);
                        Heard::Done
                    }
                    None => Heard::Ignored,
                }
            }
            Key::Left | Key::Right | Key::Up | Key::Down => {
                self.0 = Some(!self.0.unwrap_or(false));
                Heard::Changed
            }
            Key::Backspace | Key::Delete if self.0.is_some() => {
                self.0 = None;
                Heard::Changed
            }
            _ => Heard::Ignored,
        }
    }

    fn paste(&mut self, _text: &str) -> Heard {
        Heard::Ignored
    }

    fn read(&self, _look: &Look) -> Result<Option<Value>, Fault> {
        Ok(self.0.map(Value::Bool))
    }

    fn draw(&self, page: &mut Page, look: &Look) {
        for (is, label, letter) in [
            (true, "label.yes", "terminal.yes_letter"),
            (false, "label.no", "terminal.no_letter"),
        ] {
            let is_it = self.0 == Some(is);
            let (style, mark) = if is_it {
                (Style::Accent, "> ")
            } else {
                (Style::Plain, "  ")
            };
            page.text(
                style,
                mark,
                &format!("[{}] {}", look.say(letter), look.say(label)),
            );
            if is_it {
                page.focus();
            }
        }
    }

    fn keys(&self) -> &'static [&'static str] {
        match self.0 {
            Some(_) => &["yes_no", "next"],
            None => &["yes_no"],
        }
    }

    fn options(&self, look: &Look) -> Vec<String> {
        let (yes, no) = (
            look.say("terminal.yes_letter"),
            look.say("terminal.no_letter"),
        );
        let params = [("yes", yes.as_str().into()), ("no", no.as_str().into())];
        vec![look.fill("terminal.yes_no_hint", &params)]
    }

    fn line(&mut self, line: &str, look: &Look) -> Reply {
        match [true, false]
            .into_iter()
            .find(|yes| look.is_word(line, *yes))
        {
            Some(said) => {
                self.0 = Some(said);
                Reply::Done
            }
            None => Reply::Say(vec![Fault::NotBoolean.say(look.locale)]),
        }
    }

    fn clear(&mut self) {
        self.0 = None;
    }
}
