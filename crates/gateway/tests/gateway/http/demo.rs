//! `midcall demo`, from outside.

use reqwest::Response;
use serde_json::{Value, json};

use super::desk::{Caller, Desk, PATIENCE, client};
use super::events::Events;
use super::statuses::answer;

/// The messages of a question that was asked, line by line.
struct Messages {
    response: Response,
    read: String,
}

impl Messages {
    async fn of(caller: &Caller, piece: &str) -> Self {
        let response = caller.post(&format!("/demo/{piece}")).send().await;
        let response = response.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        let read = String::new();
        Self { response, read }
    }

    /// Skips the call that comes before every question.
    async fn called(caller: &Caller, piece: &str) -> Self {
        let mut messages = Self::of(caller, piece).await;
        let call = messages.next().await.unwrap();
        assert_eq!(call["method"], "tools/call");
        assert_eq!(call["params"]["name"], piece);
        messages
    }

    /// The next message; nothing when there are no more.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.read.split_once('\n') {
                let message = serde_json::from_str(line).unwrap();
                self.read = rest.to_owned();
                return Some(message);
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.read += str::from_utf8(&chunk).unwrap();
        }
    }
}

async fn demo(flags: &[&str]) -> (Desk, Caller, Events) {
    let flags = [&["--no-open"], flags].concat();
    let demo = Desk::start_as("demo", &flags).await;
    let person = demo.person().await;
    let events = Events::of(&person, "", None).await;
    (demo, person, events)
}

/// The ticket of the next question.
async fn asked(events: &mut Events) -> String {
    loop {
        let event = events.next().await.unwrap();
        if event.name == "elicitation/request" {
            return event.data["id"].as_str().unwrap().to_owned();
        }
    }
}

async fn accept(person: &Caller, id: &str, content: Value) {
    let accept = person.post(&format!("/elicitation/{id}/accept"));
    let (status, told) = answer(accept.json(&json!({"content": content}))).await;
    assert_eq!(status, 200, "{told}");
}

