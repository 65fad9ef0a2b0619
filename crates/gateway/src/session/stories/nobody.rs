//! Questions that nobody can be asked: what the server hears, and what the client hears that could have shown them.

use midcall_desk::Unavailable;

use super::eras::*;

/// What a server hears of a question that nobody could be asked, though it was told that somebody could.
fn cancelled(id: impl Into<Value>) -> Value {
    let outcome = json!({"dev.midcall/outcome": {"state": "unavailable", "reason": "no_route"}});
    json!({"jsonrpc": "2.0", "id": id.into(), "result": {"action": "cancel", "_meta": outcome}})
}

fn call(id: u64, elicitation: Value) -> Value {
    modern(id, "tools/call", json!({"name": "book"}), elicitation)
}

fn elicit(id: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
}

/// The error that names these missing capabilities; its words are looked at by themselves.
fn missing(id: u64, required: &Value, told: &Value) {
    assert_eq!(told["id"], id, "{told}");
    assert_eq!(told["error"]["code"], -32021, "{told}");
    assert_eq!(
        told["error"]["data"],
        json!({"requiredCapabilities": required})
    );
}

/// The legacy server hears that its question has no answer, and then that its call is over.
fn gives_up(world: &mut World, question: &str, call: u64) -> Value {
    let [answer, cancel] = &std::mem::take(&mut world.to_server)[..] else {
        panic!("an answer, and then the end of the call");
    };
    assert_eq!(answer["id"], question);
    assert_eq!(cancel["method"], "notifications/cancelled");
    assert_eq!(cancel["params"]["requestId"], call);
    answer.clone()
}

#[test]
fn a_server_that_asks_in_a_mode_that_nobody_declared_hears_the_error_of_its_revision() {
    let forms = json!({"elicitation": {}});
    for (ask, revision, capabilities, params, is_error) in [
        ("client", "2025-11-25", json!({}), day(), true),
        ("client", "2025-11-25", json!({}), link("in"), true),
        ("client", "2025-11-25", forms.clone(), link("in"), true),
        ("client", "2025-06-18", json!({}), day(), false),
        // Declared for the model, which is told in a call, and there is none.
        ("client,model", "2025-11-25", json!({}), day(), false),
        ("client,model", "2025-11-25", json!({}), link("in"), true),
        // The client itself declared it, and the policy leaves it out.
        ("model", "2025-11-25", forms, day(), false),
    ] {
        let mut world = World::opened(ask, "2025-11-25", capabilities.clone(), revision);
        let case = format!("{ask} {revision} {capabilities} {params}");
        world.server(elicit("s", params));
        let told = world.told_server();
        if is_error {
            assert_eq!(told["error"]["code"], -32602, "{case}");
        } else {
            assert_eq!(told, cancelled("s"), "{case}");
        }
        assert!(world.to_client.is_empty(), "{case}");
    }
}

#[test]
fn a_modern_client_hears_what_it_would_have_to_declare() {
    let forms = json!({"form": {}});
    for (declared, params, required) in [
        (Value::Null, day(), json!({"elicitation": {"form": {}}})),
        (Value::Null, link("in"), json!({"elicitation": {"url": {}}})),
        (forms, link("in"), json!({"elicitation": {"url": {}}})),
    ] {
        let mut world = modern_to_legacy("client", declared.clone());
        world.client(call(1, declared.clone()));
        world.to_server.clear();
        world.server(elicit("s", params.clone()));
        assert_eq!(gives_up(&mut world, "s", 1)["error"]["code"], -32602);
        let told = world.told_client();
        missing(1, &required, &told);
        let words = told["error"]["message"].as_str().unwrap();
        let mode = if required["elicitation"]["url"].is_object() {
            "elicitation.url"
        } else {
            "elicitation.form"
        };
        assert!(words.contains(mode), "{words}");
        // What the server makes of that comes too late.
        world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
        assert!(world.to_client.is_empty());
        // The call again, by a client that can.
        world.client(call(2, both()));
        world.to_server.clear();
        world.server(elicit("s", params));
        assert_eq!(
            world.told_client()["result"]["resultType"],
            "input_required"
        );
    }
}

#[test]
fn it_hears_that_too_when_nobody_came_to_the_page() {
    let mut world = modern_to_legacy("client,page", Value::Null);
    world.client(call(1, Value::Null));
    world.to_server.clear();
    world.server(elicit("s", day()));
    world.ends(1, Outcome::Unavailable(Unavailable::NoRoute));
    // The server was told that somebody could be asked.
    assert_eq!(gives_up(&mut world, "s", 1), cancelled("s"));
    missing(
        1,
        &json!({"elicitation": {"form": {}}}),
        &world.told_client(),
    );

    // A client that is away hears it when it comes back.
    let mut world = modern_to_legacy("client,page", Value::Null);
    world.client(call(1, Value::Null));
    world.to_server.clear();
    world.server(elicit("s", day()));
    world.see();
    world.passes(Duration::from_secs(45));
    let state = world.told_client()["result"]["requestState"].clone();
    world.ends(1, Outcome::Unavailable(Unavailable::NoRoute));
    gives_up(&mut world, "s", 1);
    assert!(world.to_client.is_empty());
    world.client(modern(
        2,
        "tools/call",
        json!({"name": "book", "requestState": state}),
        Value::Null,
    ));
    missing(
        2,
        &json!({"elicitation": {"form": {}}}),
        &world.told_client(),
    );
}

