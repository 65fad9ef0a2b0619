//! Who is let in: tokens, bearers, hosts and origins.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::day;
use super::desk::{Desk, PATIENCE};
use super::statuses::{answer, dressed};

#[tokio::test]
async fn a_launch_token_works_once() {
    let desk = Desk::start(&[]).await;
    let launch = |origin: Option<&str>, body: Value| {
        let request = desk.nobody().post("/launch").json(&body);
        answer(match origin {
            Some(origin) => request.header("origin", origin),
            None => request,
        })
    };
    let page = Some(desk.page());
    let good = json!({"token": desk.launch_token()});
    assert_eq!(
        launch(Some("http://evil.example"), good.clone()).await.0,
        403
    );
    assert_eq!(launch(page, json!({"token": "wrong"})).await.0, 401);
    assert_eq!(launch(page, json!({})).await.0, 401);
    assert_eq!(
        launch(page, json!({"token": desk.announced["bearer"]}))
            .await
            .0,
        401
    );
    // A script that acts for the person may leave `Origin` out; the token says enough.
    let (status, launched) = launch(None, good.clone()).await;
    assert_eq!(status, 200);
    assert_eq!(launch(page, good).await.0, 401);
    let person = desk.caller(launched["bearer"].as_str().unwrap());
    assert_eq!(
        answer(person.get("/elicitation/status/nobody")).await.0,
        404
    );
}

#[tokio::test]
async fn without_a_valid_bearer_nothing_is_told() {
    let mut desk = Desk::start(&[]).await;
    let id = desk.ask(day()).await;
    let mut bodies = Vec::new();
    for bearer in ["", "wrong", desk.launch_token()] {
        let caller = desk.caller(bearer);
        for request in [
            caller.get("/elicitation/events"),
            caller.get(&format!("/elicitation/status/{id}")),
            caller.get("/elicitation/status/nobody"),
            caller.post(&format!("/elicitation/{id}/accept")).body("{"),
            caller.post(&format!("/elicitation/{id}/cancel")),
        ] {
            let response = request.send().await.unwrap();
            dressed(&response);
            assert_eq!(response.status(), 401);
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
            bodies.push(response.text().await.unwrap());
        }
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    let good = desk.announced["bearer"].as_str().unwrap();
    let status = || desk.nobody().get(&format!("/elicitation/status/{id}"));
    for header in [format!("Basic {good}"), good.to_owned()] {
        assert_eq!(
            answer(status().header("authorization", header)).await.0,
            401
        );
    }
    assert_eq!(
        answer(status().bearer_auth(good).bearer_auth(good)).await.0,
        401
    );
    assert_eq!(answer(status().bearer_auth(good)).await.0, 200);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_kept_out() {
    let desk = Desk::start(&[]).await;
    let port = desk.host().rsplit_once(':').unwrap().1;
    let own = desk.host();
    let mut cases = Vec::new();
    for name in ["127.0.0.1", "localhost", "[::1]"] {
        let host = format!("{name}:{port}");
        cases.push((format!("Host: {host}\r\n"), "200"));
        cases.push((format!("Host: {host}\r\nOrigin: http://{host}\r\n"), "200"));
        cases.push((format!("Host: {name}\r\n"), "403"));
    }
    for host in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1:1",
        "127.0.0.2",
        "",
    ] {
        cases.push((format!("Host: {host}\r\n"), "403"));
    }
    cases.push((String::new(), "403"));
    cases.push((format!("Host: {own}\r\nHost: {own}\r\n"), "403"));
    cases.push((format!("Host: {own}\r\nHost: evil.example\r\n"), "403"));
    for origin in [
        "null",
        "http://evil.example",
        "http://localhost:1",
        "",
        &format!("https://{own}"),
    ] {
        cases.push((format!("Host: {own}\r\nOrigin: {origin}\r\n"), "403"));
    }
    let ours = format!("Origin: http://{own}\r\n");
    cases.push((format!("Host: {own}\r\n{ours}{ours}"), "403"));
    for (headers, status) in cases {
        let told = raw(
            own,
            &format!("GET /healthz HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"),
        )
        .await;
        assert!(
            told.starts_with(&format!("HTTP/1.1 {status} ")),
            "{headers:?}: {told}"
        );
        assert!(
            told.contains("frame-ancestors 'none'"),
            "{headers:?}: {told}"
        );
    }
    let absolute = format!(
        "GET http://evil.example/healthz HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"
    );
    assert!(raw(own, &absolute).await.starts_with("HTTP/1.1 403 "));
    let long = format!(
        "GET /healthz HTTP/1.1\r\nHost: {own}\r\nX: {}\r\n\r\n",
        "x".repeat(64 * 1024)
    );
    assert!(raw(own, &long).await.starts_with("HTTP/1.1 431 "));
}

#[tokio::test]
async fn the_other_loopback_address_serves_as_well() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        eprintln!("this machine has no [::1]");
        return;
    }
    let mut desk = Desk::start(&["--page-addr", "[::1]:0"]).await;
    assert!(desk.page().starts_with("http://[::1]:"));
    let id = desk.ask(day()).await;
    let person = desk.person().await;
    let cancel = person.post(&format!("/elicitation/{id}/cancel"));
    assert_eq!(answer(cancel.json(&json!({}))).await.0, 200);
}

/// Real time: the clocks of other people's libraries are not ours to pause.
#[tokio::test]
async fn who_never_finishes_a_request_is_cut_off_and_who_listens_quietly_is_not() {
    // Long enough for an honest client on a busy machine, and the quiet one is quiet for longer.
    let times = ("MIDCALL_TEST_TIMES", "headers=7s,keep_alive=8s");
    let desk = Desk::start_with("desk", &[], &[times]).await;
    let own = desk.host();
    let dawdle = raw(own, "GET /healthz HTTP/1.1\r\nHost: ");
    let quiet = async {
        let events = desk.script().get("/elicitation/events").send();
        let mut events = events.await.unwrap();
        loop {
            let told = events.chunk().await.unwrap().expect("the stream goes on");
            if told.starts_with(b":") {
                return;
            }
        }
    };
    let both = async { tokio::join!(dawdle, quiet) };
    tokio::time::timeout(PATIENCE, both)
        .await
        .expect("both end");
}

/// What is answered to bytes that no client library would send.
async fn raw(address: &str, request: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut told = Vec::new();
    let _ = socket.read_to_end(&mut told).await; // A refusal may cut the rest of a request off.
    String::from_utf8(told).unwrap()
}
