//! How much a server logs, for clients of either era.

use super::eras::*;

const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A call of a modern client that wants to read the log from a level on.
fn call(id: u64, level: &str) -> Value {
    let mut call = modern(id, "tools/call", json!({"name": "book"}), both());
    if !level.is_empty() {
        call["params"]["_meta"][LEVEL] = level.into();
    }
    call
}

/// A line of the server's log.
fn log(level: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level, "data": "x"}})
}

fn result(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}})
}

/// What a server was sent since it was last looked at: the levels that it is to log, and other methods.
fn sent(told: &mut Vec<Value>) -> Vec<String> {
    let told = std::mem::take(told).into_iter();
    let name = |told: Value| match told["method"].as_str() {
        Some("logging/setLevel") => told["params"]["level"].as_str().unwrap().to_owned(),
        Some(method) => method.to_owned(),
        None => "answer".to_owned(),
    };
    told.map(name).collect()
}

#[test]
fn the_level_goes_back_when_the_request_ends_that_wanted_it() {
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}});
    for (end, told) in [
        ("result", vec![]),
        ("error", vec![]),
        ("cancel", vec!["notifications/cancelled"]),
    ] {
        let mut world = modern_to_legacy("client,page", both());
        world.client(call(1, "debug"));
        assert_eq!(sent(&mut world.to_server), ["debug", "tools/call"]);
        match end {
            "result" => world.server(result(1)),
            "error" => world.server(error.clone()),
            _ => world.client(cancel.clone()),
        }
        let expected = told.into_iter().chain(["emergency"]);
        assert_eq!(
            sent(&mut world.to_server),
            expected.collect::<Vec<_>>(),
            "{end}"
        );
        // Nobody wants to hear anything now.
        world.client(call(2, ""));
        assert_eq!(sent(&mut world.to_server), ["tools/call"]);
        world.to_client.clear();
        world.server(log("alert"));
        assert!(world.to_client.is_empty());
        world.client(call(3, "debug"));
        assert_eq!(sent(&mut world.to_server), ["debug", "tools/call"]);
    }
}

#[test]
fn of_several_open_requests_the_one_that_wants_most_is_heard() {
    let mut world = modern_to_legacy("client,page", both());
    for (id, level, expected) in [
        (1, "warning", &["warning", "tools/call"][..]),
        (2, "info", &["info", "tools/call"]),
        (3, "error", &["tools/call"]),
        (4, "", &["tools/call"]),
        (5, "loud", &["tools/call"]),
    ] {
        world.client(call(id, level));
        assert_eq!(sent(&mut world.to_server), expected, "{level}");
    }
    for (id, expected) in [
        (4, &[][..]),
        (2, &["warning"]),
        (1, &["error"]),
        (3, &["emergency"]),
        (5, &[]),
    ] {
        world.server(result(id));
        assert_eq!(sent(&mut world.to_server), expected, "{id}");
    }
}

#[test]
fn a_request_reads_the_log_from_its_own_level_on() {
    let mut world = modern_to_legacy("client,page", both());
    for (id, level) in [(1, "error"), (2, "debug"), (3, "")] {
        world.client(call(id, level));
    }
    for (request, level, heard) in [
        (Some(1), "info", None),
        (Some(1), "error", Some(1)),
        (Some(2), "info", Some(2)),
        (Some(3), "emergency", None),
        // Whose it is isn't known, and who wants most wants this.
        (None, "info", Some(2)),
    ] {
        world.in_calls.clear();
        world.to_client.clear();
        match request {
            Some(request) => world.server_during(request, log(level)),
            None => world.server(log(level)),
        }
        let told: Vec<_> = world
            .in_calls
            .iter()
            .map(|(id, told)| (id.as_u64(), told))
            .collect();
        match heard {
            Some(_) => assert_eq!(told, [(heard, &log(level))]),
            None => assert!(
                told.is_empty() && world.to_client.is_empty(),
                "{request:?} {level}"
            ),
        }
    }
    // A server may say more than it was asked to.
    world.server(result(2));
    world.to_client.clear();
    world.server(log("info"));
    assert!(world.to_client.is_empty());
    world.server(log("critical"));
    assert_eq!(world.told_client(), log("critical"));
}

