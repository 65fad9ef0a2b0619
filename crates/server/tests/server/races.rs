//! What happens at the same time, too late, or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use midcall_server::testing::{Client, Connected, Got, Person, Said, for_every_client};
use midcall_server::{Ask, AskError, Asks, WithAsks};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::{Value, json};
use tokio::sync::mpsc;

const MODERN: Client = Client::V2026_07_28;

/// Asks in ways that nobody should, and some do.
#[derive(Clone, Default)]
struct Odd {
    ran: Arc<AtomicUsize>,
    left: Option<mpsc::UnboundedSender<Result<(), AskError>>>,
}

#[tool_router]
impl Odd {
    #[tool(description = "Asks once", annotations(destructive_hint = false))]
    async fn name(&self, ask: Ask) -> Result<String, AskError> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        let name = ask.text("Name").min(2).await?.accepted()?;
        tokio::task::yield_now().await;
        Ok(name)
    }

    #[tool(
        description = "Gives two questions one name",
        annotations(destructive_hint = false)
    )]
    async fn twins(&self, ask: Ask) -> Result<String, AskError> {
        let one = ask.text("From where?").id("place");
        let other = ask.text("Where to?").id("place");
        let (from, to) = ask.together((one, other)).await?;
        Ok(format!("{} to {}", from.accepted()?, to.accepted()?))
    }

    #[tool(
        description = "Has little time for one",
        annotations(destructive_hint = false)
    )]
    async fn hurried(&self, ask: Ask) -> Result<String, AskError> {
        let quick = ask.text("Quick?").within(Duration::from_secs(30));
        let (quick, slow) = ask.together((quick, ask.text("Slow?"))).await?;
        Ok(format!("{} {}", quick.accepted()?, slow.accepted()?))
    }

    #[tool(
        description = "Fails after a question",
        annotations(destructive_hint = false)
    )]
    async fn fails(&self, ask: Ask) -> Result<String, AskError> {
        let name = ask.text("Name").await?.accepted()?;
        panic!("{name} is no name");
    }

    #[tool(
        description = "Leaves a question behind",
        annotations(destructive_hint = false)
    )]
    async fn leaves(&self, ask: Ask) -> String {
        let left = self.left.clone();
        tokio::spawn(async move {
            let answer = ask.text("Still there?").await;
            left.map(|left| left.send(answer.map(drop)))
        });
        "done".into()
    }
}

#[tool_handler]
impl ServerHandler for Odd {}

fn call(tool: &str) -> Value {
    json!({"name": tool, "arguments": {}})
}

fn retry(tool: &str, round: &Value, key: &str, value: &str) -> Value {
    json!({"name": tool, "arguments": {}, "requestState": round["requestState"],
        "inputResponses": {key: {"action": "accept", "content": {"value": value}}}})
}

async fn once(connected: &Connected<Odd>, params: Value) -> Value {
    connected.once("tools/call", params).await.0["result"].clone()
}

fn asked(round: &Value) -> Vec<&str> {
    let requests = round["inputRequests"].as_object().into_iter().flatten();
    let words = requests.map(|(_, request)| request["params"]["message"].as_str());
    words.map(Option::unwrap_or_default).collect()
}

