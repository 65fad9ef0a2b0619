//! A day, or a moment. What people leave out of a moment is theirs: seconds are zero, the time zone is their own.

use super::*;
use jiff::Timestamp;
use jiff::civil::DateTime;

pub(crate) struct Date {
    edit: Edit,
    is_moment: bool,
}

impl Date {
    pub fn new(text: &str, is_moment: bool) -> Self {
        Self {
            edit: Edit::line(text),
            is_moment,
        }
    }
}

impl Input for Date {
    fn key(&mut self, key: Key, _look: &Look) -> Heard {
        if let (Key::Up | Key::Down, false) = (key, self.is_moment)
            && let Ok(day) = self.edit.text().parse::<jiff::civil::Date>()
        {
            let other = if key == Key::Up {
                day.tomorrow()
            } else {
                day.yesterday()
            };
            if let Ok(other) = other {
                self.edit.set(&other.to_string());
                return Heard::Changed;
            }
        }
        typed(&mut self.edit, key)
    }

    fn paste(&mut self, text: &str) -> Heard {
        pasted(&mut self.edit, text.trim())
    }

    fn read(&self, look: &Look) -> Result<Option<Value>, Fault> {
        let text = self.edit.text().trim();
        match text {
            _ if self.edit.has_overflowed() => Err(Fault::TooBig),
            "" => Ok(None),
            text if self.is_moment => Ok(Some(zoned(text, look).into())),
            text => Ok(Some(text.into())),
        }
    }

    fn draw(&self, page: &mut Page, _look: &Look) {
        page.edit("> ", &self.edit, false);
    }

    fn keys(&self) -> &'static [&'static str] {
        if self.is_moment {
            &["next"]
        } else {
            &["next", "day"]
        }
    }

    fn help(&self, look: &Look) -> Option<String> {
        self.is_moment.then(|| look.say("prompt.own_time"))
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

/// A moment with its offset: as it was typed if it has one, else in the person's own time. Anything else stays as it is,
/// to be told as a problem.
fn zoned(text: &str, look: &Look) -> String {
    let written = text.replacen(' ', "T", 1);
    if written.parse::<Timestamp>().is_ok() {
        return written;
    }
    let is_moment = written.contains('T');
    let Some(local) = written.parse::<DateTime>().ok().filter(|_| is_moment) else {
        return text.to_owned();
    };
    match local.to_zoned(look.zone.clone()) {
        Ok(zoned) => zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        Err(_) => text.to_owned(),
    }
}
