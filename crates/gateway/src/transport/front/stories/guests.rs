//! Requests of one session that another session answers, because they bring what was given out there.

use std::sync::Arc;

use midcall_core::Scope;
use serde_json::{Value, json};

use super::{heard, read};
use crate::call::{GivenName, Name, NameUse};
use crate::frame::Frame;
use crate::transport::front::endpoint::{Attend, Bounds, Endpoint};
use crate::transport::front::inbox::{ClientEvent, Clients, Inbox};
use crate::transport::front::message::{Tells, purpose};
use crate::transport::front::person::{MOST_LEFT, Person};
use crate::transport::front::reading::Reading;
use crate::transport::front::streams::{BY_GET, OpenError, Tenancy};

/// A client with a session of its own, at the inbox of that session.
fn open(person: &Arc<Person>) -> (Inbox, Arc<Clients>) {
    Inbox::new(Tenancy::Own, person.clone())
}

/// A claim that a client was given at an inbox.
fn claimed(inbox: &mut Inbox) -> String {
    let (token, name) = Name::mint();
    inbox.named(GivenName {
        name,
        used_for: NameUse::Claim,
        call: None,
        until: None,
        is_owed: true,
    });
    token.reveal().to_owned()
}

fn collects(id: impl Into<Value>, claim: &str) -> Frame {
    let params = json!({"name": "awaitElicitation", "arguments": {"claim": claim}, "_meta": {"progressToken": "p"}});
    Frame::write(
        &json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params}),
    )
}

async fn calls(clients: &Arc<Clients>, host: &Arc<Clients>, request: &Frame) -> Reading {
    let purpose = |method: &str| purpose(method, false, true);
    clients.call_at(host, request, purpose).await.unwrap()
}

fn result(id: &Value) -> Frame {
    Frame::write(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}))
}

#[tokio::test]
async fn a_claim_leads_its_own_person_to_the_session_that_gave_it() {
    let (ana, bob) = (Arc::new(Person::default()), Arc::new(Person::default()));
    let (mut inbox, clients) = open(&ana);
    let claim = claimed(&mut inbox);
    let leads = |person: &Person, frame: &Frame| {
        let host = person.host(frame);
        host.is_some_and(|host| Arc::ptr_eq(&host, &clients))
    };
    assert!(leads(&ana, &collects(1, &claim)));
    // Another's claim is as unknown as one that nobody was given.
    for (person, claim) in [(&bob, &*claim), (&ana, "mc1.never"), (&ana, "")] {
        assert!(person.host(&collects(1, claim)).is_none());
    }
    let called = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        Frame::request(&1.into(), "tools/call", &params)
    };
    assert!(leads(
        &ana,
        &called("midcall_awaitElicitation_2", json!({"claim": claim}))
    ));
    for (name, arguments) in [
        ("sendElicitationResult", json!({"elicitId": claim})),
        ("awaitElicitation", json!({"elicitId": claim})),
        ("awaitElicitation", json!({"claim": [claim]})),
        ("awaitElicitation", json!([claim])),
        ("another", json!({"claim": claim})),
    ] {
        assert!(ana.host(&called(name, arguments)).is_none(), "{name}");
    }
    clients.leave();
    assert!(leads(&ana, &collects(1, &claim)), "its client has left");
    drop(inbox);
    assert!(!leads(&ana, &collects(1, &claim)), "its session is over");
}

