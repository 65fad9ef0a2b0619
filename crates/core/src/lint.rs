//! What a server author should know about a form before people meet it.
//!
//! Three things are told: what a revision does not allow and what becomes of it there, what
//! was mended while reading, and advice.
//!
//! In: a form. Out: [`findings`]. Elsewhere: how it is printed (`midcall lint`).

use std::cmp::Ordering;

use serde::{Serialize, Serializer};
use serde_json::Number;

use crate::catalog::{Locale, Param};
use crate::form::{Field, Form, Kind, Offer, Range, order};
use crate::wire::{Changed, Revision, Telling};

/// One thing to know.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Where: a JSON Pointer to the field. For a repair, into the schema.
    pub path: String,
    /// How much it matters.
    pub level: Level,
    /// The revisions it is about.
    #[serde(serialize_with = "names")]
    pub revisions: Vec<Revision>,
    /// The catalog key of the message: `mcp.elicitation.lint.<name>`.
    pub key: &'static str,
    /// What it is, in the language asked for.
    pub message: String,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The specification forbids it, or nobody can answer.
    Error,
    /// Some clients will not show it as meant.
    Warning,
    /// It would be better otherwise.
    Advice,
}

/// More fields than people like to fill in at once.
const MANY: usize = 10;

/// What there is to know about a form, and the message it comes with, for clients of these
/// revisions: first what is about the whole, then in the order of the form.
pub fn findings(
    form: &Form,
    message: Option<&str>,
    revisions: &[Revision],
    locale: Locale,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |path: &str, level, key, params: &[(&str, Param<'_>)]| {
        found.push(Finding {
            path: path.to_owned(),
            level,
            revisions: revisions.to_vec(),
            key,
            message: locale.say(key, params),
        });
    };

    let fields = form.walk();
    for (path, field) in &fields {
        for (level, key) in advice(field) {
            add(path, level, key, &[]);
        }
        if let Some(secret) = field.secret() {
            let name = locale.say(secret.key(), &[]);
            let params = [("secret", name.as_str().into())];
            add(path, Level::Error, "mcp.elicitation.lint.secret", &params);
        }
    }
    let unenforced = form.unenforced();
    for path in &unenforced {
        add(path, Level::Warning, "mcp.elicitation.lint.unenforced", &[]);
    }
    if fields.len() > MANY {
        let params = [("count", fields.len().into())];
        add(
            "",
            Level::Advice,
            "mcp.elicitation.lint.many_fields",
            &params,
        );
    }
    let words = [message, form.title.as_deref(), form.description.as_deref()];
    if words.into_iter().flatten().any(has_url) {
        add("", Level::Warning, "mcp.elicitation.lint.url", &[]);
    }
    for repair in &form.repairs {
        add(&repair.path, Level::Warning, repair.what.key(), &[]);
    }

    for revision in revisions {
        for change in Telling::of(form, *revision, locale).changes {
            // Nobody checks what is not enforced, so nothing is promised of it.
            let promises = matches!(change.what, Changed::RuleLeftOut | Changed::PatternAsHint);
            if promises && unenforced.contains(&change.path) {
                continue;
            }
            let key = change.what.key();
            let told = found
                .iter_mut()
                .find(|f| f.key == key && f.path == change.path);
            match told {
                Some(finding) => finding.revisions.push(*revision),
                None => found.push(Finding {
                    path: change.path,
                    level: Level::Warning,
                    revisions: vec![*revision],
                    key,
                    message: locale.say(key, &[]),
                }),
            }
        }
    }
    let place = |path: &str| fields.iter().position(|(known, _)| known == path);
    found.sort_by_cached_key(|finding| (place(&finding.path), finding.level));
    found
}

/// What could be better about one field.
fn advice(field: &Field) -> Vec<(Level, &'static str)> {
    let mut found = Vec::new();
    if field.title.is_none() && field.description.is_none() {
        found.push((Level::Advice, "mcp.elicitation.lint.no_words"));
    }
    let options: &[Offer] = match &field.kind {
        Kind::Choice(offers) => &offers.list,
        Kind::Choices(choices) => &choices.offers.list,
        _ => &[],
    };
    let words = options
        .iter()
        .flat_map(|offer| [&offer.title, &offer.description]);
    if [&field.title, &field.description]
        .into_iter()
        .chain(words)
        .flatten()
        .any(|text| has_url(text))
    {
        found.push((Level::Warning, "mcp.elicitation.lint.url"));
    }
    let suggested = field.suggested.as_ref().filter(|value| !value.is_null());
    if suggested.is_some() && field.default().is_none() {
        found.push((Level::Warning, "mcp.elicitation.lint.default_unfit"));
    }
    if is_impossible(&field.kind) {
        found.push((Level::Error, "mcp.elicitation.lint.impossible"));
    }
    found
}

/// Whether no value can ever fit.
fn is_impossible(kind: &Kind) -> bool {
    let crossed = |min: Option<u64>, max: Option<u64>| min.zip(max).is_some_and(|(a, b)| a > b);
    match kind {
        Kind::Text(text) => crossed(text.min_length, text.max_length),
        Kind::Choices(choices) => {
            let offers = choices.offers.list.len() as u64;
            let most = choices.count.unique.then_some(offers).into_iter();
            let most = most.chain(choices.count.max).min();
            crossed(choices.count.min, most)
        }
        Kind::Tags(tags) => crossed(tags.count.min, tags.count.max),
        Kind::Number(range) | Kind::Integer(range) => is_empty(range),
        _ => false,
    }
}

fn is_empty(range: &Range) -> bool {
    let crossed = |min: &Option<Number>, max: &Option<Number>, strict: bool| {
        let pair = min.as_ref().zip(max.as_ref());
        pair.is_some_and(|(min, max)| match order(min, max) {
            Ordering::Less => false,
            Ordering::Equal => strict,
            Ordering::Greater => true,
        })
    };
    crossed(&range.minimum, &range.maximum, false)
        || crossed(&range.above, &range.maximum, true)
        || crossed(&range.minimum, &range.below, true)
        || crossed(&range.above, &range.below, true)
}

/// A server's words are never made clickable: an address among them only gets copied by hand.
fn has_url(text: &str) -> bool {
    let text = text.to_lowercase();
    ["http://", "https://", "www."]
        .iter()
        .any(|start| text.contains(start))
}

fn names<S: Serializer>(revisions: &[Revision], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(revisions.iter().map(|revision| revision.as_str()))
}
