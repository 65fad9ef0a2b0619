//! `midcall status`: which gateways run, and what waits there.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::http::day;
use crate::http::desk::Desk;
use crate::program::midcall;

/// `midcall status` in the session of a desk.
async fn status(desk: &Desk, flags: &[&str]) -> Output {
    let mut command = Command::from(midcall());
    command.arg("status").args(flags);
    command.env("XDG_RUNTIME_DIR", &desk.session);
    command.env("MIDCALL_TEST_TIMES", "neighbour=5m");
    command.output().await.unwrap()
}

async fn json_of(desk: &Desk) -> Value {
    let output = status(desk, &["--json"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_owned()).unwrap()
}

async fn beside(desk: &Desk) -> Desk {
    let session = desk.session.to_str().unwrap();
    Desk::start_with("desk", &[], &[("XDG_RUNTIME_DIR", session)]).await
}

#[tokio::test]
async fn gateways_are_listed_with_what_waits_there() {
    let mut one = Desk::start(&[]).await;
    let mut other = beside(&one).await;
    let first = one
        .ask_as(json!({"params": day(), "server": "crm", "tool": "book"}))
        .await;
    let second = one.ask_as(json!({"params": day(), "server": "crm"})).await;
    let third = one
        .ask_as(json!({"params": day(), "server": "\u{1b}[2Jmail"}))
        .await;
    let gone = one.ask_as(json!({"params": day(), "server": "crm"})).await;
    one.tell(&json!({"withdraw": gone}).to_string()).await;
    one.line().await;
    let fourth = other
        .ask_as(json!({"params": day(), "server": "notes", "tool": "list"}))
        .await;

    let told = json_of(&one).await;
    let entry = |server: &str| {
        let all = told.as_array().unwrap().iter();
        let mut found = all.filter(|entry| entry["server"] == server);
        let entry = found
            .next()
            .unwrap_or_else(|| panic!("{server} is missing: {told}"));
        assert!(found.next().is_none(), "{told}");
        entry
    };
    let ids = |server: &str| {
        let waiting = entry(server)["waiting"].as_array().unwrap().iter();
        waiting
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("crm"), [first.clone(), second]);
    assert_eq!(ids("\u{1b}[2Jmail"), [third]);
    assert_eq!(ids("notes"), [fourth]);
    for (server, desk) in [("crm", &one), ("notes", &other)] {
        let entry = entry(server);
        assert_eq!(entry["pid"].as_u64(), desk.pid());
        assert_eq!(entry["page"], desk.page());
        assert_eq!(entry["client"], Value::Null);
        let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["pid", "server", "client", "page", "waiting"]);
    }
    let asked = &entry("crm")["waiting"][0];
    let ticket = one
        .script()
        .get("/elicitation/events")
        .send()
        .await
        .unwrap();
    let mut ticket = ticket;
    let mut seen = String::new();
    while !(seen.contains(&first) && seen.contains("\n\n")) {
        seen += &text(&ticket.chunk().await.unwrap().unwrap());
    }
    let data = seen.lines().find_map(|line| {
        line.strip_prefix("data: ")
            .filter(|data| data.contains(&first))
    });
    let data: Value = serde_json::from_str(data.unwrap()).unwrap();
    assert_eq!(
        *asked,
        json!({"id": first, "tool": "book", "asked": data["asked"], "deadline": data["deadline"]})
    );
    assert!(entry("crm")["waiting"][1].get("tool").is_none());

    let table = text(&status(&one, &[]).await.stdout);
    let pid = one.pid().unwrap().to_string();
    let row = table.lines().find(|line| line.starts_with("crm"));
    let row = row.unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains(&pid) && row.contains(one.page()), "{table}");
    assert!(row.contains("2 questions"), "{table}");
    assert!(
        table.contains("book") && table.contains(" ago") && table.contains(" left"),
        "{table}"
    );
    assert!(!table.contains('\u{1b}'), "{table:?}");
    let portuguese = text(&status(&one, &["--locale", "pt-BR"]).await.stdout);
    assert!(portuguese.contains("2 perguntas"), "{portuguese}");

    // Nothing that opens a door is told, nor what was asked.
    let session = one.session.join("midcall");
    for desk in [&one, &other] {
        let file = session.join(format!("{}.json", desk.pid().unwrap()));
        let file: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        for name in ["bearer", "peer", "launch"] {
            let secret = file[name].as_str().unwrap();
            let secret = secret.split_once('#').map_or(secret, |(_, token)| token);
            for printed in [&told.to_string(), &table] {
                assert!(!printed.contains(secret), "{name}");
                assert!(!printed.contains("For which day?"));
            }
        }
    }
}

#[tokio::test]
async fn a_gateway_where_nothing_waits_is_listed_and_one_that_was_killed_is_not() {
    let desk = Desk::start_as("wrap", &["--no-open", "--", "cat"]).await;
    let mut killed = beside(&desk).await;
    killed.signal("KILL");
    killed.end().await;
    let count = || desk.session.join("midcall").read_dir().unwrap().count();
    assert_eq!(count(), 2, "a killed gateway leaves its file");
    let told = json_of(&desk).await;
    assert_eq!(
        told,
        json!([{"pid": desk.pid(), "server": "cat", "client": null, "page": desk.page(), "waiting": []}])
    );
    assert_eq!(count(), 1, "what was left behind is removed");
    let table = text(&status(&desk, &[]).await.stdout);
    assert!(table.contains("No question is waiting"), "{table}");
}

#[tokio::test]
async fn a_gateway_that_does_not_answer_is_told_of_beside_the_others() {
    let mut desk = Desk::start(&[]).await;
    desk.ask(day()).await;
    let mute = beside(&desk).await;
    mute.signal("STOP");
    let mut command = Command::from(midcall());
    command.args(["status", "--json"]);
    command.env("XDG_RUNTIME_DIR", &desk.session);
    command.env("MIDCALL_TEST_TIMES", "neighbour=1s");
    let output = command.output().await.unwrap();
    mute.signal("CONT");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(
        errors.contains(&mute.pid().unwrap().to_string()),
        "{errors}"
    );
    // A busy machine may take more than a second over the other one.
    assert!(
        told.as_array()
            .unwrap()
            .iter()
            .all(|entry| entry["pid"].as_u64() == desk.pid()),
        "{told}"
    );
}

#[tokio::test]
async fn only_the_key_for_other_gateways_opens_the_list() {
    let mut desk = Desk::start(&[]).await;
    desk.ask(day()).await;
    for caller in [desk.nobody(), desk.script(), desk.person().await] {
        let asked = caller.post("/peers/status").json(&json!({}));
        let response = asked.send().await.unwrap();
        assert_eq!(response.status(), 401);
    }
}

#[tokio::test]
async fn where_no_gateway_runs_that_is_said() {
    let desk = Desk::start(&[]).await;
    let session = desk.session.join("other");
    fs::create_dir(&session).unwrap();
    for (flags, out, says) in [(&["--json"][..], "[]\n", false), (&[], "", true)] {
        let mut command = Command::from(midcall());
        command.arg("status").args(flags);
        let output = command
            .env("XDG_RUNTIME_DIR", &session)
            .output()
            .await
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(text(&output.stdout), out);
        assert_eq!(text(&output.stderr).contains("No gateway has a page"), says);
    }
}
