//! Calls that a person agrees to first.

use midcall_core::{Answer, Wanted};
use midcall_desk::{Outcome, Withdrawn};
use serde_json::{Value, json};

use super::{accepted, both};
use crate::route::Confirm;
use crate::session::world::{PAGE, World};

fn world(confirm: Confirm, capabilities: Value) -> World {
    let mut world = World::with("client,page", |rules| rules.flags.confirm = Some(confirm));
    world.open("2025-11-25", capabilities, "2025-11-25");
    world
}

fn delete(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "delete", "arguments": {"path": "/a", "apiKey": "s3cret"}}})
}

#[test]
fn a_call_waits_for_a_yes_and_goes_to_the_server_as_it_came() {
    let mut world = world(Confirm::All, json!({}));
    world.client(delete(1));
    assert!(world.to_server.is_empty());
    let (nth, question) = world.asked.remove(0);
    assert!(
        question.message.contains("delete") && question.message.contains("path: /a"),
        "{}",
        question.message
    );
    assert!(!question.message.contains("s3cret"), "{}", question.message);
    assert_eq!(question.asker.tool.as_deref(), Some("delete"));
    let Wanted::Form(form) = &question.wanted else {
        panic!("a form")
    };
    assert!(form.fields.is_empty());
    // The server cannot answer what it never got.
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
    assert!(world.to_client.is_empty());
    world.ends(nth, Outcome::Answered(accepted(&question, json!({})), PAGE));
    assert_eq!(world.told_server(), delete(1));
    let result = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}});
    world.server(result.clone());
    assert_eq!(world.told_client(), result);
}

#[test]
fn without_a_yes_the_server_never_gets_it() {
    for (outcome, says) in [
        (
            Outcome::Answered(Answer::Declined { reason: None }, PAGE),
            "said no",
        ),
        (Outcome::Answered(Answer::Cancelled, PAGE), "said no"),
        (Outcome::TimedOut, "in time"),
        (Outcome::Withdrawn(Withdrawn::Shutdown), "nobody"),
    ] {
        let mut world = world(Confirm::All, json!({}));
        world.client(delete(1));
        world.ends(1, outcome);
        let told = world.told_client();
        assert_eq!(
            (&told["id"], &told["result"]["isError"]),
            (&json!(1), &json!(true))
        );
        let words = told["result"]["content"][0]["text"].as_str().unwrap();
        assert!(words.contains(says), "{words}");
        assert!(world.to_server.is_empty());
    }
}

#[test]
fn a_client_that_can_ask_asks_by_itself() {
    let mut world = world(Confirm::All, both());
    for (id, answer, passes) in [
        (1, json!({"action": "accept", "content": {}}), true),
        (2, json!({"action": "decline"}), false),
    ] {
        world.client(delete(id));
        let ask = world.told_client();
        assert_eq!(ask["method"], "elicitation/create");
        assert!(ask["id"].as_str().unwrap().starts_with("midcall-"));
        world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": answer}));
        assert_eq!(world.to_server.len(), usize::from(passes));
        assert_eq!(world.to_client.len(), usize::from(!passes));
        world.to_server.clear();
        world.to_client.clear();
    }
    // An error is no yes.
    world.client(delete(3));
    let ask = world.told_client();
    world.client(
        json!({"jsonrpc": "2.0", "id": ask["id"], "error": {"code": -32601, "message": "no"}}),
    );
    assert_eq!(world.told_client()["result"]["isError"], true);
    assert!(world.to_server.is_empty());
}

#[test]
fn tools_say_whether_they_destroy_and_silence_means_yes() {
    let mut world = world(Confirm::Destructive, json!({}));
    world.lists(json!([
        {"name": "delete", "annotations": {"destructiveHint": true}},
        {"name": "look", "annotations": {"readOnlyHint": true, "destructiveHint": true}},
        {"name": "add", "annotations": {"destructiveHint": false}},
        {"name": "book"},
    ]));
    for (tool, asks) in [
        ("delete", true),
        ("look", false),
        ("add", false),
        ("book", true),
        ("unheard", true),
    ] {
        let before = world.asked.len();
        world.client(
            json!({"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": {"name": tool}}),
        );
        assert_eq!(world.asked.len() - before, usize::from(asks), "{tool}");
        assert_eq!(world.to_server.len(), usize::from(!asks), "{tool}");
        world.to_server.clear();
    }
}

#[test]
fn a_call_taken_back_takes_the_question_with_it() {
    let mut world = world(Confirm::All, json!({}));
    world.client(delete(1));
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByClient)]);
    world.ends(1, Outcome::Withdrawn(Withdrawn::ByClient));
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
}

#[test]
fn a_client_that_asks_by_itself_is_told_that_it_need_not_any_more() {
    let mut world = world(Confirm::All, both());
    world.client(delete(1));
    let ask = world.told_client();
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let told = world.told_client();
    assert_eq!(
        (&told["method"], &told["params"]["requestId"]),
        (&json!("notifications/cancelled"), &ask["id"])
    );
    // The server knows nothing of that question, whatever still comes.
    let late = json!({"action": "accept", "content": {}});
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": late}));
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
}

#[test]
fn nobody_to_ask_is_no_yes() {
    let mut world = World::with("client,model", |rules| {
        rules.flags.confirm = Some(Confirm::All)
    });
    world.open("2025-11-25", json!({}), "2025-11-25");
    world.client(delete(1));
    assert_eq!(world.told_client()["result"]["isError"], true);
    assert!(world.to_server.is_empty());
}

#[test]
fn an_impatient_client_collects_what_was_agreed_to_late() {
    let mut world = world(Confirm::All, json!({}));
    world.client(delete(1));
    world.see();
    for _ in 0..50 {
        world.passes(std::time::Duration::from_secs(1));
    }
    let claim = world.told_client()["result"]["_meta"]["dev.midcall/waiting"]["claim"].clone();
    let (nth, question) = world.asked.remove(0);
    world.ends(nth, Outcome::Answered(accepted(&question, json!({})), PAGE));
    assert_eq!(world.told_server(), delete(1));
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": {"gone": 1}}}));
    assert!(world.to_client.is_empty());
    world.client(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "awaitElicitation", "arguments": {"claim": claim}}}));
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["result"]["structuredContent"]),
        (&json!(2), &json!({"gone": 1}))
    );
}

#[test]
fn neither_company_nor_an_odd_id_goes_past_it() {
    let mut world = world(Confirm::All, json!({}));
    world.client(json!([delete(1), delete(2)]));
    assert_eq!(world.asked.len(), 2);
    assert!(world.to_server.is_empty());
    let mut odd = delete(3);
    odd["id"] = Value::Null;
    world.client(odd);
    assert!(world.to_server.is_empty());
    assert_eq!(world.told_client()["error"]["code"], -32600);
}
