//! What prompts look like: every kind of field, the review, what is wrong, links, time, ends. In both languages, at 80 and
//! 40 columns, drawn and in words. A letter before each line says its style.

use std::fmt::Write;
use std::time::Duration;

use midcall_core::{Asker, Elicitation, Limits};
use serde_json::{Value, json};

use super::world::*;
use crate::outcome::Closing;
use crate::remote::Told;

fn kinds() -> Elicitation {
    question(
        json!({"message": "Plan the trip\nAll of it, please: 日本 👍🏽 e\u{301}", "requestedSchema": {
        "type": "object", "title": "Trip", "description": "It takes a minute.",
        "required": ["name", "day", "area"],
        "properties": {
            "name": {"type": "string", "title": "Name", "minLength": 2, "description": "As in your passport"},
            "mail": {"type": "string", "title": "Mail", "format": "email"},
            "note": {"type": "string", "title": "Note", "format": "textarea"},
            "pin": {"type": "string", "title": "Card PIN"},
            "price": {"type": "number", "title": "Price", "minimum": 0.5, "default": 1.5},
            "people": {"type": "integer", "title": "People", "maximum": 12},
            "news": {"type": "boolean", "title": "Newsletter", "default": true},
            "area": {"type": "string", "title": "Area", "oneOf": [
                {"const": "in", "title": "Inside", "description": "Next to the kitchen"},
                {"const": "out", "title": "Terrace"}]},
            "city": {"type": "string", "title": "City", "enum": (1..=40).map(|at| format!("City {at}")).collect::<Vec<_>>()},
            "extras": {"type": "array", "title": "Extras", "maxItems": 2, "default": ["Quiet"],
                "items": {"type": "string", "enum": ["High chair", "Window", "Quiet"]}},
            "tags": {"type": "array", "title": "Tags", "items": {"type": "string"}, "default": ["sea"]},
            "day": {"type": "string", "title": "Day", "format": "date"},
            "at": {"type": "string", "title": "At", "format": "date-time"},
            "address": {"type": "object", "title": "Address", "properties": {
                "street": {"type": "string", "title": "Street", "pattern": "^[A-Z]"}}},
            "rest": {"type": "array", "title": "Rest", "items": {"type": "object"}},
        }}}),
    )
}

fn show(text: &mut String, what: &str, seen: &str) {
    let _ = writeln!(text, "═══ {what}\n{seen}");
}

/// Only the prompt, not what was printed above it.
fn prompt(person: &Person<'_>) -> String {
    let seen = person.sees();
    seen.split_once("────\n")
        .map_or(seen.clone(), |(_, prompt)| prompt.to_owned())
}

fn drawn(view: View) -> String {
    let mut text = String::new();
    let question = kinds();
    let keys = [
        ("text", "A<enter>", "na<enter>"),
        ("email", "ana@", "example.com<enter>"),
        ("several lines", "one<newline>two", "<enter>"),
        ("secret", "1234", "<enter>"),
        ("number", "", "<enter>"),
        ("integer", "99", "<bs><enter>"),
        ("switch", "", "<enter>"),
        ("choice", "<down>", "<enter>"),
        ("long choice", "2", "<enter>"),
        ("choices", "<down> ", "<enter>"),
        ("tags", "sun", "<enter><enter>"),
        ("date", "2027-02-30<enter>", "<bs><bs>28<enter>"),
        ("moment", "2027-02-28 14:30", "<enter>"),
        ("text in a group", "rua 1", "<home><del>R<enter>"),
        ("json", "[", "]<enter>"),
    ];
    let mut person = Person::at(&question, view);
    show(&mut text, "a question", &person.sees());
    for (name, keys, more) in keys {
        person = person.types(keys);
        show(&mut text, name, &prompt(&person));
        person = person.types(more);
    }
    show(&mut text, "review", &prompt(&person));
    show(
        &mut text,
        "reason",
        &prompt(&Person::at(&question, view).types("x<c-d>no")),
    );
    let person = Person::at(&question, view).types("x<esc><end><up><up><enter>");
    show(&mut text, "review of what doesn't fit", &prompt(&person));
    text
}

