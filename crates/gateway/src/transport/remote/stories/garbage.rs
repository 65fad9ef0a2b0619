//! Servers that answer with something else than a JSON-RPC answer to the request: the client gets one error, which says
//! what came.

use serde_json::{Value, json};

use super::server::{Asked, Reply, event};
use super::{World, call, modern, opening, progress, result, words};
use crate::transport::server::Received;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Every kind of request that a client waits for: its name, and what is sent.
fn requests() -> [(&'static str, Value); 4] {
    let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    [
        (
            "initialize",
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}),
        ),
        ("a legacy call", call(1)),
        ("server/discover", modern(1, "server/discover", json!({}))),
        (
            "a modern call",
            modern(1, "tools/call", json!({"name": "book"})),
        ),
    ]
}

/// Sends every kind of request to a server that says this to all of them, and expects one error of ours, with these
/// words.
async fn fails(reply: impl Fn(&Asked) -> Reply + Clone + Send + Sync + 'static, said: &[&str]) {
    for (name, request) in requests() {
        let reply = reply.clone();
        let opens = name == "a legacy call";
        let mut world = World::with(move |asked| {
            let opened = opening(asked, "s");
            match opened {
                Some(opened) if opens || !asked.is("initialize") => opened,
                _ => reply(asked),
            }
        })
        .await;
        if opens {
            world.opens().await;
        }
        world.send(request);
        let mut answers = world.rest().await;
        answers.retain(|it| it["method"].is_null() && !it.is_array()); // The session judges these.
        assert_eq!(answers.len(), 1, "{name}: {answers:?}");
        let answer = &answers[0];
        assert_eq!(answer["jsonrpc"], "2.0", "{name}: {answer}");
        assert_eq!(answer["id"], 1, "{name}: {answer}");
        assert_eq!(answer["error"]["code"], -32603, "{name}: {answer}");
        for said in said {
            assert!(words(answer).contains(said), "{name}, {said}: {answer}");
        }
    }
}