#[test]
fn which_of_several_calls_is_to_blame_is_not_guessed() {
    let mut world = modern_to_legacy("client,page", Value::Null);
    world.client(call(1, Value::Null));
    world.client(call(2, Value::Null));
    world.to_server.clear();
    world.server(elicit("s", day()));
    world.ends(1, Outcome::Unavailable(Unavailable::NoRoute));
    assert_eq!(world.told_server(), cancelled("s"));
    assert!(world.to_client.is_empty());
    // The stream over HTTP says which one it is.
    world.server_during(2, elicit("t", day()));
    world.ends(2, Outcome::Unavailable(Unavailable::NoRoute));
    assert_eq!(gives_up(&mut world, "t", 2), cancelled("t"));
    missing(
        2,
        &json!({"elicitation": {"form": {}}}),
        &world.told_client(),
    );
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
    assert_eq!(world.told_client()["result"]["resultType"], "complete");

    // A list asks nothing.
    let mut world = modern_to_legacy("client", Value::Null);
    world.client(modern(1, "tools/list", json!({}), Value::Null));
    world.to_server.clear();
    world.server(elicit("s", day()));
    assert_eq!(world.told_server()["error"]["code"], -32602);
    assert!(world.to_client.is_empty());
}

#[test]
fn a_client_is_not_told_to_declare_what_would_not_help() {
    // It is never asked (`page`), or it declared that it can show forms.
    for (ask, declared) in [("page", Value::Null), ("page", both())] {
        let mut world = modern_to_legacy(ask, declared.clone());
        world.client(call(1, declared));
        world.to_server.clear();
        world.server(elicit("s", day()));
        world.ends(1, Outcome::Unavailable(Unavailable::NoRoute));
        assert_eq!(world.told_server(), cancelled("s"), "{ask}");
        assert!(world.to_client.is_empty());
    }
}

#[test]
fn a_round_ends_its_call_with_what_is_missing() {
    for (kind, asked, required) in [
        (
            "form",
            json!({"method": "elicitation/create", "params": day()}),
            json!({"elicitation": {"form": {}}}),
        ),
        (
            "link",
            json!({"method": "elicitation/create", "params": link("in")}),
            json!({"elicitation": {"url": {}}}),
        ),
        (
            "sampling",
            json!({"method": "sampling/createMessage", "params": {}}),
            json!({"sampling": {}}),
        ),
        (
            "roots",
            json!({"method": "roots/list"}),
            json!({"roots": {}}),
        ),
    ] {
        let mut world = modern_to_modern("client,page", Value::Null);
        world.client(call(1, Value::Null));
        let sent = world.told_server();
        let result = json!({"resultType": "input_required", "inputRequests": {"k": asked}});
        world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": result}));
        if required["elicitation"].is_object() {
            world.ends(1, Outcome::Unavailable(Unavailable::NoRoute));
        }
        missing(1, &required, &world.told_client());
        assert!(
            world.to_server.is_empty(),
            "{kind}: between two rounds a server has nothing to take back"
        );
    }
}

#[test]
fn what_else_came_up_in_the_call_ends_with_it() {
    let forms = json!({"form": {}});
    let mut world = modern_to_legacy("client", forms.clone());
    world.client(call(1, forms));
    world.to_server.clear();
    world.server(elicit("s", day()));
    let round = world.told_client()["result"].clone();
    world.server(elicit("t", link("in")));
    let told = std::mem::take(&mut world.to_server);
    let ids: Vec<_> = told
        .iter()
        .map(|told| (&told["id"], &told["method"]))
        .collect();
    let (none, cancelled) = (Value::Null, json!("notifications/cancelled"));
    assert_eq!(
        ids,
        [
            (&json!("t"), &none),
            (&none, &cancelled),
            (&json!("s"), &none)
        ]
    );
    assert_eq!(told[2]["result"]["action"], "cancel");
    let answers = json!({"name": "book", "requestState": round["requestState"], "inputResponses": {"q1": monday()}});
    world.client(modern(2, "tools/call", answers, json!({"form": {}})));
    missing(
        2,
        &json!({"elicitation": {"url": {}}}),
        &world.told_client(),
    );
    assert!(world.to_server.is_empty());
}
