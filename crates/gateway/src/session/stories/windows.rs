//! Windows of one person that share a server: what comes up in the call of one is never told in that of another.

use midcall_desk::Unavailable;

use super::eras::*;

/// Two windows with a legacy server. The model of each is asked, and what it can't be asked goes to the page.
fn windows(ask: &str) -> World {
    modern_to_legacy_in(World::new(ask).shared(), Value::Null)
}

fn call(id: u64, name: &str, arguments: Value) -> Value {
    modern(
        id,
        "tools/call",
        json!({"name": name, "arguments": arguments}),
        Value::Null,
    )
}

fn elicit(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": day()})
}

/// What the model of a window answers a question by.
fn pending(told: &Value) -> Value {
    told["result"]["_meta"]["elicitationPending"]["elicitId"].clone()
}

fn sends(id: u64, name: &Value) -> Value {
    call(
        id,
        "sendElicitationResult",
        json!({"elicitId": name, "action": "accept", "content": {"day": "2026-11-16"}}),
    )
}

/// A window whose model answered a question that came up in its call, and waits for the result.
fn waiting(ask: &str) -> World {
    let mut world = windows(ask);
    world.client(call(1, "mine", json!({})));
    world.server(elicit("s1"));
    let question = pending(&world.told_client());
    world.client(sends(2, &question));
    assert_eq!(world.to_server.pop().unwrap()["id"], "s1");
    assert!(world.to_client.is_empty());
    world.to_server.clear();
    world
}

#[test]
fn a_window_that_waits_does_not_hear_what_another_may_be_asked_on_the_page() {
    let mut world = waiting("client,model,page");
    world.client(call(3, "theirs", json!({})));
    // It can have come up in the call of either.
    world.server(elicit("s2"));
    world.see();
    assert_eq!(world.asked.len(), 1);
    world.to_client.clear();
    world.passes(Duration::from_secs(40));
    let told = world.to_client.iter().find(|told| told["id"] == 2).unwrap();
    let waiting = &told["result"]["_meta"]["dev.midcall/waiting"];
    assert!(waiting["claim"].is_string());
    assert_eq!(
        (waiting.get("deadline"), waiting.get("page")),
        (None, None),
        "{told}"
    );
}

#[test]
fn a_window_that_comes_back_is_not_told_what_another_is_asked() {
    let mut world = waiting("client,model,page");
    // Its own call needs a link now, which a person opens on the page.
    let needed = json!({"code": -32042, "message": "Sign in", "data": {"elicitations":
        [{"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "e"}]}});
    world.server(json!({"jsonrpc": "2.0", "id": 1, "error": needed}));
    assert_eq!(world.asked.len(), 1);
    // The other window is asked one thing, and another before it answered that.
    world.client(call(3, "theirs", json!({})));
    world.server(elicit("s2"));
    let theirs = world.told_client();
    assert_eq!(theirs["id"], 3);
    world.server(elicit("s3"));
    world.passes(Duration::from_secs(40));
    let told = std::mem::take(&mut world.to_client);
    let told = told.iter().find(|told| told["id"] == 2).unwrap();
    let claim = &told["result"]["_meta"]["dev.midcall/waiting"]["claim"];
    world.client(call(
        4,
        "awaitElicitation",
        json!({"claim": claim, "waitSeconds": 30}),
    ));
    assert!(world.to_client.is_empty(), "{:?}", world.to_client);
    // Its own window hears it.
    world.client(sends(5, &pending(&theirs)));
    let next = world.told_client();
    assert_eq!(next["id"], 5);
    assert!(pending(&next).is_string());
}

#[test]
fn a_window_that_is_alone_is_told_what_comes_up_in_its_call() {
    let mut world = waiting("client,model,page");
    world.server(elicit("s2"));
    let next = world.told_client();
    assert_eq!(next["id"], 2);
    assert!(pending(&next).is_string());
    // On the page, it hears until when.
    let mut world = waiting("client,model,page");
    let mut secret = day();
    secret["_meta"] = json!({"dev.midcall/destructive": true});
    world.server(
        json!({"jsonrpc": "2.0", "id": "s3", "method": "elicitation/create", "params": secret}),
    );
    world.see();
    world.passes(Duration::from_secs(40));
    let told = world.to_client.iter().find(|told| told["id"] == 2).unwrap();
    assert!(told["result"]["_meta"]["dev.midcall/waiting"]["deadline"].is_string());
    world.ends(1, Outcome::Unavailable(Unavailable::NoRoute));
}
