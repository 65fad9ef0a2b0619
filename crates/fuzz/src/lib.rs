//! What must hold for any bytes.
//!
//! Each function takes bytes from anywhere and panics when a promise of `midcall-core` or of a
//! gateway's session is broken. `tests/fuzz` runs them on stable over `corpus/` and mutations of it; the
//! cargo-fuzz targets in `/fuzz` run them as long as one likes.

mod plain;

use std::str;

use midcall_core::link::Verdict;
use midcall_core::wire::{
    ElicitRequestParams, ElicitResult, ElicitationCompleteParams, InputRequiredResult, JsonObject,
    Revision, UrlElicitationRequired,
};
use midcall_core::{Fault, Form, Limits, Link, Values};
use serde_json::Value;

/// The first line is a schema, the rest is content. Where JSON Schema and a form mean the
/// same, the `jsonschema` crate and the form agree about the content; but for whole numbers
/// that would be rounded on the way, which a form refuses on purpose.
pub fn form(data: &[u8]) {
    let Some((schema, content)) = two_texts(data) else {
        return;
    };
    let limits = Limits::default();
    let (Ok(form), Ok(values)) = (Form::read(schema, &limits), Values::read(content, &limits))
    else {
        return;
    };

    let problems = form.problems(&values);
    let rounds = problems
        .iter()
        .any(|problem| problem.fault == Fault::TooLargeToKeep);
    if let Some(oracle) = plain::oracle(schema).filter(|_| !rounds) {
        let content: Value = serde_json::from_str(content).expect("Values::read took it");
        assert_eq!(
            problems.is_empty(),
            oracle.is_valid(&content),
            "form: {problems:?}"
        );
    }
    assert_eq!(form.check(values).is_ok(), problems.is_empty());
}

/// Any JSON. What a type reads and a revision can say settles: it reads again, and is then
/// written the same.
pub fn wire(data: &[u8]) {
    let Ok(message) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    settles(&message, |json| {
        Some(ElicitResult::read(json).ok()?.write())
    });
    for revision in Revision::ALL {
        settles(&message, |json| {
            ElicitRequestParams::read(json).ok()?.write(revision).ok()
        });
        settles(&message, |json| {
            ElicitationCompleteParams::read(json)
                .ok()?
                .write(revision)
                .ok()
        });
        settles(&message, |json| {
            InputRequiredResult::read(json).ok()?.write(revision).ok()
        });
        settles(&message, |json| {
            UrlElicitationRequired::read(json)
                .ok()?
                .write(revision)
                .ok()
        });
    }
}

/// The first line is the asking server's host, the rest is a URL. A refused link has no
/// address that a surface could open.
pub fn link(data: &[u8]) {
    let Some((asker, url)) = two_texts(data) else {
        return;
    };
    let asker = (!asker.is_empty()).then_some(asker);
    let link = Link::read(url, asker);
    let refused = matches!(link.verdict(), Verdict::Refuse(_));
    assert_eq!(link.href().is_none(), refused, "{link:?}");
}

/// A script of frames from both sides, a person and a clock. Every request is answered at most once, every question
/// that a person sees ends exactly once, and what is said stays within bounds of what was heard.
pub fn session(data: &[u8]) {
    midcall::replay::play(&String::from_utf8_lossy(data));
}

/// The first line, and what follows it.
fn two_texts(data: &[u8]) -> Option<(&str, &str)> {
    str::from_utf8(data).ok()?.split_once('\n')
}

fn settles(message: &Value, read_and_write: impl Fn(Value) -> Option<JsonObject>) {
    let Some(written) = read_and_write(message.clone()) else {
        return;
    };
    let again = read_and_write(Value::Object(written.clone()));
    assert_eq!(again, Some(written));
}
