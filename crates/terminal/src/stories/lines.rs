//! Lines in, answer out: plain mode.

use serde_json::{Value, json};

use super::world::*;

#[test]
fn lines_become_answers() {
    let choice = json!({"type": "string", "oneOf": [
        {"const": "r", "title": "Dark red"}, {"const": "g", "title": "Green"}, {"const": "b", "title": "Dark blue"}]});
    let choices = json!({"type": "array", "maxItems": 2, "items": {"type": "string", "enum": ["a", "b b", "c"]}});
    let rows: &[(Value, &[&str], &str)] = &[
        (json!({"type": "string"}), &["", "Ana"], r#"{"x":"Ana"}"#),
        (
            json!({"type": "string", "format": "textarea"}),
            &["one", "two", ""],
            r#"{"x":"one\ntwo"}"#,
        ),
        (
            json!({"type": "string", "format": "password"}),
            &["hunter2"],
            r#"{"x":"hunter2"}"#,
        ),
        (json!({"type": "number"}), &["x", "1.5"], r#"{"x":1.5}"#),
        (json!({"type": "integer"}), &["1.5", "2"], r#"{"x":2}"#),
        (
            json!({"type": "boolean"}),
            &["", "maybe", "yes"],
            r#"{"x":true}"#,
        ),
        (json!({"type": "boolean"}), &["n"], r#"{"x":false}"#),
        (choice.clone(), &["", "4", "dark", "3"], r#"{"x":"b"}"#),
        (choice.clone(), &["gr"], r#"{"x":"g"}"#),
        (choices.clone(), &["1 2 3", "1 3"], r#"{"x":["a","c"]}"#),
        (choices, &["b b, c"], r#"{"x":["b b","c"]}"#),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            &["red, green"],
            r#"{"x":["red","green"]}"#,
        ),
        (
            json!({"type": "string", "format": "date"}),
            &["2027-02-29", "2027-02-28"],
            r#"{"x":"2027-02-28"}"#,
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            &["2027-03-09 14:30"],
            r#"{"x":"2027-03-09T14:30:00-03:00"}"#,
        ),
        (
            json!({"type": "array", "items": {"type": "object"}}),
            &["[{", "}]", ""],
            r#"{"x":[{}]}"#,
        ),
    ];
    for (field, lines, expected) in rows {
        let question = one(field.clone());
        assert_eq!(
            Person::hearing(&question, EN).says(lines).said(),
            *expected,
            "{field} {lines:?}"
        );
    }
}

#[test]
fn words_behind_a_colon_lead_around_the_form() {
    let question = form(json!({"a": {"type": "string"}, "b": {"type": "string"}}));
    let said = Person::hearing(&question, EN)
        .says(&["one", ":back", "two", "three", "2", "four", "submit"])
        .said();
    assert_eq!(said, r#"{"a":"two","b":"four"}"#);
    let said = Person::hearing(&question, PT)
        .says(&["um", ":limpar", ":voltar", ":revisar", "enviar"])
        .said();
    assert_eq!(said, r#"{"a":"um"}"#);
    let said = Person::hearing(&question, EN)
        .says(&[":cancelled", "", "submit"])
        .said();
    assert_eq!(
        said, r#"{"a":":cancelled"}"#,
        "only the words themselves are commands"
    );
}

#[test]
fn secrets_are_asked_without_an_echo_and_never_said() {
    let question =
        form(json!({"name": {"type": "string"}, "key": {"type": "string", "format": "password"}}));
    let person = Person::hearing(&question, EN);
    assert!(!person.is_hidden());
    let person = person.says(&["Ana"]);
    assert!(person.is_hidden());
    let person = person.says(&["hunter2"]);
    assert!(!person.is_hidden());
    assert!(person.sees().contains("2. key: ••••••••") && !person.sees().contains("hunter2"));
    assert_eq!(
        person.says(&["submit"]).said(),
        r#"{"name":"Ana","key":"hunter2"}"#
    );
}
