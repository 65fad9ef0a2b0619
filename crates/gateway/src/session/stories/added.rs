//! The tools that Midcall adds to a server's, and the list that they are in.

use super::eras::{both as modes, modern, modern_to_legacy, modern_to_modern};
use super::*;

/// A client that knows nothing of questions, and whose model is asked.
fn world() -> World {
    World::opened("client,model", "2025-11-25", json!({}), "2025-11-25")
}

fn names(tools: &Value) -> Vec<String> {
    let tools = tools.as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// One page of a list that the client asks for.
fn page(world: &mut World, tools: Value, next: Option<&str>) -> Value {
    world.client(json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}));
    let mut result = json!({"tools": tools});
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    world.server(json!({"jsonrpc": "2.0", "id": "list", "result": result}));
    world.to_server.clear();
    world.told_client()["result"].clone()
}

fn calls(world: &mut World, id: u64, tool: &str, arguments: Value) {
    world.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}}));
}

#[test]
fn an_added_tool_never_has_the_name_of_another() {
    let mut world = world();
    let tools = world.lists(json!([
        {"name": "sendElicitationResult"}, {"name": "midcall_sendElicitationResult"}, {"name": "midcall_sendElicitationResult_2"}
    ]));
    assert_eq!(
        names(&tools)[3..],
        ["awaitElicitation", "midcall_sendElicitationResult_3"]
    );
    // Nor of one on an earlier page.
    let first = page(&mut world, json!([{"name": "awaitElicitation"}]), Some("2"));
    assert_eq!(names(&first["tools"]), ["awaitElicitation"]);
    let last = page(&mut world, json!([{"name": "book"}]), None);
    assert_eq!(
        names(&last["tools"]),
        [
            "book",
            "midcall_awaitElicitation",
            "midcall_sendElicitationResult_3"
        ]
    );
}

#[test]
fn a_tool_that_the_server_adds_later_is_the_servers_and_old_answers_are_still_taken() {
    let mut world = world();
    world.lists(json!([{"name": "book"}]));
    world.calls(1);
    world.asks(7, day());
    let told = world.told_client();
    let id = &told["result"]["_meta"]["elicitationPending"]["elicitId"];
    // Now the server has a tool of that name, which the client hears of on the first of two pages.
    let list_changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    world.server(list_changed.clone());
    assert_eq!(world.told_client(), list_changed);
    page(
        &mut world,
        json!([{"name": "sendElicitationResult"}]),
        Some("2"),
    );
    calls(
        &mut world,
        2,
        "sendElicitationResult",
        json!({"elicitId": "theirs", "action": "accept"}),
    );
    assert_eq!(
        world.told_server()["params"]["arguments"]["elicitId"],
        "theirs"
    );
    // The answer to a question that was asked before goes where the model was told to send it.
    let answer = json!({"elicitId": id, "action": "accept", "content": {"day": "2026-11-16"}});
    calls(&mut world, 3, "sendElicitationResult", answer);
    assert_eq!(world.told_server()["result"]["action"], "accept");
    // And the new name is ours from the last page on.
    let last = page(&mut world, json!([]), None);
    assert_eq!(
        names(&last["tools"]),
        ["awaitElicitation", "midcall_sendElicitationResult"]
    );
    world.asks(8, day());
    let told = world.told_client();
    assert_eq!(told["id"], 3);
    let words = told["result"]["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("midcall_sendElicitationResult"), "{words}");
    calls(
        &mut world,
        4,
        "midcall_sendElicitationResult",
        json!({"elicitId": "guessed", "action": "accept"}),
    );
    assert_eq!(world.told_client()["result"]["isError"], true);
}

#[test]
fn a_list_with_added_tools_is_for_this_client_and_not_to_be_kept() {
    for server in ["legacy", "modern"] {
        let forms = json!({"form": {}});
        for (ask, declared, adds) in [
            ("client,model", Value::Null, true),
            ("client,model", forms, false),
            ("client,page", modes(), false),
        ] {
            let mut world = match server {
                "legacy" => modern_to_legacy(ask, declared.clone()),
                _ => modern_to_modern(ask, declared.clone()),
            };
            world.client(modern(1, "tools/list", json!({}), declared));
            world.server_answers(json!({"resultType": "complete", "ttlMs": 60000, "cacheScope": "public", "tools": []}));
            let told = world.told_client()["result"].clone();
            let hints = match adds {
                true => (json!(0), json!("private")),
                false => (json!(60000), json!("public")),
            };
            assert_eq!(
                (&told["ttlMs"], &told["cacheScope"]),
                (&hints.0, &hints.1),
                "{ask} {server}"
            );
            assert_eq!(told["tools"].as_array().unwrap().is_empty(), !adds);
        }
    }
    // A legacy list has no such words.
    let listed = page(&mut world(), json!([]), None);
    assert_eq!(listed.as_object().unwrap().len(), 1, "{listed}");
}

/// The `structuredContent` of a result fits the output schema that its tool was listed with.
fn fits(tools: &Value, result: &Value) {
    let schema = tools[0]["outputSchema"].clone();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&result["structuredContent"]), "{result}");
}

#[test]
fn a_result_that_asks_or_waits_fits_the_schema_of_its_tool() {
    let book = json!({"name": "book", "outputSchema": {"type": "object",
        "properties": {"day": {"$ref": "#/$defs/day"}, "next": {"$ref": "#"}, "again": {"$ref": "#/properties/day"}},
        "required": ["day"], "$defs": {"day": {"type": "string"}}}});
    let mut asked = world();
    let tools = asked.lists(json!([book, {"name": "plain"}]));
    assert!(tools[1].get("outputSchema").is_none());
    assert_eq!(tools[0]["outputSchema"]["type"], "object");
    asked.calls(1);
    asked.asks(7, day());
    let told = asked.told_client();
    assert!(told["result"]["structuredContent"]["elicitationPending"].is_object());
    fits(&tools, &told["result"]);
    fits(
        &tools,
        &json!({"structuredContent": {"day": "Monday", "again": "x", "next": {"day": "Tuesday"}}}),
    );
    let schema = jsonschema::validator_for(&tools[0]["outputSchema"]).unwrap();
    for unfit in [
        json!({"day": 7}),
        json!({"day": "x", "again": 7}),
        json!({"day": "x", "next": {}}),
        json!({}),
    ] {
        assert!(!schema.is_valid(&unfit), "{unfit}");
    }

    let mut waiting = World::plain();
    let tools = waiting.lists(json!([book]));
    waiting.calls(1);
    waiting.asks(7, day());
    waiting.to_client.clear();
    waiting.passes(Duration::from_secs(46));
    let told = waiting
        .to_client
        .iter()
        .find(|told| told["id"] == 1)
        .unwrap();
    let claim = &told["result"]["_meta"]["dev.midcall/waiting"]["claim"];
    assert!(claim.is_string());
    assert_eq!(
        &told["result"]["structuredContent"]["dev.midcall/waiting"]["claim"],
        claim
    );
    fits(&tools, &told["result"]);

    // A tool that promises nothing returns nothing more than it did; one that was never listed may promise something.
    for (listed, is_structured) in [(true, false), (false, true)] {
        let mut world = World::plain();
        if listed {
            world.lists(json!([{"name": "book"}]));
        }
        world.calls(1);
        world.asks(7, day());
        world.to_client.clear();
        world.passes(Duration::from_secs(46));
        let told = world.to_client.iter().find(|told| told["id"] == 1).unwrap();
        assert_eq!(
            told["result"]["structuredContent"].is_object(),
            is_structured
        );
    }
}
