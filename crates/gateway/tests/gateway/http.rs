//! The desk over HTTP, from outside: the real binary, real sockets, on loopback.

mod announce;
mod crowds;
mod demo;
pub mod desk;
mod doors;
mod events;
mod floods;
mod pages;
mod peers;
mod quiet;
mod statuses;

use desk::Desk;
use serde_json::json;

use crate::program::midcall;

/// The params of a question with one field that must be a day.
pub fn day() -> serde_json::Value {
    json!({"message": "For which day?", "requestedSchema": {
        "type": "object",
        "properties": {"day": {"type": "string", "format": "date"}},
        "required": ["day"],
    }})
}

#[tokio::test]
async fn a_question_is_asked_answered_and_told_without_its_values() {
    let mut desk = Desk::start(&[]).await;
    let person = desk.person().await;
    let id = desk.ask(day()).await;
    let said = person
        .post(&format!("/elicitation/{id}/accept"))
        .json(&json!({"content": {"day": "2026-11-16"}}));
    let said = said.send().await.unwrap();
    assert_eq!(said.status(), 200);
    assert_eq!(
        said.json::<serde_json::Value>().await.unwrap(),
        json!({"id": id, "state": "answered"})
    );
    assert_eq!(
        desk.line().await,
        json!({"id": id, "state": "answered", "action": "accept",
            "by": {"route": "page", "human": true}, "fields": ["day"]})
    );
}

#[tokio::test]
async fn the_announcement_is_for_its_owner_and_goes_with_the_desk() {
    use std::os::unix::fs::PermissionsExt;
    let mut desk = Desk::start(&[]).await;
    let mode = desk.file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let beside = || desk.folder.read_dir().unwrap().count();
    assert_eq!(beside(), 1, "the draft of the announcement is gone");
    let told = &desk.announced;
    assert_eq!(told["pid"].as_u64(), desk.pid());
    assert_eq!(told["api"], told["page"]);
    let launch = told["launch"].as_str().unwrap().to_owned();
    let (page, token) = launch.split_once("/#").unwrap();
    assert_eq!((page, token.len()), (told["page"].as_str().unwrap(), 43));

    let id = desk.ask(day()).await;
    desk.hang_up();
    let status = desk.script().get(&format!("/elicitation/status/{id}"));
    assert_eq!(status.send().await.unwrap().status(), 200);
    desk.terminate();
    assert_eq!(
        desk.line().await,
        json!({"id": id, "state": "withdrawn", "reason": "shutdown", "fields": []})
    );
    assert!(desk.end().await.success());
    assert_eq!(desk.folder.read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn lines_that_make_no_sense_are_told_and_end_nothing() {
    let mut desk = Desk::start(&["--open-limit", "1"]).await;
    for line in [
        "nonsense",
        "{}",
        r#"{"withdraw":"nobody"}"#,
        r#"{"params":{}}"#,
        r#"{"params":{"message":"?","requestedSchema":7}}"#,
    ] {
        desk.tell(line).await;
        assert!(desk.line().await["error"].is_string(), "{line}");
    }
    let id = desk.ask(day()).await;
    desk.tell(&json!({"params": day()}).to_string()).await;
    assert_eq!(
        desk.line().await,
        json!({"error": "1 questions are open for this user already"})
    );
    desk.tell(&json!({"withdraw": id}).to_string()).await;
    assert_eq!(
        desk.line().await,
        json!({"id": id, "state": "withdrawn", "reason": "by_server", "fields": []})
    );
    desk.ask(day()).await;
}

#[tokio::test]
async fn only_a_loopback_address_is_taken() {
    let output = tokio::process::Command::from(midcall())
        .args(["desk", "--page-addr", "0.0.0.0:0"])
        .output();
    let output = output.await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("Other computers can reach 0.0.0.0:0"),
        "{said}"
    );
}
