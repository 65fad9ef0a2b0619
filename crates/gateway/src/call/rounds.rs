//! What a server asked in a call so far, and the answers that it hasn't got yet.

use std::time::Duration;

use midcall_core::wire::{JsonObject, RequestState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::link::Links;
use super::task::Raw;

/// What a server asked in a call.
#[derive(Default, Serialize, Deserialize)] // No Debug: answers are what people typed.
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// How many rounds had questions.
    pub count: u32,
    /// How many in a row had none.
    pub pauses: u32,
    /// True if the call was made in the other era, because the server can't do it in this one.
    pub moved: bool,
    /// What the server wants back with the call, exactly.
    #[serde(with = "super::record::state")]
    pub state: Option<RequestState>,
    /// What was found out for it since.
    pub answers: Answers,
    /// The links that it needs followed.
    pub links: Links,
}

/// Answers by the server's keys, and how their questions ended.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    pub results: Vec<(String, Raw)>,
    pub outcomes: JsonObject,
}

/// How often a server may ask in one call.
pub const MOST_ROUNDS: u32 = 10;

/// How often in a row it may want to be called again without asking anything.
pub const MOST_PAUSES: u32 = 1_000;

/// How long a server that only wants to be called again is left alone, the first time and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Rounds {
    /// How long the server is left alone before it gets the call again.
    pub fn pause(&self) -> Duration {
        let doubled = 1 << self.pauses.saturating_sub(1).min(10);
        FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
    }
}

impl Answers {
    pub fn add(&mut self, key: String, result: Raw, outcome: Option<Value>) {
        if let Some(outcome) = outcome {
            self.outcomes.insert(key.clone(), outcome);
        }
        self.results.push((key, result));
    }

    /// Puts another answer in the place of one.
    pub fn replace(&mut self, key: String, result: Raw, outcome: Option<Value>) {
        self.outcomes.shift_remove(&key);
        self.results.retain(|(known, _)| *known != key);
        self.add(key, result, outcome);
    }

    pub fn extend(&mut self, other: Self) {
        self.results.extend(other.results);
        self.outcomes.extend(other.outcomes);
    }

    /// Keeps the answers whose keys are like this.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.results.retain(|(key, _)| is_kept(key));
        self.outcomes.retain(|key, _| is_kept(key));
    }

    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// The answers as JSON.
    pub fn write(&self) -> String {
        let mut object = crate::frame::Object::default();
        for (key, result) in &self.results {
            object.set(key.as_str(), result.get());
        }
        object.write()
    }
}
