//! How legs are opened, whatever the peers speak.

use super::eras::*;

#[test]
fn a_legacy_client_opens_a_legacy_server_as_if_nobody_were_there() {
    let mut world = World::new("client");
    world.client(initialize(
        1,
        json!({"elicitation": {"form": {}, "url": {}}}),
    ));
    assert_eq!(
        world.told_server(),
        initialize(1, json!({"elicitation": {"form": {}, "url": {}}}))
    );
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": initialized()});
    world.server(answer.clone());
    assert_eq!(world.told_client(), answer);
    assert!(world.wakes_at().is_none());
}

#[test]
fn a_legacy_client_finds_a_modern_server_open() {
    let mut world = World::new("client,page");
    world.client(initialize(1, json!({})));
    let opening = world.told_server();
    let refused = json!({"jsonrpc": "2.0", "id": opening["id"], "error": {"code": -32022, "message": "Unsupported",
        "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"}}});
    world.server(refused);
    assert!(world.to_client.is_empty());
    let probe = world.server_answers(discovered());
    assert_eq!(probe["method"], "server/discover");
    assert_eq!(
        probe["params"]["_meta"][meta::PROTOCOL_VERSION],
        "2026-07-28"
    );
    let told = world.told_client();
    assert_eq!(told["id"], 1);
    assert_eq!(told["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(told["result"]["serverInfo"]["name"], "books");
    assert_eq!(told["result"]["instructions"], "Read.");
    assert_eq!(
        told["result"]["capabilities"]["tools"],
        json!({"listChanged": true})
    );
    // What it would have heard by itself is asked for.
    let listen = world.told_server();
    assert_eq!(listen["method"], "subscriptions/listen");
    assert_eq!(
        listen["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    assert_eq!(
        listen["params"]["_meta"][meta::CLIENT_CAPABILITIES]["elicitation"],
        both()
    );
}

#[test]
fn a_server_that_is_neither_has_its_own_error_heard() {
    let mut world = World::new("client,page");
    world.client(initialize(1, json!({})));
    let opening = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "error": {"code": -32000, "message": "not today"}}));
    let probe = world.told_server();
    world.server(
        json!({"jsonrpc": "2.0", "id": probe["id"], "error": {"code": -32601, "message": "?"}}),
    );
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["error"]["message"]),
        (&json!(1), &json!("not today"))
    );
}

#[test]
fn a_modern_client_finds_a_legacy_server_open_and_what_it_said_waits() {
    for silent in [false, true] {
        let mut world = World::new("client,page");
        world.client(modern(1, "server/discover", json!({}), both()));
        world.client(modern(2, "tools/list", json!({}), both()));
        let probe = world.told_server();
        assert_eq!(probe["method"], "server/discover");
        if silent {
            world.passes(Duration::from_secs(10));
        } else {
            world.server(json!({"jsonrpc": "2.0", "id": probe["id"], "error": {"code": -32602, "message": "?"}}));
        }
        let opening = world.server_answers(initialized());
        assert_eq!(opening["method"], "initialize");
        assert_eq!(opening["params"]["capabilities"]["elicitation"], both());
        assert_eq!(opening["params"]["clientInfo"]["name"], "c");
        let told = world.told_client();
        assert_eq!(told["id"], 1);
        let result = &told["result"];
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["supportedVersions"][0], "2026-07-28");
        assert_eq!(result["instructions"], "Read.");
        assert_eq!(
            result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
            "books"
        );
        assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string());
        assert_eq!(world.to_server[0]["method"], "notifications/initialized");
        let list = world.to_server.remove(1);
        assert_eq!(
            (&list["method"], &list["id"]),
            (&json!("tools/list"), &json!(2))
        );
        assert!(list["params"]["_meta"].as_object().unwrap().is_empty());
        world.server(json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}}));
        let told = world.told_client();
        assert_eq!(
            told["result"],
            json!({"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
        );
    }
}

#[test]
fn a_server_that_ends_at_the_question_is_started_again_as_a_legacy_one() {
    let mut world = World::new("client,page");
    world.client(modern(1, "server/discover", json!({}), both()));
    world.to_server.clear();
    assert!(world.is_probing());
    world.restarted();
    assert_eq!(world.told_server()["method"], "initialize");
    assert!(!world.is_probing());
}

#[test]
fn the_era_can_be_said() {
    let mut world = World::of("client,page", ServerEra::Legacy);
    world.client(modern(1, "tools/list", json!({}), both()));
    assert_eq!(world.told_server()["method"], "initialize");
    let mut world = World::of("client,page", ServerEra::Modern);
    world.client(initialize(1, json!({})));
    world.server_answers(discovered());
    assert_eq!(world.told_client()["result"]["serverInfo"]["name"], "books");
}

