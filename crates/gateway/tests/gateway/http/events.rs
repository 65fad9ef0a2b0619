//! What surfaces are told, and that a cut loses and repeats nothing.

use reqwest::Response;
use serde_json::{Value, json};

use super::day;
use super::desk::{Caller, Desk, PATIENCE};

/// One server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub name: String,
    pub id: String,
    pub data: Value,
}

/// An event stream, read event by event.
pub struct Events {
    response: Response,
    read: String,
}

impl Events {
    pub async fn of(caller: &Caller, query: &str, last: Option<&str>) -> Self {
        let mut request = caller.get(&format!("/elicitation/events{query}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        let read = String::new();
        Self { response, read }
    }

    /// The next event; nothing when the stream has ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                if event.starts_with(':') {
                    self.read = rest.to_owned(); // The desk has shown that it is alive.
                    continue;
                }
                let field = |name: &str| {
                    let lines = event.lines().filter_map(|line| line.strip_prefix(name));
                    lines.collect::<Vec<_>>().join("\n")
                };
                let event = Event {
                    name: field("event: "),
                    id: field("id: "),
                    data: serde_json::from_str(&field("data: ")).unwrap(),
                };
                self.read = rest.to_owned();
                return Some(event);
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.read += str::from_utf8(&chunk).unwrap();
        }
    }

    /// The name and the ticket of the next event.
    async fn heard(&mut self) -> (String, String) {
        let event = self.next().await.expect("the stream goes on");
        let id = event.data["id"].as_str().unwrap().to_owned();
        (event.name, id)
    }
}

fn request(id: &str) -> (String, String) {
    ("elicitation/request".to_owned(), id.to_owned())
}

fn closed(id: &str) -> (String, String) {
    ("elicitation/closed".to_owned(), id.to_owned())
}

fn delivery(id: &str) -> (String, String) {
    ("elicitation/delivery".to_owned(), id.to_owned())
}

#[tokio::test]
async fn a_stream_starts_with_what_is_open_and_follows() {
    let mut desk = Desk::start(&["--timeout", "2s"]).await;
    let script = desk.script();
    let gone = desk.ask(day()).await;
    script
        .post(&format!("/elicitation/{gone}/cancel"))
        .send()
        .await
        .unwrap();
    desk.line().await;
    let line = json!({"params": day(), "server": "crm", "tool": "book", "workspace": "acme"});
    let first = desk.ask_as(line).await;

    let mut events = Events::of(&script, "", Some("garbage")).await;
    let event = events.next().await.unwrap();
    assert_eq!(event.name, "elicitation/request");
    let data = &event.data;
    assert_eq!(data["id"], first.as_str());
    assert_eq!(data["type"], "elicitation/request");
    assert_eq!(data["mode"], "form");
    assert_eq!(data["description"], "For which day?");
    assert_eq!(data["server"], json!({"name": "crm"}));
    assert_eq!(data["tool"], "book");
    assert_eq!(
        (&data["workspace"], data.get("conversation")),
        (&json!("acme"), None)
    );
    assert_eq!(data["params"], day());
    assert_eq!(data["schema"], day()["requestedSchema"]);

    let link = json!({"mode": "url", "message": "Sign in", "url": "https://example.com/in",
        "elicitationId": "e"});
    let second = desk.ask(link).await;
    assert_eq!(events.heard().await, request(&second));
    script
        .post(&format!("/elicitation/{second}/opened"))
        .send()
        .await
        .unwrap();
    let by = json!({"route": "api", "human": false});
    let event = events.next().await.unwrap();
    assert_eq!(event.name, "elicitation/opened");
    assert_eq!(event.data, json!({"id": second, "by": by}));
    script
        .post(&format!("/elicitation/{second}/reject"))
        .send()
        .await
        .unwrap();
    let event = events.next().await.unwrap();
    assert_eq!(event.name, "elicitation/closed");
    let mut how = json!({"id": second, "state": "answered", "action": "decline", "by": by,
        "delivery": "pending"});
    assert_eq!(event.data, how);
    let event = events.next().await.unwrap();
    assert_eq!(event.name, "elicitation/delivery");
    how["delivery"] = "delivered".into();
    assert_eq!(event.data, how);
    let event = events.next().await.unwrap();
    assert_eq!(event.name, "elicitation/timeout");
    assert_eq!(event.data, json!({"id": first, "state": "timed_out"}));
}

