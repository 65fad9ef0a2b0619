//! Effects that happen once, and replicas that share a store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use midcall_server::midcall_core::seal::{Keys, Secret};
use midcall_server::testing::{Client, Connected, Got, Person};
use midcall_server::{Ask, AskError, Asks, Resume};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::late::Late;

const MODERN: Client = Client::V2026_07_28;

/// Where something is paid.
#[derive(Clone, Default)]
struct Till {
    ran: Arc<AtomicUsize>,
    /// How often a tool went on after its first question.
    went_on: Arc<AtomicUsize>,
    charged: Arc<AtomicUsize>,
    changed: Arc<AtomicUsize>,
    /// What a payment waits for, if it does.
    bank: Option<Arc<Notify>>,
}

#[tool_router]
impl Till {
    #[tool(description = "Pays", annotations(destructive_hint = false))]
    async fn pay(&self, ask: Ask) -> Result<String, AskError> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        let amount = ask.text("How much?").await?.accepted()?;
        self.went_on.fetch_add(1, Ordering::SeqCst);
        let receipt: String = ask.once("charge", || self.charge(&amount)).await?;
        let mail = ask.confirm("Mail the receipt?").await?.accepted()?;
        Ok(format!("{receipt} {mail}"))
    }

    #[tool(
        description = "Pays what changes",
        annotations(destructive_hint = false)
    )]
    async fn pay_changing(&self, ask: Ask) -> Result<String, AskError> {
        let price = 30 + self.changed.load(Ordering::SeqCst);
        ask.confirm(format!("Pay {price} €?")).await?.accepted()?;
        let receipt: String = ask.once("charge", || self.charge("it")).await?;
        ask.confirm("Mail the receipt?").await?.accepted()?;
        Ok(receipt)
    }

    #[tool(
        description = "Pays twice under one name",
        annotations(destructive_hint = false)
    )]
    async fn pay_twice(&self, ask: Ask) -> Result<String, AskError> {
        let one: String = ask.once("charge", || self.charge("1")).await?;
        let two: String = ask.once("charge", || self.charge("2")).await?;
        Ok(format!("{one} {two}"))
    }
}

impl Till {
    async fn charge(&self, amount: &str) -> String {
        let time = self.charged.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(bank) = &self.bank {
            bank.notified().await;
        }
        format!("{amount} paid, receipt {time}")
    }
}

#[tool_handler(name = "till")]
impl ServerHandler for Till {}

fn asks(resume: Resume) -> Asks {
    let keys = Keys::new(Secret::from([7; 32]));
    Asks::new().keys(keys).resume(resume)
}

async fn replica(asks: &Asks, till: &Till) -> Connected<Till> {
    let server = asks.around(till.clone());
    MODERN.connect(server, &Person::quiet()).await
}

fn call(tool: &str) -> Value {
    json!({"name": tool, "arguments": {}})
}

fn retry(tool: &str, round: &Got, key: &str, content: Value) -> Value {
    json!({"name": tool, "arguments": {}, "requestState": round.0["result"]["requestState"],
        "inputResponses": {key: {"action": "accept", "content": content}}})
}

async fn send(replica: &Connected<Till>, params: &Value) -> Got {
    replica.once("tools/call", params.clone()).await
}

fn asked(got: &Got) -> &str {
    let requests = got.0["result"]["inputRequests"].as_object();
    let request = requests.and_then(|requests| requests.values().next());
    request.map_or("", |request| request["params"]["message"].as_str().unwrap())
}

