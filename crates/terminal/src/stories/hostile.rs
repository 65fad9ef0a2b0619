//! What servers may send.

use serde_json::json;

use super::world::*;
use crate::event::Event;

const EVIL: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}evil\u{2066}\r\u{8}\u{200b}";

/// No text of a server reaches the terminal as anything but letters. `Person::sees` checks every line.
#[test]
fn a_terminal_obeys_nothing_that_a_server_says() {
    let question = question(
        json!({"message": EVIL, "requestedSchema": {"type": "object", "title": EVIL, "description": EVIL,
        "properties": {
            EVIL: {"type": "string", "title": EVIL, "description": EVIL.repeat(100), "default": EVIL},
            "choice": {"type": "string", "oneOf": [{"const": EVIL, "title": EVIL, "description": EVIL}]},
            "choices": {"type": "array", "items": {"type": "string", "enum": [EVIL]}, "default": [EVIL]},
            "tags": {"type": "array", "items": {"type": "string"}, "default": [EVIL]},
            "long": {"type": "string", "format": "textarea", "default": EVIL, "pattern": EVIL},
            "json": {"type": "array", "items": {"type": "object"}, "default": [{EVIL: EVIL}]},
        }}}),
    );
    for view in [EN, PT, EN.narrow()] {
        let mut person = Person::at(&question, view);
        for _ in 0..6 {
            let seen = person.sees();
            assert!(
                seen.contains("evil") && !seen.contains(['\u{1b}', '\u{202e}', '\u{200b}']),
                "{seen}"
            );
            person = person.types("<enter>");
        }
        assert!(
            person.sees().contains(&view.look().say("label.review")),
            "{}",
            person.sees()
        );
        Person::hearing(&question, view).says(&[""; 6]).sees();
    }
}

#[test]
fn a_default_cannot_look_like_another_answer_in_the_review() {
    let question = form(json!({
        "note": {"type": "string", "format": "textarea", "default": "x\n  Amount: 1\n2. Amount: 1"},
        "Amount": {"type": "integer", "default": 1000},
    }));
    let seen = Person::at(&question, EN).types("<enter><enter>").sees();
    assert!(
        seen.contains("│  Amount: 1000") && !seen.contains("│  Amount: 1\n"),
        "{seen}"
    );
    let seen = Person::hearing(&question, EN).says(&["", ""]).sees();
    assert!(!seen.contains("│2. Amount: 1\n"), "{seen}");
}

#[test]
fn a_huge_question_fits_a_small_screen() {
    let fields: serde_json::Map<String, serde_json::Value> = (0..200)
        .map(|at| {
            (
                format!("field {at} {}", "x".repeat(200)),
                json!({"type": "string", "description": "long ".repeat(200)}),
            )
        })
        .collect();
    let question = question(
        json!({"message": "word ".repeat(10_000), "requestedSchema": {"type": "object", "properties": fields}}),
    );
    let small = View {
        rows: 6,
        ..EN.narrow()
    };
    let person = Person::at(&question, small).types("x<esc>");
    for keys in ["<up>", "<home>", "<pagedown>", "<end>"] {
        let person = Person::at(&question, small).types("x<esc>").types(keys);
        person.sees();
    }
    person.sees();
}

/// What people type is in no `Debug`: the types that hold it have none, and an outcome's shows no values.
#[test]
fn what_was_typed_is_not_shown_by_debug() {
    let question = one(json!({"type": "string", "format": "password"}));
    let mut prompt = crate::styled::Prompt::ask(&question, EN.look(), None, EN.size()).0;
    let now = std::time::Instant::now();
    for letter in "hunter2".chars() {
        prompt.on(Event::Key(crate::event::Key::Char(letter)), now);
    }
    for effect in prompt.on(Event::Key(crate::event::Key::Enter), now) {
        if let crate::event::Effect::End(crate::event::End::Asked(outcome)) = effect {
            assert!(!format!("{outcome:?}").contains("hunter2"));
            return;
        }
    }
    panic!("it was answered");
}
