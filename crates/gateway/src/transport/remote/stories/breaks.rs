//! Streams that break.

use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::server::{PATIENCE, Reply, event};
use super::{World, call, modern, opening, progress, question, result, words};
use crate::frame::Id;
use crate::transport::server::Received;

/// What the stream of a call brings, the first event without a message.
fn script() -> Vec<String> {
    let mut events = vec!["id: 0\nretry: 1\ndata:\n\n".to_owned()];
    let messages = [progress(1), question(7), progress(2), result(1)];
    events.extend(messages.iter().enumerate().map(|(n, it)| event(n + 1, it)));
    events
}

/// What has to be heard of that.
fn heard() -> Vec<Value> {
    vec![progress(1), question(7), progress(2), result(1)]
}

#[tokio::test]
async fn a_stream_cut_after_any_event_goes_on_without_loss_or_repeat() {
    for cut in 0..script().len() - 1 {
        for half in [false, true] {
            let mut world = World::with(move |asked| {
                if let Some(reply) = opening(asked, "s") {
                    return reply;
                }
                let events = script();
                match asked.header("last-event-id") {
                    // Half of the next event does not count.
                    None if half => Reply::events(&events[..=cut])
                        .piece(&events[cut + 1].as_bytes()[..events[cut + 1].len() - 1])
                        .breaks(),
                    None => Reply::events(&events[..=cut]).breaks(),
                    Some(last) => {
                        let last: usize = last.parse().unwrap();
                        Reply::events(&events[last + 1..])
                    }
                }
            })
            .await;
            world.opens().await;
            world.send(call(1));
            let mut said = Vec::new();
            for _ in heard() {
                said.push(world.says().await);
            }
            assert_eq!(said, heard(), "cut after {cut}");
            assert_eq!(world.rest().await, Vec::<Value>::new());
            let seen = world.server.seen();
            let resumed: Vec<_> = seen
                .iter()
                .filter_map(|it| it.header("last-event-id"))
                .collect();
            assert_eq!(resumed, [cut.to_string()]);
            let posted = seen.iter().filter(|it| it.is("tools/call")).count();
            assert_eq!(posted, 1, "the call is made once");
        }
    }
}

#[tokio::test]
async fn a_stream_that_ends_after_every_event_goes_on_each_time() {
    for breaks in [false, true] {
        let mut world = World::with(move |asked| {
            if let Some(reply) = opening(asked, "s") {
                return reply;
            }
            let next = asked
                .header("last-event-id")
                .map_or(0, |it| it.parse().unwrap_or(0) + 1);
            let reply = Reply::events(&script()[next..=next]);
            if breaks { reply.breaks() } else { reply }
        })
        .await;
        world.opens().await;
        world.send(call(1));
        for expected in heard() {
            assert_eq!(world.says().await, expected);
        }
        assert_eq!(world.rest().await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn the_stream_of_what_belongs_to_no_call_goes_on_too() {
    let mut world = World::with(|asked| match asked.header("last-event-id") {
        Some(last) => {
            let last: usize = last.parse().unwrap();
            let reply = Reply::events(&script()[last + 1..=last + 1]);
            if last == 2 {
                reply.stays()
            } else {
                reply.breaks()
            }
        }
        None if asked.method == "GET" => Reply::events(&script()[..2]).breaks(),
        None => opening(asked, "s").unwrap(),
    })
    .await;
    world.opens().await;
    for expected in &heard()[..3] {
        assert_eq!(world.says().await, *expected);
    }
}

#[tokio::test]
async fn the_stream_of_what_belongs_to_no_call_comes_back_with_the_next_call() {
    let count = Mutex::new(0);
    let mut world = World::with(move |asked| {
        if asked.method != "GET" {
            let done = || Reply::json(&asked.result(json!({"content": []})));
            return opening(asked, "s").unwrap_or_else(done);
        }
        let mut count = count.lock().unwrap();
        *count += 1;
        match *count {
            1 => Reply::status(200)
                .header("content-type", "text/event-stream")
                .piece(b"\xff: 1\n\ndata: \xff\n\n".to_vec()),
            _ => Reply::events(&script()[..2]).stays(),
        }
    })
    .await;
    world.opens().await;
    // The first of these may be faster than the end of that stream.
    let mut is_heard = false;
    for id in 1.. {
        if is_heard {
            break;
        }
        world.send(call(id));
        loop {
            let said = world.says().await;
            is_heard |= said == progress(1);
            if said == result(id) {
                break;
            }
        }
    }
    let listened = world.server.seen();
    assert_eq!(listened.iter().filter(|it| it.method == "GET").count(), 2);
}

#[tokio::test]
async fn a_server_that_is_busy_for_a_while_is_asked_again() {
    let tries = Mutex::new(0);
    let mut world = World::with(move |asked| {
        if let Some(reply) = opening(asked, "s") {
            return reply;
        }
        if asked.header("last-event-id").is_none() {
            return Reply::events(&script()[..1]).breaks();
        }
        let mut tries = tries.lock().unwrap();
        *tries += 1;
        if *tries < 4 {
            return Reply::status(503);
        }
        Reply::events(&script()[1..])
    })
    .await;
    world.opens().await;
    world.send(call(1));
    for expected in heard() {
        assert_eq!(world.says().await, expected);
    }
}

#[tokio::test]
async fn what_cannot_be_gone_on_with_is_an_error_and_its_question_is_taken_back() {
    let without_ids = || [format!("data: {}\n\n", question(7))];
    for modern_server in [false, true] {
        let mut world = World::with(move |asked| {
            opening(asked, "s").unwrap_or(Reply::events(&without_ids()).breaks())
        })
        .await;
        if modern_server {
            world.send(modern(1, "tools/call", json!({"name": "book"})));
        } else {
            world.opens().await;
            world.send(call(1));
        }
        assert_eq!(world.says().await["method"], "elicitation/create");
        let cancelled = world.says().await;
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], 7);
        let answer = world.says().await;
        assert_eq!(answer["id"], 1);
        assert!(words(&answer).contains("Whether it did what was asked is not known"));
        let posted = world.server.seen();
        let calls = posted.iter().filter(|it| it.is("tools/call")).count();
        assert_eq!(calls, 1, "a call is never made twice");
    }
}

#[tokio::test]
async fn a_modern_request_that_changes_nothing_is_made_again_under_another_id() {
    let is_first = Mutex::new(true);
    let mut world = World::with(move |asked| {
        if std::mem::take(&mut *is_first.lock().unwrap()) {
            return Reply::events(&[]).breaks();
        }
        Reply::json(&asked.result(json!({"tools": []})))
    })
    .await;
    world.send(modern(1, "tools/list", json!({})));
    let answer = world.says().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["tools"]),
        (&json!(1), &json!([]))
    );
    let ids: Vec<Value> = world
        .server
        .seen()
        .iter()
        .map(|it| it.body["id"].clone())
        .collect();
    assert!(ids.len() == 2 && ids[0] == 1 && ids[1] != 1, "{ids:?}");
}

