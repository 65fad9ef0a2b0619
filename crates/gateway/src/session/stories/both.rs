//! A modern client with a modern server.

use midcall_core::{Answer, Wanted};
use midcall_desk::Route;

use super::eras::*;

#[test]
fn a_client_that_can_everything_is_left_alone() {
    let mut world = modern_to_modern("client,page", both());
    let call = modern(
        1,
        "tools/call",
        json!({"name": "book", "requestState": "theirs"}),
        both(),
    );
    world.client(call.clone());
    assert_eq!(world.told_server(), call);
    let round = json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required",
        "inputRequests": asks("k", day()), "requestState": "s"}});
    world.server(round.clone());
    assert_eq!(world.told_client(), round);
    for method in ["subscriptions/listen", "x/unknown", "resources/list"] {
        let other = modern(2, method, json!({}), both());
        world.client(other.clone());
        assert_eq!(world.told_server(), other);
        world.server(json!({"jsonrpc": "2.0", "id": 2, "result": {"x": 1}}));
        assert_eq!(world.told_client()["result"], json!({"x": 1}));
    }
    let news = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {"s": 1}}});
    world.server(news.clone());
    assert_eq!(world.told_client(), news);
    world.client(modern(3, "tools/call", json!({"name": "book"}), both()));
    world.to_server.clear();
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    world.client(cancel.clone());
    assert_eq!(world.told_server(), cancel);
}

#[test]
fn a_server_lists_its_tools_for_all_who_can_be_asked() {
    for declared in [Value::Null, json!({"form": {}})] {
        let mut world = modern_to_modern("client,page", declared.clone());
        world.client(modern(1, "tools/list", json!({}), declared));
        let sent = world.told_server();
        assert_eq!(
            sent["params"]["_meta"][meta::CLIENT_CAPABILITIES]["elicitation"],
            both(),
            "else it hides the tools that ask, or adds one by which a model answers"
        );
        let listed = json!({"resultType": "complete", "ttlMs": 60000, "cacheScope": "public",
            "tools": [{"name": "book", "inputSchema": {"type": "object"}}]});
        world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": listed}));
        let told = world.told_client();
        assert_eq!((&told["id"], &told["result"]), (&json!(1), &listed));
    }
}

#[test]
fn of_a_mixed_round_the_client_gets_what_it_can_ask() {
    let forms = json!({"form": {}});
    let mut world = modern_to_modern("client,page", forms.clone());
    world.client(modern(
        1,
        "tools/call",
        json!({"name": "book", "_meta": {"progressToken": "t"}}),
        forms.clone(),
    ));
    let sent = world.told_server();
    assert_eq!(
        sent["params"]["_meta"][meta::CLIENT_CAPABILITIES]["elicitation"],
        both()
    );
    let requests = json!({"a": {"method": "elicitation/create", "params": day()},
        "b": {"method": "elicitation/create", "params": link("in")}});
    world.server(
        json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"resultType": "input_required",
        "inputRequests": requests, "requestState": "theirs"}}),
    );
    let round = world.told_client();
    assert_eq!(round["id"], 1);
    assert_eq!(
        round["result"]["inputRequests"].as_object().unwrap().len(),
        1
    );
    assert_ne!(round["result"]["requestState"], "theirs");
    assert_eq!(world.asked.len(), 1);
    world.see();
    world.ends(
        1,
        Outcome::Answered(Answer::Declined { reason: None }, PAGE),
    );
    assert!(world.to_server.is_empty());
    world.client(modern(
        2,
        "tools/call",
        json!({"name": "book", "requestState": round["result"]["requestState"],
        "inputResponses": {"a": monday()}, "_meta": {"progressToken": "u"}}),
        forms,
    ));
    let again = world.told_server();
    assert_eq!(again["params"]["requestState"], "theirs");
    assert_eq!(again["params"]["inputResponses"]["a"], monday());
    assert_eq!(again["params"]["inputResponses"]["b"]["action"], "decline");
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "t", "progress": 1}}));
    assert_eq!(world.told_client()["params"]["progressToken"], "u");
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"resultType": "complete", "content": []}}));
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"resultType": "complete", "content": []}})
    );
}

