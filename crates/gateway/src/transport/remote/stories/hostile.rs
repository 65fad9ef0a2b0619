//! Servers that are wrong, closed, elsewhere or up to no good.

use serde_json::json;

use super::server::Reply;
use super::{MOST, World, call, modern, opening, result, words};
use crate::frame::Frame;
use crate::transport::remote::{Remote, Target};
use crate::transport::server::Received;

/// What a legacy call brings from a server that says this to it.
async fn brings(reply: impl Fn() -> Reply + Send + Sync + 'static) -> serde_json::Value {
    let mut world = World::with(move |asked| opening(asked, "s").unwrap_or_else(&reply)).await;
    world.opens().await;
    world.send(call(1));
    let answer = world.says().await;
    assert_eq!(answer["id"], 1);
    answer
}

#[tokio::test]
async fn nothing_longer_than_is_allowed_is_kept() {
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#,
        "x".repeat(2 * MOST)
    );
    let (body, said) = (long.clone(), long.clone());
    let whole = brings(move || {
        Reply::status(200)
            .header("content-type", "application/json")
            .piece(body.clone())
    });
    assert!(words(&whole.await).contains("--max-message"));
    let pieces = brings(move || {
        let bytes: Vec<&[u8]> = said.as_bytes().chunks(1_000).collect();
        let reply = Reply::status(200).header("content-type", "application/json");
        bytes.iter().fold(reply, |reply, piece| reply.piece(*piece))
    });
    assert!(words(&pieces.await).contains("--max-message"));
    for lines in [
        format!("data: {long}\n\n"),
        format!("{long}\n\n"),
        format!(":{long}\n").repeat(2),
    ] {
        let event = brings(move || {
            let pieces = lines.as_bytes().chunks(1_000).map(<[u8]>::to_vec);
            let reply = Reply::status(200).header("content-type", "text/event-stream");
            pieces.fold(reply, Reply::piece)
        });
        assert!(words(&event.await).contains("--max-message"));
    }
}

#[tokio::test]
async fn a_message_may_come_drop_by_drop_and_in_several_lines() {
    let pretty = serde_json::to_string_pretty(&result(1)).unwrap();
    let lines = pretty
        .lines()
        .map(|line| format!("data: {line}\r\n"))
        .collect::<String>();
    let answer =
        brings(move || Reply::events(&[format!(": hello\r\n\r\n{lines}\r\n")]).drop_by_drop());
    assert_eq!(answer.await, result(1));
    let answer = brings(move || {
        Reply::status(200)
            .header("content-type", "Application/JSON; charset=utf-8")
            .piece(pretty.clone())
            .drop_by_drop()
    });
    assert_eq!(answer.await, result(1));
}

#[tokio::test]
async fn a_message_is_one_line_however_it_came() {
    let mut world = World::with(|asked| {
        Reply::status(200)
            .header("content-type", "application/json")
            .piece(serde_json::to_string_pretty(&asked.result(json!({"a": [1]}))).unwrap())
    })
    .await;
    world.send(modern(1, "tools/list", json!({})));
    let Received::Frame(frame) = world.remote.next(true).await else {
        panic!("it is gone");
    };
    assert!(!frame.into_bytes().contains(&b'\n'));
}

#[tokio::test]
async fn an_answer_that_comes_twice_or_unasked_is_dropped() {
    let mut world = World::with(|asked| {
        opening(asked, "s").unwrap_or_else(|| {
            let events = [result(9), result(1), result(1)];
            Reply::events(&events.map(|message| format!("data: {message}\n\n")))
        })
    })
    .await;
    world.opens().await;
    world.send(call(1));
    assert_eq!(world.rest().await, [result(1)]);
}

#[tokio::test]
async fn a_redirect_is_followed_on_the_same_origin_only() {
    let elsewhere = World::with(|asked| Reply::json(&asked.result(json!({})))).await;
    let place = format!("{}/mcp?key=hidden", elsewhere.server.origin);
    for (status, to, follows) in [
        (307, "/other".to_owned(), true),
        (308, "other?x=1".to_owned(), true),
        (302, "/other".to_owned(), false),
        (307, place.clone(), false),
        (301, place, false),
    ] {
        let mut world = World::given(&["Authorization: Bearer hunter2"], move |asked| match asked
            .path
            .starts_with("/other")
        {
            true => Reply::json(&asked.result(json!({}))),
            false => Reply::status(status).header("location", &to),
        })
        .await;
        world.send(modern(1, "tools/call", json!({"name": "book"})));
        let answer = world.says().await;
        assert_eq!(answer["error"].is_null(), follows, "{status} {answer}");
        if !follows {
            assert!(words(&answer).contains("not followed"), "{answer}");
            assert!(!words(&answer).contains("hidden"), "{answer}");
        }
    }
    assert!(
        elsewhere.server.seen().is_empty(),
        "nothing is told to others"
    );
}

#[tokio::test]
async fn a_redirect_in_a_circle_ends() {
    let mut world = World::with(|_| Reply::status(307).header("location", "/mcp")).await;
    world.send(modern(1, "tools/call", json!({"name": "book"})));
    assert!(words(&world.says().await).contains("not followed"));
}

#[tokio::test]
async fn a_server_that_wants_a_login_says_which() {
    for (given, said) in [
        (&[][..], "wants a login (HTTP 401 Unauthorized)"),
        (
            &["Authorization: Bearer hunter2"],
            "does not take the Authorization header",
        ),
    ] {
        let mut world = World::given(given, |_| {
            let challenge = r#"Bearer realm="mcp", resource_metadata="https://a.example/x""#;
            Reply::json(
                &json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "no"}}),
            )
            .with_status(401)
            .header("www-authenticate", challenge)
        })
        .await;
        world.send(modern(1, "tools/call", json!({"name": "book"})));
        let answer = world.says().await;
        let words = words(&answer);
        assert!(words.contains(said), "{words}");
        assert!(
            words.contains(r#"realm="mcp""#) && words.contains("--header"),
            "{words}"
        );
        assert!(!words.contains("hunter2"));
        let seen = &world.server.seen()[0];
        assert_eq!(seen.header("authorization").is_some(), !given.is_empty());
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_and_not_silence() {
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?key=hidden", nobody.local_addr().unwrap());
    drop(nobody);
    let mut remote = Remote::open(Target::new(&url, &[], None).unwrap(), MOST);
    remote.send(Frame::write(&modern(
        1,
        "tools/call",
        json!({"name": "book"}),
    )));
    let unreached = remote.next(true).await;
    assert!(matches!(unreached, Received::Unreached(id) if id == 1.into()));
    let Received::Frame(frame) = remote.next(true).await else {
        panic!("it is gone");
    };
    let answer = serde_json::from_slice(&frame.into_bytes()).unwrap();
    assert!(words(&answer).contains("was not reached"), "{answer}");
    assert!(
        words(&answer).contains("refused") && !words(&answer).contains("hidden"),
        "{answer}"
    );
}
