//! Connections that nobody uses: how many may wait, who makes room, and who stays.

use std::fs;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::day;
use super::desk::{Desk, PATIENCE};
use super::events::Events;

/// Connections of a flood.
const FLOOD: usize = 1_000;
/// Strangers that may wait, and a few connections that tests use themselves.
const STAY: usize = 256 + 16;
/// Nobody is closed for being slow, and nobody is kept for being fresh.
const TIMES: (&str, &str) = (
    "MIDCALL_TEST_TIMES",
    "neighbour=5m,headers=5m,between_requests=5m,keep_alive=5m,fresh=0ms",
);

/// A connection that is used for one request after the other.
struct Kept(TcpStream);

impl Kept {
    async fn to(desk: &Desk) -> Self {
        Self(TcpStream::connect(desk.host()).await.unwrap())
    }

    /// Sends a request, and gives the head of the response once all of that is read.
    async fn call(&mut self, request: &str) -> String {
        self.0.write_all(request.as_bytes()).await.unwrap();
        let mut told = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&told);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let lengths = head.lines().find_map(|line| {
                    let line = line.to_lowercase();
                    line.strip_prefix("content-length: ")?.parse().ok()
                });
                if body.len() == lengths.unwrap_or(0) {
                    return head.to_owned();
                }
            }
            let read = timeout(PATIENCE, self.0.read_buf(&mut told)).await;
            assert_ne!(read.expect("a response").unwrap(), 0, "it is closed");
        }
    }

    async fn status(&mut self, desk: &Desk, bearer: &str) {
        let (host, path) = (desk.host(), "/elicitation/status/nobody");
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {bearer}\r\n\r\n"
        );
        let head = self.call(&request).await;
        assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    }

    /// Waits until the other side has closed it.
    async fn is_closed(&mut self) {
        let mut rest = Vec::new();
        let closed = timeout(PATIENCE, self.0.read_to_end(&mut rest)).await;
        let _ = closed.expect("it is closed"); // It may be reset.
        assert!(rest.is_empty());
    }
}

async fn flood(desk: &Desk, first: &str) -> Vec<Kept> {
    // Some systems give a process 1,024 file handles at first, and let it have more.
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    let mut all = Vec::new();
    for _ in 0..FLOOD {
        let mut one = Kept::to(desk).await;
        let _ = one.0.write_all(first.as_bytes()).await;
        all.push(one);
    }
    all
}

fn files(desk: &Desk) -> usize {
    let pid = desk.pid().unwrap();
    let folder = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    folder.count()
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = timeout(PATIENCE, waiting).await;
    waited.unwrap_or_else(|_| panic!("in vain: {what}"));
}

#[tokio::test]
async fn idle_connections_make_room_and_whoever_has_a_bearer_stays() {
    let mut desk = Desk::start_with("desk", &[], &[TIMES]).await;
    let before = files(&desk);
    let bearer = desk.announced["bearer"].as_str().unwrap().to_owned();
    let mut script = Kept::to(&desk).await;
    script.status(&desk, &bearer).await;
    let mut person = Kept::to(&desk).await;
    let launch = json!({"token": desk.launch_token()}).to_string();
    let host = desk.host();
    let launched = person
        .call(&format!(
            "POST /launch HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{launch}",
            launch.len()
        ))
        .await;
    assert!(launched.starts_with("HTTP/1.1 200 "), "{launched}");
    let mut events = Events::of(&desk.script(), "", None).await;

    for first in [
        "",
        "GET /heal",
        &format!("POST /launch HTTP/1.1\r\nHost: {host}\r\nContent-Length: 10\r\n\r\n{{"),
        &format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ] {
        let mut idle = flood(&desk, first).await;
        let told = desk.nobody().get("/healthz").send().await.unwrap();
        assert_eq!(told.status(), 200, "a stranger is served");
        let told = desk.script().get("/elicitation/status/nobody").send();
        assert_eq!(told.await.unwrap().status(), 404, "a script is served");
        if first.starts_with("GET /healthz") {
            let mut answer = Vec::new();
            let closed = timeout(PATIENCE, idle[0].0.read_to_end(&mut answer)).await;
            let _ = closed.expect("the oldest is closed");
        } else {
            idle[0].is_closed().await;
        }
        until("a few wait", || files(&desk) <= before + STAY).await;
        drop(idle);
    }

    script.status(&desk, &bearer).await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", desk.host());
    assert!(person.call(&head).await.starts_with("HTTP/1.1 200 "));
    let id = desk.ask(day()).await;
    let told = timeout(PATIENCE, events.next()).await;
    let told = told.expect("an event").expect("the stream goes on");
    assert_eq!(told.data["id"], json!(id));

    drop((script, person, events));
    until("every file is closed", || files(&desk) == before).await;
}

#[tokio::test]
async fn a_crowd_that_has_just_connected_is_served() {
    let times = (TIMES.0, "neighbour=5m,headers=5m,fresh=5m");
    let desk = Desk::start_with("desk", &[], &[times]).await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", desk.host());
    for mut one in flood(&desk, "").await {
        assert!(one.call(&request).await.starts_with("HTTP/1.1 200 "));
    }
}

/// Real time: the clocks of other people's libraries are not ours to pause.
#[tokio::test]
async fn a_first_request_has_less_time_than_the_next() {
    // Long enough for an honest client on a busy machine.
    let times = (TIMES.0, "headers=7s,between_requests=5m");
    let desk = Desk::start_with("desk", &[], &[times]).await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", desk.host());
    let mut good = Kept::to(&desk).await;
    assert!(good.call(&request).await.starts_with("HTTP/1.1 200 "));
    let mut silent = Kept::to(&desk).await;
    let mut slow = Kept::to(&desk).await;
    slow.0.write_all(b"GET /heal").await.unwrap();
    silent.is_closed().await;
    slow.is_closed().await;
    assert!(good.call(&request).await.starts_with("HTTP/1.1 200 "));
}
