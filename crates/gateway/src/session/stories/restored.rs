//! A gateway ends in the midst of a call, and another goes on with it: the client gets its result, the person is asked
//! once, and the server hears nothing twice that it may not.

use midcall_core::Answer;

use super::eras::*;
use super::records::{BREAK, HOLD, Store, again, answers, call, done, opened, round, told};
use crate::call::Restored;
use crate::route::{Choices, Confirm, Fingerprint};
use crate::session::Input;

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The gateway of before ends, and another reads what it has written.
fn restarts(before: &World, store: &Store) -> World {
    restarts_with(before, store, |_| {})
}

fn restarts_with(before: &World, store: &Store, change: impl FnOnce(&mut Choices)) -> World {
    let mut world = World::saving("client,page", change);
    world.now = before.now + BREAK;
    let restored = store.read(&world);
    world.on(Input::Adopt(restored));
    world
}

/// The server of the new gateway is opened.
fn opens(world: &mut World) {
    let asked = world.server_answers(discovered());
    assert_eq!(asked["method"], "server/discover");
}

/// The client comes back for the result and gets it.
fn collects(world: &mut World, store: &mut Store, told: &Value) {
    for id in [8, 9] {
        world.client(again(id, told, Value::Null));
        store.saves(world);
        let result = world.told_client();
        assert_eq!(
            (&result["id"], &result["result"]["content"]),
            (&json!(id), &done()["content"])
        );
    }
}

#[test]
fn a_restored_call_answers_its_person_and_then_its_retry() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    let ticket = world.tickets[0];
    let mut world = restarts(&world, &store);
    assert_eq!(world.tickets, [ticket], "it is the same question");
    assert!(
        ticket.is_some() && world.to_server.is_empty(),
        "nobody needs the server yet"
    );
    world.see();
    answers(&mut world);
    opens(&mut world);
    assert!(world.to_server.is_empty(), "it isn't written down yet");
    store.saves(&mut world);
    let sent = world.server_answers(done());
    assert_eq!(sent["params"]["inputResponses"], json!({"k": monday()}));
    assert_eq!(sent["params"]["requestState"], "theirs");
    assert_eq!(sent["params"]["arguments"], json!({"a": 1}));
    store.saves(&mut world);
    collects(&mut world, &mut store, &told);
}

#[test]
fn a_restored_call_answers_its_retry_and_then_its_person() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    let mut world = restarts(&world, &store);
    world.see();
    world.client(again(1, &told, Value::Null));
    opens(&mut world);
    assert!(world.to_client.is_empty(), "a person has to answer first");
    answers(&mut world);
    store.saves(&mut world);
    world.server_answers(done());
    store.saves(&mut world);
    let result = world.told_client();
    assert_eq!(
        (&result["id"], &result["result"]["content"]),
        (&json!(1), &done()["content"])
    );
}

#[test]
fn a_question_in_a_round_is_answered_after_a_restart() {
    let world = World::saving("client,page", |_| {});
    let mut world = modern_to_modern_in(world, json!({"form": {}}));
    let mut store = Store::new();
    let can = |mut call: Value| {
        call["params"]["_meta"][meta::CLIENT_CAPABILITIES] = json!({"elicitation": {"form": {}}});
        call
    };
    world.client(can(call(1)));
    world.server_answers(round(asks("k", day())));
    assert!(world.to_client.is_empty());
    store.saves(&mut world);
    let told = world.told_client();
    assert_eq!(
        told["result"]["inputRequests"]["k"]["params"]["message"],
        day()["message"]
    );

    let mut world = restarts(&world, &store);
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
    world.client(can(again(
        2,
        &told,
        json!({"k": {"action": "accept", "content": {"day": "xyzzy"}}}),
    )));
    opens(&mut world);
    store.saves(&mut world);
    let asked_again = world.told_client();
    assert_eq!(
        asked_again["result"]["inputRequests"]["k"]["params"]["message"],
        day()["message"]
    );
    world.client(can(again(3, &asked_again, json!({"k": monday()}))));
    store.saves(&mut world);
    let sent = world.server_answers(done());
    assert_eq!(sent["params"]["inputResponses"], json!({"k": monday()}));
    store.saves(&mut world);
    assert_eq!(world.told_client()["result"]["content"], done()["content"]);
}

#[test]
fn a_call_that_pauses_goes_on_by_itself() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    answers(&mut world);
    store.saves(&mut world);
    world.server_answers(round(Value::Null));
    store.saves(&mut world);
    let mut world = restarts(&world, &store);
    opens(&mut world);
    world.passes(Duration::from_secs(1));
    store.saves(&mut world);
    let sent = world.server_answers(done());
    assert_eq!(sent["params"]["requestState"], "theirs");
    assert_eq!(sent["params"].get("inputResponses"), None);
    store.saves(&mut world);
    collects(&mut world, &mut store, &told);
}

/// What the server says of itself that makes tasks.
fn makes_tasks() -> Value {
    let mut told = discovered();
    told["capabilities"]["extensions"] = json!({TASKS: {}});
    told
}

