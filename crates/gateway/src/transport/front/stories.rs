//! Clients of a seat, and what each of them hears.

use std::sync::Arc;

use serde_json::{Value, json};

use super::message::{Tells, wants};
use super::seat::{Heard, Party, Reading, Seat};
use super::streams::{BY_GET, OpenError, Whose};
use crate::frame::{Frame, Id};

fn sit(whose: Whose) -> (Seat, Arc<Party>) {
    Seat::new(whose, Arc::default())
}

fn frame(message: &Value) -> Frame {
    Frame::write(message)
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Frame {
    frame(&json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}))
}

async fn call(party: &Arc<Party>, request: &Frame) -> Reading {
    let wants = |method: &str| wants(method, false, true);
    party.call(request, wants).await.unwrap()
}

pub async fn heard(seat: &mut Seat) -> Value {
    let (Heard::Client(frame) | Heard::Guest(frame)) = seat.next(true).await else {
        panic!("somebody says something");
    };
    serde_json::from_slice(&frame.into_bytes()).unwrap()
}

pub async fn read(reading: &mut Reading) -> Value {
    let event = reading.next().await.expect("something comes");
    serde_json::from_slice(&event.data).unwrap()
}

fn result(id: &Value, result: Value) -> Frame {
    frame(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

#[tokio::test]
async fn clients_with_equal_ids_and_tokens_hear_their_own() {
    let (mut seat, party) = sit(Whose::Shared);
    let params = |who: &str| json!({"name": who, "_meta": {"progressToken": "p"}});
    let mut one = call(&party, &request(1, "tools/call", params("one"))).await;
    let mut other = call(&party, &request(1, "tools/call", params("other"))).await;
    let (first, second) = (heard(&mut seat).await, heard(&mut seat).await);
    assert_eq!(
        (&first["params"]["name"], &second["params"]["name"]),
        (&json!("one"), &json!("other"))
    );
    assert_ne!(first["id"], second["id"]);
    let token = |told: &Value| told["params"]["_meta"]["progressToken"].clone();
    assert_ne!(token(&first), token(&second));

    for told in [&second, &first] {
        let news =
            json!({"progressToken": token(told), "progress": 1, "message": told["params"]["name"]});
        seat.send(&frame(
            &json!({"method": "notifications/progress", "params": news}),
        ));
        seat.send(&result(&told["id"], json!({"who": told["params"]["name"]})));
    }
    for (reading, who) in [(&mut one, "one"), (&mut other, "other")] {
        let news = read(reading).await;
        assert_eq!(
            (&news["params"]["progressToken"], &news["params"]["message"]),
            (&json!("p"), &json!(who))
        );
        let answer = read(reading).await;
        assert_eq!(
            (&answer["id"], &answer["result"]["who"]),
            (&json!(1), &json!(who))
        );
        assert!(reading.next().await.is_none());
    }
}

#[tokio::test]
async fn whoever_shares_a_seat_and_goes_gives_up_what_they_asked() {
    let (mut seat, party) = sit(Whose::Shared);
    let gone = call(&party, &request("a", "tools/call", json!({}))).await;
    let mut stays = call(&party, &request("a", "tools/call", json!({}))).await;
    let (first, second) = (heard(&mut seat).await, heard(&mut seat).await);
    drop(gone);
    let taken_back = heard(&mut seat).await;
    assert_eq!(taken_back["method"], "notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], first["id"]);
    seat.send(&result(&first["id"], json!({"late": true})));
    seat.send(&result(&second["id"], json!({"ok": true})));
    assert_eq!(read(&mut stays).await["result"], json!({"ok": true}));
    drop(stays);
    party.leave();
    assert!(
        matches!(seat.next(true).await, Heard::Left),
        "what was answered is not taken back"
    );
}

#[tokio::test]
async fn a_client_of_its_own_has_not_cancelled_when_it_disconnects() {
    let (mut seat, party) = sit(Whose::Own);
    let reading = call(&party, &request(7, "tools/call", json!({}))).await;
    let nth = reading.nth;
    assert_eq!(heard(&mut seat).await["id"], 7);
    drop(reading);
    seat.send(&frame(
        &json!({"id": 1, "method": "elicitation/create", "params": {}}),
    ));
    seat.send(&result(&json!(7), json!({})));
    let mut again = party.read_after(nth, 0).expect("it is kept");
    assert_eq!(read(&mut again).await["method"], "elicitation/create");
    assert_eq!(read(&mut again).await["id"], 7);
    assert!(again.next().await.is_none());
    assert!(party.read_after(nth, 3).is_none() && party.read_after(99, 0).is_none());
}

#[tokio::test]
async fn what_belongs_to_no_call_goes_where_the_client_listens() {
    let (mut seat, party) = sit(Whose::Own);
    let mut by_get = party.read(BY_GET).unwrap();
    assert!(party.read(BY_GET).is_none(), "one at a time");
    let list = json!({"method": "notifications/tools/list_changed"});
    let log = json!({"method": "notifications/message", "params": {}});
    let ask = |id: u32| json!({"id": id, "method": "elicitation/create", "params": {}});
    seat.send(&frame(&log));
    seat.send(&frame(&ask(1)));
    let mut ping = call(&party, &request(1, "ping", json!({}))).await;
    let mut first = call(&party, &request(2, "tools/call", json!({}))).await;
    let mut second = call(&party, &request(3, "tools/call", json!({}))).await;
    seat.send(&frame(&list));
    seat.send(&frame(&ask(2)));
    seat.send(&frame(&log));
    seat.send(&result(&json!(2), json!({})));
    seat.send(&frame(&ask(3)));
    let taken_back =
        |id: u32| json!({"method": "notifications/cancelled", "params": {"requestId": id}});
    seat.send(&frame(&taken_back(3)));
    seat.send(&frame(&taken_back(1)));
    for id in [3, 1] {
        seat.send(&result(&json!(id), json!({})));
    }
    drop(seat);
    let mut told = Vec::new();
    for (name, reading) in [
        ("get", &mut by_get),
        ("ping", &mut ping),
        ("first", &mut first),
        ("second", &mut second),
    ] {
        while let Some(event) = reading.next().await {
            let said: Value = serde_json::from_slice(&event.data).unwrap();
            let what = said["method"].as_str().unwrap_or("answer").to_owned();
            told.push(format!(
                "{name} {}",
                what.trim_start_matches("notifications/")
            ));
        }
    }
    assert_eq!(
        told,
        [
            "get message",
            "get elicitation/create",
            "get tools/list_changed",
            "get cancelled",
            "ping answer",
            "first elicitation/create",
            "first message",
            "first answer",
            "second elicitation/create",
            "second cancelled",
            "second answer",
        ]
    );
}

#[tokio::test]
async fn what_belongs_to_a_call_goes_on_its_stream_if_that_is_read() {
    let (mut seat, party) = sit(Whose::Own);
    let mut by_get = party.read(BY_GET).unwrap();
    let mut first = call(&party, &request(2, "tools/call", json!({}))).await;
    let mut second = call(&party, &request(3, "tools/call", json!({}))).await;
    let ask = |id: u32| frame(&json!({"id": id, "method": "elicitation/create", "params": {}}));
    let taken_back = json!({"method": "notifications/cancelled", "params": {"requestId": 1}});
    seat.send_in(&ask(1), &3.into());
    seat.send(&frame(&taken_back));
    seat.send_in(&ask(2), &2.into());
    seat.send_in(&ask(3), &77.into());
    assert_eq!(read(&mut second).await["id"], 1);
    assert_eq!(read(&mut second).await, taken_back);
    assert_eq!(read(&mut first).await["id"], 2);
    assert_eq!(read(&mut first).await["id"], 3, "of an unknown call");
    let nth = second.nth;
    drop(second);
    seat.send_in(&ask(4), &3.into());
    assert_eq!(read(&mut first).await["id"], 4, "the other is cut off");
    drop(first);
    seat.send_in(&ask(5), &3.into());
    assert_eq!(read(&mut by_get).await["id"], 5);
    drop(by_get);
    seat.send_in(&ask(6), &3.into());
    let mut again = party.read_after(nth, 2).expect("it is kept");
    assert_eq!(read(&mut again).await["id"], 6, "it waits for the client");
}

#[tokio::test]
async fn where_strangers_share_a_server_each_reads_the_log_of_its_own_call() {
    let (mut seat, party) = sit(Whose::Shared);
    let loud = |method: &str| wants(method, true, true);
    let request = request(1, "tools/call", json!({}));
    let mut first = party.call(&request, loud).await.unwrap();
    let mut second = party.call(&request, loud).await.unwrap();
    let _quiet = call(&party, &request).await;
    let log =
        |data: &str| frame(&json!({"method": "notifications/message", "params": {"data": data}}));
    let ids = [
        heard(&mut seat).await,
        heard(&mut seat).await,
        heard(&mut seat).await,
    ];
    let id = |nth: usize| Id::read(ids[nth]["id"].to_string().as_bytes()).unwrap();
    seat.send_in(&log("quiet"), &id(2));
    seat.send_in(&log("second"), &id(1));
    seat.send(&log("anybody's"));
    assert_eq!(read(&mut second).await["params"]["data"], "second");
    assert_eq!(read(&mut first).await["params"]["data"], "anybody's");
}

#[tokio::test]
async fn news_reach_those_who_listen_for_them() {
    const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
    let (mut seat, party) = sit(Whose::Shared);
    let mut one = call(&party, &request(1, "subscriptions/listen", json!({}))).await;
    let mut other = call(&party, &request(1, "subscriptions/listen", json!({}))).await;
    let (_, second) = (heard(&mut seat).await, heard(&mut seat).await);
    let news = json!({"method": "notifications/tools/list_changed", "params": {"_meta": {SUBSCRIPTION: second["id"]}}});
    seat.send(&frame(
        &json!({"method": "notifications/tools/list_changed"}),
    ));
    seat.send(&frame(&news));
    assert_eq!(read(&mut other).await["params"]["_meta"][SUBSCRIPTION], 1);
    seat.end("the world ends");
    for reading in [&mut one, &mut other] {
        let over = read(reading).await;
        assert_eq!(over["id"], 1);
        assert_eq!(over["result"]["_meta"][SUBSCRIPTION], 1);
        assert!(reading.next().await.is_none());
    }
}

#[tokio::test]
async fn a_client_of_its_own_has_each_id_once() {
    let (_seat, party) = sit(Whose::Own);
    let ping = request(1, "ping", json!({}));
    let _open = call(&party, &ping).await;
    let wants = |method: &str| wants(method, false, true);
    assert_eq!(
        party.call(&ping, wants).await.err(),
        Some(OpenError::IdInUse)
    );
    let twice = frame(&json!([{"id": 2, "method": "ping"}, {"id": 2, "method": "ping"}]));
    assert_eq!(
        party.call(&twice, wants).await.err(),
        Some(OpenError::IdInUse)
    );
}

#[tokio::test]
async fn a_batch_is_over_with_its_last_answer() {
    let (mut seat, party) = sit(Whose::Own);
    let batch = json!([{"id": 1, "method": "ping"}, {"method": "n"}, {"id": 2, "method": "ping"}]);
    let mut reading = call(&party, &frame(&batch)).await;
    assert_eq!(heard(&mut seat).await, batch);
    seat.send(&frame(
        &json!([{"id": 2, "result": {}}, {"id": 1, "result": {}}]),
    ));
    assert_eq!(read(&mut reading).await["id"], 2);
    assert_eq!(read(&mut reading).await["id"], 1);
    assert!(reading.next().await.is_none());
}

#[tokio::test]
async fn whoever_waits_when_the_session_ends_is_told() {
    for whose in [Whose::Own, Whose::Shared] {
        let (seat, party) = sit(whose);
        let mut reading = call(&party, &request("x", "tools/call", json!({}))).await;
        drop(seat);
        let told = read(&mut reading).await;
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!("x"), &json!(-32603))
        );
        assert!(reading.next().await.is_none());
        let late = party
            .call(&request(2, "ping", json!({})), |_| Default::default())
            .await;
        assert!(matches!(late.err(), Some(OpenError::Closed(_))));
        assert!(party.is_over());
    }
}

#[tokio::test]
async fn a_client_that_reads_slowly_holds_its_own_server_only() {
    let large = json!({"method": "notifications/message", "params": {"data": "x".repeat(300_000)}});
    let (mut seat, party) = sit(Whose::Own);
    let mut slow = call(&party, &request(1, "tools/call", json!({}))).await;
    assert!(!seat.is_full());
    seat.send(&frame(&large));
    assert!(seat.is_full());
    let taken = seat.taken();
    slow.next().await;
    taken.await;
    assert!(!seat.is_full());
    drop(slow);
    seat.send(&frame(&large));
    assert!(!seat.is_full(), "nobody waits for a client that is away");

    let (mut seat, party) = sit(Whose::Shared);
    let mut slow = call(
        &party,
        &request(1, "tools/call", json!({"_meta": {"progressToken": 1}})),
    )
    .await;
    let told = heard(&mut seat).await;
    let token = &told["params"]["_meta"]["progressToken"];
    let news = json!({"method": "notifications/progress", "params": {"progressToken": token, "message": "x".repeat(300_000)}});
    for _ in 0..20 {
        seat.send(&frame(&news));
        assert!(!seat.is_full());
    }
    assert!(slow.next().await.is_none(), "it is let go");
    assert_eq!(heard(&mut seat).await["params"]["requestId"], told["id"]);
}

#[tokio::test]
async fn messages_have_no_line_breaks_on_their_way_out() {
    let (mut seat, party) = sit(Whose::Own);
    let mut by_get = party.read(BY_GET).unwrap();
    let line = "{\"method\":\r\"n\",\n \"params\":{}}\r\n";
    seat.send(&Frame::new(line.into()));
    assert_eq!(
        by_get.next().await.unwrap().data,
        "{\"method\": \"n\",  \"params\":{}}"
    );
}

#[tokio::test]
async fn a_request_that_is_taken_back_leaves_nothing_open() {
    let (mut seat, party) = sit(Whose::Own);
    let mut reading = call(&party, &request(7, "tools/call", json!({}))).await;
    heard(&mut seat).await;
    let cancel = frame(&json!({"method": "notifications/cancelled", "params": {"requestId": 7}}));
    party.tell(cancel.clone(), &Tells::Cancel(7.into())).await;
    assert_eq!(heard(&mut seat).await["method"], "notifications/cancelled");
    assert!(reading.next().await.is_none());
    seat.send(&result(&json!(7), json!({"late": true})));
    drop(reading);
    assert!(party.idle_since().is_some());
    let _again = call(&party, &request(7, "tools/call", json!({}))).await;
}
