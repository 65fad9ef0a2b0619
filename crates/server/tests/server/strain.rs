//! Calls that are given up, crowded out or too late, and who hears of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use midcall_server::testing::{Client, Connected, Got, Person, Said};
use midcall_server::{Ask, AskError, Asks, How, WithAsks};
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

const MODERN: Client = Client::V2026_07_28;

/// Works on after it has asked, and gives up what it asked.
#[derive(Clone)]
struct Busy {
    go_on: Arc<Semaphore>,
    gave_up: Arc<Notify>,
}

impl Default for Busy {
    fn default() -> Self {
        Self {
            go_on: Arc::new(Semaphore::new(0)),
            gave_up: Arc::default(),
        }
    }
}

#[tool_router]
impl Busy {
    /// Waits until a test lets it go on.
    async fn works(&self) {
        self.go_on.acquire().await.unwrap().forget();
    }

    #[tool(
        description = "Works after its question",
        annotations(destructive_hint = false)
    )]
    async fn work(&self, ask: Ask) -> Result<String, AskError> {
        let name = ask.text("Name").await?.accepted()?;
        self.works().await;
        Ok(name)
    }

    #[tool(
        description = "Asks what nobody waits for",
        annotations(destructive_hint = false)
    )]
    async fn give_up(&self, ask: Ask) -> Result<String, AskError> {
        let (name, wipe) = (ask.text("Name"), ask.link("Open it", "https://example.com"));
        let failed = ask.together((name, wipe)).await.is_err();
        self.gave_up.notify_one();
        self.works().await;
        Ok(if failed { "gave up" } else { "asked" }.into())
    }

    #[tool(description = "Waits for ever", annotations(destructive_hint = false))]
    async fn patient(&self, ask: Ask) -> Result<String, AskError> {
        ask.text("Name").within(Duration::MAX).await?.accepted()
    }

    #[tool(
        description = "Asks three at once",
        annotations(destructive_hint = false)
    )]
    async fn three(&self, ask: Ask) -> Result<String, AskError> {
        let asked = ["One", "Two", "Three"]
            .map(|words| ask.text(words))
            .into_iter()
            .collect();
        let answers: Vec<_> = ask.together::<Vec<_>>(asked).await?;
        let answers: Result<Vec<String>, _> =
            answers.into_iter().map(|one| one.accepted()).collect();
        Ok(answers?.join(" "))
    }

    #[tool(
        description = "Asks again after a time",
        annotations(destructive_hint = false)
    )]
    async fn insists(&self, ask: Ask) -> Result<String, AskError> {
        let first = ask.text("First?").within(Duration::from_secs(30)).await;
        assert!(matches!(first, Err(AskError::TimedOut { .. })), "{first:?}");
        Ok(format!("second {}", ask.text("Second?").await?.accepted()?))
    }

    #[tool(
        description = "Is told beforehand",
        annotations(destructive_hint = false)
    )]
    async fn told(&self, ask: Ask) -> Result<String, AskError> {
        ask.text("City").id("city").await?.accepted()
    }
}

#[tool_handler]
impl ServerHandler for Busy {}

fn call(tool: &str) -> Value {
    json!({"name": tool, "arguments": {}})
}

fn back(tool: &str, round: &Value) -> Value {
    json!({"name": tool, "arguments": {}, "requestState": round["requestState"],
        "inputResponses": {"question1": {"action": "accept", "content": {"value": "Ana"}}}})
}

fn send(pending: &Value, value: &str) -> Value {
    json!({"name": "sendElicitationResult", "arguments":
        {"elicitId": pending["elicitId"], "action": "accept", "content": {"value": value}}})
}

async fn once(connected: &Connected<Busy>, params: Value) -> Value {
    connected.once("tools/call", params).await.0["result"].clone()
}

/// Everything that was sent before has been begun.
async fn settled(connected: &Connected<Busy>) {
    connected.once("ping", json!({})).await;
}

