//! How long a question waits, and what its client hears meanwhile.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use midcall_server::testing::{Client, Connected, Person, Said};
use midcall_server::{Ask, AskError, Asks, How, WithAsks};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::world::World;

const ASKERS: [Client; 3] = [
    Client::V2025_06_18,
    Client::V2025_11_25,
    Client::V2026_07_28,
];
const TIMEOUT: &str = "dev.midcall/timeoutMs";

/// Works, and waits for people who take their time.
#[derive(Clone, Default)]
struct Slow {
    /// The person is done with what the link led to.
    done: Arc<Notify>,
}

#[tool_router]
impl Slow {
    #[tool(
        description = "Says how far it is, before and after a question",
        annotations(destructive_hint = false)
    )]
    async fn steps(&self, ask: Ask) -> Result<String, AskError> {
        ask.progress(0.0, Some(2.0), "begun").await;
        let answer = ask.text("Name").within(Duration::from_secs(65)).await;
        ask.progress(1.0, Some(2.0), "asked").await;
        answer?.accepted()
    }

    #[tool(
        description = "Waits until the person has signed in",
        annotations(destructive_hint = false)
    )]
    async fn sign_in(&self, ask: Ask) -> Result<String, AskError> {
        let link = ask.link("Sign in", "https://example.com/in?state={id}");
        let done = self.done.clone();
        link.until(async move |_| done.notified().await)
            .await?
            .accepted()?;
        Ok("Signed in".into())
    }

    #[tool(
        description = "Waits a short time for a sign-in",
        annotations(destructive_hint = false)
    )]
    async fn hurries(&self, ask: Ask) -> Result<String, AskError> {
        let link = ask.link("Sign in", "https://example.com/in?state={id}");
        let link = link.finished_within(Duration::from_secs(20));
        link.until(async |_| std::future::pending().await)
            .await?
            .accepted()?;
        Ok("Signed in".into())
    }
}

#[tool_handler]
impl ServerHandler for Slow {}

/// What a client is told of one question: of the question itself, or of its round.
async fn told(client: Client, asks: &Asks, tool: &str, kind: &str) -> Value {
    let person = Person::declines();
    let connected = client.connect(asks.around(World::default()), &person).await;
    let call = json!({"name": tool, "arguments": {"kind": kind}});
    let got = connected.once("tools/call", call).await;
    match client.is_modern() {
        true => got.0["result"]["_meta"][TIMEOUT].clone(),
        false => person.questions()[0].meta.clone().unwrap_or_default()[TIMEOUT].clone(),
    }
}