#[test]
fn a_client_that_is_away_reads_nothing() {
    let mut world = modern_to_legacy("client,page", both());
    world.client(call(1, "debug"));
    world.to_server.clear();
    world.server(
        json!({"jsonrpc": "2.0", "id": "s", "method": "elicitation/create", "params": day()}),
    );
    let round = world.told_client()["result"].clone();
    assert_eq!(sent(&mut world.to_server), ["emergency"]);
    let mut back = call(2, "info");
    back["params"]["requestState"] = round["requestState"].clone();
    back["params"]["inputResponses"] = json!({"q1": monday()});
    world.client(back);
    let mut told = sent(&mut world.to_server);
    told.sort_unstable();
    assert_eq!(told, ["answer", "info"]);
    world.server(result(1));
    assert_eq!(sent(&mut world.to_server), ["emergency"]);
}

#[test]
fn the_second_process_logs_for_its_own_calls() {
    let mut world = modern_to_modern("client,page", Value::Null);
    let refusal = "Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.";
    let mut loud = call(1, "info");
    loud["params"]["_meta"][meta::CLIENT_CAPABILITIES] = json!({});
    world.client(loud);
    let at_first = world.told_server();
    assert_eq!(at_first["params"]["_meta"][LEVEL], "info");
    world.server(json!({"jsonrpc": "2.0", "id": at_first["id"], "error": {"code": -32600, "message": refusal}}));
    let opening = world.told_beside();
    world.beside(json!({"jsonrpc": "2.0", "id": opening["id"], "result": initialized()}));
    assert_eq!(
        sent(&mut world.to_beside),
        ["notifications/initialized", "info", "tools/call"]
    );
    world.beside(log("debug"));
    assert!(world.to_client.is_empty());
    world.beside(log("notice"));
    assert_eq!(world.told_client(), log("notice"));
    world.beside(result(1));
    assert_eq!(sent(&mut world.to_beside), ["emergency"]);
    assert!(world.to_server.is_empty());
}

#[test]
fn the_level_that_another_client_of_the_server_set_is_the_one_it_goes_back_to() {
    let mut world = World::new("client,page");
    world.client(initialize(0, json!({})));
    world.server_answers(initialized());
    let own = json!({"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": "notice"}});
    world.client(own.clone());
    assert_eq!(world.told_server(), own);
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    world.client(call(2, "debug"));
    assert_eq!(sent(&mut world.to_server), ["debug", "tools/call"]);
    world.server(result(2));
    assert_eq!(sent(&mut world.to_server), ["notice"]);
}

#[test]
fn the_level_that_a_legacy_client_sets_goes_with_each_of_its_requests() {
    let mut world = legacy_to_modern("client,page", json!({"elicitation": {}}));
    let mut ids = 1..;
    let mut sets = |world: &mut World, level: Value| {
        world.client(json!({"jsonrpc": "2.0", "id": ids.next(), "method": "logging/setLevel", "params": {"level": level}}));
        assert!(world.to_server.is_empty());
        world.told_client()
    };
    let calls = |world: &mut World, id: u64| {
        world.client(
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "book"}}),
        );
        world.told_server()
    };
    assert_eq!(calls(&mut world, 101)["params"]["_meta"].get(LEVEL), None);
    assert_eq!(sets(&mut world, "info".into())["result"], json!({}));
    assert_eq!(calls(&mut world, 102)["params"]["_meta"][LEVEL], "info");
    for wrong in [json!("loud"), json!(7), Value::Null, json!("INFO")] {
        assert_eq!(sets(&mut world, wrong)["error"]["code"], -32602);
    }
    assert_eq!(
        calls(&mut world, 103)["params"]["_meta"][LEVEL],
        "info",
        "what was wrong changed nothing"
    );
    // A call that is made once more, and one of another method.
    world.server(json!({"jsonrpc": "2.0", "id": 103, "result": {"resultType": "input_required", "inputRequests": asks("k", day())}}));
    let question = world.told_client();
    sets(&mut world, "debug".into());
    world.client(json!({"jsonrpc": "2.0", "id": question["id"], "result": monday()}));
    assert_eq!(world.told_server()["params"]["_meta"][LEVEL], "debug");
    world.client(json!({"jsonrpc": "2.0", "id": 104, "method": "prompts/list"}));
    assert_eq!(world.told_server()["params"]["_meta"][LEVEL], "debug");
    // It comes back as it came.
    world.server(log("info"));
    assert_eq!(world.told_client(), log("info"));
}
