//! Calls are written down before anything leaves that depends on it.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::accepted;
use super::eras::*;
use crate::call::{CallKey, Restored};
use crate::route::{Choices, Confirm};
use crate::session::Input;
use crate::session::world::Delivered;

/// How long a call is held.
pub const HOLD: Duration = Duration::from_secs(45);

/// How long it takes until another gateway goes on.
pub const BREAK: Duration = Duration::from_secs(20);

/// What outlives a gateway: records, and the time of day.
pub struct Store {
    pub records: BTreeMap<CallKey, Vec<u8>>,
    wall: SystemTime,
}

impl Store {
    pub fn new() -> Self {
        Self {
            records: BTreeMap::new(),
            wall: SystemTime::now(),
        }
    }

    /// Does every save that is asked for, and forgets what may go.
    pub fn saves(&mut self, world: &mut World) {
        while self.writes(world) {
            for (key, number) in self.written(world) {
                world.on(Input::Saved(key, number));
            }
        }
        for key in std::mem::take(&mut world.forgotten) {
            self.records.remove(&key);
        }
    }

    /// True if something is to be written down.
    fn writes(&self, world: &World) -> bool {
        !world.saves.is_empty()
    }

    /// Writes down what is to be, and says nothing yet.
    pub fn written(&mut self, world: &mut World) -> Vec<(CallKey, u64)> {
        let saves = std::mem::take(&mut world.saves).into_iter();
        let saves = saves.map(|(number, record)| {
            let key = record.key;
            let json = record.write(world.now, self.wall);
            self.records.insert(key, json);
            (key, number)
        });
        saves.collect()
    }

    /// The only call, as another process reads it a little later.
    pub fn read(&self, world: &World) -> Box<Restored> {
        assert_eq!(self.records.len(), 1);
        let json = self.records.values().next().unwrap();
        let read = Restored::read(json, world.now, self.wall + BREAK);
        Box::new(read.unwrap())
    }
}

/// A modern client that can show nothing, and a modern server.
pub fn opened(change: impl FnOnce(&mut Choices)) -> World {
    modern_to_modern_in(World::saving("client,page", change), json!({}))
}

pub fn call(id: u64) -> Value {
    modern(
        id,
        "tools/call",
        json!({"name": "book", "arguments": {"a": 1}}),
        Value::Null,
    )
}

/// The call again, with the state of a result and these answers.
pub fn again(id: u64, told: &Value, responses: Value) -> Value {
    let mut call = call(id);
    call["params"]["requestState"] = told["result"]["requestState"].clone();
    if !responses.is_null() {
        call["params"]["inputResponses"] = responses;
    }
    call
}

pub fn round(requests: Value) -> Value {
    let mut round = json!({"resultType": "input_required", "requestState": "theirs"});
    if !requests.is_null() {
        round["inputRequests"] = requests;
    }
    round
}

pub fn done() -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": "booked"}]})
}

/// A call whose question is on the desk.
pub fn asked(world: &mut World) {
    world.client(call(1));
    world.server_answers(round(asks("k", day())));
    world.see();
}

/// The same, whose client has been told to come back. Returns what it was told.
pub fn told(world: &mut World, store: &mut Store) -> Value {
    asked(world);
    world.passes(HOLD);
    store.saves(world);
    let told = world.told_client();
    assert_eq!(told["result"]["resultType"], "input_required");
    told
}

/// The person answers.
pub fn answers(world: &mut World) {
    let (nth, question) = world.asked.last().unwrap();
    let answer = accepted(question, json!({"day": "2026-11-16"}));
    let nth = *nth;
    world.ends(nth, Outcome::Answered(answer, PAGE));
}

#[test]
fn a_call_whose_client_was_never_told_to_come_back_is_not_written_down() {
    let mut world = opened(|_| {});
    asked(&mut world);
    answers(&mut world);
    world.server_answers(done());
    assert_eq!(world.told_client()["result"]["content"], done()["content"]);
    assert!(world.saves.is_empty() && world.forgotten.is_empty());
}

#[test]
fn a_client_gets_no_name_before_the_call_is_written_down() {
    let mut world = opened(|_| {});
    asked(&mut world);
    world.passes(HOLD);
    assert!(world.to_client.is_empty(), "{:?}", world.to_client);
    assert_eq!(world.saves.len(), 1, "one save is under way");
    // Another change is in the next save.
    world.passes(Duration::from_secs(1));
    Store::new().saves(&mut world);
    assert!(world.told_client()["result"]["requestState"].is_string());
}

#[test]
fn an_answer_goes_to_the_server_and_a_result_to_the_client_once_that_is_written_down() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    world.client(again(2, &told, Value::Null));
    assert!(world.saves.is_empty(), "that it waits again is nothing new");

    answers(&mut world);
    assert!(world.to_server.is_empty() && world.told_of_answers().is_empty());
    store.saves(&mut world);
    let sent = world.told_server();
    assert_eq!(sent["params"]["inputResponses"], json!({"k": monday()}));
    assert_eq!(world.told_of_answers(), [(1, Delivered::Sent)]);

    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": done()}));
    assert!(world.to_client.is_empty());
    store.saves(&mut world);
    assert_eq!(world.told_client()["id"], 2);
    assert_eq!(world.told_of_answers(), [(1, Delivered::Yes)]);
    world.passes(Duration::from_secs(601));
    store.saves(&mut world);
    assert!(store.records.is_empty(), "nobody can come any more");
}

