//! `midcall doctor` on servers that are written for it: good ones, odd ones, and none at all.

use std::process::Output;

use serde_json::{Value, json};

use crate::program::midcall;

/// Runs `midcall doctor` on a command.
fn doctor(flags: &[&str], server: &[&str]) -> Output {
    doctor_in(PATIENT, flags, server)
}

/// Test times for servers that answer and exit on their own: `doctor` waits for as long as that takes.
const PATIENT: &str = "doctor_probe=60m,doctor_end=60m";
/// Test times for servers that `doctor` has to end: the product's own.
const USUAL: &str = "";

fn doctor_in(times: &str, flags: &[&str], server: &[&str]) -> Output {
    let mut command = midcall();
    command.env("MIDCALL_TEST_TIMES", times);
    command.env("MIDCALL_TIMEOUT", "60m"); // unless a flag says otherwise
    command.arg("doctor").args(flags).arg("--").args(server);
    command.output().unwrap()
}

/// Runs `midcall doctor` on a shell script: the report and the exit code.
fn on(flags: &[&str], script: &str) -> (String, Option<i32>) {
    on_in(PATIENT, flags, script)
}

fn on_in(times: &str, flags: &[&str], script: &str) -> (String, Option<i32>) {
    let output = doctor_in(times, flags, &["sh", "-c", script]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told, "", "a report goes to standard output");
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code(),
    )
}

/// A server in shell: it answers each request that a pattern matches. Requests are counted by the
/// doctor, so their ids are known.
fn server(answers: &[(&str, Value)]) -> String {
    let mut cases = String::new();
    for (pattern, answer) in answers {
        let answer = answer.to_string().replace('\'', "'\\''");
        cases += &format!("*{pattern}*) answer '{answer}' ;;\n");
    }
    format!(
        r#"n=0
        answer() {{ n=$((n+1)); printf '{{"jsonrpc":"2.0","id":%d,%s\n' $n "${{1#?}}"; }}
        while IFS= read -r line; do case "$line" in
        *'"method":"notifications'*) ;;
        {cases}
        *) answer '{{"error":{{"code":-32601,"message":"no such method"}}}}' ;;
        esac; done"#
    )
}

fn opened(revision: &str, name: &str) -> Value {
    json!({"result": {"protocolVersion": revision, "capabilities": {"tools": {}, "logging": {}},
        "serverInfo": {"name": name, "version": "1.2"}}})
}

fn tools(tools: &[Value]) -> Value {
    json!({"result": {"tools": tools}})
}

#[test]
fn a_server_is_told_as_it_is() {
    let read = json!({"name": "read", "annotations": {"readOnlyHint": true}, "outputSchema": {"type": "object"}});
    let delete = json!({"name": "delete", "annotations": {"destructiveHint": true}});
    let script = server(&[
        ("\"initialize\"", opened("2025-06-18", "files")),
        ("cursor", tools(&[delete])),
        (
            "tools/list",
            json!({"result": {"tools": [read, {"name": "plain"}], "nextCursor": "2"}}),
        ),
    ]);
    let (told, code) = on(&[], &script);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(told);
}

#[test]
fn a_person_in_brazil_who_uses_codex_reads_what_codex_would_do() {
    let script = server(&[
        ("\"initialize\"", opened("2025-11-25", "files")),
        ("tools/list", tools(&[])),
    ]);
    let (told, code) = on(&["--locale", "pt", "--client-profile", "codex"], &script);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(told);
}

#[test]
fn a_script_gets_json() {
    // It shows a tool only to those who can ask: the second start lists none.
    let script = server(&[
        ("initialize*elicitation", opened("2025-11-25", "booking")),
        (
            "\"initialize\"",
            json!({"result": {"protocolVersion": "2025-11-25", "capabilities": {"logging": {}},
                "serverInfo": {"name": "booking", "version": "1.2"}}}),
        ),
        ("tools/list", tools(&[json!({"name": "book"})])),
    ]);
    let (told, code) = on(&["--json", "--ask", "client,model"], &script);
    assert_eq!(code, Some(0), "{told}");
    let report: Value = serde_json::from_str(&told).unwrap();
    let who = |question: &str, client: &str, route: Option<&str>| json!({"question": question, "client": client, "route": route, "unless": [], "otherwise": null});
    assert_eq!(
        report,
        json!({
            "server": {"name": "booking", "version": "1.2"},
            "revisions": ["2025-11-25"],
            "eras": {"legacy": true, "modern": false},
            "capabilities": ["logging", "tools"],
            "tools": [{"name": "book", "readOnly": false, "destructive": false,
                "outputSchema": false, "needsAsking": true}],
            "asks": "yes",
            "ask": "client,model",
            "who": [
                who("form", "asks", Some("client")),
                who("form", "does_not_ask", Some("model")),
                who("link", "asks", Some("client")),
                who("link", "does_not_ask", None),
                who("link_first", "asks", Some("client")),
                who("link_first", "does_not_ask", None),
                who("confirmation", "asks", Some("client")),
                who("confirmation", "does_not_ask", None),
            ],
            "noise": {"lines": 0, "first": ""},
        })
    );
}