#[tokio::test]
async fn what_an_effect_gave_travels_with_the_next_question() {
    let till = Till::default();
    let replicas = [asks(Resume::ReplayOnly), asks(Resume::ReplayOnly)];
    let (a, b) = (
        replica(&replicas[0], &till).await,
        replica(&replicas[1], &till).await,
    );
    let round = send(&a, &call("pay")).await;
    let round = send(
        &b,
        &retry("pay", &round, "question1", json!({"value": "30 €"})),
    )
    .await;
    assert_eq!(asked(&round), "Mail the receipt?", "{round:?}");
    let got = send(
        &a,
        &retry("pay", &round, "question2", json!({"confirmed": true})),
    )
    .await;
    assert_eq!(got.text(), "30 € paid, receipt 1 true");
    assert_eq!(till.charged.load(Ordering::SeqCst), 1);
    assert_eq!(till.ran.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn what_was_paid_for_one_question_is_not_paid_for_another() {
    let till = Till::default();
    let a = replica(&asks(Resume::ReplayOnly), &till).await;
    let round = send(&a, &call("pay_changing")).await;
    let round = send(
        &a,
        &retry(
            "pay_changing",
            &round,
            "question1",
            json!({"confirmed": true}),
        ),
    )
    .await;
    till.changed.store(10, Ordering::SeqCst);
    let got = send(
        &a,
        &retry(
            "pay_changing",
            &round,
            "question2",
            json!({"confirmed": true}),
        ),
    )
    .await;
    assert!(got.is_error(), "{got:?}");
    assert!(
        got.text()
            .ends_with("It was \"Pay 30 €?\", and is \"Pay 40 €?\""),
        "{got:?}"
    );
    assert_eq!(till.charged.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn two_effects_of_one_name_are_a_mistake_for_every_client() {
    midcall_server::testing::for_every_client(|client| async move {
        let till = Till::default();
        let server = asks(Resume::ReplayOnly).around(till.clone());
        let connected = client.connect(server, &Person::quiet()).await;
        let got = connected.call("pay_twice", json!({})).await;
        assert_eq!(
            got.text(),
            "two effects of this call are called `charge`: give each a name of its own. \
             Fix the effect in the server's code"
        );
        assert_eq!(till.charged.load(Ordering::SeqCst), 1);
    })
    .await;
}

/// The first round of a payment on one of two replicas that share a store.
async fn shared(till: &Till) -> (Connected<Till>, Connected<Till>, Got) {
    let store = Late::default();
    let asks = || asks(Resume::ParkThenReplay).store(store.clone());
    let (a, b) = (replica(&asks(), till).await, replica(&asks(), till).await);
    let round = send(&a, &call("pay")).await;
    assert_eq!(asked(&round), "How much?", "{round:?}");
    (a, b, round)
}

#[tokio::test]
async fn of_a_tool_that_waits_here_and_one_that_runs_again_there_exactly_one_goes_on() {
    for _ in 0..20 {
        let till = Till::default();
        let (a, b, round) = shared(&till).await;
        let retry_one = retry("pay", &round, "question1", json!({"value": "30 €"}));
        let retry_two = retry("pay", &round, "question1", json!({"value": "50 €"}));
        let (one, two) = tokio::join!(send(&a, &retry_one), send(&b, &retry_two));
        for got in [&one, &two] {
            assert_eq!(asked(got), "Mail the receipt?", "{got:?}");
        }
        assert_eq!(till.went_on.load(Ordering::SeqCst), 1);
        assert_eq!(till.charged.load(Ordering::SeqCst), 1);
        let last = |round: &Got| retry("pay", round, "question2", json!({"confirmed": true}));
        let (last_one, last_two) = (last(&one), last(&two));
        let (one, two) = tokio::join!(send(&b, &last_one), send(&a, &last_two));
        assert_eq!(one.text(), two.text());
        assert!(one.text().ends_with("€ paid, receipt 1 true"), "{one:?}");
        assert_eq!(till.charged.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_retry_that_comes_again_elsewhere_hears_what_came_of_it_and_runs_nothing() {
    let till = Till::default();
    let (a, b, round) = shared(&till).await;
    let first = retry("pay", &round, "question1", json!({"value": "30 €"}));
    let second = send(&a, &first).await;
    let ran = till.ran.load(Ordering::SeqCst);
    let again = send(&b, &first).await;
    assert_eq!(second.0["result"], again.0["result"]);
    let last = retry("pay", &second, "question2", json!({"confirmed": true}));
    let got = send(&a, &last).await;
    for params in [&last, &first] {
        assert_eq!(send(&b, params).await.0["result"], got.0["result"]);
    }
    assert_eq!(till.ran.load(Ordering::SeqCst), ran);
}

#[tokio::test]
async fn with_a_store_answers_have_any_size() {
    let till = Till::default();
    let (_a, b, round) = shared(&till).await;
    let amount = "1".repeat(5_000);
    let round = send(
        &b,
        &retry("pay", &round, "question1", json!({"value": amount})),
    )
    .await;
    assert_eq!(asked(&round), "Mail the receipt?", "{round:?}");
    assert!(round.0["result"]["requestState"].as_str().unwrap().len() < 400);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_was_begun_and_never_finished_is_an_error_and_no_second_run() {
    let till = Till {
        bank: Some(Arc::default()),
        ..Till::default()
    };
    let (a, b, round) = shared(&till).await;
    let first = retry("pay", &round, "question1", json!({"value": "30 €"}));
    let (id, _gone) = a.begin("tools/call", first.clone()).await;
    while till.charged.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    a.cancel(id).await; // The bank may have the money, or not.
    while a.server().waiting() > 0 {
        tokio::task::yield_now().await;
    }
    let got = send(&b, &first).await;
    assert_eq!(
        got.text(),
        "nobody knows whether `charge` happened: it was begun, and what came of it was not written down. \
         Find out where it would have left a trace, before you call the tool again"
    );
    assert_eq!(till.charged.load(Ordering::SeqCst), 1);
}