#[tokio::test]
async fn it_prints_a_link_that_works_and_ends_on_ctrl_c() {
    let (mut demo, person, mut events) = demo(&[]).await;
    let link = demo.text().await;
    let (page, token) = link.split_once("/#").unwrap();
    assert_eq!(page, demo.page());
    assert_ne!(token, demo.launch_token(), "the announced one is another");
    let launch = demo.nobody().post("/launch").json(&json!({"token": token}));
    assert_eq!(answer(launch).await.0, 200);
    let home = demo.nobody().get("/").send().await.unwrap();
    assert!(home.text().await.unwrap().contains("/assets/page/demo.js"));

    let mut messages = Messages::called(&person, "text").await;
    asked(&mut events).await;
    demo.signal("INT");
    assert_eq!(
        messages.next().await.unwrap()["method"],
        "elicitation/create"
    );
    let told = messages.next().await.unwrap();
    assert_eq!(told["result"]["action"], "cancel");
    let outcome = &told["result"]["_meta"]["dev.midcall/outcome"];
    assert_eq!(
        *outcome,
        json!({"state": "withdrawn", "reason": "shutdown"})
    );
    messages.next().await.unwrap();
    let told = messages.next().await.unwrap();
    assert_eq!(told["result"]["isError"], true);
    let text = &told["result"]["content"][0]["text"];
    assert_eq!(text, "the client is gone", "nobody put the question away");
    assert!(demo.end().await.success());
    let said = demo.errors().await;
    assert!(said.contains("Ctrl+C ends the demo"), "{said}");
    assert!(!said.contains(token), "{said}");
    assert_eq!(demo.folder.read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn a_browser_is_opened_with_a_link_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("midcall-browser-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let (script, told) = (folder.join("browser"), folder.join("told"));
    let text = format!(
        "#!/bin/sh\nprintf %s \"$1\" > '{0}.new' && mv '{0}.new' '{0}'\n",
        told.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    // One that is not there is passed over. The other is found on PATH: its folder may have a space in its name.
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let environment = [("BROWSER", "/nowhere/firefox:browser"), ("PATH", &path)];
    let mut demo = Desk::start_with("demo", &[], &environment).await;
    let printed = demo.text().await;
    let opened = async {
        loop {
            if let Ok(opened) = std::fs::read_to_string(&told) {
                break opened;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let opened = tokio::time::timeout(PATIENCE, opened).await;
    let opened = opened.expect("the browser is opened");
    assert_ne!(opened, printed);
    for link in [opened, printed] {
        let (page, token) = link.split_once("/#").unwrap();
        assert_eq!(page, demo.page());
        let launch = demo.nobody().post("/launch").json(&json!({"token": token}));
        assert_eq!(answer(launch).await.0, 200);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn it_speaks_portuguese_if_asked_to() {
    let (mut demo, ..) = demo(&["--locale", "pt-BR"]).await;
    demo.terminate();
    assert!(demo.end().await.success());
    assert!(demo.errors().await.contains("Ctrl+C encerra"));
}

#[tokio::test]
async fn the_messages_are_those_of_the_wire() {
    let (_demo, person, mut events) = demo(&[]).await;
    let mut messages = Messages::called(&person, "integer").await;
    let id = asked(&mut events).await;
    let request = messages.next().await.unwrap();
    assert_eq!(request["jsonrpc"], "2.0");
    assert_eq!(request["params"]["message"], "How many will you be?");
    accept(&person, &id, json!({"value": 4})).await;
    let by = json!({"route": "page", "human": true});
    assert_eq!(
        messages.next().await.unwrap(),
        json!({"jsonrpc": "2.0", "id": request["id"], "result": {"action": "accept", "content": {"value": 4},
            "_meta": {"dev.midcall/outcome": {"state": "answered", "by": by}}}})
    );
    assert_eq!(
        messages.next().await.unwrap(),
        json!({"id": request["id"], "outcome": {"state": "answered", "action": "accept", "by": by}})
    );
    let content = json!([{"type": "text", "text": "A table for 4"}]);
    assert_eq!(messages.next().await.unwrap()["result"]["content"], content);
    assert_eq!(messages.next().await, None);
}

#[tokio::test]
async fn a_secret_is_not_shown_again() {
    let (_demo, person, mut events) = demo(&[]).await;
    let mut messages = Messages::called(&person, "secret").await;
    let id = asked(&mut events).await;
    accept(&person, &id, json!({"user": "ana", "password": "xyzzy"})).await;
    messages.next().await.unwrap();
    let told = messages.next().await.unwrap();
    let content = json!({"user": "ana", "password": "••••"});
    assert_eq!(told["result"]["content"], content);
    let mut rest = Vec::new();
    while let Some(message) = messages.next().await {
        rest.push(message.to_string());
    }
    assert!(!rest.concat().contains("xyzzy"), "{rest:?}");
}

#[tokio::test]
async fn steps_follow_each_other_and_a_no_ends_them() {
    let (_demo, person, mut events) = demo(&[]).await;
    let mut messages = Messages::of(&person, "wizard").await;
    let first = asked(&mut events).await;
    accept(&person, &first, json!({"selected": "Shop"})).await;
    let second = asked(&mut events).await;
    let reject = person.post(&format!("/elicitation/{second}/reject"));
    let reject = reject.json(&json!({"reason": "not today"}));
    assert_eq!(answer(reject).await.0, 200);
    let mut told = Vec::new();
    while let Some(message) = messages.next().await {
        told.push(message);
    }
    assert_eq!(told.len(), 8, "{told:?}");
    assert_eq!(told[5]["result"]["action"], "decline");
    let meta = &told[5]["result"]["_meta"]["dev.midcall/outcome"];
    assert_eq!(meta["reason"], "not today");
    assert_eq!(told[7]["result"]["isError"], true);
}

#[tokio::test]
async fn a_host_may_hand_in_the_elements_own_refusal() {
    let (_demo, person, mut events) = demo(&[]).await;
    let mut messages = Messages::of(&person, "wizard").await;
    let id = asked(&mut events).await;
    let reject = person.post(&format!("/elicitation/{id}/reject"));
    let said = json!({"action": "decline", "_meta": {"dev.midcall/reason": "not today"}});
    assert_eq!(answer(reject.json(&said)).await.0, 200);
    let mut told = Vec::new();
    while let Some(message) = messages.next().await {
        told.push(message);
    }
    let meta = &told[2]["result"]["_meta"]["dev.midcall/outcome"];
    assert_eq!(meta["reason"], "not today", "{told:?}");
}

#[tokio::test]
async fn three_are_asked_at_once_and_hanging_up_takes_them_back() {
    let (_demo, person, mut events) = demo(&[]).await;
    let messages = Messages::of(&person, "three").await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(asked(&mut events).await);
    }
    drop(messages);
    for _ in 0..3 {
        let event = events.next().await.unwrap();
        assert_eq!(event.name, "elicitation/closed");
        assert_eq!(event.data["reason"], "by_client");
        open.retain(|id| event.data["id"] != id.as_str());
    }
    assert!(open.is_empty());
}

#[tokio::test]
async fn a_link_is_consented_to_then_finished_elsewhere() {
    let (demo, person, mut events) = demo(&[]).await;
    let mut messages = Messages::called(&person, "link").await;
    let id = asked(&mut events).await;
    let request = messages.next().await.unwrap();
    let url = request["params"]["url"].as_str().unwrap();
    let (page, link) = url.split_once('#').unwrap();
    assert_ne!(
        page,
        format!("{}/", demo.page()),
        "a page of the server's own"
    );
    assert_eq!(request["params"]["elicitationId"], link);
    let opened = person.post(&format!("/elicitation/{id}/opened"));
    assert_eq!(answer(opened).await.0, 200);
    let consent = messages.next().await.unwrap();
    assert_eq!(
        (&consent["id"], &consent["result"]["action"]),
        (&request["id"], &json!("accept"))
    );
    let done = |id: &str| client().post(format!("{page}demo/elsewhere/{id}")).send();
    assert_eq!(done("x").await.unwrap().status(), 404);
    assert_eq!(done(link).await.unwrap().status(), 204);
    let complete = messages.next().await.unwrap();
    assert_eq!(complete["method"], "notifications/elicitation/complete");
    assert_eq!(complete["params"]["elicitationId"], link);
    let ended = messages.next().await.unwrap();
    assert_eq!(ended["outcome"]["action"], "accept");
    let content = json!([{"type": "text", "text": "Your calendar is connected"}]);
    assert_eq!(messages.next().await.unwrap()["result"]["content"], content);
    assert_eq!(messages.next().await, None);
}

#[tokio::test]
async fn a_server_may_change_its_mind_and_may_be_in_a_hurry() {
    let (_demo, person, mut events) = demo(&[]).await;
    let mut messages = Messages::called(&person, "taken_back").await;
    asked(&mut events).await;
    let request = messages.next().await.unwrap();
    let cancelled = messages.next().await.unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
    let ended = messages.next().await.unwrap();
    assert_eq!(ended["outcome"]["reason"], "by_server");
    let content = json!([{"type": "text", "text": "Somebody else took it"}]);
    assert_eq!(messages.next().await.unwrap()["result"]["content"], content);
    assert_eq!(messages.next().await, None);

    let hurry = Messages::of(&person, "hurry").await;
    let event = loop {
        let event = events.next().await.unwrap();
        if event.name == "elicitation/request" {
            break event;
        }
    };
    let [asked, deadline] = ["asked", "deadline"].map(|time| {
        let text = event.data[time].as_str().unwrap().to_owned();
        let (_, clock) = text.split_once('T').unwrap();
        let parts: Vec<f64> = clock
            .trim_end_matches('Z')
            .split(':')
            .map(|part| part.parse().unwrap())
            .collect();
        parts[0] * 3_600.0 + parts[1] * 60.0 + parts[2]
    });
    let wait = (deadline - asked).rem_euclid(86_400.0);
    assert!((39.9..40.1).contains(&wait), "{wait}");
    drop(hurry);
}

#[tokio::test]
async fn only_the_person_can_have_something_asked() {
    let (demo, person, _) = demo(&[]).await;
    assert_eq!(answer(demo.nobody().get("/demo")).await.0, 401);
    assert_eq!(answer(demo.nobody().post("/demo/text")).await.0, 401);
    assert_eq!(answer(person.post("/demo/nothing")).await.0, 404);
    let (status, list) = answer(person.get("/demo")).await;
    assert_eq!(status, 200);
    assert!(list.as_array().unwrap().len() > 25);
    assert_eq!(list[0], json!({"name": "text", "group": "fields"}));
}