fn task(status: &str, requests: Value) -> Value {
    json!({"resultType": "complete", "taskId": "t1", "status": status, "ttlMs": null, "pollIntervalMs": 500,
        "inputRequests": requests})
}

/// A task whose question is answered, and whose client was told to come back.
fn task_told(store: &mut Store) -> (World, Value) {
    let mut world = World::saving("client,page", |_| {});
    world.client(modern(0, "server/discover", json!({}), json!({})));
    world.server_answers(makes_tasks());
    world.server_answers(makes_tasks());
    world.to_client.clear();
    world.client(call(1));
    let mut started = task("working", json!({}));
    started["resultType"] = "task".into();
    world.server_answers(started);
    world.passes(Duration::from_secs(1));
    world.server_answers(task("input_required", asks("k", day())));
    world.see();
    world.passes(HOLD);
    store.saves(&mut world);
    let told = world.told_client();
    world.to_server.clear();
    (world, told)
}

#[test]
fn a_task_is_asked_again_how_far_it_is() {
    let mut store = Store::new();
    let (before, told) = task_told(&mut store);
    let mut world = restarts(&before, &store);
    world.see();
    let asked = world.server_answers(makes_tasks());
    assert_eq!(asked["method"], "server/discover");
    world.passes(Duration::from_secs(1));
    let poll = world.server_answers(task("input_required", asks("k", day())));
    assert_eq!(
        (&poll["method"], &poll["params"]["taskId"]),
        (&json!("tasks/get"), &json!("t1"))
    );
    assert_eq!(world.asked.len(), 1, "it is asked once");
    answers(&mut world);
    store.saves(&mut world);
    let update = world.server_answers(json!({}));
    assert_eq!(update["params"]["inputResponses"], json!({"k": monday()}));
    world.passes(Duration::from_secs(1));
    let mut over = task("completed", json!({}));
    over["result"] = done();
    world.server_answers(over);
    store.saves(&mut world);
    collects(&mut world, &mut store, &told);
}

#[test]
fn a_task_gets_an_answer_again_only_if_it_still_asks() {
    for still_asks in [true, false] {
        let mut store = Store::new();
        let (mut before, _) = task_told(&mut store);
        answers(&mut before);
        store.saves(&mut before);
        let mut world = restarts(&before, &store);
        world.server_answers(makes_tasks());
        world.passes(Duration::from_secs(1));
        let requests = match still_asks {
            true => asks("k", day()),
            false => json!({}),
        };
        world.server_answers(task("input_required", requests));
        store.saves(&mut world);
        let updates = world
            .to_server
            .iter()
            .filter(|sent| sent["method"] == "tasks/update");
        assert_eq!(updates.count(), usize::from(still_asks));
        assert!(world.asked.is_empty());
    }
}

#[test]
fn a_result_is_collected_from_another_gateway() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    answers(&mut world);
    store.saves(&mut world);
    world.server_answers(done());
    store.saves(&mut world);
    let mut world = restarts(&world, &store);
    assert!(
        world.to_server.is_empty(),
        "nobody needs the server for that"
    );
    world.client(again(8, &told, Value::Null));
    opens(&mut world);
    store.saves(&mut world);
    assert_eq!(world.told_client()["result"]["content"], done()["content"]);
    collects(&mut world, &mut store, &told);
    world.passes(Duration::from_secs(600));
    store.saves(&mut world);
    assert!(store.records.is_empty());
}

/// A legacy client whose call waits for approval, and has been told to come back.
fn confirming(store: &mut Store) -> (World, String) {
    let mut world = World::saving("client,page", |rules| {
        rules.flags.confirm = Some(Confirm::All)
    });
    world.open("2025-11-25", json!({}), "2025-11-25");
    world.client(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "pay", "arguments": {"sum": 7}}}));
    world.see();
    world.passes(HOLD);
    store.saves(&mut world);
    let told = world.told_client();
    let claim = &told["result"]["_meta"]["dev.midcall/waiting"]["claim"];
    let claim = claim.as_str().unwrap().to_owned();
    (world, claim)
}

/// The new gateway finds out that its server is a legacy one, and opens it.
fn opens_legacy(world: &mut World) {
    let probe = world.told_server();
    assert_eq!(probe["method"], "server/discover");
    world.server(
        json!({"jsonrpc": "2.0", "id": probe["id"], "error": {"code": -32601, "message": "?"}}),
    );
    let opening = world.server_answers(initialized());
    assert_eq!(opening["method"], "initialize");
    assert_eq!(
        world.to_server.remove(0)["method"],
        "notifications/initialized"
    );
}

fn claims(world: &mut World, id: u64, claim: &str) {
    world.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "awaitElicitation", "arguments": {"claim": claim}}}));
}

