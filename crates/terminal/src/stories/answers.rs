//! Keys in, answer out, for every kind of field.

use serde_json::{Value, json};

use super::world::*;

/// Every kind of field, by itself and required: what was typed, and what the server gets.
#[test]
fn keys_become_answers() {
    let text = json!({"type": "string"});
    let long = json!({"type": "string", "format": "textarea"});
    let secret = json!({"type": "string", "format": "password"});
    let number = json!({"type": "number"});
    let integer = json!({"type": "integer", "minimum": 1, "maximum": 12});
    let switch = json!({"type": "boolean"});
    let choice = json!({"type": "string", "oneOf": [
        {"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}, {"const": "b", "title": "Blue"}]});
    let choices = json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["a", "b", "c"]}});
    let tags = json!({"type": "array", "items": {"type": "string"}});
    let date = json!({"type": "string", "format": "date"});
    let moment = json!({"type": "string", "format": "date-time"});
    let email = json!({"type": "string", "format": "email"});
    let any = json!({"type": "array", "items": {"type": "object"}});
    let rows: &[(&Value, &str, &str)] = &[
        (&text, "Ana<enter>", r#"{"x":"Ana"}"#),
        (&text, "Anx<bs>a<home>¡<end>!<tab>", r#"{"x":"¡Ana!"}"#),
        (&text, "日本 👍🏽<bs><enter>", r#"{"x":"日本 "}"#),
        (&text, "<enter><enter>", "still asking"),
        (&long, "one<newline>two<enter>", r#"{"x":"one\ntwo"}"#),
        (&secret, "hunter2<enter>", r#"{"x":"hunter2"}"#),
        (&number, "1,5<enter>", r#"{"x":1.5}"#),
        (&number, "-3<enter>", r#"{"x":-3}"#),
        (&number, "abc<enter>", "still asking"),
        (&number, "abc<enter><c-u>7<enter>", r#"{"x":7}"#),
        (&integer, "2.5<enter>", "still asking"),
        (&integer, "13<enter>", "still asking"),
        (&integer, "12<enter>", r#"{"x":12}"#),
        (&switch, "y", r#"{"x":true}"#),
        (&switch, "N", r#"{"x":false}"#),
        (&switch, "<enter>", "still asking"),
        (&switch, "<down><enter>", r#"{"x":true}"#),
        (&choice, "<down><down><enter>", r#"{"x":"g"}"#),
        (&choice, "3<enter>", r#"{"x":"b"}"#),
        (&choice, "<up><enter>", r#"{"x":"b"}"#),
        (&choice, "9<enter>", "still asking"),
        (&choices, " <down><down> <enter>", r#"{"x":["a","c"]}"#),
        (&choices, "31<enter>", r#"{"x":["a","c"]}"#),
        (&choices, "<enter>", "still asking"),
        (&choices, "123<enter>", "still asking"),
        (&choices, "123<enter>2<enter>", r#"{"x":["a","c"]}"#),
        (
            &tags,
            "red<enter>green,blue<enter><enter>",
            r#"{"x":["red","green","blue"]}"#,
        ),
        (
            &tags,
            "red<enter>green<enter><bs><enter>",
            r#"{"x":["red"]}"#,
        ),
        (&tags, "red<tab>", r#"{"x":["red"]}"#),
        (&date, "2027-02-29<enter>", "still asking"),
        (&date, "2027-02-28<up><enter>", r#"{"x":"2027-03-01"}"#),
        (
            &moment,
            "2027-03-09 14:30<enter>",
            r#"{"x":"2027-03-09T14:30:00-03:00"}"#,
        ),
        (
            &moment,
            "2027-03-09T14:30:00Z<enter>",
            r#"{"x":"2027-03-09T14:30:00Z"}"#,
        ),
        (&moment, "2027-03-09<enter>", "still asking"),
        (&email, "ana<enter>", "still asking"),
        (
            &email,
            "ana<enter>@example.com<enter>",
            r#"{"x":"ana@example.com"}"#,
        ),
        (&any, "[{\"a\": 1}]<enter>", r#"{"x":[{"a":1}]}"#),
        (&any, "[1]<enter>", "still asking"),
        (&any, "[<enter>", "still asking"),
        (&any, "[{\"a\": 1, \"a\": 2}]<enter>", "still asking"),
    ];
    for (field, keys, expected) in rows {
        let question = one((*field).clone());
        assert_eq!(
            Person::at(&question, EN).types(keys).said(),
            *expected,
            "{field} {keys}"
        );
    }
}

/// Whatever is asked, every way out is there.
#[test]
fn every_prompt_can_be_left() {
    let fields = json!({
        "text": {"type": "string"},
        "long": {"type": "string", "format": "textarea"},
        "secret": {"type": "string", "format": "password"},
        "number": {"type": "number"},
        "integer": {"type": "integer"},
        "switch": {"type": "boolean"},
        "choice": {"type": "string", "enum": ["a", "b"]},
        "many": {"type": "string", "enum": (0..20).map(|at| format!("o{at}")).collect::<Vec<_>>()},
        "choices": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "tags": {"type": "array", "items": {"type": "string"}},
        "date": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
        "json": {"type": "array", "items": {"type": "object"}},
        "group": {"type": "object", "properties": {"inner": {"type": "string"}}},
    });
    for (name, field) in fields.as_object().unwrap() {
        let question = form(json!({name: field}));
        let at = || Person::at(&question, EN);
        for (keys, expected) in [
            ("<c-c>", "cancelled"),
            ("<esc>", "cancelled"),
            ("<c-d><enter>", "declined"),
            ("<c-d>too dear<enter>", "declined: too dear"),
            ("<c-d>too dear<esc><c-c>", "cancelled"),
            ("<c-d>too dear<c-c>", "cancelled"),
            ("<enter><enter>", "{}"),
            ("<enter><down><enter><enter>", "declined"),
            ("<enter><down><down><enter>", "cancelled"),
            ("<enter><c-c>", "cancelled"),
            ("<enter><c-d><enter>", "declined"),
        ] {
            assert_eq!(at().types(keys).said(), expected, "{name} {keys}");
        }
        let hearing = || Person::hearing(&question, EN);
        for (lines, expected) in [
            (&[":cancel"][..], "cancelled"),
            (&[":reject", ""], "declined"),
            (&[":reject", "too dear"], "declined: too dear"),
            (&[":reject", ":back", ":cancel"], "cancelled"),
            (&["", "submit"], "{}"),
            (&["", "reject", ""], "declined"),
            (&["", "cancel"], "cancelled"),
            (&[":review", "submit"], "{}"),
        ] {
            assert_eq!(hearing().says(lines).said(), expected, "{name} {lines:?}");
        }
    }
}

#[test]
fn defaults_are_taken_by_enter_and_sent_as_they_are() {
    let question = form(json!({
        "note": {"type": "string", "default": ""},
        "city": {"type": "string", "default": "Lisbon"},
        "age": {"type": "integer", "default": 0},
        "ratio": {"type": "number", "default": 0.5},
        "news": {"type": "boolean", "default": false},
        "size": {"type": "string", "enum": ["S", "M"], "default": "M"},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["b"]},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["x"]},
    }));
    let defaults = r#"{"note":"","city":"Lisbon","age":0,"ratio":0.5,"news":false,"size":"M","extras":["b"],"tags":["x"]}"#;
    let keys = "<enter>".repeat(9);
    assert_eq!(Person::at(&question, EN).types(&keys).said(), defaults);
    assert_eq!(
        Person::hearing(&question, EN)
            .says(&[""; 8])
            .says(&["submit"])
            .said(),
        defaults
    );
    let emptied = "<enter><c-u><enter><c-u><enter><c-u><enter><bs><enter>0<enter> <down> <enter><bs><enter><enter>";
    let said = Person::at(&question, EN).types(emptied).said();
    assert_eq!(
        said, r#"{"note":"","extras":["a"]}"#,
        "what is emptied is left out, though it has a default"
    );
    let cleared = [":clear", ""].repeat(8);
    let said = Person::hearing(&question, EN)
        .says(&cleared)
        .says(&["submit"])
        .said();
    assert_eq!(said, r#"{"note":"","extras":[]}"#);
}

#[test]
fn optional_fields_that_are_left_alone_are_left_out() {
    let question = form(json!({
        "name": {"type": "string"},
        "agree": {"type": "boolean"},
        "size": {"type": "string", "enum": ["S", "M"]},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "address": {"type": "object", "properties": {
            "street": {"type": "string"}, "country": {"type": "string", "default": "PT"}}, "required": ["street"]},
    }));
    assert_eq!(
        Person::at(&question, EN).types(&"<enter>".repeat(7)).said(),
        "{}"
    );
    let street = "<enter><enter>2<enter><enter>Rua 1<enter><enter><enter>";
    let said = Person::at(&question, EN).types(street).said();
    assert_eq!(
        said,
        r#"{"size":"M","address":{"street":"Rua 1","country":"PT"}}"#
    );
    let none = "<enter><enter>20<enter><enter><enter><enter><enter>";
    assert_eq!(
        Person::at(&question, EN).types(none).said(),
        "{}",
        "0 leaves a choice empty"
    );
}

#[test]
fn the_review_changes_any_field_before_anything_is_sent() {
    let question = form(json!({
        "a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "boolean"},
    }));
    let at = || Person::at(&question, EN).types("one<enter>2<enter>y");
    assert_eq!(at().said(), "still asking", "it is reviewed first");
    assert_eq!(
        at().types("<enter>").said(),
        r#"{"a":"one","b":2,"c":true}"#
    );
    assert_eq!(
        at().types("<up><up><enter>0<enter><enter>").said(),
        r#"{"a":"one","b":20,"c":true}"#
    );
    let wrong = at().types("<up><up><enter>x<enter>");
    assert!(
        wrong.sees().contains("Enter a whole number"),
        "{}",
        wrong.sees()
    );
    assert_eq!(
        wrong.types("<esc><end><up><up><enter>").said(),
        "still asking",
        "what doesn't fit isn't sent"
    );
    let early = Person::at(&question, EN).types("one<esc>");
    assert!(
        early.sees().contains("Check your answers"),
        "Esc leads to the review once something was typed"
    );
    assert_eq!(
        early.types("<esc>!<esc><end><up><up><enter>").said(),
        r#"{"a":"one!"}"#
    );
}

#[test]
fn a_required_answer_that_is_missing_is_found_at_the_review() {
    let question = question(json!({"message": "?", "requestedSchema": {"type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}}));
    let person = Person::at(&question, EN).types("x<esc><end><up><up><enter>");
    assert_eq!(person.said(), "still asking");
    assert!(
        person.sees().contains("! Please fill this in"),
        "{}",
        person.sees()
    );
    assert_eq!(
        person.types("<enter>y<enter><enter>").said(),
        r#"{"a":"x","b":"y"}"#
    );
}

#[test]
fn pasted_lines_are_never_submitted() {
    let long = one(json!({"type": "string", "format": "textarea"}));
    let person = Person::at(&long, EN).pastes("one\r\ntwo\n\nthree\n");
    assert_eq!(person.said(), "still asking");
    assert_eq!(
        person.types("<enter>").said(),
        r#"{"x":"one\ntwo\n\nthree\n"}"#
    );
    let line = one(json!({"type": "string"}));
    let person = Person::at(&line, EN).pastes("one\ntwo\n");
    assert_eq!(person.said(), "still asking");
    assert_eq!(person.types("<enter>").said(), r#"{"x":"one two"}"#);
    let tags = one(json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(
        Person::at(&tags, EN)
            .pastes("a\nb, c\n")
            .types("<enter>")
            .said(),
        r#"{"x":["a","b","c"]}"#
    );
    let switch = one(json!({"type": "boolean"}));
    assert_eq!(
        Person::at(&switch, EN).pastes("y\n").said(),
        "still asking",
        "a paste is no yes"
    );
    let huge = Person::at(&line, EN)
        .pastes(&"x".repeat(2_000_000))
        .types("<enter>");
    assert_eq!(huge.said(), "still asking");
    assert!(
        huge.sees().contains("This is too big to send"),
        "{}",
        huge.sees()
    );
}

#[test]
fn longer_texts_can_be_written_in_an_editor() {
    let question = one(json!({"type": "string", "format": "textarea"}));
    let person = Person::at(&question, EN).types("draft<c-g>");
    assert_eq!(person.editing, Some(("draft".to_owned(), ".txt")));
    assert_eq!(
        person.edits(Some("better\nnow\n")).types("<enter>").said(),
        r#"{"x":"better\nnow"}"#
    );
    let failed = Person::at(&question, EN).types("draft<c-g>").edits(None);
    assert!(
        failed.sees().contains("Your editor left no text"),
        "{}",
        failed.sees()
    );
    assert_eq!(failed.types("<enter>").said(), r#"{"x":"draft"}"#);
    let any = one(json!({"type": "array", "items": {"type": "object"}}));
    let person = Person::at(&any, EN).types("<c-g>");
    assert_eq!(person.editing, Some((String::new(), ".json")));
    assert_eq!(
        person.edits(Some("[{}]")).types("<enter>").said(),
        r#"{"x":[{}]}"#
    );
    let secret = one(json!({"type": "string", "format": "password"}));
    assert_eq!(
        Person::at(&secret, EN).types("hunter2<c-g>").editing,
        None,
        "no secret is written to a file"
    );
}

/// Nobody agrees to what destroys something by pressing Enter.
#[test]
fn a_destructive_question_takes_no_bare_enter() {
    let ask = |properties: Value| {
        question(
            json!({"message": "Delete 3 files?", "requestedSchema": {"type": "object", "properties": properties},
            "_meta": {"dev.midcall/destructive": true}}),
        )
    };
    let approve = ask(json!({}));
    let person = Person::at(&approve, EN).types("<enter><enter><tab><enter>");
    assert_eq!(person.said(), "still asking");
    assert_eq!(person.types("y").said(), "{}");
    assert_eq!(
        Person::at(&approve, EN).types("n<enter>").said(),
        "declined"
    );
    let switch = ask(json!({"sure": {"type": "boolean", "default": true}}));
    let person = Person::at(&switch, EN).types("<enter><enter><enter><enter>");
    assert_eq!(person.said(), "still asking");
    assert!(
        person
            .sees()
            .contains("This may delete or overwrite something for good")
    );
    assert_eq!(person.types("y").said(), r#"{"sure":true}"#);
    let one_key = Person::at(&switch, EN).types("y");
    assert_eq!(
        one_key.said(),
        "still asking",
        "one key fills in the field, another sends it"
    );
    assert_eq!(one_key.types("<enter>y").said(), r#"{"sure":true}"#);
    for question in [&approve, &switch] {
        let person = Person::hearing(question, EN).says(&["", "", "", "y", "submit", "y", "", ""]);
        assert_eq!(person.said(), "still asking", "the whole word is needed");
        assert!(person.says(&["yes"]).said().starts_with('{'));
    }
}

#[test]
fn a_question_without_fields_takes_one_key() {
    let question = form(json!({}));
    assert_eq!(Person::at(&question, EN).types("y").said(), "{}");
    assert_eq!(
        Person::at(&question, EN).types("<enter>x").said(),
        "still asking"
    );
    assert_eq!(
        Person::at(&question, EN).types("n<enter>").said(),
        "declined"
    );
    assert_eq!(Person::at(&question, PT).types("s").said(), "{}");
    assert_eq!(
        Person::hearing(&question, PT).says(&["", "sim"]).said(),
        "{}"
    );
}

#[test]
fn ten_thousand_options_are_searched_and_only_the_seen_are_drawn() {
    let names: Vec<String> = (1..=10_000).map(|at| format!("City {at:05}")).collect();
    let question = one(json!({"type": "string", "enum": names}));
    let person = Person::at(&question, EN).types("09");
    assert!(person.screen().lines.len() < 24);
    assert_eq!(person.types("999<enter>").said(), r#"{"x":"City 09999"}"#);
    assert_eq!(
        Person::at(&question, EN).types("7000<enter>").said(),
        r#"{"x":"City 07000"}"#,
        "by number"
    );
    assert_eq!(
        Person::at(&question, EN).types("<end><up><enter>").said(),
        r#"{"x":"City 09999"}"#
    );
    assert_eq!(
        Person::at(&question, EN).types("nowhere<enter>").said(),
        "still asking"
    );
    let lost = Person::at(&question, EN).types("nowhere<enter>");
    assert!(
        lost.sees().contains("No option matches")
            && lost.sees().contains("Choose one of the options")
    );
    let person = Person::hearing(&question, EN);
    assert!(person.sees().lines().count() < 40);
    assert_eq!(
        person.says(&["CITY 0012"]).said(),
        "still asking",
        "ten match"
    );
    assert_eq!(
        Person::hearing(&question, EN).says(&["city 00123"]).said(),
        r#"{"x":"City 00123"}"#
    );
    let several = one(json!({"type": "array", "items": {"type": "string", "enum": names}}));
    let said = Person::at(&several, EN).types("07000 09999 <enter>").said();
    assert_eq!(said, r#"{"x":["City 07000","City 09999"]}"#);
}
