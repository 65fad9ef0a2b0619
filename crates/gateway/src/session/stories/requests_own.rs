//! What each request says for itself, and what is kept as it was written.

use std::time::Duration;

use midcall_core::Answer;
use serde_json::Value;

use super::eras::*;
use crate::frame::Frame;
use crate::session::world::Line;

const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A request with capabilities, a name and a log level of its own.
fn call(id: u64, name: &str, capabilities: Value, level: Option<&str>) -> Value {
    let mut call = modern(id, "tools/call", json!({"name": "book"}), Value::Null);
    call["params"]["_meta"][meta::CLIENT_CAPABILITIES] = capabilities;
    call["params"]["_meta"][meta::CLIENT_INFO]["name"] = name.into();
    if let Some(level) = level {
        call["params"]["_meta"][LEVEL] = level.into();
    }
    call
}

#[test]
fn a_modern_server_is_told_what_each_request_declares() {
    let mut world = modern_to_modern("client,page", Value::Null);
    let apps = json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}});
    let sampling = json!({"sampling": {}});
    for (id, name, capabilities, level) in [(1, "a", apps, Some("debug")), (2, "b", sampling, None)]
    {
        world.client(call(id, name, capabilities.clone(), level));
        let told = world.told_server()["params"]["_meta"].clone();
        let mut expected = capabilities;
        expected["elicitation"] = both();
        assert_eq!(told[meta::CLIENT_CAPABILITIES], expected);
        assert_eq!(told[meta::CLIENT_INFO]["name"], name);
        assert_eq!(told[LEVEL], json!(level));
    }
}

#[test]
fn a_question_goes_into_a_call_that_declared_its_mode() {
    let mut world = modern_to_legacy("client", both());
    let forms = json!({"elicitation": {"form": {}}});
    world.client(call(1, "c", json!({}), None));
    world.client(call(2, "c", forms, None));
    // Another request says nothing about the calls that are open.
    world.client(modern(3, "tools/list", json!({}), Value::Null));
    world.to_server.clear();
    world.server(
        json!({"jsonrpc": "2.0", "id": "s7", "method": "elicitation/create", "params": day()}),
    );
    assert_eq!(world.told_client()["id"], 2);
}

#[test]
fn progress_rises_though_the_server_begins_again() {
    let mut world = legacy_to_modern("client,page", json!({"elicitation": {"form": {}}}));
    world.client(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "book", "_meta": {"progressToken": "t"}}}));
    let sent = world.told_server();
    let progress = |n: f64| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "t", "progress": n}});
    world.server(progress(5.0));
    assert_eq!(world.told_client(), progress(5.0));
    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"resultType": "input_required", "inputRequests": asks("k", day())}}));
    let ask = world.told_client();
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
    let mut last = 5.0;
    for n in [0.0, 1.0, 5.0] {
        world.server(progress(n));
        let told = world.told_client()["params"]["progress"].as_f64().unwrap();
        assert!(told > last, "{told} after {last}");
        last = told;
    }
    world.server(progress(6.0));
    assert_eq!(world.told_client(), progress(6.0));
}

#[test]
fn numbers_keep_their_digits_between_eras() {
    let arguments =
        r#"{"big":123456789012345678901234567890,"huge":1e400,"one":1.0,"text":"\u00e9"}"#;
    let sent = |lines: Vec<Line>| {
        let line = lines.into_iter().find_map(|line| match line {
            Line::ToServer(frame) => Some(frame.into_bytes()),
            _ => None,
        });
        String::from_utf8(line.unwrap().to_vec()).unwrap()
    };
    let mut world = modern_to_legacy("client,page", both());
    world.keep_bytes();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{arguments},{meta}}}}}"#
    );
    world.client_frame(Frame::new(line.into()));
    assert!(sent(world.told_bytes()).contains(arguments));

    let mut world = legacy_to_modern("client,page", json!({}));
    world.keep_bytes();
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{arguments}}}}}"#
    );
    world.client_frame(Frame::new(line.into()));
    assert!(sent(world.told_bytes()).contains(arguments));
}

#[test]
fn an_answer_keeps_its_digits_in_a_retry() {
    let content = r#"{"n":123456789012345678901234567890}"#;
    let form = json!({"message": "How many?", "mode": "form", "requestedSchema": {"type": "object",
        "properties": {"n": {"type": "number"}}}});
    let mut world = legacy_to_modern("client,page", json!({"elicitation": {"form": {}}}));
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "book"}}),
    );
    let sent = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"resultType": "input_required", "inputRequests": asks("k", form)}}));
    let ask = world.told_client();
    world.passes(Duration::from_secs(1));
    world.keep_bytes();
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"accept","content":{content}}}}}"#,
        ask["id"]
    );
    world.client_frame(Frame::new(line.into()));
    let told = world.told_bytes().into_iter().find_map(|line| match line {
        Line::ToServer(frame) => String::from_utf8(frame.into_bytes().to_vec()).ok(),
        _ => None,
    });
    assert!(told.unwrap().contains(content));
}

