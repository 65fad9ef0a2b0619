//! The parts of a question, by the names that profiles have for them.

use midcall_core::{Field, Kind, Offers, Tags};
use serde::Deserialize;
use serde_json::Value;

/// A part of a question that some clients do not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Form,
    Url,
    Text,
    Number,
    Integer,
    Switch,
    Choice,
    Choices,
    Tags,
    Group,
    Json,
    /// Any value that a field starts with.
    Default,
    /// A text that a field starts with.
    TextDefault,
    /// `false`, `0` or an empty text that a field starts with.
    FalsyDefault,
    Pattern,
    /// Options that people know by another name than the server.
    TitledChoice,
}

impl Part {
    /// Whether a field has it.
    pub fn is_in(self, field: &Field) -> bool {
        let is_titled = |offers: &Offers| offers.list.iter().any(|offer| offer.title.is_some());
        match (self, &field.kind) {
            (Self::Default, _) => field.default().is_some(),
            (Self::TextDefault, Kind::Text(_)) => field.default().is_some(),
            (Self::FalsyDefault, _) => field.default().is_some_and(is_falsy),
            (Self::Pattern, Kind::Text(text) | Kind::Tags(Tags { text, .. })) => {
                text.pattern.is_some()
            }
            (Self::TitledChoice, Kind::Choice(offers)) => is_titled(offers),
            (Self::TitledChoice, Kind::Choices(choices)) => is_titled(&choices.offers),
            (part, kind) => part.name() == kind.name(),
        }
    }

    /// Its name in a profile.
    pub fn name(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Url => "url",
            Self::Text => "text",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Switch => "switch",
            Self::Choice => "choice",
            Self::Choices => "choices",
            Self::Tags => "tags",
            Self::Group => "group",
            Self::Json => "json",
            Self::Default => "default",
            Self::TextDefault => "text-default",
            Self::FalsyDefault => "falsy-default",
            Self::Pattern => "pattern",
            Self::TitledChoice => "titled-choice",
        }
    }
}

/// What is as good as nothing in JavaScript.
fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}
