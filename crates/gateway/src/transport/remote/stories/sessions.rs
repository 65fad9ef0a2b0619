//! Sessions of legacy servers: how they begin, are forgotten, and end.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use tokio::time::timeout;

use super::server::{Asked, PATIENCE, Reply, event};
use super::{World, call, opening, question, result, words};
use crate::transport::server::Received;

/// What came, in short: the HTTP method or JSON-RPC method, and the session.
fn short(seen: &[Asked]) -> Vec<String> {
    let short = |asked: &Asked| {
        let what = asked.body["method"]
            .as_str()
            .unwrap_or(match asked.method.as_str() {
                "POST" => "answer",
                other => other,
            });
        format!("{what} {}", asked.header("mcp-session-id").unwrap_or("-"))
    };
    seen.iter().map(short).collect()
}

/// A server that does whatever it is called for, in the session `s`.
async fn willing() -> World {
    World::with(|asked| {
        opening(asked, "s").unwrap_or_else(|| Reply::json(&asked.result(json!({"content": []}))))
    })
    .await
}

/// Sessions `s1`, `s2`, …, one after the other; the last is known, and `other` says the rest.
async fn forgetful(other: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> World {
    let count = AtomicUsize::new(0);
    World::with(move |asked| {
        if asked.is("initialize") {
            count.fetch_add(1, Ordering::SeqCst);
        }
        let session = format!("s{}", count.load(Ordering::SeqCst));
        opening(asked, &session).unwrap_or_else(|| other(asked))
    })
    .await
}

#[tokio::test]
async fn a_session_is_opened_used_and_ended() {
    let mut world = willing().await;
    world.opens().await;
    world.send(call(1));
    assert_eq!(world.says().await, result(1));
    world.remote.close().await;
    let seen = world.server.seen();
    let expected = [
        "initialize -",
        "notifications/initialized s",
        "GET s",
        "tools/call s",
        "DELETE s",
    ];
    assert_eq!(short(&seen), expected);
    for asked in &seen[1..] {
        assert_eq!(asked.header("mcp-protocol-version"), Some("2025-11-25"));
    }
    let accepts = seen[0].header("accept").unwrap();
    assert!(accepts.contains("application/json") && accepts.contains("text/event-stream"));
    assert_eq!(seen[0].header("mcp-protocol-version"), None);
}

#[tokio::test]
async fn a_forgotten_session_is_opened_again_and_the_call_is_made_in_it() {
    for refusal in [
        || Reply::status(404),
        || {
            let error =
                json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
            Reply::json(&json!({"jsonrpc": "2.0", "id": null, "error": error})).with_status(400)
        },
    ] {
        let mut world = forgetful(move |asked| match asked.header("mcp-session-id") {
            Some("s1") => refusal(),
            _ => Reply::json(&asked.result(json!({"content": []}))),
        })
        .await;
        world.opens().await;
        world.send(call(1));
        assert_eq!(world.says().await, result(1), "and nobody notices");
        world.send(call(2));
        assert_eq!(world.says().await, result(2));
        let seen = world.server.seen();
        let expected = [
            "initialize -",
            "notifications/initialized s1",
            "GET s1",
            "tools/call s1",
            "initialize -",
            "notifications/initialized s2",
            "GET s2",
            "tools/call s2",
            "tools/call s2",
        ];
        assert_eq!(short(&seen), expected);
        assert_eq!(seen[4].body["params"], seen[0].body["params"]);
        assert_ne!(seen[4].body["id"], seen[0].body["id"]);
    }
}

#[tokio::test]
async fn a_server_that_forgets_every_session_is_not_asked_for_ever() {
    let mut world = forgetful(|_| Reply::status(404)).await;
    world.opens().await;
    world.send(call(1));
    assert!(words(&world.says().await).contains("404"));
    let calls = world.server.seen();
    assert_eq!(calls.iter().filter(|it| it.is("tools/call")).count(), 2);
}

#[tokio::test]
async fn a_server_that_starts_again_in_the_middle_of_a_question() {
    let mut world = forgetful(|asked| {
        let in_first = asked.header("mcp-session-id") == Some("s1");
        match (asked.method.as_str(), in_first) {
            ("GET", true) => Reply::status(404),
            (_, true) => {
                let first = format!("retry: 1\n{}", event(1, &question(7)));
                Reply::events(&[first]).breaks()
            }
            _ => Reply::json(&asked.result(json!({"content": []}))),
        }
    })
    .await;
    world.opens().await;
    world.send(call(1));
    assert_eq!(world.says().await["id"], 7);
    let cancelled = world.says().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], 7);
    let answer = world.says().await;
    assert_eq!(answer["id"], 1);
    assert!(words(&answer).contains("started again"), "{answer}");
    world.send(call(2));
    assert_eq!(world.says().await, result(2));
    assert_eq!(world.rest().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_question_outside_of_calls_is_taken_back_when_its_session_is_gone() {
    let mut world = World::with(|asked| match asked.header("last-event-id") {
        Some(_) => Reply::status(404),
        None if asked.method == "GET" => {
            let first = format!("retry: 1\n{}", event(1, &question(7)));
            Reply::events(&[first]).breaks()
        }
        None => opening(asked, "s").unwrap(),
    })
    .await;
    world.opens().await;
    assert_eq!(world.says().await["id"], 7);
    let cancelled = world.says().await;
    assert_eq!(cancelled["params"]["requestId"], 7);
}

#[tokio::test]
async fn a_server_that_cannot_be_opened_again_is_an_error_for_all_that_waits() {
    let count = AtomicUsize::new(0);
    let mut world = World::with(move |asked| {
        if asked.is("initialize") && count.fetch_add(1, Ordering::SeqCst) > 0 {
            return Reply::status(500);
        }
        opening(asked, "s").unwrap_or(Reply::status(404))
    })
    .await;
    world.opens().await;
    world.send(call(1));
    world.send(call(2));
    for _ in 0..2 {
        let answer = world.says().await;
        assert!(words(&answer).contains("forgotten the session"), "{answer}");
    }
}

#[tokio::test]
async fn a_server_that_comes_back_later_is_opened_by_the_next_call() {
    let count = AtomicUsize::new(0);
    let mut world = World::with(move |asked| {
        let opened = match asked.is("initialize") {
            true => count.fetch_add(1, Ordering::SeqCst) + 1,
            false => count.load(Ordering::SeqCst),
        };
        match (asked.is("initialize"), opened) {
            (true, 2) => Reply::status(500),
            (_, 3) => opening(asked, "s3")
                .unwrap_or_else(|| Reply::json(&asked.result(json!({"content": []})))),
            _ => opening(asked, "s1").unwrap_or(Reply::status(404)),
        }
    })
    .await;
    world.opens().await;
    world.send(call(1));
    assert!(words(&world.says().await).contains("opens no other"));
    world.send(call(2));
    assert_eq!(world.says().await, result(2));
}

#[tokio::test]
async fn a_server_that_is_not_opened_holds_nothing_up() {
    for is_cancelled in [false, true] {
        let mut world = World::with(move |asked| match asked.is("initialize") {
            true if is_cancelled => Reply::events(&[]).stays(),
            true => Reply::status(500),
            false => Reply::json(&asked.result(json!({"content": []}))),
        })
        .await;
        world.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}));
        world.send(call(1));
        if is_cancelled {
            world.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}));
        } else {
            assert!(words(&world.says().await).contains("HTTP 500"));
        }
        assert_eq!(world.says().await, result(1));
    }
}