#[test]
fn a_round_is_judged_by_the_policy_of_its_own_call() {
    let policy = "[[rule]]\ntool = \"pay\"\nroutes = \"page\"\n";
    let mut world = World::with("client,page", |rules| {
        rules.policy = policy.parse().unwrap()
    });
    world.client(initialize(0, json!({"elicitation": {"form": {}}})));
    let opening = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "error": {"code": -32601, "message": "Method not found"}}));
    world.server_answers(discovered());
    world.to_server.clear();
    world.to_client.clear();
    for (id, tool) in [(1, "pay"), (2, "look")] {
        world.client(
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}),
        );
    }
    world.to_server.clear();
    let round = |id: u64| json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "input_required", "inputRequests": asks("k", day())}});
    // Though `pay` is open as well, it isn't the one that asks.
    world.server(round(2));
    assert_eq!(world.told_client()["method"], "elicitation/create");
    assert!(world.asked.is_empty());
    world.server(round(1));
    assert_eq!(world.asked[0].1.asker.tool.as_deref(), Some("pay"));
    assert!(world.to_client.is_empty());
}

#[test]
fn a_result_waits_ten_minutes_for_a_client_that_was_told_to_come_back() {
    let mut world = modern_to_legacy("page", Value::Null);
    let again = |id: u64, state: &Value| {
        let mut params = json!({"name": "book"});
        if state.is_string() {
            params["requestState"] = state.clone();
        }
        modern(id, "tools/call", params, Value::Null)
    };
    world.client(again(1, &Value::Null));
    world.to_server.clear();
    world.server(
        json!({"jsonrpc": "2.0", "id": "s7", "method": "elicitation/create", "params": day()}),
    );
    world.see();
    world.passes(Duration::from_secs(45));
    let state = world.told_client()["result"]["requestState"].clone();
    world.ends(1, Outcome::Answered(Answer::Cancelled, PAGE));
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
    world.passes(Duration::from_secs(9 * 60));
    world.client(again(2, &state));
    assert_eq!(world.told_client()["result"]["content"], json!([]));
}

#[test]
fn a_task_that_a_client_makes_is_its_own() {
    let mut world = World::new("client,page");
    world.client(initialize(0, json!({})));
    world.server_answers(json!({"protocolVersion": "2025-11-25", "capabilities": {"tasks": {"requests": {"tools": {"call": {}}}}},
        "serverInfo": {"name": "books", "version": "2"}}));
    world.to_client.clear();
    world.lists(json!([{"name": "research", "execution": {"taskSupport": "required"}}]));
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "research", "task": {"ttl": 1}}});
    world.client(call.clone());
    assert_eq!(world.told_server(), call);
    let started = json!({"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t", "status": "working"}}});
    world.server(started.clone());
    assert_eq!(world.told_client(), started);
    let news = json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {"taskId": "t", "status": "working"}});
    world.server(news.clone());
    assert_eq!(world.told_client(), news);
    assert!(world.to_server.is_empty());
}

/// A server that makes tasks, and a modern client that knows nothing of them.
fn with_tasks() -> World {
    let mut tasks = discovered();
    tasks["capabilities"]["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    let mut world = World::new("client,page");
    world.client(modern(0, "server/discover", json!({}), both()));
    world.server_answers(tasks.clone());
    world.server_answers(tasks);
    world.to_client.clear();
    world.to_server.clear();
    world
}

#[test]
fn nobody_comes_back_for_a_call_that_was_taken_back() {
    let mut world = with_tasks();
    let call = |id: u64, more: Value| {
        let mut params = json!({"name": "book"});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        modern(id, "tools/call", params, both())
    };
    world.client(call(1, json!({})));
    let sent = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"resultType": "input_required", "inputRequests": asks("k", day())}}));
    let state = world.told_client()["result"]["requestState"].clone();
    let back = json!({"requestState": state, "inputResponses": {"k": monday()}});
    world.client(call(2, back.clone()));
    world.to_server.clear();
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
    );
    world.client(call(3, back));
    assert_eq!(world.told_client()["error"]["code"], -32602);
}

#[test]
fn capabilities_may_be_anything() {
    for extensions in [json!(1), json!("x"), json!([1]), json!(true), Value::Null] {
        let mut world = with_tasks();
        world.client(call(1, "c", json!({"extensions": extensions}), None));
        assert_eq!(world.told_server()["method"], "tools/call");
    }
}