#[tokio::test]
async fn how_long_a_question_waits_is_told_only_if_its_author_said_so() {
    let (usual, minute) = (Asks::new(), Asks::new().within(Duration::from_secs(60)));
    for client in ASKERS {
        let nothing = Value::Null;
        assert_eq!(
            told(client, &usual, "one", "text").await,
            nothing,
            "{client}"
        );
        assert_eq!(
            told(client, &usual, "one", "short").await,
            30_000,
            "{client}"
        );
        assert_eq!(
            told(client, &minute, "one", "text").await,
            60_000,
            "{client}"
        );
        assert_eq!(
            told(client, &minute, "one", "short").await,
            30_000,
            "{client}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_when_its_time_is_over_and_not_a_second_later() {
    for client in ASKERS {
        let ended = Arc::new(Mutex::new(None));
        let seen = ended.clone();
        let asks = Asks::new().on_answer(move |answered| {
            *seen.lock().unwrap() = Some((answered.how, answered.took));
        });
        let person = Person::who(|_| Said::Nothing);
        let connected = client.connect(asks.around(World::default()), &person).await;
        let call = connected.call("one", json!({"kind": "short"}));
        let _ = timeout(Duration::from_secs(60), call).await;
        let (how, took) = ended.lock().unwrap().take().unwrap();
        assert_eq!(how, How::TimedOut, "{client}");
        let late = took - Duration::from_secs(30);
        assert!(late < Duration::from_millis(50), "{client}: {took:?}");
    }
}

/// How far the tool was, each time that the client heard it.
fn progress<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) -> Vec<(f64, String)> {
    let is_progress = |note: &Value| note["method"] == "notifications/progress";
    let notes = connected.notes().into_iter().filter(is_progress);
    notes
        .map(|mut note| note["params"].take())
        .map(|it| {
            let message = it["message"].as_str().unwrap_or_default();
            (it["progress"].as_f64().unwrap(), message.to_owned())
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asks_hears_that_its_call_goes_on() {
    for client in [Client::V2025_06_18, Client::V2025_11_25] {
        let person = Person::who(|_| Said::Nothing);
        let connected = client.connect(Slow::default().with_asks(), &person).await;
        let begun = Instant::now();
        let got = connected.call("steps", json!({})).await;
        assert!(got.text().starts_with("nobody answered within 65 seconds"));
        assert_eq!(begun.elapsed().as_secs(), 65);
        let heard = progress(&connected);
        let words: Vec<&str> = heard.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words.first(), Some(&"begun"));
        assert_eq!(words.last(), Some(&"asked"));
        let between = &words[1..words.len() - 1];
        assert_eq!(between.len(), 6, "every ten seconds: {words:?}");
        assert!(
            between
                .iter()
                .all(|words| words.starts_with("Waiting for a person"))
        );
        let grows = heard.windows(2).all(|two| two[0].0 < two[1].0);
        assert!(grows, "{heard:?}");
        assert!(heard.iter().all(|(done, _)| *done <= 2.0), "{heard:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_hears_that_its_call_goes_on_while_a_link_is_followed() {
    let slow = Slow::default();
    let connected = Client::V2025_11_25
        .connect(slow.clone().with_asks(), &Person::opens())
        .await;
    let call = connected.call("sign_in", json!({}));
    let person = async {
        tokio::time::sleep(Duration::from_secs(65)).await;
        slow.done.notify_one();
    };
    let (got, ()) = tokio::join!(call, person);
    assert_eq!(got.text(), "Signed in");
    let heard = progress(&connected);
    assert_eq!(heard.len(), 6, "{heard:?}");
    assert!(heard.windows(2).all(|two| two[0].0 < two[1].0), "{heard:?}");
}

/// Clients of 2026-07-28 give each request a minute. Asked to come back, they make another.
#[tokio::test(start_paused = true)]
async fn a_modern_client_is_told_to_come_back_while_a_link_is_followed() {
    let slow = Slow::default();
    let connected = Client::V2026_07_28
        .connect(slow.clone().with_asks(), &Person::quiet())
        .await;
    let mut call = json!({"name": "sign_in", "arguments": {}});
    let first = connected.once("tools/call", call.clone()).await.0["result"].clone();
    call["requestState"] = first["requestState"].clone();
    call["inputResponses"] = json!({"question1": {"action": "accept"}});
    for round in 1..=3 {
        let begun = Instant::now();
        let got = connected.once("tools/call", call.clone()).await.0["result"].clone();
        let waited = begun.elapsed();
        assert!(
            waited < Duration::from_secs(60),
            "round {round}: {waited:?}"
        );
        assert!(
            waited > Duration::from_secs(30),
            "round {round}: {waited:?}"
        );
        assert_eq!(got["resultType"], "input_required", "{got}");
        assert_eq!(got.get("inputRequests"), None, "{got}");
        call = json!({"name": "sign_in", "arguments": {}, "requestState": got["requestState"]});
    }
    let (_, result) = connected.begin("tools/call", call).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    slow.done.notify_one();
    let got = result.await.unwrap()["result"].clone();
    assert_eq!(got["content"][0]["text"], "Signed in");
}

#[tokio::test(start_paused = true)]
async fn what_a_link_leads_to_has_a_time_of_its_own() {
    for client in [Client::V2025_11_25, Client::V2026_07_28] {
        let connected = client
            .connect(Slow::default().with_asks(), &Person::opens())
            .await;
        let begun = Instant::now();
        let got = connected.call("hurries", json!({})).await;
        assert!(
            got.text().starts_with("nobody answered within 20 seconds"),
            "{got:?}"
        );
        assert_eq!(begun.elapsed().as_secs(), 20, "{client}");
    }
}
