//! In which request a server asks: its stream says so.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::server::{Asked, PATIENCE, Reply, event};
use super::{World, call, modern, opening, progress, question, result};
use crate::transport::server::Received;

/// What is said next, and during which request.
async fn said(world: &mut World) -> (Value, Option<Value>) {
    let read = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap();
    loop {
        return match timeout(PATIENCE, world.remote.next(true)).await {
            Ok(Received::During(id, frame)) => {
                let during = read(id.as_json().as_bytes());
                (read(&frame.into_bytes()), Some(during))
            }
            Ok(Received::Frame(frame)) => (read(&frame.into_bytes()), None),
            Ok(Received::Nothing) => continue,
            _ => panic!("nothing was said; these came: {:#?}", world.server.seen()),
        };
    }
}

#[tokio::test]
async fn a_question_belongs_to_the_request_on_whose_stream_it_comes() {
    let mut world = World::with(|asked| {
        let listens = asked.method == "GET" && asked.header("last-event-id").is_none();
        let id = asked.body["id"].as_u64().unwrap_or_default() as usize;
        match asked.method.as_str() {
            // The first is cut off after its first question, and gone on with.
            "GET" if !listens => Reply::events(&[event(2, &question(102)), event(3, &result(1))]),
            "GET" => Reply::events(&[event(9, &question(100))]).stays(),
            _ => opening(asked, "s").unwrap_or_else(|| match id {
                1 => {
                    let first = format!("retry: 20\n{}", event(1, &question(101)));
                    Reply::events(&[first]).breaks()
                }
                _ => Reply::events(&[
                    event(1, &question(103)),
                    event(2, &progress(1)),
                    event(3, &result(2)),
                ]),
            }),
        }
    })
    .await;
    world.opens().await;
    assert_eq!(said(&mut world).await, (question(100), None));
    world.send(call(1));
    assert_eq!(said(&mut world).await, (question(101), Some(json!(1))));
    assert_eq!(said(&mut world).await, (question(102), Some(json!(1))));
    assert_eq!(said(&mut world).await, (result(1), None));
    world.send(call(2));
    assert_eq!(said(&mut world).await, (question(103), Some(json!(2))));
    assert_eq!(said(&mut world).await, (progress(1), Some(json!(2))));
    assert_eq!(said(&mut world).await, (result(2), None));
}

#[tokio::test]
async fn a_request_that_was_sent_again_is_still_the_one_that_the_session_knows() {
    let count = AtomicUsize::new(0);
    let mut world = World::with(move |asked| {
        let answer = asked.result(json!({"tools": []}));
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => Reply::events(&[]).breaks(),
            _ => Reply::events(&[event(1, &question(7)), event(2, &answer)]),
        }
    })
    .await;
    world.send(modern(5, "tools/list", json!({})));
    assert_eq!(said(&mut world).await, (question(7), Some(json!(5))));
    assert_eq!(said(&mut world).await.0["id"], 5);
    let seen = world.server.seen();
    assert_ne!(seen[0].body["id"], seen[1].body["id"]);
}

#[tokio::test]
async fn in_a_batch_a_question_belongs_to_the_last_request_without_an_answer() {
    let mut world = World::with(|asked| {
        let opens = opening(asked, "s").filter(|_| !asked.body.is_array());
        opens.unwrap_or_else(|| {
            let together = json!([question(8), result(2), question(9)]);
            Reply::events(&[
                event(1, &question(7)),
                event(2, &result(1)),
                event(3, &together),
                event(4, &result(3)),
            ])
        })
    })
    .await;
    world.opens().await;
    world.send(json!([call(1), call(2), call(3)]));
    assert_eq!(said(&mut world).await, (question(7), None));
    assert_eq!(said(&mut world).await, (result(1), None));
    assert_eq!(said(&mut world).await, (question(8), None));
    assert_eq!(said(&mut world).await, (result(2), None));
    assert_eq!(said(&mut world).await, (question(9), Some(json!(3))));
    assert_eq!(said(&mut world).await, (result(3), None));
}

#[tokio::test]
async fn a_question_in_a_call_that_was_taken_back_is_nobodys() {
    let mut world = World::with(|asked| {
        let is_cancel = asked.is("notifications/cancelled");
        let reply = opening(asked, "s").filter(|_| !is_cancel);
        reply.unwrap_or_else(|| match asked.body["id"].as_u64() {
            Some(1) => Reply::events(&[event(1, &progress(1))])
                .waits("notifications/cancelled", event(2, &question(7))),
            Some(2) => Reply::json(&result(2)),
            _ => Reply::status(202),
        })
    })
    .await;
    world.opens().await;
    world.send(call(1));
    assert_eq!(world.says().await, progress(1));
    world.send(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    world.send(call(2));
    assert_eq!(
        world.says().await,
        result(2),
        "the session hears nothing of the question"
    );
    let is_answer = |asked: &Asked| asked.body["id"] == 7;
    let seen = loop {
        tokio::select! {
            received = world.remote.next(true) => assert!(matches!(received, Received::Nothing)),
            seen = world.server.sees(|seen| seen.iter().any(is_answer)) => break seen,
        }
    };
    let answer = seen.into_iter().find(is_answer).unwrap();
    assert_eq!(answer.body["error"]["code"], -32600);
}