#[tokio::test]
async fn a_subscription_that_breaks_is_asked_for_again_and_nobody_notices() {
    let is_first = Mutex::new(true);
    let told = |asked: &super::Asked, method: &str| {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": asked.body["id"]});
        let message = json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta}});
        format!("data: {message}\n\n")
    };
    let mut world = World::with(move |asked| {
        let begun = told(asked, "notifications/subscriptions/acknowledged");
        let changed = told(asked, "notifications/tools/list_changed");
        let reply = Reply::events(&[begun, changed]);
        match std::mem::take(&mut *is_first.lock().unwrap()) {
            true => reply.breaks(),
            false => reply.stays(),
        }
    })
    .await;
    world.send(modern(
        5,
        "subscriptions/listen",
        json!({"notifications": {}}),
    ));
    let mut methods = Vec::new();
    for _ in 0..3 {
        let said = world.says().await;
        assert_eq!(
            said["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            5
        );
        methods.push(said["method"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        methods,
        [
            "notifications/subscriptions/acknowledged",
            "notifications/tools/list_changed",
            "notifications/tools/list_changed"
        ]
    );
}

#[tokio::test]
async fn what_may_not_have_got_through_is_named_whether_it_asks_or_answers() {
    let mut world = World::with(|asked| {
        let is_answer = asked.body.get("result").is_some();
        match asked.body["id"].as_u64() {
            Some(7) if is_answer => Reply::status(500),
            Some(8) if is_answer => Reply::status(202),
            Some(2) => Reply::events(&[]).breaks(),
            _ => opening(asked, "s").unwrap_or_else(|| {
                Reply::events(&[event(1, &question(8)), event(2, &question(7))]).stays()
            }),
        }
    })
    .await;
    world.opens().await;
    world.send(call(1));
    for id in [8, 7] {
        assert_eq!(world.says().await, question(id));
        world.send(json!({"jsonrpc": "2.0", "id": id, "result": {"action": "decline"}}));
    }
    assert_eq!(unreached(&mut world).await, 7.into());
    world.send(call(2));
    assert_eq!(unreached(&mut world).await, 2.into());
    let error = world.says().await;
    assert_eq!(
        (&error["id"], &error["error"]["code"]),
        (&json!(2), &json!(-32603))
    );
}

/// The id of the next message that may not have got through.
async fn unreached(world: &mut World) -> Id {
    loop {
        match timeout(PATIENCE, world.remote.next(true)).await {
            Ok(Received::Unreached(id)) => return id,
            Ok(_) => {}
            Err(_) => panic!("everything got through: {:#?}", world.server.seen()),
        }
    }
}
