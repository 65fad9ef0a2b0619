//! Calls of a modern client that were parked, and how it comes back for them.

use super::client::{asked, back, call, result};
use super::eras::*;

#[test]
fn what_is_missing_or_does_not_fit_is_asked_again() {
    let (mut world, mut round) = asked(day());
    for (id, responses) in [
        (2, json!({})),
        (
            3,
            json!({"q1": {"action": "accept", "content": {"day": "xyzzy"}}}),
        ),
        (4, json!(null)),
        (5, json!({"q1": 7})),
    ] {
        world.client(back(id, &round, responses));
        let told = world.told_client();
        assert_eq!(told["id"], id);
        round = told["result"].clone();
        assert!(round["inputRequests"]["q1"].is_object());
        assert!(world.to_server.is_empty());
    }
    world.client(back(6, &round, json!({"q1": monday()})));
    assert_eq!(world.told_server()["result"], monday());
}

#[test]
fn a_state_is_good_for_its_own_call_alone_and_refused_in_one_way() {
    let (mut world, round) = asked(day());
    let mut other = back(2, &round, json!({"q1": monday()}));
    other["params"]["arguments"]["a"] = 3.into();
    let mut tool = back(2, &round, json!({"q1": monday()}));
    tool["params"]["name"] = "delete".into();
    let mut tampered = round.clone();
    tampered["requestState"] = format!("{}x", round["requestState"].as_str().unwrap()).into();
    let (_, foreign) = asked(day());
    let mut errors = Vec::new();
    for attempt in [
        other,
        tool,
        back(2, &tampered, json!({"q1": monday()})),
        back(2, &foreign, json!({"q1": monday()})),
    ] {
        world.client(attempt);
        errors.push(world.told_client());
        assert!(world.to_server.is_empty());
    }
    assert_eq!(errors[0]["error"]["code"], -32602);
    assert!(errors.iter().all(|error| *error == errors[0]));
    // The same arguments in another order are the same call.
    let mut reordered = back(3, &round, json!({"q1": monday()}));
    reordered["params"]["arguments"] = json!({"a": 2, "b": 1});
    world.client(reordered);
    assert_eq!(world.told_server()["id"], "s7");
}

#[test]
fn coming_back_twice_answers_once_and_gets_the_result() {
    let (mut world, round) = asked(day());
    world.client(back(2, &round, json!({"q1": monday()})));
    assert_eq!(world.told_server()["id"], "s7");
    // The first of them is told that it was replaced; the answer is not heard again.
    world.client(back(3, &round, json!({"q1": {"action": "decline"}})));
    assert_eq!(world.told_client()["id"], 2);
    assert!(world.to_server.is_empty());
    world.server(result(1));
    assert_eq!(world.told_client()["id"], 3);
    world.client(back(4, &round, json!({"q1": monday()})));
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["result"]["content"]),
        (&json!(4), &result(1)["result"]["content"])
    );
    // With other params it is another call.
    let mut other = back(5, &round, json!({}));
    other["params"]["arguments"] = json!({});
    world.client(other);
    assert_eq!(world.told_client()["error"]["code"], -32602);
    world.sleeps(Duration::from_secs(601));
    world.client(back(6, &round, json!({})));
    assert_eq!(world.told_client()["error"]["code"], -32602);
}

#[test]
fn a_client_that_comes_back_too_late_hears_what_the_server_made_of_that() {
    let mut params = day();
    params["_meta"] = json!({"dev.midcall/timeoutMs": 1000});
    let (mut world, round) = asked(params);
    world.passes(Duration::from_millis(999));
    assert!(world.to_server.is_empty());
    world.passes(Duration::from_millis(1));
    assert_eq!(world.told_server()["result"]["action"], "cancel");
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
    assert!(world.to_client.is_empty());
    world.passes(Duration::from_secs(59));
    world.client(back(2, &round, json!({"q1": monday()})));
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["result"]["content"]),
        (&json!(2), &json!([]))
    );
    assert!(world.to_server.is_empty(), "the answer came too late");
}

#[test]
fn a_client_that_never_comes_back_has_said_nothing() {
    let (mut world, round) = asked(day());
    world.passes(Duration::from_secs(299));
    assert!(world.to_server.is_empty());
    world.passes(Duration::from_secs(1));
    let answer = world.told_server();
    assert_eq!(
        (&answer["id"], &answer["result"]["action"]),
        (&json!("s7"), &json!("cancel"))
    );
    let outcome = &answer["result"]["_meta"]["dev.midcall/outcome"];
    assert_eq!(outcome["state"], "timed_out");
    world.passes(Duration::from_secs(60));
    let cancel = world.told_server();
    assert_eq!(
        (&cancel["method"], &cancel["params"]["requestId"]),
        (&json!("notifications/cancelled"), &json!(1))
    );
    world.client(back(2, &round, json!({"q1": monday()})));
    assert_eq!(world.told_client()["error"]["code"], -32602);
    assert!(world.to_server.is_empty());
}

#[test]
fn a_result_that_comes_while_the_client_is_away_waits_for_it() {
    let (mut world, round) = asked(day());
    world.server(result(1));
    assert!(world.to_client.is_empty());
    world.client(back(2, &round, json!({"q1": monday()})));
    assert_eq!(world.told_client()["id"], 2);
}

#[test]
fn the_server_going_ends_every_call_wherever_it_is() {
    let (mut world, round) = asked(day());
    world.server_gone("ended");
    assert!(world.to_client.is_empty());
    world.client(back(2, &round, json!({"q1": monday()})));
    let told = world.told_client();
    assert_eq!(told["id"], 2);
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("ended before it answered")
    );
}

#[test]
fn a_call_that_others_ask_in_is_not_asked_in_too_often() {
    let mut world = modern_to_legacy("client,page", both());
    let mut waiting = [1, 2];
    for id in waiting {
        world.client(call(id, Value::Null));
    }
    world.to_server.clear();
    let mut rounds = [0, 0]; // TypeScript's client gives up after 10
    for id in 101..=112 {
        let ask =
            json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": day()});
        world.server(ask);
        let round = world.told_client();
        let place = waiting.iter().position(|id| round["id"] == *id).unwrap();
        waiting[place] = id;
        rounds[place] += 1;
        let requests = round["result"]["inputRequests"].as_object().unwrap();
        let key = requests.keys().next().unwrap();
        world.client(back(id, &round["result"], json!({key: monday()})));
        assert_eq!(world.told_server()["id"], id);
    }
    assert_eq!(rounds, [8, 4]);
}

#[test]
fn a_question_whose_call_is_over_is_asked_in_another() {
    let (mut world, first) = asked(day());
    world.client(call(2, Value::Null));
    world.to_server.clear();
    world.server(
        json!({"jsonrpc": "2.0", "id": "s8", "method": "elicitation/create", "params": day()}),
    );
    let second = world.told_client();
    assert_eq!(second["id"], 2);
    world.server(result(1)); // It is kept for the client, which is away.
    world.server(
        json!({"jsonrpc": "2.0", "id": "s9", "method": "elicitation/create", "params": day()}),
    );
    world.client(back(3, &first, json!({})));
    // What can have come up in another call is asked there. What can't has ended with its call.
    assert_eq!(world.told_client()["id"], 3);
    world.client(back(4, &second["result"], json!({"q1": monday()})));
    let next = world.told_client();
    assert_eq!(next["id"], 4);
    assert_eq!(
        next["result"]["inputRequests"].as_object().unwrap().len(),
        1
    );
}