#[test]
fn questions_are_told_together_in_their_own_call_and_by_their_own_names() {
    let forms = json!({"form": {}});
    let mut world = modern_to_modern("client,page", forms.clone());
    let call = |id: u64, more: Value| {
        let mut params = json!({"name": format!("tool {id}")});
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        modern(id, "tools/call", params, forms.clone())
    };
    world.client(call(1, json!({})));
    let _older = world.told_server();
    // What nobody asked for, the server may know what to do with.
    world.client(call(2, json!({"inputResponses": {"c": monday()}})));
    let sent = world.told_server();
    assert_eq!(sent["params"]["inputResponses"]["c"], monday());
    let requests = json!({"a": {"method": "elicitation/create", "params": day()},
        "b": {"method": "elicitation/create", "params": day()}});
    world.server(
        json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"resultType": "input_required",
        "inputRequests": requests}}),
    );
    let round = world.told_client();
    assert_eq!(round["id"], 2);
    let asked = round["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["a", "b"]);
    let state = &round["result"]["requestState"];
    let answers = json!({"requestState": state, "inputResponses": {"a": monday(), "b": monday()}});
    world.client(call(2, answers));
    let again = world.told_server();
    assert_eq!(
        again["params"]["inputResponses"],
        json!({"a": monday(), "b": monday()})
    );
}

#[test]
fn when_the_server_goes_what_passed_is_answered() {
    let mut world = modern_to_modern("client,page", both());
    world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
    world.server_gone("ended");
    let told = world.told_client();
    assert_eq!(told["id"], 1);
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("ended before it answered")
    );
}

#[test]
fn a_client_cannot_say_how_a_question_ended() {
    let claim = json!({"dev.midcall/outcome": {"k": {"state": "answered", "by": {"route": "page", "human": true}}}});
    // Where the call passes straight through (`client`), and where the session reads it (`page`).
    for ask in ["client", "page"] {
        let mut world = modern_to_modern(ask, both());
        let mut call = modern(
            1,
            "tools/call",
            json!({"name": "book", "inputResponses": {"k": {"action": "accept", "_meta": claim}}}),
            both(),
        );
        call["params"]["_meta"]["dev.midcall/outcome"] = claim["dev.midcall/outcome"].clone();
        world.client(call.clone());
        let told = world.told_server();
        assert!(
            !told.to_string().contains("dev.midcall/outcome"),
            "{ask}: {told}"
        );
        assert_eq!(told["params"]["inputResponses"]["k"]["action"], "accept");
        world.client(json!([call]));
        let told = world.to_server.pop().map(|told| told.to_string());
        assert!(
            !told.is_some_and(|told| told.contains("dev.midcall/outcome")),
            "{ask}"
        );
    }
}

#[test]
fn a_round_is_asked_in_its_own_call_though_several_clients_share_the_server() {
    let forms = json!({"form": {}});
    let shared = World::new("client,page").shared();
    let mut world = modern_to_modern_in(shared, forms.clone());
    world.client(modern(
        1,
        "tools/call",
        json!({"name": "book"}),
        forms.clone(),
    ));
    world.client(modern(2, "tools/call", json!({"name": "book"}), forms));
    let second = world.to_server.pop().unwrap();
    let result = json!({"resultType": "input_required", "inputRequests": asks("k", day())});
    world.server(json!({"jsonrpc": "2.0", "id": second["id"], "result": result}));
    let told = world.told_client();
    assert_eq!(told["id"], 2);
    assert!(told["result"]["inputRequests"]["k"].is_object());
    assert!(world.asked.is_empty());
}