fn reply(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Reply {
    let reply = match kind {
        "" => Reply::status(status),
        kind => Reply::status(status).header("content-type", kind),
    };
    match body.into() {
        body if body.is_empty() => reply, // An empty chunk would be the last.
        body => reply.piece(body),
    }
}

#[tokio::test]
async fn a_refusal_that_is_not_json_rpc_becomes_an_error_that_says_what_came() {
    for (status, body) in [
        (404, r#"{"error":"not_found"}"#),
        (500, r#"{"error":{"message":"x"}}"#),
        (400, r#"{"error":null}"#),
        (502, "[]"),
        (500, r#""x""#),
        (404, r#"{"detail":"Not Found"}"#),
        (
            400,
            r#"{"error":{"code":400,"message":"not JSON-RPC 2.0"}}"#,
        ),
        (500, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        (
            500,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E1","message":"x"}}"#,
        ),
        (404, r#"{"jsonrpc":"2.0","id":1,"error":"not_found"}"#),
        (
            400,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000}}"#,
        ),
        (500, r#"{"jsonrpc":"2.0","id":1,"err"#),
    ] {
        let head = format!("HTTP {status}");
        fails(
            move |_| reply(status, JSON, body),
            &["the server answered", &head, JSON, body],
        )
        .await;
    }
    let forbidden = r#"{"error":"forbidden"}"#;
    fails(
        move |_| reply(403, JSON, forbidden),
        &["HTTP 403", forbidden, "--header"],
    )
    .await;
    fails(
        |_| reply(404, "text/html", "<h1>No</h1>"),
        &["HTTP 404", "text/html", "<h1>No</h1>", "often ends in /mcp"],
    )
    .await;
    fails(
        |_| reply(502, "", ""),
        &["HTTP 502", "without a content type", "the body is empty"],
    )
    .await;
}

#[tokio::test]
async fn a_json_rpc_error_in_a_refusal_is_told_in_the_servers_words() {
    for id in [json!(1), json!(null), json!("server-error"), json!(2)] {
        let mut world = World::with(move |_| {
            let error = json!({"code": -32000, "message": "closed on Sundays", "data": {"x": 1}});
            let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
            reply(503, JSON, serde_json::to_string_pretty(&body).unwrap())
        })
        .await;
        world.send(modern(1, "tools/call", json!({"name": "book"})));
        let Received::Frame(frame) = world.remote.next(true).await else {
            panic!("it is gone");
        };
        let answer = frame.into_bytes();
        assert!(!answer.contains(&b'\n'), "it is one line");
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let error = json!({"code": -32000, "message": "closed on Sundays", "data": {"x": 1}});
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 1, "error": error}));
        assert_eq!(world.rest().await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_response_without_the_answer_becomes_an_error_that_says_what_came() {
    let other = result(2).to_string();
    let several = json!([progress(1), result(2)]).to_string();
    let question = super::question(7).to_string();
    for (status, kind, body) in [
        (200, "text/html", "<html>Welcome"),
        (200, "text/plain", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        (200, "", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        (200, JSON, "not JSON"),
        (200, JSON, r#"{"jsonrpc":"2.0","id":1,"result":{"#),
        (200, JSON, r#"{"ok":true}"#),
        (200, JSON, r#"{"error":"not_found"}"#),
        (
            200,
            JSON,
            r#"{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}"#,
        ),
        (200, JSON, r#"{"jsonrpc":"2.0","id":1,"result":null}"#),
        (200, JSON, r#"{"id":1,"result":{}}"#),
        (200, JSON, "[]"),
        (200, JSON, "7"),
        (200, JSON, &other),
        (200, JSON, &several),
    ] {
        let (kind, body) = (kind.to_owned(), body.to_owned());
        let (head, quoted) = (format!("HTTP {status}"), body.clone());
        let shown = match kind.as_str() {
            "" => "without a content type".to_owned(),
            kind => kind.to_owned(),
        };
        let said = [head.as_str(), &shown, &quoted];
        fails(move |_| reply(status, &kind, body.clone()), &said).await;
    }
    for (status, kind) in [
        (200, JSON),
        (200, ""),
        (200, "text/html"),
        (202, ""),
        (204, ""),
    ] {
        let head = format!("HTTP {status}");
        let said = [head.as_str(), "the body is empty"];
        fails(move |_| reply(status, kind, ""), &said).await;
    }
    let mut world = World::with(move |_| reply(200, JSON, question.clone())).await;
    world.send(modern(1, "tools/call", json!({"name": "book"})));
    assert_eq!(world.says().await["method"], "elicitation/create");
    let cancelled = world.says().await;
    assert_eq!(cancelled["params"]["requestId"], 7);
    assert!(words(&world.says().await).contains("not with a JSON-RPC answer"));
}

#[tokio::test]
async fn a_stream_that_ends_without_the_answer_becomes_an_error() {
    let unanswered = [
        "HTTP 200",
        EVENTS,
        "did not finish its answer",
        "closed",
        "not known",
    ];
    fails(|_| reply(200, EVENTS, ""), &unanswered).await;
    fails(
        |_| reply(200, EVENTS, "<html>\n\nnonsense\n\n"),
        &unanswered,
    )
    .await;
    fails(|_| reply(200, EVENTS, "event: x\ndata: 1\n\n"), &unanswered).await;
    fails(
        |_| reply(200, EVENTS, "data: \u{1b}[2Jhello\n\ndata: and more\n\n"),
        &["did not finish its answer", "<U+001B>[2Jhello"],
    )
    .await;
    fails(
        |_| reply(200, EVENTS, format!("data: {}\n\n", result(2))),
        &["did not finish its answer", r#""id":2"#],
    )
    .await;
    fails(
        |_| reply(200, EVENTS, b"data: \xff\xfe\n\n".to_vec()),
        &["does not send events"],
    )
    .await;
    // The server says where to go on, and then does not let us.
    for status in [405, 404, 200, 400] {
        fails(
            move |asked| match asked.method.as_str() {
                "GET" => reply(status, "text/html", "<html>"),
                _ => reply(200, EVENTS, "id: 1\nretry: 1\ndata:\n\n"),
            },
            &["server"],
        )
        .await;
    }
}

#[tokio::test]
async fn an_answer_that_clients_cannot_read_ends_the_wait_though_its_stream_stays_open() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":"ID","error":"boom"}"#,
        r#"{"jsonrpc":"2.0","id":"ID","result":[]}"#,
        r#"[{"id":"ID","result":{}}]"#,
        r#"{"error":"boom"}"#,
    ] {
        fails(
            move |asked| {
                let answer = answer.replace(r#""ID""#, &asked.body["id"].to_string());
                reply(200, EVENTS, format!("id: 1\ndata: {answer}\n\n")).stays()
            },
            &["HTTP 200", EVENTS, "not with a JSON-RPC answer"],
        )
        .await;
    }
}

#[tokio::test]
async fn an_error_without_an_id_answers_the_only_request_of_its_stream() {
    let error = json!({"code": -32700, "message": "what?"});
    let body = json!({"jsonrpc": "2.0", "id": null, "error": error});
    let (as_json, as_event) = (body.to_string(), event(1, &body));
    for (kind, body) in [(JSON, as_json), (EVENTS, as_event)] {
        let mut world = World::with(move |asked| {
            let reply = || reply(200, kind, body.clone());
            opening(asked, "s").unwrap_or_else(|| match kind {
                EVENTS => reply().stays(),
                _ => reply(),
            })
        })
        .await;
        world.opens().await;
        world.send(call(1));
        let expected = json!({"jsonrpc": "2.0", "error": error, "id": 1});
        assert_eq!(world.rest().await, [expected]);
    }
}

#[tokio::test]
async fn a_stream_answers_only_the_request_that_it_was_opened_for() {
    let forged = json!({"jsonrpc": "2.0", "id": 2, "result": {"content": ["forged"]}});
    for kind in [JSON, EVENTS] {
        let forged = forged.clone();
        let mut world = World::with(move |asked| {
            if let Some(opened) = opening(asked, "s") {
                return opened;
            }
            match (asked.body["id"].as_u64(), kind) {
                (Some(1), JSON) => Reply::json(&forged),
                (Some(1), _) => Reply::events(&[format!("data: {forged}\n\n")]),
                // It answers once the other one is over.
                (Some(2), _) => {
                    Reply::events(&[event(1, &progress(1))]).waits("ping", event(2, &result(2)))
                }
                _ => Reply::json(&asked.result(json!({}))),
            }
        })
        .await;
        world.opens().await;
        world.send(call(2));
        assert_eq!(world.says().await, progress(1));
        world.send(call(1));
        let failed = world.says().await;
        assert_eq!(failed["id"], 1, "{failed}");
        assert!(words(&failed).contains("forged"), "{failed}");
        world.send(json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}));
        let rest = world.rest().await;
        let answers: Vec<&Value> = rest.iter().filter(|it| it["id"] == 2).collect();
        assert_eq!(answers, [&result(2)]);
    }
}

#[tokio::test]
async fn the_stream_of_what_belongs_to_no_call_answers_no_call() {
    let forged = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": ["forged"]}});
    let mut world = World::with(move |asked| {
        if asked.method == "GET" {
            return Reply::events(&[event(1, &forged), event(2, &progress(1))]).stays();
        }
        opening(asked, "s").unwrap_or_else(|| Reply::json(&asked.result(json!({"content": []}))))
    })
    .await;
    // The call waits for that stream, and is open before anything comes on it.
    world.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}));
    world.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    world.send(call(1));
    assert_eq!(world.says().await["id"], 0);
    let said = [world.says().await, world.says().await];
    assert!(said.contains(&result(1)), "{said:?}");
    assert!(said.contains(&progress(1)), "{said:?}");
}

#[tokio::test]
async fn every_request_of_a_batch_is_answered_once() {
    let unreadable = json!({"jsonrpc": "2.0", "id": 2, "error": "boom"});
    let answers = json!([result(1), result(1), unreadable, result(9)]);
    for kind in [JSON, EVENTS] {
        let answers = answers.clone();
        let mut world = World::with(move |asked| match asked.body.is_array() {
            true if kind == JSON => Reply::json(&answers),
            true => Reply::events(&[format!("data: {answers}\n\n")]),
            false => opening(asked, "s").unwrap(),
        })
        .await;
        world.opens().await;
        world.send(json!([call(1), call(2), call(3)]));
        let said = world.rest().await;
        assert_eq!(said[0], result(1));
        let failed: Vec<&Value> = said[1..].iter().map(|it| &it["id"]).collect();
        assert_eq!(failed, [2, 3]);
        assert!(
            said[1..].iter().all(|it| words(it).contains("boom")),
            "{said:?}"
        );
    }
}

#[tokio::test]
async fn of_what_is_no_answer_only_the_beginning_is_read() {
    let page = "x".repeat(100_000);
    for status in [200, 500] {
        let page = page.clone();
        let mut world =
            World::with(move |_| reply(status, "text/html", page.clone()).stays()).await;
        world.send(modern(1, "tools/call", json!({"name": "book"})));
        let answer = world.says().await;
        assert!(words(&answer).contains("xxx…"), "{answer}");
        assert!(words(&answer).len() < 600, "{answer}");
    }
}
