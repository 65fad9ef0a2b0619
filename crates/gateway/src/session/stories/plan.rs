//! What a policy and a client's profile change.

use std::time::Duration;

use serde_json::{Value, json};

use super::both;
use crate::route::Profile;
use crate::session::world::{World, day, link};

fn world(policy: &str, capabilities: Value) -> World {
    let mut world = World::with("client,page", |rules| {
        rules.policy = policy.parse().unwrap()
    });
    world.open("2025-11-25", capabilities, "2025-11-25");
    world
}

fn calls(world: &mut World, id: u64, tool: &str) {
    world.client(
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}),
    );
    world.to_server.clear();
}

#[test]
fn a_policy_says_who_is_asked_about_a_tool_and_the_strictest_call_counts() {
    let policy = "[[rule]]\ntool = \"pay*\"\nroutes = \"page\"\npatience = \"1m\"\n";
    let mut world = world(policy, both());
    calls(&mut world, 1, "look");
    world.asks(7, day());
    assert_eq!(world.told_client()["method"], "elicitation/create");
    calls(&mut world, 2, "payBill");
    world.asks(8, day());
    assert_eq!(world.asked.len(), 1);
    assert_eq!(world.asked[0].1.timeout_ms, Some(60_000));
}

#[test]
fn a_policy_may_refuse_secrets_and_too_many_questions() {
    let mut world = world("secrets = \"refuse\"\nasks_per_minute = 2\n", both());
    calls(&mut world, 1, "look");
    let secret = json!({"message": "?", "requestedSchema": {"type": "object", "properties": {"password": {"type": "string"}}}});
    world.asks(7, secret);
    let told = world.told_server();
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("URL mode"),
        "{told}"
    );
    for id in [8, 9] {
        world.asks(id, day());
        assert_eq!(world.told_client()["id"], id);
    }
    world.asks(10, day());
    let told = world.told_server();
    assert_eq!(
        told["error"]["message"],
        "midcall: the policy allows 2 questions a minute"
    );
    world.passes(Duration::from_secs(60));
    world.asks(11, day());
    assert_eq!(world.told_client()["id"], 11);
}

#[test]
fn a_policy_refuses_secrets_in_disguise() {
    for name in [
        "pass\u{200b}word",
        "p\u{430}ssword",
        "pass_word",
        "passw0rd",
        "contraseña",
        "パスワード",
    ] {
        let mut world = world("secrets = \"refuse\"\n", both());
        calls(&mut world, 1, "look");
        let secret = json!({"message": "?", "requestedSchema": {"type": "object", "properties": {name: {"type": "string"}}}});
        world.asks(7, secret);
        let told = world.told_server();
        let why = told["error"]["message"].as_str().unwrap();
        assert!(why.contains("URL mode"), "{name}: {told}");
        assert!(world.asked.is_empty(), "{name}");
    }
}

#[test]
fn a_policy_says_which_calls_are_confirmed() {
    let mut world = world("[[rule]]\ntool = \"drop\"\nconfirm = \"all\"\n", json!({}));
    calls(&mut world, 1, "look");
    assert!(world.asked.is_empty());
    calls(&mut world, 2, "drop");
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn what_a_client_is_known_not_to_show_goes_to_the_next() {
    let mut world = World::with("client,page", |rules| {
        rules.profile = Some(Profile::named("codex").unwrap());
    });
    world.open("2025-11-25", both(), "2025-11-25");
    calls(&mut world, 1, "book");
    world.asks(7, day());
    assert_eq!(world.told_client()["id"], 7);
    let number = json!({"message": "?", "requestedSchema": {"type": "object", "properties": {"n": {"type": "number"}}}});
    world.asks(8, number);
    assert_eq!(world.asked.len(), 1);
    world.to_client.clear();
    world.asks(9, link());
    assert_eq!(world.told_client()["id"], 9);
    // It may have to be told to wait for those, so it is shown how.
    let tools = world.lists(json!([{"name": "book"}]));
    assert_eq!(tools[1]["name"], "awaitElicitation");
}