#[test]
fn a_revision_nobody_speaks_is_refused_with_those_that_are() {
    let mut world = modern_to_legacy("client,page", both());
    let mut request = modern(7, "tools/list", json!({}), both());
    request["params"]["_meta"][meta::PROTOCOL_VERSION] = "2031-01-01".into();
    world.client(request);
    let error = world.told_client()["error"].clone();
    assert_eq!(error["code"], -32022);
    let spoken = json!(["2026-07-28", "2025-11-25", "2025-06-18"]);
    assert_eq!(
        error["data"],
        json!({"supported": spoken, "requested": "2031-01-01"})
    );
    world.client(modern(8, "server/discover", json!({}), both()));
    assert_eq!(
        world.told_client()["result"]["supportedVersions"],
        spoken,
        "the same as in the error"
    );
    // What a modern server says of itself is what clients choose from, too.
    let mut world = World::new("client");
    world.client(modern(1, "server/discover", json!({}), both()));
    let theirs = |versions: Value| {
        let mut said = discovered();
        said["supportedVersions"] = versions;
        said
    };
    let later = json!(["2031-01-01", "2026-07-28"]);
    world.server_answers(theirs(later.clone()));
    world.server_answers(theirs(later));
    let told = world.told_client();
    assert_eq!((&told["id"], &told["result"]), (&json!(1), &theirs(spoken)));
}

#[test]
fn an_opening_that_fails_is_told_to_whoever_waited() {
    let mut world = World::of("client,page", ServerEra::Legacy);
    world.client(modern(1, "tools/list", json!({}), both()));
    world.client(modern(2, "prompts/list", json!({}), both()));
    let opening = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "error": {"code": -32000, "message": "not today"}}));
    let ids: Vec<&Value> = world.to_client.iter().map(|told| &told["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(2)]);
    assert!(
        world
            .to_client
            .iter()
            .all(|told| told["error"]["message"] == "not today")
    );
}

#[test]
fn a_modern_server_that_takes_long_to_start_is_still_a_modern_one() {
    let mut world = World::new("client,page");
    world.client(modern(
        1,
        "tools/call",
        json!({"name": "book"}),
        Value::Null,
    ));
    let probe = world.told_server();
    world.passes(Duration::from_secs(10));
    assert_eq!(world.told_server()["method"], "initialize");
    world.server(json!({"jsonrpc": "2.0", "id": probe["id"], "result": discovered()}));
    let call = world.to_server.pop().unwrap();
    assert_eq!(
        (&call["id"], &call["method"]),
        (&json!(1), &json!("tools/call"))
    );
    assert_eq!(
        call["params"]["_meta"][meta::PROTOCOL_VERSION],
        "2026-07-28"
    );
    let mut world = World::of("client,page", ServerEra::Modern);
    world.client(modern(1, "tools/list", json!({}), both()));
    world.to_server.clear();
    world.passes(Duration::from_secs(60));
    assert!(world.to_server.is_empty(), "it was said to be modern");
}

#[test]
fn what_is_taken_back_during_the_opening_is_taken_back_after_it() {
    let mut world = World::of("client,page", ServerEra::Legacy);
    world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let opening = world.told_server();
    assert!(world.holds());
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "result": initialized()}));
    let methods: Vec<&Value> = world.to_server.iter().map(|sent| &sent["method"]).collect();
    assert_eq!(
        methods,
        [
            "notifications/initialized",
            "tools/call",
            "notifications/cancelled"
        ]
    );
}

/// A modern client whose server did not say in time what it is, or said that it is no modern
/// one, and that refuses to be opened as a legacy one.
fn refused(in_time: bool) -> (World, Value) {
    let mut world = World::new("client,page");
    world.client(modern(1, "tools/list", json!({}), both()));
    let probe = world.told_server();
    if in_time {
        world.server(json!({"jsonrpc": "2.0", "id": probe["id"], "error": {"code": -32603, "message": "not ready"}}));
    } else {
        world.passes(Duration::from_secs(10));
    }
    let opening = world.told_server();
    assert_eq!(opening["method"], "initialize");
    let error = json!({"code": -32601, "message": "Method not found"});
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "error": error}));
    assert!(world.to_client.is_empty());
    world.client(modern(2, "prompts/list", json!({}), both()));
    (world, probe)
}

#[test]
fn a_server_that_refuses_to_be_a_legacy_one_is_asked_once_more_what_it_is() {
    for in_time in [true, false] {
        let (mut world, probe) = refused(in_time);
        let probe = if in_time { world.told_server() } else { probe };
        assert_eq!(probe["method"], "server/discover");
        world.server(json!({"jsonrpc": "2.0", "id": probe["id"], "result": discovered()}));
        let sent: Vec<_> = (world.to_server.iter())
            .map(|sent| {
                (
                    &sent["id"],
                    &sent["params"]["_meta"][meta::PROTOCOL_VERSION],
                )
            })
            .collect();
        let modern = json!("2026-07-28");
        assert_eq!(sent, [(&json!(1), &modern), (&json!(2), &modern)]);
        assert!(world.to_client.is_empty());
    }
}

#[test]
fn a_server_that_is_neither_tells_a_modern_client_so_too() {
    let (mut world, _) = refused(true);
    let probe = world.told_server();
    world.server(
        json!({"jsonrpc": "2.0", "id": probe["id"], "error": {"code": -32601, "message": "?"}}),
    );
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["error"]["message"]),
        (&json!(1), &json!("Method not found"))
    );
    // Whoever comes later may be luckier.
    let opening = world.server_answers(initialized());
    assert_eq!(opening["method"], "initialize");
    let list = world.to_server.pop().unwrap();
    assert_eq!(
        (&list["id"], &list["method"]),
        (&json!(2), &json!("prompts/list"))
    );
}
