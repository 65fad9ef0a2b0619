//! Any order of crashes, retries and duplicate retries, on two replicas that share a store.
//!
//! Whatever happens, an effect happens at most once, all who hear a result hear the same, and a call that
//! somebody comes back to at last ends: with its result, or with the error that nobody knows whether an
//! effect happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use midcall_server::midcall_core::seal::{Keys, Secret};
use midcall_server::testing::{Client, Connected, Got, Person};
use midcall_server::{Ask, AskError, Asks, Resume};
use proptest::prelude::*;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::{Value, json};

use crate::late::Late;

/// A tool with two questions and two effects, each of which takes a few turns of the runtime.
#[derive(Clone, Default)]
struct Shop {
    charged: Arc<AtomicUsize>,
    mailed: Arc<AtomicUsize>,
}

#[tool_router]
impl Shop {
    #[tool(description = "Sells", annotations(destructive_hint = false))]
    async fn sell(&self, ask: Ask) -> Result<String, AskError> {
        let name = ask.text("Name?").await?.accepted()?;
        let receipt = ask.once("charge", || happens(&self.charged)).await?;
        let sure = ask
            .confirm(format!("Mail receipt {receipt}?"))
            .await?
            .accepted()?;
        let mail = ask.once("mail", || happens(&self.mailed)).await?;
        Ok(format!("{name} {receipt} {sure} {mail}"))
    }
}

async fn happens(times: &AtomicUsize) -> usize {
    tokio::task::yield_now().await;
    let time = times.fetch_add(1, Ordering::SeqCst) + 1;
    tokio::task::yield_now().await;
    time
}

#[tool_handler(name = "shop")]
impl ServerHandler for Shop {}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// Somebody comes back with a state to a replica, and waits for what comes.
    Retry { state: usize, replica: usize },
    /// The same to both at once.
    Both { state: usize },
    /// The same, and the replica ends after so many turns of the runtime.
    Crash {
        state: usize,
        replica: usize,
        after: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let (state, replica) = (0..8_usize, 0..2_usize);
    prop_oneof![
        (state.clone(), replica.clone())
            .prop_map(|(state, replica)| Step::Retry { state, replica }),
        state.clone().prop_map(|state| Step::Both { state }),
        (state, replica, 0..40_usize).prop_map(|(state, replica, after)| Step::Crash {
            state,
            replica,
            after
        }),
    ]
}

/// What the client knows: the states that it was given.
struct World {
    shop: Shop,
    resume: Resume,
    store: Late,
    replicas: Vec<Connected<Shop>>,
    rounds: Vec<Value>,
    results: Vec<String>,
}

impl World {
    async fn new(resume: Resume) -> Self {
        let mut world = Self {
            shop: Shop::default(),
            resume,
            store: Late::default(),
            replicas: Vec::new(),
            rounds: Vec::new(),
            results: Vec::new(),
        };
        for _ in 0..2 {
            let replica = world.replica().await;
            world.replicas.push(replica);
        }
        let first = json!({"name": "sell", "arguments": {}});
        let got = world.replicas[0].once("tools/call", first).await;
        world.hears(&got);
        world
    }

    /// A process of its own: it has the keys and the store in common with others, and no calls.
    async fn replica(&self) -> Connected<Shop> {
        let keys = Keys::new(Secret::from([7; 32]));
        let asks = Asks::new().keys(keys).resume(self.resume);
        let asks = asks.store(self.store.clone());
        let server = asks.around(self.shop.clone());
        Client::V2026_07_28.connect(server, &Person::quiet()).await
    }

    /// A retry of some round that was told.
    fn retry(&self, state: usize) -> Value {
        let round = &self.rounds[state % self.rounds.len()];
        let mut responses = json!({});
        for (key, request) in round["inputRequests"].as_object().into_iter().flatten() {
            let content = match request["params"]["message"].as_str() {
                Some("Name?") => json!({"value": "Ana"}),
                _ => json!({"confirmed": true}),
            };
            responses[key] = json!({"action": "accept", "content": content});
        }
        json!({"name": "sell", "arguments": {}, "requestState": round["requestState"],
            "inputResponses": responses})
    }

    fn hears(&mut self, got: &Got) {
        match got.0["result"]["resultType"].as_str() {
            Some("input_required") => self.rounds.push(got.0["result"].clone()),
            _ => self.results.push(got.text().to_owned()),
        }
    }

    async fn happens(&mut self, step: &Step) {
        match step {
            Step::Retry { state, replica } => {
                let got = self.replicas[*replica]
                    .once("tools/call", self.retry(*state))
                    .await;
                self.hears(&got);
            }
            Step::Both { state } => {
                let retry = self.retry(*state);
                let send = |at: usize| self.replicas[at].once("tools/call", retry.clone());
                let (one, two) = tokio::join!(send(0), send(1));
                self.hears(&one);
                self.hears(&two);
            }
            Step::Crash {
                state,
                replica,
                after,
            } => {
                let retry = self.retry(*state);
                let (_, response) = self.replicas[*replica].begin("tools/call", retry).await;
                for _ in 0..*after {
                    tokio::task::yield_now().await;
                }
                self.replicas[*replica].crash();
                drop(response);
                self.replicas[*replica] = self.replica().await;
            }
        }
    }

    /// The client comes back until there is a result.
    async fn ends(&mut self) {
        for _ in 0..20 {
            if !self.results.is_empty() {
                return;
            }
            let got = self.replicas[0]
                .once("tools/call", self.retry(self.rounds.len() - 1))
                .await;
            self.hears(&got);
        }
    }
}

fn plays(resume: Resume, steps: &[Step]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut world = World::new(resume).await;
        for step in steps {
            world.happens(step).await;
            assert!(
                world.shop.charged.load(Ordering::SeqCst) <= 1,
                "charged twice"
            );
            assert!(
                world.shop.mailed.load(Ordering::SeqCst) <= 1,
                "mailed twice"
            );
        }
        world.ends().await;
        let (results, shop) = (&world.results, &world.shop);
        assert!(!results.is_empty(), "no result");
        for result in results {
            assert_eq!(result, &results[0], "two results");
        }
        let done = [&shop.charged, &shop.mailed].map(|times| times.load(Ordering::SeqCst));
        match results[0].as_str() {
            "Ana 1 true 1" => assert_eq!(done, [1, 1]),
            unsure => assert!(unsure.starts_with("nobody knows whether `"), "{unsure}"),
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_effects_happen_once(
        parks in any::<bool>(),
        steps in prop::collection::vec(step(), 0..12),
    ) {
        let resume = if parks { Resume::ParkThenReplay } else { Resume::ReplayOnly };
        plays(resume, &steps);
    }
}
