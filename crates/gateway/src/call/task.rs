//! Tasks: calls that a server goes on with after it has answered.

use std::collections::HashSet;
use std::time::Duration;

use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::rounds::Answers;
use crate::frame::Id;

/// A task of 2025-11-25 that Midcall made of a call, unknown to the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LegacyTask {
    /// The server hasn't said yet what it is called.
    Starting,
    /// Midcall waits for its result, and meanwhile the server asks by requests.
    Running(String),
}

/// A task of 2026-07-28 that the server made of a call, unknown to the client.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub id: String,
    /// How long Midcall waits before it asks again how far the task is.
    pub pause: Duration,
    /// When it asks next; none while it waits for an answer to that.
    #[serde(skip)]
    pub poll_at: Option<Moment>,
    /// The request that asks.
    #[serde(skip)]
    pub polling: Option<Id>,
    /// What the task has asked, by its keys.
    pub asked: HashSet<String>,
    /// How often in a row the server couldn't say how far it is.
    #[serde(skip)]
    pub misses: u32,
    /// Answers that the server hasn't confirmed yet.
    pub updates: Vec<Update>,
    /// Answers that another process sent, for the case that the server doesn't have them.
    #[serde(skip)]
    pub unsure: Answers,
}

/// Answers on their way to a task.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Update {
    /// The request that brings them.
    #[serde(skip, default = "Id::nobodys")]
    pub id: Id,
    pub answers: Answers,
    /// How often they were sent before.
    #[serde(skip)]
    pub misses: u32,
}

/// How often a task is asked unless it says so, and within which bounds.
const PAUSE: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often in a row a server may fail to say how far a task is, or to take answers.
pub const MOST_MISSES: u32 = 3;

impl Task {
    /// A task that has just started.
    pub fn new(now: Moment, id: String, poll_interval_ms: Option<u64>) -> Self {
        let pause = pause(poll_interval_ms);
        Self {
            id,
            pause,
            poll_at: Some(now + pause),
            polling: None,
            asked: HashSet::new(),
            misses: 0,
            updates: Vec::new(),
            unsure: Answers::default(),
        }
    }

    /// The task goes on: it is asked again after a while.
    pub fn goes_on(&mut self, now: Moment, poll_interval_ms: Option<u64>) {
        self.pause = pause(poll_interval_ms);
        self.misses = 0;
        self.poll_at = Some(now + self.pause);
    }

    /// Another process goes on with it, and doesn't know which answers the server has.
    pub fn restore(&mut self) {
        for Update { answers, .. } in std::mem::take(&mut self.updates) {
            self.unsure.extend(answers);
        }
    }

    /// Takes the answers that the server asks for again, so it doesn't have them. It has the others.
    pub fn take_unsure(&mut self, wants: impl Fn(&str) -> bool) -> Answers {
        let mut answers = std::mem::take(&mut self.unsure);
        answers.retain(wants);
        answers
    }

    /// The ids of everything that was sent about it and isn't answered.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        let updates = self.updates.iter().map(|update| &update.id);
        self.polling.iter().chain(updates)
    }
}

fn pause(poll_interval_ms: Option<u64>) -> Duration {
    let pause = poll_interval_ms.map_or(PAUSE, Duration::from_millis);
    pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

/// A value as the bytes it came in.
pub type Raw = Box<RawValue>;
