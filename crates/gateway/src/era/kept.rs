//! Results of calls that are over, for a modern client that comes back once more.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::frame::Frame;
use crate::token::Token;

/// The newest results, the oldest first.
#[derive(Default)]
pub struct Kept {
    results: VecDeque<Ended>,
    bytes: usize,
}

struct Ended {
    /// What the client may come back with, and for which call.
    states: VecDeque<Token>,
    digest: [u8; 32],
    frame: Frame,
    until: Instant,
}

/// How long, how many and how large they are kept.
const KEPT: Duration = Duration::from_secs(10 * 60);
const MOST: usize = 256;
const MOST_BYTES: usize = 16 * 1024 * 1024;

impl Kept {
    pub fn add(&mut self, now: Instant, states: VecDeque<Token>, digest: [u8; 32], frame: Frame) {
        self.bytes += frame.len();
        self.results.push_back(Ended {
            states,
            digest,
            frame,
            until: now + KEPT,
        });
        self.make_room(now);
    }

    /// What a client that comes back by this state, with that call, has missed.
    pub fn result(&mut self, now: Instant, state: &str, digest: [u8; 32]) -> Option<&Frame> {
        self.make_room(now);
        let mut results = self.results.iter();
        let found = results.find(|result| result.is(state) && result.digest == digest);
        found.map(|result| &result.frame)
    }

    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Whether a state is of one of them.
    pub fn knows(&self, state: &str) -> bool {
        self.results.iter().any(|result| result.is(state))
    }

    /// Drops what was kept long enough, and the oldest of what is too much.
    fn make_room(&mut self, now: Instant) {
        while let Some(oldest) = self.results.front() {
            let is_too_much =
                self.results.len() > 1 && (self.results.len() > MOST || self.bytes > MOST_BYTES);
            if oldest.until > now && !is_too_much {
                return;
            }
            self.bytes -= oldest.frame.len();
            self.results.pop_front();
        }
    }
}

impl Ended {
    fn is(&self, state: &str) -> bool {
        self.states.iter().any(|known| known.is(state))
    }
}
