//! What a modern server is told in headers, and how it is cancelled.

use serde_json::{Value, json};

use super::server::{Asked, Reply};
use super::{World, modern, words};

fn list(asked: &Asked) -> Value {
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "where": {"type": "object", "properties": {"town": {"type": "string", "x-mcp-header": "Town"}}},
    }});
    asked.result(json!({"tools": [{"name": "book", "inputSchema": schema}]}))
}

fn book() -> Value {
    json!({"name": "book", "arguments": {"region": "eu", "where": {"town": "São Paulo"}}})
}

fn mismatch(asked: &Asked) -> Reply {
    let error = json!({"code": -32020, "message": "Mcp-Param-Region is missing"});
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
    Reply::json(&body).with_status(400)
}

#[tokio::test]
async fn every_request_says_in_headers_what_it_is() {
    let mut world = World::with(|asked| Reply::json(&asked.result(json!({})))).await;
    world.send(modern(1, "tools/list", json!({})));
    world.says().await;
    world.send(modern(2, "resources/read", json!({"uri": "file:///é"})));
    world.says().await;
    world.send(modern(3, "prompts/get", json!({"name": "p"})));
    world.says().await;
    let headers = |name: &str| -> Vec<Option<String>> {
        let seen = world.server.seen();
        seen.iter()
            .map(|it| it.header(name).map(str::to_owned))
            .collect()
    };
    let texts = |texts: [Option<&str>; 3]| texts.map(|text| text.map(str::to_owned)).to_vec();
    assert_eq!(
        headers("mcp-protocol-version"),
        texts([Some("2026-07-28"); 3])
    );
    assert_eq!(
        headers("mcp-method"),
        texts([
            Some("tools/list"),
            Some("resources/read"),
            Some("prompts/get")
        ])
    );
    assert_eq!(
        headers("mcp-name"),
        texts([None, Some("=?base64?ZmlsZTovLy/DqQ==?="), Some("p")])
    );
    assert_eq!(headers("mcp-session-id"), texts([None; 3]));
}

#[tokio::test]
async fn a_call_repeats_its_marked_arguments_once_the_tools_are_known() {
    let mut world = World::with(|asked| match asked.is("tools/list") {
        true => Reply::json(&list(asked)),
        false => Reply::json(&asked.result(json!({}))),
    })
    .await;
    world.send(modern(1, "tools/list", json!({})));
    world.says().await;
    world.send(modern(2, "tools/call", book()));
    world.says().await;
    let call = world.server.seen().pop().unwrap();
    assert_eq!(call.header("mcp-name"), Some("book"));
    assert_eq!(call.header("mcp-param-region"), Some("eu"));
    assert_eq!(
        call.header("mcp-param-town"),
        Some("=?base64?U8OjbyBQYXVsbw==?=")
    );
}

#[tokio::test]
async fn a_call_whose_headers_are_missed_is_made_again_after_a_look_at_the_tools() {
    let mut world = World::with(|asked| {
        if asked.is("tools/list") {
            return match asked.body["params"]["cursor"].is_null() {
                true => Reply::json(&asked.result(json!({"tools": [], "nextCursor": "2"}))),
                false => Reply::json(&list(asked)),
            };
        }
        match asked.header("mcp-param-region") {
            Some("eu") => Reply::json(&asked.result(json!({"content": []}))),
            _ => mismatch(asked),
        }
    })
    .await;
    world.send(modern(1, "tools/call", book()));
    let answer = world.says().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"]),
        (&json!(1), &json!([]))
    );
    let methods: Vec<Value> = world
        .server
        .seen()
        .iter()
        .map(|it| it.body["method"].clone())
        .collect();
    assert_eq!(
        methods,
        ["tools/call", "tools/list", "tools/list", "tools/call"]
    );
    assert_eq!(world.rest().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_call_that_is_refused_again_is_an_error() {
    for list_fails in [false, true] {
        let mut world = World::with(move |asked| match asked.is("tools/list") {
            true if list_fails => Reply::status(500),
            true => Reply::json(&list(asked)),
            false => mismatch(asked),
        })
        .await;
        world.send(modern(1, "tools/call", book()));
        let answer = world.says().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(1), &json!(-32020))
        );
        let calls = world.server.seen();
        assert_eq!(calls.iter().filter(|it| it.is("tools/call")).count(), 2);
    }
}

#[tokio::test]
async fn a_modern_call_is_cancelled_by_hanging_up() {
    let mut world = World::with(|asked| {
        let progress = super::progress(asked.body["id"].as_u64().unwrap());
        Reply::events(&[format!("data: {progress}\n\n")]).stays()
    })
    .await;
    world.send(modern(1, "tools/call", json!({"name": "book"})));
    world.send(modern(2, "tools/call", json!({"name": "book"})));
    world.says().await;
    world.says().await;
    world.send(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let seen = world
        .server
        .sees(|seen| seen.iter().any(|it| it.is_left))
        .await;
    assert_eq!(seen.len(), 2, "nothing is sent");
    let left: Vec<&Value> = seen
        .iter()
        .filter(|it| it.is_left)
        .map(|it| &it.body["id"])
        .collect();
    assert_eq!(left, [1], "the other goes on");
}

#[tokio::test]
async fn what_a_modern_server_refuses_in_its_own_words_is_told_in_them() {
    let mut world = World::with(|asked| {
        let error = json!({"code": -32601, "message": "no such method", "data": {"x": 1}});
        Reply::json(&json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error}))
            .with_status(404)
    })
    .await;
    world.send(modern(1, "nonsense", json!({})));
    let answer = world.says().await;
    assert_eq!(answer["error"]["data"]["x"], 1);
    assert_eq!(words(&answer), "no such method");
}
