//! Calls that wait between two requests of a modern client.

use std::sync::atomic::Ordering;
use std::time::Duration;

use midcall_server::testing::{Client, Connected, Got, Person};
use midcall_server::{Asks, WithAsks};
use rmcp::ErrorData;
use serde_json::{Value, json};

use crate::world::World;

const MODERN: Client = Client::V2026_07_28;

/// Calls a tool once, and gives its first round.
async fn first(connected: &Connected<World>, tool: &str) -> Value {
    let got = connected
        .once("tools/call", json!({"name": tool, "arguments": {}}))
        .await;
    assert_eq!(got.0["result"]["resultType"], "input_required", "{got:?}");
    got.0["result"].clone()
}

/// The same call with answers.
async fn back(connected: &Connected<World>, tool: &str, state: &Value, responses: Value) -> Got {
    let retry =
        json!({"name": tool, "arguments": {}, "requestState": state, "inputResponses": responses});
    connected.once("tools/call", retry).await
}

fn accept(key: &str, content: Value) -> Value {
    json!({key: {"action": "accept", "content": content}})
}

#[tokio::test]
async fn a_wizard_runs_once_however_many_rounds_it_takes() {
    let world = World::default();
    let person = Person::answers(json!({"value": "Ana"}))
        .then_answers(json!({"selected": "blue"}))
        .then_answers(json!({"confirmed": true}));
    let connected = MODERN.connect(world.clone().with_asks(), &person).await;
    let got = connected.call("wizard", json!({})).await;
    assert_eq!(got.text(), "Ana blue true");
    assert_eq!(got.0["result"]["resultType"], "complete");
    assert_eq!(world.started.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn questions_that_come_up_together_travel_together() {
    let connected = MODERN
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let round = first(&connected, "both").await;
    let requests = round["inputRequests"].as_object().unwrap();
    let keys: Vec<_> = requests.keys().cloned().collect();
    assert_eq!(keys, ["question1", "question2"]);
    assert_eq!(requests["question1"]["method"], "elicitation/create");
    let joins = json!({"dev.midcall/joins": true});
    assert_eq!(round["_meta"], joins, "its author set no time");

    // One of the two is missing: it alone is asked again.
    let state = &round["requestState"];
    let got = back(
        &connected,
        "both",
        state,
        accept("question1", json!({"value": "Lisbon"})),
    )
    .await;
    let again = &got.0["result"];
    let keys: Vec<_> = again["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["question2"]);
    let state = &again["requestState"];
    let got = back(
        &connected,
        "both",
        state,
        accept("question2", json!({"confirmed": true})),
    )
    .await;
    assert_eq!(got.text(), "Lisbon true");
}

#[tokio::test]
async fn a_retry_that_brings_nothing_is_asked_the_same_again() {
    let connected = MODERN
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let round = first(&connected, "wizard").await;
    for responses in [
        json!({}),
        accept("unknown", json!({})),
        json!({"question1": {"action": "perhaps"}}),
    ] {
        let got = back(&connected, "wizard", &round["requestState"], responses).await;
        assert_eq!(got.0["result"]["inputRequests"], round["inputRequests"]);
    }
}

#[tokio::test]
async fn a_repeated_retry_joins_the_call_and_answers_it_once() {
    let world = World::default();
    let connected = MODERN
        .connect(world.clone().with_asks(), &Person::quiet())
        .await;
    let round = first(&connected, "wizard").await;
    let state = &round["requestState"];
    let one = back(
        &connected,
        "wizard",
        state,
        accept("question1", json!({"value": "Ana"})),
    )
    .await;
    let two = back(
        &connected,
        "wizard",
        state,
        accept("question1", json!({"value": "Eve"})),
    )
    .await;
    let question = |got: &Got| got.0["result"]["inputRequests"].clone();
    assert_eq!(question(&one), question(&two));

    let state = &two.0["result"]["requestState"];
    let got = back(
        &connected,
        "wizard",
        state,
        accept("question2", json!({"selected": "red"})),
    )
    .await;
    let message = &got.0["result"]["inputRequests"]["question3"]["params"]["message"];
    assert_eq!(message, "Step 3: Ana, red?", "the first answer counts");
    let state = &got.0["result"]["requestState"];
    let one = back(
        &connected,
        "wizard",
        state,
        accept("question3", json!({"confirmed": true})),
    )
    .await;
    let two = back(
        &connected,
        "wizard",
        state,
        accept("question3", json!({"confirmed": false})),
    )
    .await;
    assert_eq!(one.text(), "Ana red true");
    assert_eq!(
        one.0["result"], two.0["result"],
        "a result is kept for a client that lost it"
    );
    assert_eq!(world.started.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_state_that_is_not_good_here_gets_one_refusal() {
    let connected = MODERN
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let other = MODERN
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let round = first(&connected, "wizard").await;
    let state = round["requestState"].as_str().unwrap();
    let mut tampered = state.to_owned();
    let last = if tampered.pop() == Some('A') {
        'B'
    } else {
        'A'
    };
    tampered.insert(tampered.len() / 2, last);
    let foreign = first(&other, "wizard").await["requestState"].clone();
    let responses = accept("question1", json!({"value": "Ana"}));
    let call = |tool: &str, arguments: Value, state: &Value| json!({"name": tool, "arguments": arguments, "requestState": state, "inputResponses": responses});
    for (why, params) in [
        ("tampered", call("wizard", json!({}), &json!(tampered))),
        (
            "cut",
            call("wizard", json!({}), &json!(&state[..state.len() - 4])),
        ),
        ("foreign", call("wizard", json!({}), &foreign)),
        ("another tool", call("both", json!({}), &json!(state))),
        (
            "other arguments",
            call("wizard", json!({"x": 1}), &json!(state)),
        ),
        (
            "huge",
            call("wizard", json!({}), &json!("A".repeat(100_000))),
        ),
        ("empty", call("wizard", json!({}), &json!(""))),
    ] {
        let got = connected.once("tools/call", params).await;
        assert_eq!(
            got.0["error"],
            json!({"code": -32602, "message":
                "this requestState is not valid for this request: make the call again without it"}),
            "{why}"
        );
    }
    let got = back(&connected, "wizard", &json!(state), responses).await;
    assert_eq!(
        got.0["result"]["resultType"], "input_required",
        "it is still open"
    );
}

#[tokio::test]
async fn a_call_belongs_to_the_person_who_made_it() {
    // Who it is comes with the request, as an authenticating transport would put it there.
    let asks = Asks::new().principal(|request| {
        let user = request.meta.get("user").and_then(Value::as_str);
        let nobody = || ErrorData::invalid_request("who are you?", None);
        user.map(str::to_owned).ok_or_else(nobody)
    });
    let connected = MODERN
        .connect(asks.around(World::default()), &Person::quiet())
        .await;
    let call = json!({"name": "wizard", "arguments": {}, "_meta": {"user": "ana"}});
    let got = connected.once("tools/call", call.clone()).await;
    let mut retry = call;
    retry["requestState"] = got.0["result"]["requestState"].clone();
    retry["inputResponses"] = accept("question1", json!({"value": "Ana"}));
    let mut stolen = retry.clone();
    stolen["_meta"]["user"] = "eve".into();
    assert_eq!(
        connected.once("tools/call", stolen).await.code(),
        Some(-32602)
    );
    let got = connected.once("tools/call", retry).await;
    assert_eq!(got.0["result"]["resultType"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn silence_is_an_error_that_the_tool_hears_and_the_client_can_still_collect() {
    let world = World::default();
    let connected = MODERN
        .connect(world.clone().with_asks(), &Person::quiet())
        .await;
    let round = first(&connected, "wizard").await;
    tokio::time::sleep(Duration::from_secs(301)).await;
    assert_eq!(
        world.dropped.load(Ordering::SeqCst),
        1,
        "the tool has ended"
    );
    let late = accept("question1", json!({"value": "Ana"}));
    let got = back(&connected, "wizard", &round["requestState"], late.clone()).await;
    assert!(got.is_error());
    assert_eq!(
        got.text(),
        "nobody answered within 300 seconds. Call the tool again when the person is there"
    );
    tokio::time::sleep(Duration::from_secs(301)).await;
    assert_eq!(connected.server().waiting(), 0, "nothing is kept for ever");
    let got = back(&connected, "wizard", &round["requestState"], late).await;
    assert!(
        got.is_error() && got.text().starts_with("This call is over"),
        "{got:?}"
    );
}

#[tokio::test]
async fn too_many_calls_and_the_oldest_is_told_to_call_again() {
    let world = World::default();
    let asks = Asks::new().at_most(2);
    let connected = MODERN
        .connect(asks.around(world.clone()), &Person::quiet())
        .await;
    let oldest = first(&connected, "wizard").await;
    let middle = first(&connected, "wizard").await;
    first(&connected, "wizard").await;
    assert_eq!(connected.server().waiting(), 2);
    let answer = || accept("question1", json!({"value": "Ana"}));
    let got = back(&connected, "wizard", &oldest["requestState"], answer()).await;
    assert!(
        got.is_error() && got.text().ends_with("Call again"),
        "{got:?}"
    );
    let got = back(&connected, "wizard", &middle["requestState"], answer()).await;
    assert_eq!(got.0["result"]["resultType"], "input_required");
    while world.dropped.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await; // Its future is dropped by another task.
    }
}

#[tokio::test]
async fn cancelling_drops_the_tool() {
    for client in [Client::V2025_11_25, MODERN] {
        let world = World::default();
        let person =
            Person::answers(json!({"value": "Ana"})).then(midcall_server::testing::Said::Nothing);
        let connected = client.connect(world.clone().with_asks(), &person).await;
        let call = json!({"name": "slow", "arguments": {}});
        let (id, response) = connected.begin("tools/call", call.clone()).await;
        let id = if client == MODERN {
            let round = response.await.unwrap()["result"].clone();
            let mut retry = call;
            retry["requestState"] = round["requestState"].clone();
            retry["inputResponses"] = accept("question1", json!({"value": "Ana"}));
            let (id, _) = connected.begin("tools/call", retry).await;
            id
        } else {
            id
        };
        while world.started.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await; // It works once the answer is there.
        }
        connected.cancel(id).await;
        while world.dropped.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(connected.server().waiting(), 0);
    }
}

#[tokio::test]
async fn cancelling_takes_a_legacy_question_back() {
    let person = Person::who(|_| midcall_server::testing::Said::Nothing);
    let connected = Client::V2025_11_25
        .connect(World::default().with_asks(), &person)
        .await;
    let (id, _) = connected
        .begin("tools/call", json!({"name": "wizard", "arguments": {}}))
        .await;
    while person.heard().is_empty() {
        tokio::task::yield_now().await;
    }
    connected.cancel(id).await;
    let is_told = |note: &Value| note["method"] == "notifications/cancelled";
    while !connected.notes().iter().any(is_told) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn progress_reaches_the_request_that_is_open_now() {
    let connected = MODERN
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let mut call = json!({"name": "wizard", "arguments": {}, "_meta": {"progressToken": "first"}});
    let round = connected.once("tools/call", call.clone()).await.0["result"].clone();
    call["_meta"]["progressToken"] = "second".into();
    call["requestState"] = round["requestState"].clone();
    call["inputResponses"] = accept("question1", json!({"value": "Ana"}));
    connected.once("tools/call", call).await;
    let notes = connected.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0]["params"]["progressToken"], "second");
    assert_eq!(notes[0]["params"]["message"], "named");
}

#[tokio::test]
async fn rounds_that_a_handler_makes_by_itself_pass() {
    let connected = MODERN
        .connect(
            World::default().with_asks(),
            &Person::answers(json!({"value": "x"})),
        )
        .await;
    let got = connected.call("by_hand", json!({})).await;
    assert_eq!(got.text(), "by hand: x");
}

#[tokio::test]
async fn rounds_that_a_service_writes_by_itself_pass_too() {
    // A layer is such a service: its rounds are of no type of rmcp's.
    let server = World::default().with_asks().with_asks();
    let person = Person::answers(json!({"value": "Ana"}))
        .then_answers(json!({"selected": "blue"}))
        .then_answers(json!({"confirmed": true}));
    let connected = MODERN.connect(server, &person).await;
    let got = connected.call("wizard", json!({})).await;
    assert_eq!(got.text(), "Ana blue true");
}

/// What a modern round may have: its requests have no `_meta`, its forms the keywords of 2026-07-28.
#[tokio::test]
async fn a_modern_client_is_told_what_its_revision_has_and_nothing_else() {
    let one = |kind: &str| json!({"name": "one", "arguments": {"kind": kind}});
    for kind in [
        "text", "lines", "number", "story", "titled", "many", "tags", "nested",
    ] {
        let connected = MODERN
            .connect(World::default().with_asks(), &Person::quiet())
            .await;
        let round = connected.once("tools/call", one(kind)).await.0["result"].clone();
        let params = &round["inputRequests"]["question1"]["params"];
        let members: Vec<_> = params.as_object().unwrap().keys().collect();
        assert_eq!(members, ["mode", "message", "requestedSchema"], "{kind}");
        for (name, field) in params["requestedSchema"]["properties"].as_object().unwrap() {
            for keyword in field.as_object().unwrap().keys() {
                let known = [
                    "type",
                    "title",
                    "description",
                    "default",
                    "enum",
                    "oneOf",
                    "items",
                    "minLength",
                    "maxLength",
                    "minimum",
                    "maximum",
                    "minItems",
                    "maxItems",
                    "format",
                ];
                assert!(
                    known.contains(&keyword.as_str()),
                    "{kind}: {name} has {keyword}"
                );
            }
        }
    }
    let connected = MODERN
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let round = connected.once("tools/call", one("text")).await.0["result"].clone();
    let field =
        &round["inputRequests"]["question1"]["params"]["requestedSchema"]["properties"]["value"];
    assert_eq!(field["description"], "Must match ^[A-Z]+$");
    let hints = &round["_meta"]["dev.midcall/hints"]["question1"];
    assert_eq!(*hints, json!({"/value": {"placeholder": "AB"}}));
    let delete = json!({"name": "delete", "arguments": {}});
    let round = connected.once("tools/call", delete).await.0["result"].clone();
    assert_eq!(
        round["_meta"]["dev.midcall/destructive"],
        json!({"question1": true})
    );
}