#[tokio::test]
async fn a_repeated_retry_outlives_the_one_that_is_given_up() {
    let busy = Busy::default();
    let connected = MODERN
        .connect(busy.clone().with_asks(), &Person::quiet())
        .await;
    let round = once(&connected, call("work")).await;
    let (given_up, _) = connected.begin("tools/call", back("work", &round)).await;
    let (_, other) = connected.begin("tools/call", back("work", &round)).await;
    settled(&connected).await;
    connected.cancel(given_up).await;
    settled(&connected).await;
    busy.go_on.add_permits(1);
    assert_eq!(Got(other.await.unwrap()).text(), "Ana");

    let round = once(&connected, call("work")).await;
    let (last, _) = connected.begin("tools/call", back("work", &round)).await;
    settled(&connected).await;
    connected.cancel(last).await;
    while connected.server().waiting() > 1 {
        tokio::task::yield_now().await; // The first is kept for a while, the second was taken back.
    }
}

#[tokio::test]
async fn a_question_that_was_given_up_at_once_does_not_park_the_call() {
    for client in [Client::Model, Client::ModernModel] {
        let busy = Busy::default();
        let connected = client
            .connect(busy.clone().with_asks(), &Person::quiet())
            .await;
        let (_, response) = connected.begin("tools/call", call("give_up")).await;
        busy.gave_up.notified().await;
        settled(&connected).await;
        assert_eq!(connected.server().waiting(), 0);
        busy.go_on.add_permits(1);
        assert_eq!(Got(response.await.unwrap()).text(), "gave up");
    }
}

