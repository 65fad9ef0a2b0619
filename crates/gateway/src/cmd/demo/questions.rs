//! What the demo asks: `questions.json`, and nothing else.
//!
//! `{page}` in a question is the page's address, `{id}` an id made for it, and `{long}` more
//! words than anybody wants to read.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One button of the gallery.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    /// What it is called, in addresses and in the catalog.
    pub name: &'static str,
    /// The part of the gallery it stands in.
    pub group: &'static str,
    /// Params of `elicitation/create`: one, or several.
    #[serde(skip_serializing)]
    pub ask: Vec<Box<RawValue>>,
    /// Whether several are asked at once. Else the next follows when one is accepted.
    #[serde(default, skip_serializing)]
    pub together: bool,
    /// After how long the server no longer wants to know.
    #[serde(default, skip_serializing)]
    pub take_back_after_ms: Option<u64>,
}

static QUESTIONS: LazyLock<Vec<Question>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("questions.json")).expect("a test reads them")
});

/// Every question, in the order of the gallery.
pub fn all() -> &'static [Question] {
    &QUESTIONS
}

/// The question of that name.
pub fn named(name: &str) -> Option<&'static Question> {
    all().iter().find(|question| question.name == name)
}

/// Params with their blanks filled in.
pub fn fill(params: &RawValue, page: &str, id: &str) -> String {
    params
        .get()
        .replace("{page}", page)
        .replace("{id}", id)
        .replace("{long}", &"and on ".repeat(1_500))
}

#[cfg(test)]
mod tests {
    use super::*;
    use midcall_core::{Asker, Elicitation, Limits, Wanted, catalog::Locale};

    fn elicitations() -> impl Iterator<Item = (&'static str, Elicitation)> {
        all().iter().flat_map(|question| {
            question.ask.iter().map(|params| {
                let text = fill(params, "http://127.0.0.1:8080", "e-1");
                let read = Elicitation::read(&text, Asker::named("demo"), &Limits::default());
                (question.name, read.expect(question.name))
            })
        })
    }

    #[test]
    fn every_question_can_be_asked_and_has_a_name_in_the_gallery() {
        for (name, _) in elicitations() {
            let key = format!("mcp.elicitation.demo.{name}");
            for locale in Locale::ALL {
                assert_ne!(locale.say(&key, &[]), key);
            }
        }
    }

    #[test]
    fn every_kind_of_field_is_there() {
        let mut kinds: Vec<_> = elicitations()
            .filter_map(|(_, question)| match question.wanted {
                Wanted::Form(form) => Some(form),
                Wanted::Link(_) => None,
            })
            .flat_map(|form| {
                let kinds = form.walk().into_iter().map(|(_, field)| field.kind.name());
                kinds.collect::<Vec<_>>()
            })
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        let known = [
            "choice", "choices", "group", "integer", "json", "number", "switch", "tags", "text",
        ];
        assert_eq!(kinds, known);
    }

    #[test]
    fn one_link_is_fine_one_is_odd_and_one_is_refused() {
        let verdict = |wanted: &str| {
            let (_, question) = elicitations().find(|(name, _)| *name == wanted).unwrap();
            match question.wanted {
                Wanted::Link(link) => link.verdict().clone(),
                Wanted::Form(_) => panic!("{wanted} is a form"),
            }
        };
        use midcall_core::link::Verdict;
        assert_eq!(verdict("link"), Verdict::Plain);
        assert!(matches!(verdict("link_odd"), Verdict::Warn(warnings) if warnings.len() > 2));
        assert!(matches!(verdict("link_refused"), Verdict::Refuse(_)));
    }
}
