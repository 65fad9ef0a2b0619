//! A legacy client with a modern server.

use midcall_core::Answer;

use super::eras::*;

fn call(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "book", "arguments": {"a": 1}, "_meta": {"progressToken": "t"}}})
}

fn needs(id: &Value, requests: Value, state: Value) -> Value {
    let mut result = json!({"resultType": "input_required"});
    if !requests.is_null() {
        result["inputRequests"] = requests;
    }
    if !state.is_null() {
        result["requestState"] = state;
    }
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn able() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}})
}

#[test]
fn a_round_is_a_question_and_the_call_is_made_again_with_the_answer() {
    let mut world = legacy_to_modern("client,page", able());
    world.client(call(1));
    let sent = world.told_server();
    assert_eq!(
        (&sent["id"], &sent["params"]["name"]),
        (&json!(1), &json!("book"))
    );
    let told = &sent["params"]["_meta"];
    assert_eq!(told["progressToken"], "t");
    assert_eq!(told[meta::PROTOCOL_VERSION], "2026-07-28");
    assert_eq!(told[meta::CLIENT_INFO]["name"], "c");
    assert_eq!(told[meta::CLIENT_CAPABILITIES], able());
    world.server(needs(
        &json!(1),
        asks("k", day()),
        json!("opaque \u{1F600}"),
    ));
    let ask = world.told_client();
    assert_eq!(
        (&ask["method"], &ask["params"]),
        (&json!("elicitation/create"), &day())
    );
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
    let again = world.told_server();
    assert_ne!(again["id"], 1);
    assert_eq!(again["params"]["inputResponses"], json!({"k": monday()}));
    assert_eq!(again["params"]["requestState"], "opaque \u{1F600}");
    assert_eq!(again["params"]["arguments"], json!({"a": 1}));
    assert_eq!(again["params"]["_meta"]["progressToken"], "t");
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"resultType": "complete", "content": [], "x": 1}}));
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": [], "x": 1}})
    );
}

#[test]
fn a_link_gets_an_id_and_the_same_link_again_means_not_finished() {
    let mut world = legacy_to_modern("client,page", able());
    world.client(call(1));
    world.to_server.clear();
    world.server(needs(&json!(1), asks("k", link("in")), json!("s")));
    let ask = world.told_client();
    assert!(
        ask["params"]["elicitationId"]
            .as_str()
            .is_some_and(|id| id.len() > 20)
    );
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": {"action": "accept"}}));
    for n in 0..15 {
        let again = world.told_server();
        assert_eq!(
            again["params"]["inputResponses"],
            json!({"k": {"action": "accept"}}),
            "{n}"
        );
        world.server(needs(&again["id"], asks("k", link("in")), json!("s")));
        assert!(world.to_server.is_empty(), "not at once");
        let told = std::mem::take(&mut world.to_client);
        assert!(
            told.iter()
                .all(|it| it["method"] == "notifications/progress")
        );
        world.passes(Duration::from_secs(15));
    }
    let again = world.told_server();
    world.to_client.clear();
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"content": []}}));
    assert_eq!(world.told_client()["id"], 1);
}

#[test]
fn several_questions_in_one_round_find_their_own_ways() {
    let mut world = legacy_to_modern("client,page", json!({"elicitation": {}, "sampling": {}}));
    world.client(call(1));
    world.to_server.clear();
    let requests = json!({
        "form": {"method": "elicitation/create", "params": day()},
        "link": {"method": "elicitation/create", "params": link("in")},
        "model": {"method": "sampling/createMessage", "params": {"maxTokens": 1}},
    });
    world.server(needs(&json!(1), requests, Value::Null));
    assert_eq!(world.asked.len(), 1);
    let [form, model] = &world.to_client[..] else {
        panic!("{:?}", world.to_client)
    };
    assert_eq!(
        (&form["method"], &model["method"]),
        (
            &json!("elicitation/create"),
            &json!("sampling/createMessage")
        )
    );
    let (form, model) = (form["id"].clone(), model["id"].clone());
    world.client(json!({"jsonrpc": "2.0", "id": model, "result": {"role": "assistant"}}));
    world.passes(Duration::from_secs(1));
    world.client(json!({"jsonrpc": "2.0", "id": form, "result": {"action": "decline"}}));
    assert!(world.to_server.is_empty());
    world.to_client.clear();
    world.ends(1, Outcome::Answered(Answer::Cancelled, PAGE));
    let again = world.told_server();
    assert_eq!(
        again["params"]["inputResponses"],
        json!({"model": {"role": "assistant"}, "form": {"action": "decline"},
        "link": {"action": "cancel"}})
    );
    assert!(again["params"].get("requestState").is_none());
    let outcome = &again["params"]["_meta"]["dev.midcall/outcome"];
    assert_eq!(
        outcome["link"]["by"],
        json!({"route": "page", "human": true})
    );
}