#[tokio::test]
async fn a_server_without_sessions_is_called_without_one() {
    let mut world = World::with(|asked| match asked.method.as_str() {
        "POST" if asked.is("initialize") => {
            Reply::json(&asked.result(json!({"protocolVersion": "2025-06-18", "capabilities": {}})))
        }
        "POST" if asked.is("tools/call") => Reply::json(&asked.result(json!({"content": []}))),
        "POST" => Reply::status(202),
        _ => Reply::status(405),
    })
    .await;
    world.opens().await;
    world.send(call(1));
    assert_eq!(world.says().await, result(1));
    world.remote.close().await;
    let seen = world.server.seen();
    assert!(seen.iter().all(|it| it.header("mcp-session-id").is_none()));
    assert!(seen.iter().all(|it| it.method != "DELETE"));
    assert_eq!(
        seen.last().unwrap().header("mcp-protocol-version"),
        Some("2025-06-18")
    );
}

#[tokio::test]
async fn a_legacy_call_is_cancelled_in_words_and_not_by_hanging_up() {
    let mut world = World::with(|asked| {
        opening(asked, "s").unwrap_or_else(|| Reply::events(&[event(1, &question(7))]).stays())
    })
    .await;
    world.opens().await;
    world.send(call(1));
    world.says().await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    world.send(cancel.clone());
    let cancelled = |seen: &[Asked]| seen.iter().any(|it| it.is("notifications/cancelled"));
    let seen = world.server.sees(cancelled).await;
    assert_eq!(seen.last().unwrap().body, cancel);
    assert!(
        !seen.iter().any(|it| it.is_left),
        "the stream is still open"
    );
}