#[test]
fn a_call_that_waits_for_approval_is_approved_and_its_claim_collects_the_result() {
    let mut store = Store::new();
    let (before, claim) = confirming(&mut store);
    let confirm = |rules: &mut Choices| rules.flags.confirm = Some(Confirm::All);
    let mut world = restarts_with(&before, &store, confirm);
    assert_eq!(world.tickets, before.tickets);
    world.see();
    answers(&mut world);
    opens_legacy(&mut world);
    // It is approved and its server is open, but this gateway ends as well before that is written down.
    let third = restarts_with(&world, &store, confirm);
    assert_eq!(third.tickets, before.tickets);
    store.saves(&mut world);
    let sent = world.server_answers(json!({"content": []}));
    assert_eq!(sent["params"]["arguments"], json!({"sum": 7}));
    store.saves(&mut world);
    claims(&mut world, 1, &claim);
    let collected = world.told_client();
    assert_eq!(
        (&collected["id"], &collected["result"]["content"]),
        (&json!(1), &json!([]))
    );
}

#[test]
fn a_call_that_is_declined_after_a_restart_needs_no_server() {
    let mut store = Store::new();
    let (before, claim) = confirming(&mut store);
    let mut world = restarts(&before, &store);
    world.see();
    claims(&mut world, 1, &claim);
    let no = Answer::Declined { reason: None };
    world.ends(1, Outcome::Answered(no, PAGE));
    store.saves(&mut world);
    assert_eq!(world.told_client()["result"]["isError"], true);
    assert!(world.to_server.is_empty());
}

#[test]
fn a_call_whose_server_is_being_opened_goes_on() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    let mut second = restarts(&world, &store);
    second.see();
    answers(&mut second);
    store.saves(&mut second); // It is queued now.
    let mut world = restarts(&second, &store);
    assert!(world.asked.is_empty(), "the person has answered");
    opens(&mut world);
    store.saves(&mut world);
    let sent = world.server_answers(done());
    assert_eq!(sent["params"]["inputResponses"], json!({"k": monday()}));
    assert_eq!(sent["params"]["requestState"], "theirs");
    store.saves(&mut world);
    collects(&mut world, &mut store, &told);
}

#[test]
fn a_call_that_the_server_had_ends_with_the_truth() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    answers(&mut world);
    store.saves(&mut world);
    assert_eq!(world.to_server.len(), 1);
    let mut world = restarts(&world, &store);
    store.saves(&mut world);
    assert!(world.to_server.is_empty(), "it isn't sent again");
    world.client(again(2, &told, Value::Null));
    opens(&mut world);
    let error = world.told_client();
    let words = error["error"]["message"].as_str().unwrap();
    assert!(words.contains("may have run"), "{words}");
    assert!(world.to_server.is_empty());
}

#[test]
fn a_call_that_does_no_harm_twice_is_sent_again_as_it_was() {
    for harmless in [
        json!({"annotations": {"readOnlyHint": true}}),
        json!({"annotations": {"idempotentHint": true}}),
        json!({"joins": true}),
    ] {
        let mut world = World::saving("client,page", |_| {});
        let mut says = discovered();
        says["_meta"]["dev.midcall/joins"] = harmless["joins"].clone();
        world.client(modern(0, "server/discover", json!({}), json!({})));
        world.server_answers(says.clone());
        world.server_answers(says);
        let mut tool = harmless;
        tool["name"] = "book".into();
        world.client(modern(5, "tools/list", json!({}), json!({})));
        world.server_answers(
            json!({"resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private"}),
        );
        world.to_client.clear();
        let mut store = Store::new();
        let told = told(&mut world, &mut store);
        answers(&mut world);
        store.saves(&mut world);
        let first = world.told_server();
        let mut world = restarts(&world, &store);
        opens(&mut world);
        assert!(world.to_server.is_empty(), "it isn't written down yet");
        store.saves(&mut world);
        let second = world.server_answers(done());
        for member in ["name", "arguments", "inputResponses", "requestState"] {
            assert_eq!(first["params"][member], second["params"][member]);
        }
        store.saves(&mut world);
        collects(&mut world, &mut store, &told);
    }
}

#[test]
fn a_call_of_a_server_that_is_configured_otherwise_now_ends() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    let mut world = restarts_with(&world, &store, |rules| {
        rules.saves = Some(Fingerprint::of("books", ["other.js"]));
    });
    store.saves(&mut world);
    assert!(
        world.asked.len() == world.withdrawn.len(),
        "nobody answers it in vain"
    );
    world.client(again(2, &told, Value::Null));
    opens(&mut world);
    let words = world.told_client()["error"]["message"].clone();
    assert!(
        words.as_str().unwrap().contains("configured otherwise"),
        "{words}"
    );
}

#[test]
fn a_call_is_taken_up_once() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    told(&mut world, &mut store);
    let mut world = restarts(&world, &store);
    let restored: Box<Restored> = store.read(&world);
    world.on(Input::Adopt(restored));
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn a_server_that_cannot_be_opened_ends_the_call() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    let mut world = restarts(&world, &store);
    world.see();
    answers(&mut world);
    let probe = world.told_server();
    let error = json!({"code": -32603, "message": "out of order"});
    world.server(json!({"jsonrpc": "2.0", "id": probe["id"], "error": error}));
    let opening = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "error": error}));
    let probe = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": probe["id"], "error": error}));
    store.saves(&mut world);
    world.client(again(2, &told, Value::Null));
    world.server_answers(initialized());
    assert_eq!(world.told_client()["error"]["message"], "out of order");
}
