//! What comes a second time, or after its end: who hears what then, and who is asked nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use midcall_server::testing::{Client, Connected, Got, Person};
use midcall_server::{Ask, AskError, Asks, WithAsks};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::world::World;

const MODERN: Client = Client::V2026_07_28;

/// Asks twice, then says how far it is whenever a test lets it.
#[derive(Clone)]
struct Steps {
    go_on: Arc<Semaphore>,
    dropped: Arc<AtomicUsize>,
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            go_on: Arc::new(Semaphore::new(0)),
            dropped: Arc::default(),
        }
    }
}

struct Falls(Arc<AtomicUsize>);

impl Drop for Falls {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tool_router]
impl Steps {
    #[tool(
        description = "Asks twice, then works",
        annotations(destructive_hint = false)
    )]
    async fn steps(&self, ask: Ask) -> Result<String, AskError> {
        let _falls = Falls(self.dropped.clone());
        ask.text("First?").await?.accepted()?;
        ask.text("Second?").await?.accepted()?;
        for (done, word) in [(1.0, "begun"), (2.0, "done")] {
            self.go_on.acquire().await.unwrap().forget();
            ask.progress(done, None, word).await;
        }
        Ok("worked".into())
    }
}

#[tool_handler]
impl ServerHandler for Steps {}

fn call(tool: &str) -> Value {
    json!({"name": tool, "arguments": {}})
}

/// The call again, with an answer.
fn back(tool: &str, round: &Value, key: &str, content: Value) -> Value {
    json!({"name": tool, "arguments": {}, "requestState": round["requestState"],
        "inputResponses": {key: {"action": "accept", "content": content}}})
}

fn with_token(mut params: Value, token: &str) -> Value {
    params["_meta"]["progressToken"] = token.into();
    params
}

async fn once<S: rmcp::Service<rmcp::RoleServer>>(
    connected: &Connected<S>,
    params: Value,
) -> Value {
    connected.once("tools/call", params).await.0["result"].clone()
}

/// Everything that was sent before has been begun.
async fn settled<S: rmcp::Service<rmcp::RoleServer>>(connected: &Connected<S>) {
    connected.once("ping", json!({})).await;
}

fn keys(round: &Value) -> Vec<&String> {
    let requests = round["inputRequests"].as_object().into_iter().flatten();
    requests.map(|(key, _)| key).collect()
}

#[tokio::test]
async fn who_waits_hears_of_progress_also_after_an_old_retry_came_again() {
    let steps = Steps::default();
    let connected = MODERN
        .connect(steps.clone().with_asks(), &Person::quiet())
        .await;
    let first = once(&connected, call("steps")).await;
    let old = with_token(
        back("steps", &first, "question1", json!({"value": "a"})),
        "old",
    );
    let second = once(&connected, old.clone()).await;
    let last = back("steps", &second, "question2", json!({"value": "b"}));
    let (_, result) = connected
        .begin("tools/call", with_token(last, "last"))
        .await;
    settled(&connected).await;
    let (again, _) = connected.begin("tools/call", old).await;
    settled(&connected).await;
    connected.cancel(again).await;
    settled(&connected).await;
    steps.go_on.add_permits(2);
    assert_eq!(Got(result.await.unwrap()).text(), "worked");
    let notes = connected.notes().into_iter();
    let heard: Vec<Value> = notes
        .filter(|note| note["params"]["progressToken"] == "last")
        .map(|note| note["params"]["message"].clone())
        .collect();
    assert_eq!(heard, ["begun", "done"]);
}

#[tokio::test]
async fn what_was_answered_is_not_asked_again_by_an_old_retry() {
    let connected = MODERN
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let first = once(&connected, call("wizard")).await;
    let old = back("wizard", &first, "question1", json!({"value": "Ana"}));
    let second = once(&connected, old.clone()).await;
    let answer = back("wizard", &second, "question2", json!({"selected": "red"}));
    let third = once(&connected, answer).await;
    let again = once(&connected, old).await;
    assert_eq!(again["inputRequests"], third["inputRequests"]);

    // Of two that were asked together, one is answered, and that retry comes again.
    let first = once(&connected, call("both")).await;
    let half = back("both", &first, "question1", json!({"value": "Lisbon"}));
    for _ in 0..2 {
        let rest = once(&connected, half.clone()).await;
        assert_eq!(keys(&rest), ["question2"]);
    }
}

#[tokio::test]
async fn a_session_that_ends_takes_its_calls_along() {
    let asks = Asks::new();
    let steps = Steps::default();
    let other = Client::Model
        .connect(asks.around(Steps::default()), &Person::quiet())
        .await;
    let ended = Client::Model
        .connect(asks.around(steps.clone()), &Person::quiet())
        .await;
    for connected in [&other, &ended] {
        once(connected, call("steps")).await;
    }
    assert_eq!(other.server().waiting(), 2);
    drop(ended);
    while other.server().waiting() > 1 || steps.dropped.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await; // Another task ends it.
    }
    assert_eq!(other.server().waiting(), 1, "whoever is there still waits");
}