#[test]
fn a_server_of_the_newer_era_alone_is_met_there() {
    let discovered = json!({"result": {"resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "3"}}}});
    let script = server(&[
        (
            "\"initialize\"",
            json!({"error": {"code": -32022, "message": "not this"}}),
        ),
        ("server/discover", discovered),
        (
            "\"elicitation\"",
            tools(&[json!({"name": "book"}), json!({"name": "look"})]),
        ),
        ("tools/list", tools(&[json!({"name": "look"})])),
    ]);
    let (told, code) = on(&["--json"], &script);
    assert_eq!(code, Some(0), "{told}");
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(report["server"], json!({"name": "new", "version": "3"}));
    assert_eq!(report["eras"], json!({"legacy": false, "modern": true}));
    assert_eq!(report["asks"], "yes");
    let needs: Vec<_> = report["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["needsAsking"])
        .collect();
    assert_eq!(needs, [true, false]);
    let asked = report["who"].as_array().unwrap();
    assert!(
        asked.iter().all(|cell| cell["question"] != "link_first"),
        "{told}"
    );
}

#[test]
fn an_old_server_asks_nothing() {
    let script = server(&[
        ("\"initialize\"", opened("2024-11-05", "old")),
        ("tools/list", tools(&[])),
    ]);
    let (told, _) = on(&["--json"], &script);
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(report["asks"], "no");
    let questions = report["who"].as_array().unwrap().iter();
    let questions: Vec<_> = questions.map(|cell| &cell["question"]).collect();
    assert_eq!(questions, ["confirmation", "confirmation"]);
}

#[test]
fn what_does_not_answer_is_told_with_its_last_words_and_advice() {
    for (name, times, flags, script) in [
        (
            "dies",
            PATIENT,
            &[][..],
            "echo starting; echo 'no key: set API_KEY' >&2; exit 3",
        ),
        ("is killed", PATIENT, &[], "kill -9 $$"),
        (
            "is silent",
            USUAL,
            &["--timeout", "8s"],
            "echo listening on 8080 >&2; exec sleep 300",
        ),
        (
            "chatters",
            USUAL,
            &["--timeout", "8s"],
            "while read line; do echo 'Server ready'; done",
        ),
        ("closes", USUAL, &[], "exec >&-; exec sleep 300"),
        ("refuses", PATIENT, &[], &server(&[])),
        (
            "answers nonsense",
            PATIENT,
            &[],
            &server(&[("\"initialize\"", json!({"result": 7}))]),
        ),
    ] {
        let (told, code) = on_in(times, flags, script);
        assert_eq!(code, Some(1), "{name}: {told}");
        insta::assert_snapshot!(name.replace(' ', "_"), told);
    }
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let output = doctor(&[], &["no-such-program-of-midcall"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
    let output = doctor(&["--json"], &["/"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["error"]["kind"], "not_allowed");
    let output = doctor(&["--client-profile", "x"], &["true"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.starts_with(
            "midcall: there is no client profile \"x\": choose from claude-code-headless, codex,"
        ),
        "{told}"
    );
}

#[test]
fn a_flood_ends_with_the_time() {
    for flood in ["exec yes", "yes >&2 & exec sleep 300", "yes & exec yes >&2"] {
        let (told, code) = on_in(USUAL, &["--timeout", "1s"], flood);
        assert_eq!(code, Some(1), "{flood}");
        assert!(
            told.starts_with("The server runs, but did not answer in time\n"),
            "{told}"
        );
        assert!(told.len() < 2_000, "{told}");
    }
}

#[test]
fn a_hostile_server_cannot_talk_to_the_terminal() {
    let evil = "\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}";
    let long = evil.repeat(100);
    let script = server(&[
        (
            "\"initialize\"",
            json!({"result": {"protocolVersion": evil, "capabilities": {"tools": {}, long.clone(): {}},
                "serverInfo": {"name": long, "version": evil}}}),
        ),
        ("tools/list", tools(&vec![json!({"name": long}); 9])),
    ]);
    let is_plain = |told: &str| {
        let hidden = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{200b}'];
        assert!(!told.contains(hidden) && told.len() < 10_000, "{told:?}");
    };
    let (told, code) = on(&[], &script);
    assert_eq!(code, Some(0), "{told}");
    is_plain(&told);
    let failing = [
        server(&[(
            "\"initialize\"",
            json!({"error": {"code": 1, "message": long}}),
        )]),
        format!("printf '{evil}\\n'; printf '{evil}\\n' >&2; exit 1"),
    ];
    for script in failing {
        let (told, code) = on(&[], &script);
        assert_eq!(code, Some(1), "{told}");
        is_plain(&told);
    }
}

#[test]
fn help_shows_examples() {
    let output = doctor(&["--help"], &["x"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("midcall doctor --client-profile goose -- uvx some-server"),
        "{told}"
    );
}