#[tokio::test]
async fn room_is_made_by_what_is_over_then_by_who_waits_and_never_by_who_works() {
    let busy = Busy::default();
    let asks = Asks::new().at_most(2);
    let connected = MODERN
        .connect(asks.around(busy.clone()), &Person::quiet())
        .await;
    let working = once(&connected, call("work")).await;
    let (_, result) = connected.begin("tools/call", back("work", &working)).await;
    settled(&connected).await;
    let waiting = once(&connected, call("work")).await;
    once(&connected, call("work")).await;
    let crowded = once(&connected, back("work", &waiting)).await;
    let text = crowded["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("Call again"), "{crowded}");
    assert_eq!(crowded["resultType"], "complete", "also of what is gone");
    busy.go_on.add_permits(1);
    assert_eq!(Got(result.await.unwrap()).text(), "Ana");

    // Both places are taken by calls whose clients are there.
    let asks = Asks::new().at_most(1);
    let connected = MODERN
        .connect(asks.around(busy.clone()), &Person::quiet())
        .await;
    let working = once(&connected, call("work")).await;
    let (_, result) = connected.begin("tools/call", back("work", &working)).await;
    settled(&connected).await;
    let refused = connected.once("tools/call", call("work")).await;
    assert!(refused.is_error(), "{refused:?}");
    assert!(
        refused.text().contains("too many calls wait"),
        "{refused:?}"
    );
    busy.go_on.add_permits(1);
    assert_eq!(Got(result.await.unwrap()).text(), "Ana");
    // Its result is kept, and makes room.
    let round = once(&connected, call("work")).await;
    assert_eq!(round["resultType"], "input_required");
}

#[tokio::test]
async fn nobody_makes_room_in_what_others_wait_for() {
    let asks = Asks::new().at_most(3).principal(|request| {
        let user = request.meta.get("user").and_then(Value::as_str);
        user.map(str::to_owned)
            .ok_or_else(|| ErrorData::invalid_request("sign in first", None))
    });
    let connected = Client::V2025_11_25
        .connect(asks.around(Busy::default()), &Person::quiet())
        .await;
    let nobody = connected.once("tools/call", call("work")).await;
    assert_eq!(nobody.text(), "sign in first");

    let connected = MODERN
        .connect(asks.around(Busy::default()), &Person::quiet())
        .await;
    let by = |user: &str, mut params: Value| {
        params["_meta"]["user"] = user.into();
        params
    };
    let ana = once(&connected, by("ana", call("patient"))).await;
    let mut eve = Vec::new();
    for _ in 0..5 {
        eve.push(once(&connected, by("eve", call("patient"))).await);
    }
    let got = once(&connected, by("ana", back("patient", &ana))).await;
    assert_eq!(got["content"][0]["text"], "Ana");
    let got = once(&connected, by("eve", back("patient", &eve[0]))).await;
    assert_eq!(got["isError"], true, "her own oldest made room");
}

#[tokio::test(start_paused = true)]
async fn what_a_model_asks_later_has_all_its_time() {
    let connected = Client::Model
        .connect(Busy::default().with_asks(), &Person::quiet())
        .await;
    let mut told = once(&connected, call("three")).await;
    for word in ["a", "b", "c"] {
        tokio::time::sleep(Duration::from_secs(200)).await; // Five minutes are for each.
        let pending = told["_meta"]["elicitationPending"].clone();
        told = once(&connected, send(&pending, word)).await;
    }
    assert_eq!(told["content"][0]["text"], "a b c");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_late_hears_so_and_what_came_after() {
    let connected = Client::Model
        .connect(Busy::default().with_asks(), &Person::quiet())
        .await;
    let told = once(&connected, call("insists")).await;
    let pending = told["_meta"]["elicitationPending"].clone();
    tokio::time::sleep(Duration::from_secs(31)).await;
    let late = once(&connected, send(&pending, "late")).await;
    let text = late["content"][0]["text"].as_str().unwrap();
    let words = "This question was closed because nobody answered in time. ";
    assert!(text.starts_with(words) && !text.contains('{'), "{late}");
    let second = late["_meta"]["elicitationPending"].clone();
    assert_eq!(second["message"], "Second?");
    let got = once(&connected, send(&second, "answer")).await;
    assert_eq!(got["content"][0]["text"], "second answer");
}

#[tokio::test]
async fn no_time_is_too_long() {
    midcall_server::testing::for_every_client(|client| async move {
        let asks = Asks::new().keep_results(Duration::MAX);
        let person = Person::answers(json!({"value": "Ana"}));
        let connected = client.connect(asks.around(Busy::default()), &person).await;
        assert_eq!(connected.call("patient", json!({})).await.text(), "Ana");
    })
    .await;
}

#[tokio::test]
async fn a_question_that_a_test_did_not_expect_ends_it() {
    midcall_server::testing::for_every_client(|client| async move {
        let connected = client
            .connect(Busy::default().with_asks(), &Person::quiet())
            .await;
        let got = connected.call("patient", json!({})).await;
        assert!(got.text().contains("once more than expected"), "{got:?}");
    })
    .await;
}

#[tokio::test]
async fn observers_hear_of_every_end() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = log.clone();
    let asks = Asks::new()
        .prefilled("city", "Lisbon")
        .on_answer(move |event| {
            let line = (event.asked.key.to_owned(), event.asked.carrier, event.how);
            seen.lock().unwrap().push(line);
        });
    use midcall_server::Carrier;
    let ended = || std::mem::take(&mut *log.lock().unwrap());
    let person = Person::who(|_| Said::Nothing);
    let connected = Client::V2025_06_18
        .connect(asks.around(Busy::default()), &person)
        .await;
    assert_eq!(connected.call("told", json!({})).await.text(), "Lisbon");
    assert_eq!(ended(), [("city".into(), Carrier::Script, How::Accepted)]);

    let (id, _) = connected.begin("tools/call", call("work")).await;
    while person.heard().is_empty() {
        tokio::task::yield_now().await;
    }
    connected.cancel(id).await;
    settled(&connected).await;
    assert_eq!(ended(), [("question1".into(), Carrier::Live, How::Dropped)]);

    let alone = asks.without_client("work").text("Name").await;
    assert!(alone.is_err());
    assert_eq!(
        ended(),
        [("question1".into(), Carrier::Nobody, How::Failed)]
    );
}