#[tokio::test]
async fn a_guest_hears_its_own_call_and_nothing_else() {
    let person = Arc::default();
    let (mut host, there) = open(&person);
    let (_guest, here) = open(&person);
    let mut own = there.read(BY_GET).unwrap();
    let mut reading = calls(&here, &there, &collects(7, "x")).await;
    let told = heard(&mut host).await;
    assert_ne!(told["id"], 7);
    let token = &told["params"]["_meta"]["progressToken"];
    for message in [
        json!({"method": "notifications/progress", "params": {"progressToken": "p", "progress": 1}}),
        json!({"method": "notifications/message", "params": {}}),
        json!({"id": 1, "method": "elicitation/create", "params": {}}),
        json!({"method": "notifications/progress", "params": {"progressToken": token, "progress": 2}}),
    ] {
        host.send(&Frame::write(&message));
    }
    host.send(&result(&told["id"]));
    let progress = read(&mut reading).await;
    assert_eq!(
        progress["params"],
        json!({"progressToken": "p", "progress": 2})
    );
    assert_eq!(read(&mut reading).await["id"], 7);
    assert!(reading.next().await.is_none());
    assert_eq!(read(&mut own).await["method"], "notifications/message");
    assert_eq!(read(&mut own).await["method"], "elicitation/create");
}

#[tokio::test]
async fn a_guest_is_answered_after_the_client_has_left() {
    let person = Arc::default();
    let (mut host, there) = open(&person);
    let (_guest, here) = open(&person);
    let ping = Frame::request(&1.into(), "ping", &json!({}));
    let mut waits = there.call(&ping, |_| Default::default()).await.unwrap();
    let mut before = calls(&here, &there, &collects(1, "x")).await;
    there.leave();
    let refused = there.call(&ping, |_| Default::default()).await;
    assert!(matches!(refused.err(), Some(OpenError::Closed(_))));
    let mut after = calls(&here, &there, &collects(2, "x")).await;
    let told = read(&mut waits).await;
    assert_eq!(told["error"]["message"], "midcall: the session has ended");

    // What was said before the client left is heard before, whoever hears.
    assert_eq!(heard(&mut host).await["method"], "ping");
    let first = heard(&mut host).await;
    assert!(matches!(host.next(false).await, ClientEvent::Left));
    let second = heard(&mut host).await;
    for told in [&first, &second] {
        host.send(&result(&told["id"]));
    }
    assert_eq!(read(&mut before).await["id"], 1);
    assert_eq!(read(&mut after).await["id"], 2);
    there.end("enough");
    assert!(matches!(host.next(true).await, ClientEvent::Gone));
}

#[tokio::test]
async fn a_request_that_another_session_answers_is_taken_back_there() {
    let person = Arc::default();
    let (mut host, there) = open(&person);
    let (mut guest, here) = open(&person);
    let mut reading = calls(&here, &there, &collects(7, "x")).await;
    let told = heard(&mut host).await;
    let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": 7}});
    here.tell(Frame::write(&cancel), &Tells::Cancel(7.into()))
        .await;
    assert!(reading.next().await.is_none());
    let taken_back = heard(&mut host).await;
    assert_eq!(taken_back["params"]["requestId"], told["id"]);
    // The guest's own session has nothing to do with it.
    let ping = Frame::request(&7.into(), "ping", &json!({}));
    let _open = here.call(&ping, |_| Default::default()).await.unwrap();
    assert_eq!(heard(&mut guest).await["method"], "ping");
    assert_eq!(there.waiting(), 0);
}

#[tokio::test]
async fn a_guest_that_is_cut_off_comes_back_to_its_answer() {
    let person = Arc::default();
    let (mut host, there) = open(&person);
    let (_guest, here) = open(&person);
    let reading = calls(&here, &there, &collects(7, "x")).await;
    let (nth, told) = (reading.nth, heard(&mut host).await);
    drop(reading);
    assert!(here.idle_since().is_none(), "its request is open");
    host.send(&result(&told["id"]));
    let mut again = here.read_after(nth, 0).expect("it is kept");
    assert_eq!(read(&mut again).await["id"], 7);
}

