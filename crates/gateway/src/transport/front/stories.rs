//! Clients of an inbox, and what each of them hears.

mod guests;

use std::sync::Arc;

use serde_json::{Value, json};

use super::inbox::{ClientEvent, Clients, Inbox};
use super::message::{Tells, purpose};
use super::reading::Reading;
use super::streams::{BY_GET, OpenError, Tenancy};
use crate::frame::{Frame, Id};

fn open(tenancy: Tenancy) -> (Inbox, Arc<Clients>) {
    Inbox::new(tenancy, Arc::default())
}

fn frame(message: &Value) -> Frame {
    Frame::write(message)
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Frame {
    frame(&json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}))
}

async fn call(clients: &Arc<Clients>, request: &Frame) -> Reading {
    let purpose = |method: &str| purpose(method, false, true);
    clients.call(request, purpose).await.unwrap()
}

pub async fn heard(inbox: &mut Inbox) -> Value {
    let (ClientEvent::Client(frame) | ClientEvent::Guest(frame)) = inbox.next(true).await else {
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
    let (mut inbox, clients) = open(Tenancy::Shared);
    let params = |who: &str| json!({"name": who, "_meta": {"progressToken": "p"}});
    let mut one = call(&clients, &request(1, "tools/call", params("one"))).await;
    let mut other = call(&clients, &request(1, "tools/call", params("other"))).await;
    let (first, second) = (heard(&mut inbox).await, heard(&mut inbox).await);
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
        inbox.send(&frame(
            &json!({"method": "notifications/progress", "params": news}),
        ));
        inbox.send(&result(&told["id"], json!({"who": told["params"]["name"]})));
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
async fn whoever_shares_a_session_and_goes_gives_up_what_they_asked() {
    let (mut inbox, clients) = open(Tenancy::Shared);
    let gone = call(&clients, &request("a", "tools/call", json!({}))).await;
    let mut stays = call(&clients, &request("a", "tools/call", json!({}))).await;
    let (first, second) = (heard(&mut inbox).await, heard(&mut inbox).await);
    drop(gone);
    let taken_back = heard(&mut inbox).await;
    assert_eq!(taken_back["method"], "notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], first["id"]);
    inbox.send(&result(&first["id"], json!({"late": true})));
    inbox.send(&result(&second["id"], json!({"ok": true})));
    assert_eq!(read(&mut stays).await["result"], json!({"ok": true}));
    drop(stays);
    clients.leave();
    assert!(
        matches!(inbox.next(true).await, ClientEvent::Left),
        "what was answered is not taken back"
    );
}

#[tokio::test]
async fn a_client_of_its_own_has_not_cancelled_when_it_disconnects() {
    let (mut inbox, clients) = open(Tenancy::Own);
    let reading = call(&clients, &request(7, "tools/call", json!({}))).await;
    let nth = reading.nth;
    assert_eq!(heard(&mut inbox).await["id"], 7);
    drop(reading);
    inbox.send(&frame(
        &json!({"id": 1, "method": "elicitation/create", "params": {}}),
    ));
    inbox.send(&result(&json!(7), json!({})));
    let mut again = clients.read_after(nth, 0).expect("it is kept");
    assert_eq!(read(&mut again).await["method"], "elicitation/create");
    assert_eq!(read(&mut again).await["id"], 7);
    assert!(again.next().await.is_none());
    assert!(clients.read_after(nth, 3).is_none() && clients.read_after(99, 0).is_none());
}

#[tokio::test]
async fn what_belongs_to_no_call_goes_where_the_client_listens() {
    let (mut inbox, clients) = open(Tenancy::Own);
    let mut by_get = clients.read(BY_GET).unwrap();
    assert!(clients.read(BY_GET).is_none(), "one at a time");
    let list = json!({"method": "notifications/tools/list_changed"});
    let log = json!({"method": "notifications/message", "params": {}});
    let ask = |id: u32| json!({"id": id, "method": "elicitation/create", "params": {}});
    inbox.send(&frame(&log));
    inbox.send(&frame(&ask(1)));
    let mut ping = call(&clients, &request(1, "ping", json!({}))).await;
    let mut first = call(&clients, &request(2, "tools/call", json!({}))).await;
    let mut second = call(&clients, &request(3, "tools/call", json!({}))).await;
    inbox.send(&frame(&list));
    inbox.send(&frame(&ask(2)));
    inbox.send(&frame(&log));
    inbox.send(&result(&json!(2), json!({})));
    inbox.send(&frame(&ask(3)));
    let taken_back =
        |id: u32| json!({"method": "notifications/cancelled", "params": {"requestId": id}});
    inbox.send(&frame(&taken_back(3)));
    inbox.send(&frame(&taken_back(1)));
    for id in [3, 1] {
        inbox.send(&result(&json!(id), json!({})));
    }
    drop(inbox);
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
    let (mut inbox, clients) = open(Tenancy::Own);
    let mut by_get = clients.read(BY_GET).unwrap();
    let mut first = call(&clients, &request(2, "tools/call", json!({}))).await;
    let mut second = call(&clients, &request(3, "tools/call", json!({}))).await;
    let ask = |id: u32| frame(&json!({"id": id, "method": "elicitation/create", "params": {}}));
    let taken_back = json!({"method": "notifications/cancelled", "params": {"requestId": 1}});
    inbox.send_in(&ask(1), &3.into());
    inbox.send(&frame(&taken_back));
    inbox.send_in(&ask(2), &2.into());
    inbox.send_in(&ask(3), &77.into());
    assert_eq!(read(&mut second).await["id"], 1);
    assert_eq!(read(&mut second).await, taken_back);
    assert_eq!(read(&mut first).await["id"], 2);
    assert_eq!(read(&mut first).await["id"], 3, "of an unknown call");
    let nth = second.nth;
    drop(second);
    inbox.send_in(&ask(4), &3.into());
    assert_eq!(read(&mut first).await["id"], 4, "the other is cut off");
    drop(first);
    inbox.send_in(&ask(5), &3.into());
    assert_eq!(read(&mut by_get).await["id"], 5);
    drop(by_get);
    inbox.send_in(&ask(6), &3.into());
    let mut again = clients.read_after(nth, 2).expect("it is kept");
    assert_eq!(read(&mut again).await["id"], 6, "it waits for the client");
}

#[tokio::test]
async fn where_strangers_share_a_server_each_reads_the_log_of_its_own_call() {
    let (mut inbox, clients) = open(Tenancy::Shared);
    let loud = |method: &str| purpose(method, true, true);
    let request = request(1, "tools/call", json!({}));
    let mut first = clients.call(&request, loud).await.unwrap();
    let mut second = clients.call(&request, loud).await.unwrap();
    let _quiet = call(&clients, &request).await;
    let log =
        |data: &str| frame(&json!({"method": "notifications/message", "params": {"data": data}}));
    let ids = [
        heard(&mut inbox).await,
        heard(&mut inbox).await,
        heard(&mut inbox).await,
    ];
    let id = |nth: usize| Id::read(ids[nth]["id"].to_string().as_bytes()).unwrap();
    inbox.send_in(&log("quiet"), &id(2));
    inbox.send_in(&log("second"), &id(1));
    inbox.send(&log("anybody's"));
    assert_eq!(read(&mut second).await["params"]["data"], "second");
    assert_eq!(read(&mut first).await["params"]["data"], "anybody's");
}

#[tokio::test]
async fn news_reach_those_who_listen_for_them() {
    const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
    let (mut inbox, clients) = open(Tenancy::Shared);
    let mut one = call(&clients, &request(1, "subscriptions/listen", json!({}))).await;
    let mut other = call(&clients, &request(1, "subscriptions/listen", json!({}))).await;
    let (_, second) = (heard(&mut inbox).await, heard(&mut inbox).await);
    let news = json!({"method": "notifications/tools/list_changed", "params": {"_meta": {SUBSCRIPTION: second["id"]}}});
    inbox.send(&frame(
        &json!({"method": "notifications/tools/list_changed"}),
    ));
    inbox.send(&frame(&news));
    assert_eq!(read(&mut other).await["params"]["_meta"][SUBSCRIPTION], 1);
    inbox.end("the world ends");
    for reading in [&mut one, &mut other] {
        let over = read(reading).await;
        assert_eq!(over["id"], 1);
        assert_eq!(over["result"]["_meta"][SUBSCRIPTION], 1);
        assert!(reading.next().await.is_none());
    }
}

#[tokio::test]
async fn a_client_of_its_own_has_each_id_once() {
    let (_inbox, clients) = open(Tenancy::Own);
    let ping = request(1, "ping", json!({}));
    let _open = call(&clients, &ping).await;
    let purpose = |method: &str| purpose(method, false, true);
    assert_eq!(
        clients.call(&ping, purpose).await.err(),
        Some(OpenError::IdInUse)
    );
    let twice = frame(&json!([{"id": 2, "method": "ping"}, {"id": 2, "method": "ping"}]));
    assert_eq!(
        clients.call(&twice, purpose).await.err(),
        Some(OpenError::IdInUse)
    );
}

#[tokio::test]
async fn a_batch_is_over_with_its_last_answer() {
    let (mut inbox, clients) = open(Tenancy::Own);
    let batch = json!([{"id": 1, "method": "ping"}, {"method": "n"}, {"id": 2, "method": "ping"}]);
    let mut reading = call(&clients, &frame(&batch)).await;
    assert_eq!(heard(&mut inbox).await, batch);
    inbox.send(&frame(
        &json!([{"id": 2, "result": {}}, {"id": 1, "result": {}}]),
    ));
    assert_eq!(read(&mut reading).await["id"], 2);
    assert_eq!(read(&mut reading).await["id"], 1);
    assert!(reading.next().await.is_none());
}

#[tokio::test]
async fn whoever_waits_when_the_session_ends_is_told() {
    for tenancy in [Tenancy::Own, Tenancy::Shared] {
        let (inbox, clients) = open(tenancy);
        let mut reading = call(&clients, &request("x", "tools/call", json!({}))).await;
        drop(inbox);
        let told = read(&mut reading).await;
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!("x"), &json!(-32603))
        );
        assert!(reading.next().await.is_none());
        let late = clients
            .call(&request(2, "ping", json!({})), |_| Default::default())
            .await;
        assert!(matches!(late.err(), Some(OpenError::Closed(_))));
        assert!(clients.is_over());
    }
}

#[tokio::test]
async fn a_client_that_reads_slowly_holds_its_own_server_only() {
    let large = json!({"method": "notifications/message", "params": {"data": "x".repeat(300_000)}});
    let (mut inbox, clients) = open(Tenancy::Own);
    let mut slow = call(&clients, &request(1, "tools/call", json!({}))).await;
    assert!(!inbox.is_full());
    inbox.send(&frame(&large));
    assert!(inbox.is_full());
    let taken = inbox.taken();
    slow.next().await;
    taken.await;
    assert!(!inbox.is_full());
    drop(slow);
    inbox.send(&frame(&large));
    assert!(!inbox.is_full(), "nobody waits for a client that is away");

    let (mut inbox, clients) = open(Tenancy::Shared);
    let mut slow = call(
        &clients,
        &request(1, "tools/call", json!({"_meta": {"progressToken": 1}})),
    )
    .await;
    let told = heard(&mut inbox).await;
    let token = &told["params"]["_meta"]["progressToken"];
    let news = json!({"method": "notifications/progress", "params": {"progressToken": token, "message": "x".repeat(300_000)}});
    for _ in 0..20 {
        inbox.send(&frame(&news));
        assert!(!inbox.is_full());
    }
    assert!(slow.next().await.is_none(), "it is let go");
    assert_eq!(heard(&mut inbox).await["params"]["requestId"], told["id"]);
}

#[tokio::test]
async fn messages_have_no_line_breaks_on_their_way_out() {
    let (mut inbox, clients) = open(Tenancy::Own);
    let mut by_get = clients.read(BY_GET).unwrap();
    let line = "{\"method\":\r\"n\",\n \"params\":{}}\r\n";
    inbox.send(&Frame::new(line.into()));
    assert_eq!(
        by_get.next().await.unwrap().data,
        "{\"method\": \"n\",  \"params\":{}}"
    );
}

#[tokio::test]
async fn a_request_that_is_taken_back_leaves_nothing_open() {
    let (mut inbox, clients) = open(Tenancy::Own);
    let mut reading = call(&clients, &request(7, "tools/call", json!({}))).await;
    heard(&mut inbox).await;
    let cancel = frame(&json!({"method": "notifications/cancelled", "params": {"requestId": 7}}));
    clients.tell(cancel.clone(), &Tells::Cancel(7.into())).await;
    assert_eq!(heard(&mut inbox).await["method"], "notifications/cancelled");
    assert!(reading.next().await.is_none());
    inbox.send(&result(&json!(7), json!({"late": true})));
    drop(reading);
    assert!(clients.idle_since().is_some());
    let _again = call(&clients, &request(7, "tools/call", json!({}))).await;
}