#[test]
fn the_retry_says_which_values_only_the_server_can_check() {
    let code = json!({"message": "Which code?", "requestedSchema": {"type": "object",
        "properties": {"code": {"type": "string", "pattern": "(?=a)"}}}});
    let answer = json!({"action": "accept", "content": {"code": "b"}});
    let mut world = legacy_to_modern("client,page", able());
    world.client(call(1));
    world.to_server.clear();
    world.server(needs(&json!(1), asks("k", code), Value::Null));
    let ask = world.told_client();
    world.passes(Duration::from_secs(1));
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": answer}));
    let params = world.told_server()["params"].clone();
    assert_eq!(params["inputResponses"], json!({"k": answer}));
    assert_eq!(
        params["_meta"]["dev.midcall/outcome"],
        json!({"k": {"state": "answered", "by": {"route": "client", "human": true}, "unchecked": ["/code"]}})
    );
}

#[test]
fn rounds_have_an_end() {
    let mut world = legacy_to_modern("client,page", able());
    world.client(call(1));
    let mut at = world.told_server()["id"].clone();
    for _ in 0..10 {
        world.server(needs(&at, asks("k", day()), Value::Null));
        let ask = world.told_client();
        world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
        at = world.told_server()["id"].clone();
    }
    world.server(needs(&at, asks("k", day()), Value::Null));
    let told = world.told_client();
    assert_eq!(told["id"], 1);
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("10 rounds")
    );
}

#[test]
fn a_round_without_questions_is_a_pause() {
    let mut world = legacy_to_modern("client,page", able());
    world.client(call(1));
    let mut at = world.told_server()["id"].clone();
    for n in 0..12 {
        world.server(needs(&at, Value::Null, json!(format!("s{n}"))));
        assert!(world.to_server.is_empty());
        world.passes(Duration::from_secs(5));
        let again = world.told_server();
        assert_eq!(again["params"]["requestState"], format!("s{n}"));
        assert!(again["params"].get("inputResponses").is_none());
        at = again["id"].clone();
    }
    world.server(json!({"jsonrpc": "2.0", "id": at, "result": {"content": []}}));
    assert_eq!(world.told_client()["id"], 1);
}

#[test]
fn cancelling_reaches_the_call_under_its_new_id() {
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let mut world = legacy_to_modern("client,page", able());
    world.client(call(1));
    world.to_server.clear();
    world.server(needs(&json!(1), asks("k", day()), Value::Null));
    let ask = world.told_client();
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
    let again = world.told_server();
    world.client(cancel.clone());
    assert_eq!(world.told_server()["params"]["requestId"], again["id"]);
    // Between two rounds there is nothing to take back.
    world.client(call(2));
    world.to_server.clear();
    world.server(needs(&json!(2), asks("k", day()), Value::Null));
    let ask = world.told_client();
    let mut cancel = cancel;
    cancel["params"]["requestId"] = 2.into();
    world.client(cancel);
    assert!(world.to_server.is_empty());
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
    assert!(world.to_server.is_empty());
}

#[test]
fn an_answer_that_does_not_fit_is_an_error_of_the_call() {
    let mut world = legacy_to_modern("client,page", able());
    world.client(call(1));
    world.to_server.clear();
    world.server(needs(&json!(1), asks("k", day()), Value::Null));
    let ask = world.told_client();
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": {"action": "accept", "content": {"day": "xyzzy"}}}));
    let told = world.told_client();
    assert_eq!(told["id"], 1);
    let words = told["error"]["message"].as_str().unwrap();
    assert!(
        words.contains("/day") && !words.contains("xyzzy"),
        "{words}"
    );
    assert!(world.to_server.is_empty());
}

