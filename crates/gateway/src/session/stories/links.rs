//! Calls that need links followed, for clients that know nothing of links.

use midcall_core::{Answer, Link};
use midcall_desk::{Outcome, Withdrawn};
use serde_json::{Value, json};

use super::both;
use crate::session::world::{PAGE, World};

fn needs(id: &Value, links: &[&str]) -> Value {
    let links: Vec<Value> = links
        .iter()
        .map(|name| {
            json!({"mode": "url", "message": format!("Open {name}"), "elicitationId": name,
                "url": format!("https://example.com/{name}")})
        })
        .collect();
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32042, "message": "Sign in first", "data": {"elicitations": links}}})
}

fn call(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "pay", "arguments": {"x": 1}}})
}

fn finished() -> Outcome {
    Outcome::Answered(
        Answer::Accepted(Link::read("https://example.com", None).consent().unwrap()),
        PAGE,
    )
}

/// A world in which a call needs these links, and people see them.
fn needing(links: &[&str]) -> World {
    let mut world = World::plain();
    world.client(call(1));
    assert_eq!(world.told_server(), call(1));
    world.server(needs(&json!(1), links));
    world.see();
    world
}

#[test]
fn a_person_follows_the_links_and_the_call_is_made_again_once() {
    let mut world = needing(&["a", "b", "c"]);
    assert!(world.to_client.is_empty());
    assert_eq!(world.asked.len(), 3);
    assert_eq!(world.asked[0].1.asker.tool.as_deref(), Some("pay"));
    world.follows(1, PAGE);
    world.ends(1, finished());
    // The server says of one that it is done, before the person does.
    world.follows(2, PAGE);
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "b"}}));
    assert_eq!(world.completed, [(2, PAGE)]);
    world.ends(2, finished());
    assert!(world.to_server.is_empty(), "opening is not finishing");
    // One is done elsewhere, without anybody here.
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "c"}}));
    assert_eq!(world.withdrawn, [(3, Withdrawn::ByServer)]);
    let again = world.told_server();
    assert_ne!(again["id"], 1);
    assert_eq!(again["params"], call(1)["params"]);
    world.ends(3, Outcome::Withdrawn(Withdrawn::ByServer));
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"content": [], "x": [1]}}));
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "x": [1]}})
    );
}

#[test]
fn links_that_are_new_are_asked_and_the_same_again_are_not() {
    let mut world = needing(&["a"]);
    world.ends(1, finished());
    let again = world.told_server();
    world.server(needs(&again["id"], &["b"]));
    assert_eq!(world.asked.len(), 2);
    world.ends(2, finished());
    let again = world.told_server();
    world.server(needs(&again["id"], &["c", "a"]));
    assert_eq!(
        world.asked.len(),
        3,
        "the second was followed, and is needed again"
    );
    world.ends(3, finished());
    assert!(world.to_server.is_empty(), "the other one isn't finished");
    world.passes(std::time::Duration::from_secs(1));
    let again = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"content": [], "x": 1}}));
    assert_eq!(world.told_client()["result"]["x"], 1);
}

#[test]
fn too_many_links_are_not_asked() {
    let mut world = needing(&["a"; 17]);
    assert!(world.asked.is_empty());
    let error = world.told_client()["error"].clone();
    assert_eq!(error["code"], -32603);
    let words = error["message"].as_str().unwrap();
    assert!(
        words.starts_with("Sign in first (midcall: books asks for too many"),
        "{words}"
    );
}

#[test]
fn a_no_ends_it_with_the_servers_own_error_and_words_for_people() {
    for (outcome, says) in [
        (
            Outcome::Answered(Answer::Declined { reason: None }, PAGE),
            "said no",
        ),
        (Outcome::Answered(Answer::Cancelled, PAGE), "said no"),
        (Outcome::TimedOut, "in time"),
    ] {
        let mut world = needing(&["a", "b"]);
        world.ends(1, outcome);
        assert_eq!(world.withdrawn, [(2, Withdrawn::ByClient)]);
        let told = world.told_client();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!(1), &json!(-32603))
        );
        let words = told["error"]["message"].as_str().unwrap();
        assert!(
            words.starts_with("Sign in first (") && words.contains(says),
            "{words}"
        );
        world.ends(2, Outcome::Withdrawn(Withdrawn::ByClient));
        assert!(world.to_server.is_empty() && world.to_client.is_empty());
    }
}

#[test]
fn a_client_that_follows_links_gets_the_error_as_it_is() {
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.client(call(1));
    world.to_server.clear();
    world.server(needs(&json!(1), &["a"]));
    assert_eq!(world.told_client(), needs(&json!(1), &["a"]));
    assert!(world.asked.is_empty());
    for error in [
        json!({"code": -32042, "message": "no data"}),
        json!({"code": -32042, "message": "none", "data": {"elicitations": []}}),
    ] {
        world.client(call(1));
        world.to_server.clear();
        let response = json!({"jsonrpc": "2.0", "id": 1, "error": error});
        world.server(response.clone());
        assert_eq!(world.told_client(), response);
    }
    // So does everybody whose error says something else.
    let mut world = World::plain();
    for error in [
        json!({"code": -32603, "message": "other", "data": {"elicitations": [{"url": "https://example.com"}]}}),
        json!({"code": "odd"}),
    ] {
        world.client(call(1));
        world.to_server.clear();
        let response = json!({"jsonrpc": "2.0", "id": 1, "error": error});
        world.server(response.clone());
        assert_eq!(world.told_client(), response);
    }
    assert!(world.asked.is_empty());
}

#[test]
fn cancelling_reaches_the_call_wherever_it_is() {
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    // While people have it, the server has not.
    let mut world = needing(&["a", "b"]);
    world.client(cancel.clone());
    assert_eq!(world.withdrawn.len(), 2);
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
    // Once it was made again, the server knows it by another id.
    let mut world = needing(&["a"]);
    world.ends(1, finished());
    let again = world.told_server();
    world.client(cancel);
    assert_eq!(world.told_server()["params"]["requestId"], again["id"]);
    // The client knows nothing of that id, whatever still comes.
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {}}));
    assert!(world.to_client.is_empty());
}

#[test]
fn a_call_let_go_meanwhile_is_made_again_and_collected() {
    let mut world = needing(&["a"]);
    for _ in 0..46 {
        world.passes(std::time::Duration::from_secs(1));
    }
    let claim = world.told_client()["result"]["_meta"]["dev.midcall/waiting"]["claim"].clone();
    world.ends(1, finished());
    let again = world.told_server();
    world.client(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "awaitElicitation", "arguments": {"claim": claim}}}));
    assert!(world.to_client.is_empty());
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"content": [], "x": 1}}));
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"content": [], "x": 1}})
    );
}

#[test]
fn prompts_and_resources_need_links_too() {
    let mut world = World::plain();
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "a:b"}}),
    );
    world.to_server.clear();
    world.server(needs(&json!(1), &["a"]));
    world.ends(1, finished());
    assert_eq!(world.told_server()["params"]["uri"], "a:b");
}