#[tokio::test]
async fn a_stream_can_be_narrowed() {
    let mut desk = Desk::start(&[]).await;
    let script = desk.script();
    let ask = |place: Value| {
        let mut line = json!({"params": day()});
        line.as_object_mut()
            .unwrap()
            .extend(place.as_object().unwrap().clone());
        line
    };
    let everywhere = desk.ask_as(ask(json!({}))).await;
    let acme = desk.ask_as(ask(json!({"workspace": "acme"}))).await;
    let talk = desk
        .ask_as(ask(json!({"workspace": "acme", "conversation": "7"})))
        .await;
    for (query, seen) in [
        ("", vec![&everywhere, &acme, &talk]),
        ("?workspace=&conversation=", vec![&everywhere, &acme, &talk]),
        ("?workspace=acme", vec![&acme, &talk]),
        ("?workspace=acme&conversation=7", vec![&talk]),
        ("?workspace=other", vec![]),
    ] {
        let mut events = Events::of(&script, query, None).await;
        for id in seen {
            assert_eq!(events.heard().await, request(id), "{query}");
        }
    }
}

#[tokio::test]
async fn after_a_cut_nothing_is_lost_and_nothing_repeated() {
    let mut desk = Desk::start(&[]).await;
    let script = desk.script();
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(desk.ask(day()).await);
    }
    let mut events = Events::of(&script, "", None).await;
    let mut last = String::new();
    for id in &open {
        let event = events.next().await.unwrap();
        assert_eq!(event.data["id"], id.as_str());
        last = event.id;
    }
    for round in 0..10 {
        drop(events); // The cut.
        let id = open.remove(0);
        script
            .post(&format!("/elicitation/{id}/cancel"))
            .send()
            .await
            .unwrap();
        desk.line().await;
        open.push(desk.ask(day()).await);
        events = Events::of(&script, "", Some(&last)).await;
        assert_eq!(events.heard().await, closed(&id), "round {round}");
        assert_eq!(events.heard().await, delivery(&id), "round {round}");
        let event = events.next().await.unwrap();
        assert_eq!(event.data["id"], open[4].as_str(), "round {round}");
        last = event.id;
    }
    let late = desk.ask(day()).await;
    assert_eq!(
        events.heard().await,
        request(&late),
        "nothing else came in between"
    );
}

#[tokio::test]
async fn streams_are_told_of_the_end_and_then_end() {
    let mut desk = Desk::start(&[]).await;
    let id = desk.ask(day()).await;
    let mut events = Events::of(&desk.script(), "", None).await;
    assert_eq!(events.heard().await, request(&id));
    desk.terminate();
    assert_eq!(events.heard().await, closed(&id));
    assert_eq!(events.next().await, None);
    assert!(desk.end().await.success());
}

#[tokio::test]
async fn there_are_only_so_many_streams() {
    let mut desk = Desk::start(&["--streams", "2"]).await;
    let id = desk.ask(day()).await;
    let script = desk.script();
    let first = Events::of(&script, "", None).await;
    let mut second = Events::of(&script, "", None).await;
    let third = script.get("/elicitation/events").send().await.unwrap();
    assert_eq!(third.status(), 503);
    assert_eq!(third.headers()["retry-after"], "1");
    assert_eq!(second.heard().await, request(&id));
    drop(first);
    // The server notices a client that hung up a moment later.
    let place = async {
        while script
            .get("/elicitation/events")
            .send()
            .await
            .unwrap()
            .status()
            != 200
        {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let place = tokio::time::timeout(PATIENCE, place).await;
    place.expect("a stream that ended gives its place back");
}