#[test]
fn a_client_that_only_waits_on_gets_the_same_state_and_nothing_is_written() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let first = told(&mut world, &mut store);
    for id in 2..6 {
        world.client(again(id, &first, Value::Null));
        world.passes(HOLD);
        assert!(world.saves.is_empty(), "nothing is new");
        let told = world.told_client();
        assert_eq!(
            told["result"]["requestState"],
            first["result"]["requestState"]
        );
    }
    answers(&mut world);
    store.saves(&mut world);
    world.server_answers(round(asks("k", day())));
    store.saves(&mut world);
    world.see();
    world.client(again(7, &first, json!({"k": monday()})));
    assert!(world.to_server.is_empty(), "that answers nothing");
    world.passes(HOLD);
    store.saves(&mut world);
    assert_eq!(world.told_client()["id"], 7);
}

#[test]
fn questions_of_a_call_that_is_written_down_are_asked_after_that_and_always_as_the_same_ticket() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    told(&mut world, &mut store);
    let first = world.tickets[0].expect("it may be asked again");
    answers(&mut world);
    store.saves(&mut world);
    world.server_answers(round(asks("k", day())));
    assert_eq!(world.asked.len(), 1, "it isn't written down yet");
    store.saves(&mut world);
    assert_eq!(world.asked.len(), 2);
    assert_ne!(world.tickets[1], Some(first), "it is another round");
}

#[test]
fn a_question_that_is_over_before_it_was_written_down_is_never_asked() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    world.client(again(2, &told, Value::Null));
    answers(&mut world);
    store.saves(&mut world);
    world.server_answers(round(asks("k", day())));
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
    );
    store.saves(&mut world);
    assert_eq!((world.asked.len(), world.withdrawn.len()), (1, 0));
    assert!(store.records.is_empty(), "nobody goes on with it");
}

#[test]
fn what_is_taken_back_before_it_was_written_down_never_reaches_the_server() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    world.client(again(2, &told, Value::Null));
    answers(&mut world);
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
    );
    store.saves(&mut world);
    assert!(world.to_server.is_empty(), "{:?}", world.to_server);
    let lost = Delivered::No(midcall_desk::Lost::ByClient);
    assert_eq!(world.told_of_answers(), [(1, lost)]);
}

/// The store refuses a save.
fn refuses(world: &mut World) {
    for (number, record) in std::mem::take(&mut world.saves) {
        world.on(Input::NotSaved(
            record.key,
            number,
            "the disk is full".to_owned(),
        ));
    }
}

#[test]
fn a_client_that_cannot_be_told_to_come_back_waits_on() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    asked(&mut world);
    world.passes(HOLD);
    refuses(&mut world);
    refuses(&mut world);
    assert!(
        world.to_client.is_empty() && world.saves.is_empty(),
        "it isn't tried without end"
    );
    world.passes(HOLD);
    store.saves(&mut world);
    assert_eq!(world.told_client()["id"], 1);
}

#[test]
fn an_answer_that_cannot_be_written_down_is_not_sent_and_the_call_says_why() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    world.client(again(2, &told, Value::Null));
    answers(&mut world);
    refuses(&mut world);
    refuses(&mut world);
    assert!(world.to_server.is_empty());
    let failed = world.told_client();
    let words = failed["error"]["message"].as_str().unwrap();
    assert!(words.contains("the disk is full"), "{words}");
    let lost = Delivered::No(midcall_desk::Lost::CallEnded);
    assert_eq!(world.told_of_answers(), [(1, lost)]);
}

#[test]
fn a_result_that_cannot_be_written_down_is_told_all_the_same() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    world.client(again(2, &told, Value::Null));
    answers(&mut world);
    store.saves(&mut world);
    world.server_answers(done());
    refuses(&mut world);
    assert_eq!(world.told_client()["result"]["content"], done()["content"]);
}

#[test]
fn a_call_that_another_process_has_taken_over_is_left_to_it() {
    let (mut world, mut store) = (opened(|_| {}), Store::new());
    let told = told(&mut world, &mut store);
    let key = *store.records.keys().next().unwrap();
    world.client(again(2, &told, Value::Null));
    answers(&mut world);
    world.on(Input::Lost(key));
    let error = world.told_client();
    assert_eq!(
        (&error["id"], error["error"]["code"].is_i64()),
        (&json!(2), true)
    );
    assert!(world.to_server.is_empty() && world.withdrawn.is_empty());
    assert!(world.forgotten.is_empty(), "the record is the other's");
    assert_eq!(world.detached, [1]);
    assert!(world.named.is_empty());
}

#[test]
fn an_approved_call_goes_to_the_server_once_that_is_written_down() {
    let mut world = World::saving("page", |rules| rules.flags.confirm = Some(Confirm::All));
    let mut store = Store::new();
    world.open("2025-11-25", json!({}), "2025-11-25");
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay"}}),
    );
    world.see();
    world.passes(HOLD);
    assert!(world.to_client.is_empty());
    store.saves(&mut world);
    assert!(world.told_client()["result"]["_meta"]["dev.midcall/waiting"]["claim"].is_string());
    answers(&mut world);
    assert!(world.to_server.is_empty());
    store.saves(&mut world);
    assert_eq!(world.told_server()["params"]["name"], "pay");
}