#[tokio::test]
async fn a_call_waits_until_questions_can_be_heard() {
    let mut world = World::with(|asked| {
        if asked.method == "GET" {
            return Reply::events(&[event(1, &question(7))]).stays();
        }
        opening(asked, "s").unwrap_or_else(|| Reply::json(&asked.result(json!({"content": []}))))
    })
    .await;
    world.opens().await;
    world.send(call(1));
    let mut said = vec![world.says().await, world.says().await];
    said.sort_by_key(|it| it["id"].as_u64());
    assert_eq!(said, [result(1), question(7)]);
    world.send(json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "cancel"}}));
    let seen = world.server.sees(|seen| seen.len() == 5).await;
    let expected = [
        "initialize -",
        "notifications/initialized s",
        "GET s",
        "tools/call s",
        "answer s",
    ];
    assert_eq!(short(&seen), expected);
}

#[tokio::test]
async fn a_client_that_does_not_wait_for_the_opening_is_heard_in_order() {
    let mut world = willing().await;
    world.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}));
    world.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    world.send(call(1));
    assert_eq!(world.says().await["id"], 0);
    assert_eq!(world.says().await, result(1));
    let expected = [
        "initialize -",
        "notifications/initialized s",
        "GET s",
        "tools/call s",
    ];
    assert_eq!(short(&world.server.seen()), expected);
}

#[tokio::test]
async fn an_error_that_answers_a_call_is_its_answer_whatever_it_says() {
    for status in [400, 404] {
        let mut world = forgetful(move |asked| {
            let error =
                json!({"code": -32000, "message": "charged, but the session of the shop expired"});
            let mut answer = asked.result(json!({}));
            answer["error"] = error;
            answer.as_object_mut().unwrap().shift_remove("result");
            Reply::json(&answer).with_status(status)
        })
        .await;
        world.opens().await;
        world.send(call(1));
        assert!(words(&world.says().await).contains("charged"));
        let calls = |asked: &&Asked| asked.is("tools/call");
        assert_eq!(world.server.seen().iter().filter(calls).count(), 1);
    }
}

#[tokio::test]
async fn a_large_message_keeps_nobody_from_being_heard() {
    let mut world = willing().await;
    world.opens().await;
    world.send(call(9));
    assert_eq!(world.says().await, result(9));
    let mut large = call(1);
    large["params"]["arguments"] = json!({"x": "x".repeat(2 * 1024 * 1024)});
    world.send(large);
    assert!(
        world.remote.is_full(),
        "the client is not heard for a moment"
    );
    assert!(!world.remote.is_flooded(), "the server is");
    let taken = timeout(PATIENCE, world.remote.next(false)).await;
    assert!(
        matches!(taken, Ok(Received::Nothing)),
        "it has left, and whoever waits hears of it"
    );
    assert!(!world.remote.is_full());
    assert_eq!(world.says().await, result(1));
}