#[tokio::test]
async fn a_guest_is_told_when_the_session_ends_that_it_came_to() {
    let person = Arc::default();
    let (mut host, there) = open(&person);
    let (guest, here) = open(&person);
    let mut reading = calls(&here, &there, &collects(7, "x")).await;
    let mut other = calls(&here, &there, &collects(8, "x")).await;
    let (_, second) = (heard(&mut host).await, heard(&mut host).await);
    // And the session that it came from may end first.
    drop(guest);
    assert_eq!(read(&mut other).await["error"]["code"], -32603);
    heard(&mut host).await;
    heard(&mut host).await;
    host.send(&result(&second["id"]));
    assert_eq!(read(&mut reading).await["id"], 7);

    let (_guest, here) = open(&person);
    let mut reading = calls(&here, &there, &collects(7, "x")).await;
    host.end("the world ends");
    let told = read(&mut reading).await;
    assert_eq!(told["id"], 7);
    assert_eq!(told["error"]["message"], "midcall: the world ends");
}

#[tokio::test]
async fn a_modern_guest_gets_a_modern_answer_and_takes_back_what_it_hangs_up_on() {
    let (mut host, there) = open(&Arc::default());
    let mut reading = there
        .call_as_guest(&collects("a", "x"), true)
        .await
        .unwrap();
    let told = heard(&mut host).await;
    host.send(&result(&told["id"]));
    let answer = read(&mut reading).await;
    assert_eq!(
        (&answer["id"], &answer["result"]["resultType"]),
        (&json!("a"), &json!("complete"))
    );
    let reading = there
        .call_as_guest(&collects("b", "x"), true)
        .await
        .unwrap();
    let told = heard(&mut host).await;
    drop(reading);
    assert_eq!(heard(&mut host).await["params"]["requestId"], told["id"]);
}

#[tokio::test]
async fn so_many_sessions_of_a_person_go_on_without_their_clients() {
    let person = Arc::default();
    let mut left: Vec<_> = (0..=MOST_LEFT).map(|_| open(&person)).collect();
    let claim = claimed(&mut left[0].0);
    let mut reading = {
        let (_, here) = open(&person);
        left[0]
            .1
            .call_as_guest(&collects(1, &claim), false)
            .await
            .inspect(|_| drop(here))
            .unwrap()
    };
    for (inbox, clients) in &mut left {
        clients.leave();
        inbox.stays();
    }
    let over = left.iter().map(|(_, clients)| clients.is_over());
    assert_eq!(
        over.collect::<Vec<_>>(),
        (0..=MOST_LEFT).map(|nth| nth == 0).collect::<Vec<_>>()
    );
    assert!(matches!(left[0].0.next(true).await, ClientEvent::Gone));
    let told = read(&mut reading).await["error"]["message"].to_string();
    assert!(
        told.contains("too many results wait to be collected"),
        "{told}"
    );
    assert!(person.host(&collects(1, &claim)).is_none());
    // Those that are over make room for others by themselves.
    drop(left.drain(..2));
    let (inbox, clients) = open(&person);
    clients.leave();
    inbox.stays();
    assert!(left.iter().all(|(_, clients)| !clients.is_over()));
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_client_left_is_nobodys_by_its_id_and_counts_until_it_is_over() {
    let attend: Attend = Box::new(|mut inbox| {
        Box::pin(async move {
            claimed(&mut inbox);
            while !matches!(inbox.next(true).await, ClientEvent::Gone) {}
        })
    });
    let bounds = Bounds {
        sessions: 1,
        idle: std::time::Duration::from_secs(60),
        message: 1024,
    };
    let away = std::time::Duration::from_secs(600);
    let endpoint = Endpoint::new(attend, bounds, away);
    let ana = Scope::user("ana");
    let (id, clients) = endpoint.open(&ana).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(30)).await; // It is named by now.
    clients.leave();
    assert!(endpoint.session(&ana, &id).is_err());
    assert!(endpoint.open(&ana).is_err(), "it takes the room of one");
    tokio::time::sleep(away).await;
    assert!(!clients.is_over());
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert!(clients.is_over(), "nobody came");
    let (_, clients) = endpoint.open(&ana).unwrap();
    tokio::task::yield_now().await;
    clients.leave();
    let start = tokio::time::Instant::now();
    endpoint.end(std::time::Duration::from_secs(10)).await;
    assert_eq!(start.elapsed().as_secs(), 10, "somebody may come for it");
    assert!(clients.is_over());
}