#[tokio::test]
async fn a_retry_that_comes_again_finds_what_followed_also_if_its_answer_did_not_fit() {
    let connected = MODERN
        .connect(Odd::default().with_asks(), &Person::quiet())
        .await;
    let first = once(&connected, call("name")).await;
    let unfit = retry("name", &first, "question1", "A");
    let second = once(&connected, unfit.clone()).await;
    assert!(
        asked(&second)[0].starts_with("The last answer did not fit"),
        "{second}"
    );
    for params in [unfit, retry("name", &first, "question1", "Ana")] {
        let again = once(&connected, params).await;
        assert_eq!(again["inputRequests"], second["inputRequests"]);
    }
    let got = once(&connected, retry("name", &second, "question1", "Ana")).await;
    assert_eq!(got["content"][0]["text"], "Ana");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_retries_at_once_one_counts_and_all_hear_the_result() {
    let odd = Odd::default();
    let connected = MODERN
        .connect(odd.clone().with_asks(), &Person::quiet())
        .await;
    for time in 1..=50 {
        let first = once(&connected, call("name")).await;
        let back = |name: &str| once(&connected, retry("name", &first, "question1", name));
        let (one, two, three) = tokio::join!(back("Ana"), back("Eve"), back("Ana"));
        assert!(
            ["Ana", "Eve"]
                .map(Value::from)
                .contains(&one["content"][0]["text"]),
            "{one}"
        );
        assert_eq!((&one, &one), (&two, &three));
        assert_eq!(odd.ran.load(Ordering::SeqCst), time);
    }
}

#[tokio::test]
async fn two_questions_of_one_name_have_their_own_answers() {
    let connected = MODERN
        .connect(Odd::default().with_asks(), &Person::quiet())
        .await;
    let first = once(&connected, call("twins")).await;
    assert_eq!(asked(&first), ["From where?"]);
    let answer = retry("twins", &first, "place", "Porto");
    let second = once(&connected, answer.clone()).await;
    assert_eq!(asked(&second), ["Where to?"]);
    let again = once(&connected, answer).await;
    assert_eq!(
        asked(&again),
        ["Where to?"],
        "the same retry is no answer to it"
    );
    let got = once(&connected, retry("twins", &second, "place", "Faro")).await;
    assert_eq!(got["content"][0]["text"], "Porto to Faro");
}

#[tokio::test(start_paused = true)]
async fn an_answer_counts_until_its_time_is_over() {
    for (seconds, expected) in [(299, "Ana"), (301, "nobody answered within 300 seconds")] {
        let odd = Odd::default();
        let connected = MODERN
            .connect(odd.clone().with_asks(), &Person::quiet())
            .await;
        let first = once(&connected, call("name")).await;
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let got = once(&connected, retry("name", &first, "question1", "Ana")).await;
        let text = got["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(odd.ran.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_at_once_the_one_that_nobody_answers_is_the_end_of_both() {
    let connected = MODERN
        .connect(Odd::default().with_asks(), &Person::quiet())
        .await;
    let first = once(&connected, call("hurried")).await;
    assert_eq!(asked(&first), ["Quick?", "Slow?"]);
    let second = once(&connected, retry("hurried", &first, "question2", "yes")).await;
    assert_eq!(asked(&second), ["Quick?"]);
    tokio::time::sleep(Duration::from_secs(31)).await;
    let late = retry("hurried", &second, "question1", "yes");
    let got = Got(json!({"result": once(&connected, late).await}));
    assert!(got.is_error());
    assert!(
        got.text().starts_with("nobody answered within 30 seconds"),
        "{got:?}"
    );
}

#[tokio::test]
async fn a_tool_that_fails_is_an_error_and_nobody_waits_for_it() {
    for_every_client(|client| async move {
        let person = Person::answers(json!({"value": "Xyzzy"}));
        let connected = client.connect(Odd::default().with_asks(), &person).await;
        let got = connected.call("fails", json!({})).await;
        assert_eq!(
            (got.code(), got.text()),
            (Some(-32603), "the server failed in this call")
        );
        let got = connected.call("leaves", json!({})).await;
        assert_eq!(got.text(), "done", "the server goes on");
    })
    .await;
}

#[tokio::test]
async fn an_observer_that_fails_is_an_error_too() {
    for_every_client(|client| async move {
        let asks = Asks::new().on_answer(|_| panic!("no space left"));
        let person = Person::answers(json!({"value": "Ana"}));
        let connected = client.connect(asks.around(Odd::default()), &person).await;
        let got = connected.call("name", json!({})).await;
        assert_eq!(
            (got.code(), got.text()),
            (Some(-32603), "the server failed in this call")
        );
    })
    .await;
}

#[tokio::test]
async fn whoever_still_asks_when_the_tool_is_over_hears_that() {
    for_every_client(|client| async move {
        let (left, mut told) = mpsc::unbounded_channel();
        let odd = Odd {
            left: Some(left),
            ..Odd::default()
        };
        let person = Person::who(|_| Said::Nothing);
        let connected = client.connect(odd.with_asks(), &person).await;
        assert_eq!(connected.call("leaves", json!({})).await.text(), "done");
        let answer = told.recv().await.unwrap();
        assert!(matches!(answer, Err(AskError::Gone)), "{answer:?}");
        assert_eq!(connected.server().waiting(), 0);
    })
    .await;
}
