//! One opening for each process of a server, whatever clients try.

use super::eras::*;

/// A legacy client that opened a legacy server, and what the server said.
fn opened(capabilities: Value) -> (World, Value) {
    let mut world = World::new("client,page");
    world.client(initialize(1, capabilities));
    world.server_answers(initialized());
    let told = world.told_client();
    world.client(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(world.told_server()["method"], "notifications/initialized");
    (world, told)
}

#[test]
fn a_client_that_opens_its_session_again_gets_the_same_answer_and_the_server_hears_nothing() {
    let forms = json!({"elicitation": {}});
    let (mut world, first) = opened(forms.clone());
    world.client(initialize(2, forms));
    let again = world.told_client();
    assert_eq!(
        (&again["id"], &again["result"]),
        (&json!(2), &first["result"])
    );
    world.client(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert!(world.to_server.is_empty());
    // How it can ask is Midcall's business: the server was told both modes.
    world.client(initialize(3, json!({})));
    assert_eq!(world.told_client()["result"], first["result"]);
    world.calls(4);
    world.asks(7, day());
    assert_eq!(world.asked.len(), 1, "it can't ask any more");
    // In a batch it is the same.
    world.to_client.clear();
    world.client(json!([initialize(5, json!({}))]));
    assert_eq!(world.told_client()["result"], first["result"]);
    // An earlier revision than was agreed on is said to be that one.
    let mut june = initialize(6, json!({}));
    june["params"]["protocolVersion"] = "2025-06-18".into();
    world.client(june);
    assert_eq!(
        world.told_client()["result"]["protocolVersion"],
        "2025-06-18"
    );
    assert!(world.to_server.is_empty());
}

#[test]
fn a_client_that_opens_its_session_again_with_what_the_server_was_not_told_gets_an_error() {
    let (mut world, _) = opened(json!({"elicitation": {}, "roots": {"listChanged": true}}));
    for (id, capabilities) in [
        (2, json!({"roots": {"listChanged": true}, "sampling": {}})),
        (3, json!({"elicitation": {}})),
    ] {
        world.client(initialize(id, capabilities));
        let told = world.told_client();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!(id), &json!(-32600))
        );
    }
    assert!(world.to_server.is_empty());
    // What it said first still counts.
    world.calls(4);
    world.asks(7, day());
    assert_eq!(world.told_client()["method"], "elicitation/create");
}

#[test]
fn a_client_that_opens_its_session_twice_at_once_waits_for_the_one_answer() {
    for fails in [false, true] {
        let mut world = World::of("client,page", ServerEra::Legacy);
        world.client(initialize(1, json!({})));
        world.client(initialize(2, json!({})));
        let sent = world.told_server();
        assert_eq!(
            (&sent["id"], &sent["method"]),
            (&json!(1), &json!("initialize"))
        );
        if fails {
            let error = json!({"code": -32602, "message": "Unsupported protocol version"});
            world.server(json!({"jsonrpc": "2.0", "id": 1, "error": error}));
            assert_eq!(world.told_client()["id"], 1);
            // The server isn't open, so this is its first opening.
            assert_eq!(world.server_answers(initialized())["id"], 2);
            assert_eq!(world.told_client()["id"], 2);
            continue;
        }
        world.server(json!({"jsonrpc": "2.0", "id": 1, "result": initialized()}));
        let told = std::mem::take(&mut world.to_client);
        assert_eq!(
            (told.len(), &told[0]["id"], &told[1]["id"]),
            (2, &json!(1), &json!(2))
        );
        assert_eq!(told[0]["result"], told[1]["result"]);
        assert!(world.to_server.is_empty());
    }
}

#[test]
fn a_client_that_takes_its_opening_back_still_opened_the_server() {
    let mut world = World::new("client,page");
    world.client(initialize(1, json!({})));
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    world.client(initialize(2, json!({})));
    let methods: Vec<&Value> = world.to_server.iter().map(|sent| &sent["method"]).collect();
    assert_eq!(methods, ["initialize", "notifications/cancelled"]);
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": initialized()}));
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["result"]["serverInfo"]["name"]),
        (&json!(2), &json!("books"))
    );
}

#[test]
fn clients_of_both_eras_share_one_opening() {
    // The modern one came first: Midcall opened the server for it.
    let mut world = modern_to_legacy("client,page", both());
    world.client(initialize(1, json!({"elicitation": {}})));
    let told = world.told_client();
    assert_eq!((&told["id"], &told["result"]), (&json!(1), &initialized()));
    world.client(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert!(world.to_server.is_empty());
    world.calls(2);
    world.asks(7, day());
    assert_eq!(world.told_client()["method"], "elicitation/create");

    // The legacy one came first.
    let (mut world, _) = opened(json!({}));
    world.client(modern(2, "server/discover", json!({}), both()));
    assert_eq!(world.told_client()["result"]["resultType"], "complete");
    world.client(modern(3, "tools/list", json!({}), both()));
    assert_eq!(
        world.server_answers(json!({"tools": []}))["method"],
        "tools/list"
    );
}

#[test]
fn there_is_no_opening_in_a_modern_envelope() {
    for (mut world, is_open) in [
        (World::new("client,page"), false),
        (modern_to_legacy("client,page", both()), true),
        (modern_to_modern("client,page", both()), true),
        (opened(json!({})).0, true),
    ] {
        let mut opening = initialize(9, json!({}));
        opening["params"]["_meta"] = modern(9, "", json!({}), both())["params"]["_meta"].clone();
        world.client(opening);
        let told = world.told_client();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!(9), &json!(-32601))
        );
        assert!(world.to_server.is_empty(), "{:?}", world.to_server);
        // It said nothing of the client's era.
        if !is_open {
            world.client(initialize(1, json!({})));
            assert_eq!(world.told_server()["method"], "initialize");
        }
    }
}
