//! What can't be asked, found when a form is built: fields that MCP has no word for, rules that no
//! answer can meet, and secrets.

use std::borrow::Cow;

use midcall_core::{Count, Extra, Field, Form, Kind, Pattern, Range, Text};
use serde_json::Number;

use crate::error::Unaskable;

const NO_FIELD: &str = "the wire has no field for it. Use texts, numbers, booleans, enums without \
    data, lists of texts or of such enums, or a struct of these";

/// Refuses a form that can't be asked, with the first field that is in the way.
pub(super) fn refuse(form: &Form) -> Result<(), Unaskable> {
    let fields = form.walk();
    for (path, field) in &fields {
        if let Some(secret) = field.secret() {
            let path = path.clone();
            return Err(Unaskable::Secret { path, secret });
        }
        if let Some(why) = unsayable(field)
            .map(Cow::from)
            .or_else(|| impossible(field))
        {
            let path = path.clone();
            return Err(Unaskable::Field { path, why });
        }
    }
    if let Some(path) = form.unenforced().into_iter().next() {
        let why = "it has too many rules to check in bounded time".into();
        return Err(Unaskable::Field { path, why });
    }
    Ok(())
}

fn unsayable(field: &Field) -> Option<&'static str> {
    match &field.kind {
        Kind::Json(_) => Some(NO_FIELD),
        Kind::Group(inner) if inner.is_empty() || matches!(inner.extra, Extra::Fitting(_)) => {
            Some(NO_FIELD)
        }
        Kind::Group(_) => None,
        _ if field.beyond.is_some() => {
            Some("it has rules that the wire cannot say: check them with `must`")
        }
        _ => None,
    }
}

/// Why no answer can be right, or none can be checked.
fn impossible(field: &Field) -> Option<Cow<'static, str>> {
    match &field.kind {
        Kind::Text(text) => in_text(text),
        Kind::Number(range) | Kind::Integer(range) => in_range(range),
        Kind::Tags(tags) => in_text(&tags.text).or_else(|| in_count(&tags.count)),
        Kind::Choices(choices) => {
            let offered = choices.offers.list.len();
            let wanted = choices.count.min.unwrap_or_default();
            let too_many = || format!("it wants at least {wanted} of its {offered} options");
            let is_short = u64::try_from(offered).is_ok_and(|offered| offered < wanted);
            in_count(&choices.count).or_else(|| is_short.then(|| too_many().into()))
        }
        Kind::Switch | Kind::Choice(_) | Kind::Group(_) | Kind::Json(_) => None,
    }
}

fn in_text(text: &Text) -> Option<Cow<'static, str>> {
    let pattern = text.pattern.as_ref().filter(|it| !it.is_enforced());
    pattern
        .map(|pattern| unrun(pattern).into())
        .or_else(|| in_order(text.min_length, text.max_length))
}

fn unrun(pattern: &Pattern) -> &'static str {
    if pattern.is_regex() {
        "its pattern cannot be checked in bounded time: do without look-around, back-references and \
         enormous repetitions, or check the answer with `must`"
    } else {
        "its pattern is not a regular expression: is a bracket open?"
    }
}

fn in_range(range: &Range) -> Option<Cow<'static, str>> {
    let least = range.minimum.as_ref().or(range.above.as_ref())?;
    let most = range.maximum.as_ref().or(range.below.as_ref())?;
    let is_open = range.above.is_some() || range.below.is_some();
    let (from, to) = (least.as_f64()?, most.as_f64()?);
    (from > to || (is_open && from >= to)).then(|| empty(least, most))
}

fn in_count(count: &Count) -> Option<Cow<'static, str>> {
    in_order(count.min, count.max)
}

fn in_order(least: Option<u64>, most: Option<u64>) -> Option<Cow<'static, str>> {
    let (least, most) = (least?, most?);
    (least > most).then(|| empty(&least.into(), &most.into()))
}

fn empty(least: &Number, most: &Number) -> Cow<'static, str> {
    format!("no answer can be right: the least it takes is {least}, and the most is {most}").into()
}
