//! `midcall lint`, as a server's author uses it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::program;

fn midcall() -> Command {
    let mut command = program::midcall();
    command.arg("lint");
    command
}

/// Runs `midcall lint … -` on a text.
fn lint(args: &[&str], input: &str) -> Output {
    let mut child = midcall()
        .args(args)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses early does not read everything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn example() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/book-table.json"
    );
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn an_author_sees_the_form_and_what_is_wrong_with_it() {
    let output = lint(&[], &example());
    assert_eq!(output.status.code(), Some(1));
    let readme = include_str!("../../../../README.md");
    let text = stdout(&output);
    assert!(
        readme.contains(&text),
        "the README should show this:\n{text}"
    );
    assert_eq!(stderr(&output), "");
}

#[test]
fn an_author_in_brazil_reads_portuguese() {
    let output = lint(
        &["--locale", "pt_BR.UTF-8", "--revision", "2025-11-25"],
        &example(),
    );
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn a_script_gets_json() {
    let output = lint(&["--json"], &example());
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["form"]["title"], "Book a table");
    assert_eq!(
        report["form"]["fields"][3]["options"][1],
        json!({"value": "terrace", "title": "On the terrace"})
    );
    assert_eq!(report["form"]["fields"][6]["secret"], true);
    let choices = report["findings"].as_array().unwrap();
    let choices = choices
        .iter()
        .find(|finding| finding["path"] == "/extras")
        .unwrap();
    assert_eq!(
        *choices,
        json!({
            "path": "/extras",
            "level": "warning",
            "revisions": ["2025-06-18"],
            "key": "mcp.elicitation.lint.choices",
            "message": "This revision has no choice of several. Midcall asks yes or no for each option",
        })
    );
}

#[test]
fn a_form_that_every_client_shows_is_clean() {
    let schema = json!({"type": "object", "properties": {
        "sure": {"type": "boolean", "title": "Delete 3 files?"}}, "required": ["sure"]});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create",
        "params": {"message": "Delete 3 files?", "requestedSchema": schema}});
    for input in [
        &schema,
        &request["params"],
        &request,
        &json!({"type": "object", "properties": {}}),
    ] {
        let output = lint(&[], &input.to_string());
        assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
        assert!(stdout(&output).ends_with("show it as it is\n"));
    }
    let output = lint(&["--json"], &schema.to_string());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["findings"],
        json!([])
    );
}

#[test]
fn only_the_revisions_asked_for_matter() {
    let titled = json!({"type": "object", "properties": {
        "seat": {"type": "string", "title": "Seat", "oneOf": [{"const": "a", "title": "A"}]}}});
    assert_eq!(lint(&[], &titled.to_string()).status.code(), Some(1));
    let newer = ["--revision", "2025-11-25", "--revision", "2026-07-28"];
    assert_eq!(lint(&newer, &titled.to_string()).status.code(), Some(0));
}

#[test]
fn what_is_not_a_form_is_told_in_a_sentence() {
    let long = format!("{{\"title\": \"{}\"}}", "x".repeat(300_000));
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for (args, input, expected) in [
        (
            &[][..],
            "{",
            "standard input: not JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            &[],
            "[]",
            "standard input: expected a JSON object with a schema, found an array",
        ),
        (
            &[],
            "\"x\"",
            "standard input: expected a JSON object with a schema, found a string",
        ),
        (
            &[],
            r#"{"type": "array"}"#,
            "standard input: at `/type`: a form's own type must be \"object\"",
        ),
        (
            &[],
            r#"{"type": "object", "properties": {"a": {"type": "strin"}}}"#,
            "standard input: at `/properties/a/type`: expected the name of a JSON type",
        ),
        (
            &[],
            r#"{"mode": "url", "url": "https://example.com"}"#,
            "standard input: this question is in URL mode: it has a link and no form",
        ),
        (
            &[],
            r#"{"message": "hi"}"#,
            "standard input: this looks like a question, but `requestedSchema` is missing",
        ),
        (
            &[],
            r#"{"type": "object", "properties": {"\u001b]0;x\u0007": {"minLength": "x", "type": "string"}}}"#,
            "standard input: at `/properties/\\u{1b}]0;x\\u{7}/minLength`: expected a whole number, zero or more",
        ),
        (
            &[],
            &long,
            "standard input is longer than 262144 bytes: no client would show such a form",
        ),
        (
            &[],
            &deep,
            "standard input: not JSON: recursion limit exceeded at line 1 column 128",
        ),
        (
            &["--revision", "2024-11-05"],
            "{}",
            "revision 2024-11-05 has no elicitation: 2025-06-18 was the first",
        ),
    ] {
        let output = lint(args, input);
        assert_eq!(stderr(&output), format!("midcall: {expected}\n"));
        assert_eq!(output.status.code(), Some(2), "{expected}");
        assert_eq!(stdout(&output), "");
    }
    let output = midcall().arg("no-such-file.json").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "midcall: cannot open no-such-file.json: No such file or directory (os error 2)\n"
    );
}

#[test]
fn a_hostile_schema_cannot_talk_to_the_terminal() {
    let schema = json!({"type": "object", "title": "\u{1b}[2J", "properties": {
        "a\u{7}": {"type": "string", "title": "\u{1b}]0;owned\u{7}", "description": "\u{9b}31m",
                   "enum": ["\u{1b}[31m"], "default": "\u{1b}[31m"}}});
    let output = lint(&[], &schema.to_string());
    let text = stdout(&output);
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
}

#[test]
fn help_shows_examples() {
    let output = midcall().arg("--help").output().unwrap();
    let text = stdout(&output);
    assert!(text.contains("midcall lint --json form.json"), "{text}");
}
