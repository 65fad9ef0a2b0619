//! What comes from outside: time, other surfaces, the server.

use std::time::Duration;

use serde_json::json;

use super::world::*;
use crate::outcome::Closing;
use crate::remote::Told;

#[test]
fn a_prompt_closes_with_its_ticket_and_says_why() {
    let question = form(json!({"a": {"type": "string"}, "b": {"type": "boolean"}}));
    for (why, said) in [
        (Closing::AnsweredElsewhere, "This was already answered"),
        (Closing::TimedOut, "Time ran out"),
        (Closing::Withdrawn, "The server no longer needs an answer"),
        (Closing::Unavailable, "This can't be answered anymore"),
    ] {
        let expected = format!("closed: {why:?}");
        for keys in [
            "",
            "typed",
            "typed<enter>",
            "typed<esc>",
            "typed<c-d>reason",
        ] {
            let person = Person::at(&question, EN)
                .types(keys)
                .hears(Told::Closed(why));
            assert_eq!(person.said(), expected);
            assert!(
                person.sees().contains(&format!("restaurant: {said}")),
                "{}",
                person.sees()
            );
        }
        let person = Person::hearing(&question, EN)
            .says(&["typed"])
            .hears(Told::Closed(why));
        assert_eq!(person.said(), expected);
        assert!(person.sees().contains(said));
    }
}

#[test]
fn the_last_seconds_are_counted_and_then_it_closes() {
    let question = one(json!({"type": "string"}));
    let person = Person::at(&question, EN);
    let deadline = person.now + Duration::from_secs(60);
    let person = person.hears(Told::Deadline(Some(deadline))).waits(29);
    assert!(
        !person.sees().contains("Closing in"),
        "earlier it would hurry people for nothing"
    );
    let person = person.waits(1);
    assert!(
        person.sees().contains("Closing in 30s"),
        "{}",
        person.sees()
    );
    let person = person.types("late").waits(29);
    assert!(person.sees().contains("Closing in 1s"));
    assert_eq!(person.said(), "still asking");
    let person = person.waits(1);
    assert_eq!(person.said(), "closed: TimedOut");
    assert!(person.sees().contains("Time ran out"));
}

#[test]
fn a_key_after_the_deadline_answers_nothing() {
    let question = form(json!({}));
    let mut person = Person::at(&question, EN);
    let deadline = person.now + Duration::from_secs(5);
    person = person.hears(Told::Deadline(Some(deadline)));
    person.now = deadline;
    assert_eq!(person.types("y").said(), "closed: TimedOut");
}

#[test]
fn a_newer_deadline_counts() {
    let question = one(json!({"type": "string"}));
    for person in [Person::at(&question, EN), Person::hearing(&question, EN)] {
        let start = person.now;
        let person = person
            .hears(Told::Deadline(Some(start + Duration::from_secs(10))))
            .waits(9);
        let person = person
            .hears(Told::Deadline(Some(start + Duration::from_secs(100))))
            .waits(60);
        assert_eq!(person.said(), "still asking");
        let person = person.hears(Told::Deadline(None)).waits(1_000);
        assert_eq!(person.said(), "still asking");
    }
}

#[test]
fn plain_mode_tells_the_time_twice() {
    let question = one(json!({"type": "string"}));
    let person = Person::hearing(&question, EN);
    let deadline = person.now + Duration::from_secs(60);
    let person = person.hears(Told::Deadline(Some(deadline))).waits(59);
    assert_eq!(
        person.sees().matches("Closing in").count(),
        2,
        "{}",
        person.sees()
    );
    assert!(person.sees().contains("Closing in 30s") && person.sees().contains("Closing in 10s"));
    let person = person.waits(1);
    assert_eq!(person.said(), "closed: TimedOut");
    assert!(person.sees().contains("restaurant: Time ran out"));
    let person = Person::hearing(&question, EN);
    let soon = person.now + Duration::from_secs(2);
    let person = person.hears(Told::Deadline(Some(soon)));
    assert!(
        person.sees().contains("Closing in 2s"),
        "a short time is told at once"
    );
}

#[test]
fn a_resize_keeps_what_was_typed() {
    let question = one(json!({"type": "string"}));
    let person = Person::at(&question, EN)
        .types("some words that are long enough to be wrapped")
        .resizes(20, 10);
    person.sees();
    let person = person.types("!").resizes(80, 24);
    assert!(
        person
            .sees()
            .contains("> some words that are long enough to be wrapped!▏"),
        "{}",
        person.sees()
    );
    let tiny = person.resizes(4, 2);
    assert!(!tiny.screen().lines.is_empty());
}