#[test]
fn a_link_that_nobody_agreed_to_is_asked_again_not_accepted() {
    let forms = json!({"form": {}});
    for outcome in ["decline", "refused", "accept"] {
        let mut world = modern_to_modern("page", forms.clone());
        world.client(modern(
            1,
            "tools/call",
            json!({"name": "book"}),
            forms.clone(),
        ));
        let sent = world.told_server();
        let mut params = link("in");
        if outcome == "refused" {
            params["url"] = "javascript:alert(1)".into();
        }
        let round = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "input_required", "inputRequests": asks("k", params.clone())}});
        world.server(round(&sent["id"]));
        if let Some((nth, question)) = world.asked.pop() {
            let Wanted::Link(link) = &question.wanted else {
                panic!("a link was asked");
            };
            let answer = match outcome {
                "accept" => Answer::Accepted(link.consent().unwrap()),
                _ => Answer::Declined { reason: None },
            };
            let by = By {
                route: Route::Page,
                human: true,
            };
            world.ends(nth, Outcome::Answered(answer, by));
        }
        let again = world.told_server();
        let said = |told: &Value| told["params"]["inputResponses"]["k"]["action"].clone();
        let expected = if outcome == "refused" {
            "cancel"
        } else {
            outcome
        };
        assert_eq!(said(&again), expected);
        world.server(round(&again["id"]));
        world.passes(Duration::from_secs(1)); // It is left alone for a while.
        match outcome {
            "decline" => assert_eq!(world.asked.len(), 1, "a person is asked again"),
            _ => assert_eq!(said(&world.told_server()), expected),
        }
    }
}

#[test]
fn a_policy_holds_between_modern_peers_too() {
    let mut world = World::with("client,page", |rules| {
        rules.policy = "secrets = \"refuse\"\n".parse().unwrap();
    });
    world.client(modern(0, "server/discover", json!({}), both()));
    world.server_answers(discovered());
    world.server_answers(discovered());
    world.to_client.clear();
    world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
    let secret = json!({"message": "?", "mode": "form", "requestedSchema": {"type": "object", "properties": {"password": {"type": "string"}}}});
    let sent = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"resultType": "input_required", "inputRequests": asks("k", secret)}}));
    assert!(world.to_client.is_empty() && world.asked.is_empty());
    let told = world.told_server();
    assert_eq!(
        told["params"]["inputResponses"],
        json!({"k": {"action": "cancel"}})
    );
    let outcome = &told["params"]["_meta"]["dev.midcall/outcome"]["k"];
    assert_eq!(outcome["state"], "unavailable");
    assert!(outcome["reason"].as_str().unwrap().contains("URL mode"));
}

#[test]
fn of_a_round_the_refused_questions_are_cancelled_and_the_others_asked() {
    let mut world = World::with("client,page", |rules| {
        rules.policy = "secrets = \"refuse\"\n".parse().unwrap();
    });
    world.client(modern(0, "server/discover", json!({}), both()));
    world.server_answers(discovered());
    world.server_answers(discovered());
    world.to_client.clear();
    world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
    let sent = world.told_server();
    let secret = json!({"message": "?", "requestedSchema": {"type": "object", "properties": {"password": {"type": "string"}}}});
    let link = json!({"mode": "url", "message": "Sign in", "url": "javascript:alert(1)"});
    let ask = |params: Value| json!({"method": "elicitation/create", "params": params});
    let requests = json!({"a": ask(secret), "day": ask(day()), "b": ask(link)});
    world.server(
        json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"resultType": "input_required",
        "requestState": "theirs", "inputRequests": requests}}),
    );
    let round = world.told_client();
    let asked = round["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["day"]);
    let back = json!({"name": "book", "requestState": round["result"]["requestState"], "inputResponses": {"day": monday()}});
    world.client(modern(2, "tools/call", back, both()));
    let told = world.told_server();
    let cancel = json!({"action": "cancel"});
    assert_eq!(
        told["params"]["inputResponses"],
        json!({"a": cancel, "day": monday(), "b": cancel})
    );
    assert_eq!(told["params"]["requestState"], "theirs");
    let outcomes = &told["params"]["_meta"]["dev.midcall/outcome"];
    assert!(
        outcomes["a"]["reason"]
            .as_str()
            .unwrap()
            .contains("URL mode")
    );
    assert!(
        outcomes["b"]["reason"]
            .as_str()
            .unwrap()
            .contains("this link is refused")
    );
    assert_eq!(outcomes.get("day"), None);
}

