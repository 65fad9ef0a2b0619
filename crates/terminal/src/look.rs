//! What a prompt shows and means by itself: its language, the person's time zone.

use jiff::tz::TimeZone;
use midcall_core::catalog::{Locale, Param};

/// The language and time zone of a prompt.
#[derive(Clone)]
pub(crate) struct Look {
    pub locale: Locale,
    pub zone: TimeZone,
    /// Which of how many questions this is.
    pub queue: Option<(usize, usize)>,
    /// Whether the person has an editor to write longer texts in.
    pub has_editor: bool,
}

impl Look {
    /// A text of the catalog, by its name after `mcp.elicitation.`
    pub fn say(&self, name: &str) -> String {
        self.fill(name, &[])
    }

    /// A text of the catalog with parameters.
    pub fn fill(&self, name: &str, params: &[(&str, Param<'_>)]) -> String {
        self.locale.say(&format!("mcp.elicitation.{name}"), params)
    }

    /// True if `text` is the word for yes (`is_yes`) or for no, or its first letter, or English.
    pub fn is_word(&self, text: &str, is_yes: bool) -> bool {
        let text = text.trim().to_lowercase();
        let names = if is_yes {
            ["label.yes", "terminal.yes_letter"]
        } else {
            ["label.no", "terminal.no_letter"]
        };
        let english = if is_yes { ["yes", "y"] } else { ["no", "n"] };
        names
            .iter()
            .any(|name| self.say(name).to_lowercase() == text)
            || english.contains(&text.as_str())
    }
}
