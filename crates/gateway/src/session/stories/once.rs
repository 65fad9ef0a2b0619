//! Answers that come twice or too late, or bring what they must not bring.

use super::eras::{
    asks, both as modes, discovered, initialize, legacy_to_modern, modern, modern_to_legacy,
    modern_to_modern,
};
use super::*;

fn accept(day: &str) -> Value {
    json!({"action": "accept", "content": {"day": day}})
}

/// Refusals with something that a person typed, and what may be left of them.
fn refusals() -> Vec<(Value, Value)> {
    let content = json!({"day": "2026-11-16", "pin": "s3cr3t"});
    vec![
        (
            json!({"action": "decline", "content": content, "x": 1}),
            json!({"action": "decline", "x": 1}),
        ),
        (
            json!({"action": "cancel", "content": "s3cr3t"}),
            json!({"action": "cancel"}),
        ),
        (
            json!({"action": "reject", "content": null}),
            json!({"action": "decline"}),
        ),
    ]
}

#[test]
fn content_with_a_refusal_never_reaches_a_legacy_server() {
    for (said, left) in refusals() {
        let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
        world.asks(7, day());
        world.client(json!({"jsonrpc": "2.0", "id": 7, "result": said}));
        assert_eq!(world.told_server()["result"], left, "{said}");
        // Nor that of a form which Midcall can't read, nor with a link.
        let odd = json!({"message": "?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "odd"}}}});
        world.asks(8, odd);
        world.client(json!({"jsonrpc": "2.0", "id": 8, "result": said}));
        let told = world.told_server();
        assert!(!told.to_string().contains("s3cr3t"), "{told}");

        let mut world = modern_to_legacy("client,page", modes());
        world.client(modern(1, "tools/call", json!({"name": "book"}), modes()));
        world.to_server.clear();
        world.asks(7, day());
        let state = world.told_client()["result"]["requestState"].clone();
        let retry = json!({"name": "book", "requestState": state, "inputResponses": {"q1": said}});
        world.client(modern(2, "tools/call", retry, modes()));
        assert_eq!(world.told_server()["result"], left, "{said}");
    }
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.asks(7, link());
    world.client(json!({"jsonrpc": "2.0", "id": 7, "result": accept("s3cr3t")}));
    assert_eq!(world.told_server()["result"], json!({"action": "accept"}));
}

#[test]
fn content_with_a_refusal_never_reaches_a_modern_server() {
    let round = json!({"resultType": "input_required", "inputRequests": asks("k", day())});
    for (said, left) in refusals() {
        let mut world = legacy_to_modern("client,page", both());
        world.client(
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "book"}}),
        );
        world.server_answers(round.clone());
        let ask = world.told_client();
        world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": said}));
        assert_eq!(
            world.told_server()["params"]["inputResponses"]["k"],
            left,
            "{said}"
        );

        // Where calls pass as they came, in company as well, and with the answers to a task.
        let mut world = modern_to_modern("client,page", modes());
        world.client(modern(1, "tools/call", json!({"name": "book"}), modes()));
        world.server_answers(round.clone());
        let retry =
            json!({"name": "book", "inputResponses": {"k": said, "l": accept("2026-11-16")}});
        let update = json!({"taskId": "t", "inputResponses": {"k": said}});
        world.client(modern(2, "tools/call", retry.clone(), modes()));
        world.client(json!([modern(3, "tools/call", retry, modes())]));
        world.client(modern(4, "tasks/update", update, modes()));
        for told in world.to_server.drain(..) {
            let responses = &told["params"]["inputResponses"];
            assert_eq!(responses["k"], left, "{said}");
            if !responses["l"].is_null() {
                assert_eq!(responses["l"], accept("2026-11-16"));
            }
        }
    }
}

#[test]
fn the_first_answer_counts_and_no_other_is_heard() {
    let second = json!({"action": "accept", "content": {"day": "2026-12-24"}});
    // A response, one after the other and in company.
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.asks(7, day());
    let answer = |result: &Value| json!({"jsonrpc": "2.0", "id": 7, "result": result});
    world.client(answer(&accept("2026-11-16")));
    world.client(answer(&second));
    assert_eq!(world.told_server()["result"], accept("2026-11-16"));
    world.asks(8, day());
    world.passes(Duration::from_secs(1));
    let mut late = answer(&second);
    late["id"] = 8.into();
    world.client(json!([{"jsonrpc": "2.0", "id": 8, "result": {"action": "decline"}}, late]));
    assert_eq!(world.told_server()["result"], json!({"action": "decline"}));
    // A round, by the state that it was given with and by the one after that.
    let mut world = modern_to_legacy("client,page", modes());
    world.client(modern(1, "tools/call", json!({"name": "book"}), modes()));
    world.to_server.clear();
    world.asks(7, day());
    let state = world.told_client()["result"]["requestState"].clone();
    let back = |id, result: &Value| {
        let retry =
            json!({"name": "book", "requestState": state, "inputResponses": {"q1": result}});
        modern(id, "tools/call", retry, modes())
    };
    world.client(back(2, &accept("2026-11-16")));
    assert_eq!(world.told_server()["result"], accept("2026-11-16"));
    world.client(back(3, &second));
    assert!(world.to_server.is_empty());
    // The next question isn't answered by what was said to the last.
    world.asks(8, day());
    world.client(back(4, &second));
    assert!(world.to_server.is_empty());
    // At the desk: the link was opened, which is all that the server asked for.
    let mut world = World::plain();
    world.asks(7, link());
    world.follows(1, PAGE);
    assert_eq!(world.told_server()["result"]["action"], "accept");
    world.ends(
        1,
        Outcome::Answered(Answer::Declined { reason: None }, PAGE),
    );
    assert!(world.to_server.is_empty());
}

#[test]
fn an_answer_that_is_a_result_and_an_error_is_neither() {
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.asks(7, day());
    let error = json!({"code": -1, "message": "no"});
    world
        .client(json!({"jsonrpc": "2.0", "id": 7, "result": accept("2026-11-16"), "error": error}));
    let told = world.told_server();
    assert_eq!(told["error"]["code"], -32603);
    assert!(told.get("result").is_none(), "{told}");
    world.to_client.clear();
    world.calls(1);
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}, "error": error}));
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["error"]["code"]),
        (&json!(1), &json!(-32603))
    );
    assert!(told.get("result").is_none(), "{told}");
    // Older peers say that there is no error.
    world.asks(8, day());
    world.client(json!({"jsonrpc": "2.0", "id": 8, "result": accept("2026-11-16"), "error": null}));
    assert_eq!(world.told_server()["result"], accept("2026-11-16"));
}

#[test]
fn a_server_that_refuses_initialize_twice_is_heard_once() {
    let mut world = World::new("client");
    world.client(initialize(0, json!({})));
    let opening = world.told_server();
    let refused =
        json!({"jsonrpc": "2.0", "id": opening["id"], "error": {"code": -32601, "message": "?"}});
    world.server(refused.clone());
    world.server(refused);
    assert!(world.to_client.is_empty());
    world.server_answers(discovered());
    let told = world.told_client();
    assert_eq!((&told["id"], told["result"].is_object()), (&json!(0), true));
}
