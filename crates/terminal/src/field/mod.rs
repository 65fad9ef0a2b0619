//! The kinds of fields, one file each: what a key or a line means there, and what it shows.
//!
//! All have one anatomy ([`Input`]). What surrounds them (label, help, problem, keys) is drawn by `styled` and `plain`.

mod choice;
mod choices;
mod date;
mod group;
mod json;
mod list;
mod multiline;
mod number;
mod secret;
mod switch;
mod tags;
mod text;

use midcall_core::{Fault, Field, Format, Kind};
use serde_json::Value;

use crate::edit::Edit;
use crate::event::Key;
use crate::look::Look;
use crate::page::Page;

pub(crate) use group::{Flat, flat};

/// What a field holds while a person is at it. There is no `Debug`: it is what they typed.
pub(crate) trait Input {
    /// Takes a key.
    fn key(&mut self, key: Key, look: &Look) -> Heard;

    /// Takes what was pasted.
    fn paste(&mut self, text: &str) -> Heard;

    /// The value, or nothing if the field is empty; a fault if it can't be read as its kind.
    fn read(&self, look: &Look) -> Result<Option<Value>, Fault>;

    /// Draws the control, and says where the cursor is.
    fn draw(&self, page: &mut Page, look: &Look);

    /// The names of the keys that mean something special here, in the catalog under `prompt.key`.
    fn keys(&self) -> &'static [&'static str];

    /// Help on how to answer, beyond the field's own rules.
    fn help(&self, _look: &Look) -> Option<String> {
        None
    }

    /// In plain mode: what can be chosen, and how to say it.
    fn options(&self, look: &Look) -> Vec<String>;

    /// In plain mode: takes a line, which isn't empty unless this field wants several.
    fn line(&mut self, line: &str, look: &Look) -> Reply;

    /// The text for the person's editor and the ending of its file, if they may write it there.
    fn text(&self) -> Option<(&str, &'static str)> {
        None
    }

    /// Whether what is typed must not be seen.
    fn is_hidden(&self) -> bool {
        false
    }

    /// Empties it.
    fn clear(&mut self);
}

/// What became of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Heard {
    /// It means nothing to this field.
    Ignored,
    /// Only the view changed.
    Moved,
    /// The value changed.
    Changed,
    /// The value changed, and the field is done.
    Done,
}

/// What became of a line, in plain mode.
pub(crate) enum Reply {
    /// That is the value.
    Done,
    /// More lines are wanted.
    More,
    /// Nothing was taken yet; this is why.
    Say(Vec<String>),
}

/// The input of a field, which starts with `start`.
pub(crate) fn input(field: &Field, start: Option<&Value>, look: &Look) -> Box<dyn Input> {
    let text = start.and_then(Value::as_str).unwrap_or_default();
    if field.secret().is_some() && !matches!(field.kind, Kind::Tags(_)) {
        return Box::new(secret::Secret::new(field, start));
    }
    match &field.kind {
        Kind::Text(rules) => match rules.format {
            Some(Format::Textarea) => Box::new(multiline::Multiline::new(text)),
            Some(Format::Password) => Box::new(secret::Secret::new(field, start)),
            Some(Format::Date) => Box::new(date::Date::new(text, false)),
            Some(Format::DateTime) => Box::new(date::Date::new(text, true)),
            _ => Box::new(text::Text::new(text)),
        },
        Kind::Number(_) => Box::new(number::Number::new(start, false, look)),
        Kind::Integer(_) => Box::new(number::Number::new(start, true, look)),
        Kind::Switch => Box::new(switch::Switch::new(start)),
        Kind::Choice(offers) => Box::new(choice::Choice::new(offers, start, field.required, look)),
        Kind::Choices(choices) => Box::new(choices::Choices::new(&choices.offers, start, field)),
        Kind::Tags(_) => Box::new(tags::Tags::new(
            start,
            field.required,
            field.secret().is_some(),
        )),
        Kind::Json(_) => Box::new(json::Json::new(start)),
        Kind::Group(_) => unreachable!("a group has no input of its own"),
    }
}

/// A key in a line of text.
fn typed(edit: &mut Edit, key: Key) -> Heard {
    match edit.key(key) {
        None => Heard::Ignored,
        Some(true) => Heard::Changed,
        Some(false) => Heard::Moved,
    }
}

/// Takes what was pasted into a text.
fn pasted(edit: &mut Edit, text: &str) -> Heard {
    edit.insert(text);
    Heard::Changed
}

/// The text of a line, unless it is empty or was too large to take.
fn written(edit: &Edit) -> Result<Option<Value>, Fault> {
    match edit.text() {
        _ if edit.has_overflowed() => Err(Fault::TooBig),
        "" => Ok(None),
        text => Ok(Some(text.into())),
    }
}