#[test]
fn a_client_that_knows_nothing_gets_a_page_and_its_result_later() {
    let mut world = legacy_to_modern("client,page", json!({}));
    world.client(call(1));
    let sent = world.told_server();
    assert_eq!(
        sent["params"]["_meta"][meta::CLIENT_CAPABILITIES]["elicitation"],
        both()
    );
    world.server(needs(&json!(1), asks("k", day()), json!("s")));
    world.see();
    world.to_client.clear();
    world.passes(Duration::from_secs(45));
    let claim = world.to_client.iter().find_map(|told| {
        told["result"]["_meta"]["dev.midcall/waiting"]["claim"]
            .as_str()
            .map(str::to_owned)
    });
    world.to_client.clear();
    world.ends(1, Outcome::TimedOut);
    let again = world.told_server();
    assert_eq!(again["params"]["inputResponses"]["k"]["action"], "cancel");
    assert_eq!(
        again["params"]["_meta"]["dev.midcall/outcome"]["k"]["state"],
        "timed_out"
    );
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"content": [], "x": 1}}));
    world.client(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "awaitElicitation", "arguments": {"claim": claim.unwrap()}}}));
    assert_eq!(world.told_client()["result"]["x"], 1);
}

#[test]
fn what_this_era_does_not_have_is_done_here() {
    let mut world = legacy_to_modern("client,page", able());
    world.client(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}})
    );
    world.client(json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": {"level": "debug"}}));
    assert_eq!(world.told_client()["id"], 2);
    world.client(json!({"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": {"uri": "a:b"}}));
    assert_eq!(world.told_client()["id"], 3);
    let listen = world.to_server.remove(0);
    assert_eq!(world.told_server()["method"], "notifications/cancelled");
    assert_eq!(
        listen["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["a:b"]})
    );
    assert_eq!(
        listen["params"]["_meta"]["io.modelcontextprotocol/logLevel"],
        "debug"
    );
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {}}));
    assert!(world.to_client.is_empty());
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {}}});
    world.server(changed.clone());
    assert_eq!(world.told_client(), changed);
}

#[test]
fn what_cannot_be_read_is_an_error_of_the_call() {
    let mut world = legacy_to_modern("client,page", able());
    for result in [
        json!({"resultType": "input_required"}),
        json!({"resultType": "input_required", "inputRequests": []}),
    ] {
        world.client(call(1));
        world.to_server.clear();
        world.server(json!({"jsonrpc": "2.0", "id": 1, "result": result}));
        let told = world.told_client();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!(1), &json!(-32603))
        );
    }
}

#[test]
fn a_question_that_the_client_does_not_answer_in_time_ends() {
    let mut world = legacy_to_modern("client,page", able());
    world.client(call(1));
    world.to_server.clear();
    let mut round = needs(&json!(1), asks("k", day()), json!("s"));
    round["result"]["_meta"] = json!({"dev.midcall/timeoutMs": 1000});
    world.server(round);
    let ask = world.told_client();
    world.passes(Duration::from_secs(1));
    let cancel = world.told_client();
    assert_eq!(
        (&cancel["method"], &cancel["params"]["requestId"]),
        (&json!("notifications/cancelled"), &ask["id"])
    );
    let again = world.told_server();
    assert_eq!(again["params"]["inputResponses"]["k"]["action"], "cancel");
    let outcome = &again["params"]["_meta"]["dev.midcall/outcome"];
    assert_eq!(outcome["k"]["state"], "timed_out");
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
    assert!(world.to_server.is_empty(), "the answer came too late");
}

#[test]
fn what_was_asked_in_a_call_that_ends_is_taken_back() {
    let mut world = legacy_to_modern("client,page", json!({}));
    world.client(call(1));
    world.to_server.clear();
    let two = json!({"a": {"method": "elicitation/create", "params": day()}, "b": {"method": "sampling/createMessage"}});
    world.server(needs(&json!(1), two, Value::Null));
    world.see();
    // The client cannot do one of them, and that is the end of the call.
    let sampling = world
        .to_client
        .iter()
        .find(|told| told["method"] == "sampling/createMessage");
    let id = sampling.unwrap()["id"].clone();
    world.client(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}));
    assert_eq!(world.withdrawn.len(), 1);
    assert!(
        world
            .to_client
            .iter()
            .any(|told| told["id"] == 1 && told["error"]["message"] == "no")
    );
}