fn heard(view: View) -> String {
    let question = kinds();
    let lines = [
        "A",
        "Ana",
        "ana@example.com",
        "one",
        "two",
        "",
        "1234",
        "",
        "99",
        "9",
        "",
        "2",
        "city 2",
        "City 22",
        "1 2",
        "sea, sun",
        "2027-02-30",
        "2027-02-28",
        "2027-02-28 14:30",
        "rua",
        "Rua 1",
        "[",
        "",
        "[]",
        "",
        "x",
    ];
    let person = Person::hearing(&question, view).says(&lines);
    let mut text = String::new();
    show(&mut text, "a form", &person.sees());
    assert_eq!(person.said(), "still asking");
    text
}

/// The questions that aren't forms, and how they end.
fn others(view: View, is_plain: bool) -> String {
    let mut text = String::new();
    let begin = |question: &'static Elicitation| match is_plain {
        true => Person::hearing(question, view),
        false => Person::at(question, view),
    };
    let leak = |question: Elicitation| -> &'static Elicitation { Box::leak(Box::new(question)) };
    let destructive = json!({"dev.midcall/destructive": true});
    let approve = leak(form(json!({})));
    show(&mut text, "approve", &begin(approve).sees());
    let delete = leak(question(
        json!({"message": "Delete 3 files?", "requestedSchema": {"type": "object",
        "properties": {"sure": {"type": "boolean", "title": "Sure"}}}, "_meta": destructive}),
    ));
    show(&mut text, "destructive", &begin(delete).sees());
    let confirming = match is_plain {
        true => begin(delete).says(&["yes", "submit"]),
        false => begin(delete).types("y<enter><enter>"),
    };
    show(&mut text, "destructive, last step", &confirming.sees());
    let link = leak(link("https://bank.example/sign-in?state=1"));
    show(&mut text, "link", &begin(link).sees());
    let odd = leak(self::link(
        "https://github.com@xn--80ak6aa92e.example:8443/login",
    ));
    show(&mut text, "odd link", &begin(odd).sees());
    let refused = leak(self::link("javascript:alert(1)"));
    show(&mut text, "refused link", &begin(refused).sees());
    let after = match is_plain {
        true => Person::hearing_after(link, view),
        false => Person::after(link, view),
    };
    show(&mut text, "opened link", &after.sees());
    let person = begin(approve);
    let deadline = person.now + Duration::from_secs(40);
    let person = person.hears(Told::Deadline(Some(deadline))).waits(31);
    show(&mut text, "countdown", &person.sees());
    for why in [
        Closing::AnsweredElsewhere,
        Closing::TimedOut,
        Closing::Withdrawn,
        Closing::Unavailable,
    ] {
        show(
            &mut text,
            &format!("{why:?}"),
            &begin(approve).hears(Told::Closed(why)).sees(),
        );
    }
    text
}

fn link(url: &str) -> Elicitation {
    let params =
        json!({"mode": "url", "message": "Sign in to your bank", "url": url, "elicitationId": "1"});
    let asker = Asker {
        host: Some("github.com".into()),
        ..Asker::named("restaurant")
    };
    Elicitation::read(&Value::to_string(&params), asker, &Limits::default()).unwrap()
}

#[test]
fn screens_in_english() {
    insta::assert_snapshot!("drawn-en-80", drawn(EN) + &others(EN, false));
    insta::assert_snapshot!(
        "drawn-en-40",
        drawn(EN.narrow()) + &others(EN.narrow(), false)
    );
}

#[test]
fn screens_in_portuguese() {
    insta::assert_snapshot!("drawn-pt-80", drawn(PT) + &others(PT, false));
    insta::assert_snapshot!(
        "drawn-pt-40",
        drawn(PT.narrow()) + &others(PT.narrow(), false)
    );
}

#[test]
fn words_in_english() {
    insta::assert_snapshot!("plain-en-80", heard(EN) + &others(EN, true));
    insta::assert_snapshot!(
        "plain-en-40",
        heard(EN.narrow()) + &others(EN.narrow(), true)
    );
}

#[test]
fn words_in_portuguese() {
    insta::assert_snapshot!("plain-pt-80", heard(PT) + &others(PT, true));
    insta::assert_snapshot!(
        "plain-pt-40",
        heard(PT.narrow()) + &others(PT.narrow(), true)
    );
}