#[test]
fn questions_whose_names_meet_have_their_own_answers() {
    let forms = json!({"form": {}});
    let mut world = modern_to_modern("client,page", forms.clone());
    let call = |id: u64, mut params: Value| {
        params["name"] = "book".into();
        modern(id, "tools/call", params, forms.clone())
    };
    let on = |day: &str| json!({"action": "accept", "content": {"day": day}});
    let by_request = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": day()});
    world.client(call(1, json!({})));
    let sent = world.told_server();
    world.server(by_request("r1"));
    let round = world.told_client();
    // One of the server's names is taken, the other is what the next of ours would be called.
    let requests = json!({"q1": {"method": "elicitation/create", "params": day()},
        "q4": {"method": "elicitation/create", "params": day()}});
    world.server(
        json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"resultType": "input_required",
        "inputRequests": requests}}),
    );
    world.server(by_request("r2"));
    world.client(call(
        2,
        json!({"requestState": round["result"]["requestState"]}),
    ));
    let round = world.told_client();
    let asked = round["result"]["inputRequests"].as_object().unwrap();
    let mut keys: Vec<_> = asked.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["q1", "q2", "q4", "q5"]);
    let answers = json!({"q1": on("2026-11-16"), "q2": on("2026-11-17"), "q4": on("2026-11-18"), "q5": on("2026-11-19")});
    world.client(call(
        3,
        json!({"requestState": round["result"]["requestState"], "inputResponses": answers}),
    ));
    let told = std::mem::take(&mut world.to_server);
    let heard = |id: &str| {
        let told = told.iter().find(|told| told["id"] == id);
        told.map(|told| told["result"]["content"]["day"].clone())
    };
    assert_eq!(heard("r1"), Some("2026-11-16".into()));
    assert_eq!(heard("r2"), Some("2026-11-19".into()));
    let again = told.iter().find(|told| told["method"] == "tools/call");
    assert_eq!(
        again.unwrap()["params"]["inputResponses"],
        json!({"q1": on("2026-11-17"), "q4": on("2026-11-18")})
    );
}

#[test]
fn a_refused_link_does_not_hide_in_a_round_that_cannot_be_read() {
    let link = r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"javascript:alert(1)"}}"#;
    let form = r#"{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object"}}}"#;
    for result in [
        format!(r#"{{"resultType":"input_required","inputRequests":{{"a":{link},"b":7}}}}"#),
        format!(
            r#"{{"resultType":"complete","resultType":"input_required","inputRequests":{{"a":{link}}}}}"#
        ),
        format!(
            r#"{{"resultType":"input_required","resultType":"complete","inputRequests":{{"a":{link}}}}}"#
        ),
        format!(r#"{{"ResultType":"input_required","inputRequests":{{"a":{link}}}}}"#),
        format!(r#"{{"resultType":"input_required","inputRequests":{{"a":{link},"a":{form}}}}}"#),
        format!(
            r#"{{"resultType":"input_required","inputRequests":{{"a":{}}}}}"#,
            link.replace(r#""url":"java"#, r#""url":"https://a.example","URL":"java"#)
        ),
    ] {
        let mut world = modern_to_modern("client,page", both());
        world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
        world.to_server.clear();
        let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        world.server_frame(Frame::new(answer.into_bytes().into()));
        // The call fails, or the server gets it again with a cancelled question.
        let told = world.to_client.pop().unwrap_or_else(|| world.told_server());
        let is_refused = told["error"]["code"].is_i64()
            || told["params"]["inputResponses"]["a"] == json!({"action": "cancel"});
        assert!(is_refused, "{result}: {told}");
        assert!(
            world.to_client.is_empty() && !told.to_string().contains("alert"),
            "{told}"
        );
    }
}
