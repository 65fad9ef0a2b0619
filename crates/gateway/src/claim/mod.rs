//! Calls that a client was told to wait for, and what it collects their results with.
//!
//! Many clients give up on a call after a minute, and a person may take longer. A call that is
//! too old is *let go*: the client gets a result that says what it is waiting for, with a claim,
//! and the server never notices. Calling the added tool with the claim waits on, and brings the
//! result when it is there. It can be collected again for a while, since clients give up on
//! that call too.
//!
//! In: [`Claims::let_go`], [`Claims::result`], [`Claims::collect`], [`Claims::woke`].
//! Elsewhere: the tool as it is listed (`tools`), which calls are too old (`session`).

#[cfg(test)]
mod stories;
pub mod tools;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::frame::{Frame, Id};
use crate::token::Token;

/// Calls that were let go.
#[derive(Default)]
pub struct Claims {
    parked: HashMap<Id, Parked>,
}

struct Parked {
    claim: Token,
    /// What its progress was followed by. Nothing is told about a call that was answered.
    token: Option<Box<[u8]>>,
    state: State,
}

enum State {
    /// The server is at it. Whoever collects waits until then.
    Running(Option<Waiter>),
    /// The server has answered.
    Done(Frame, Instant),
}

/// A call of the added tool.
struct Waiter {
    id: Id,
    until: Instant,
}

/// What is told to a client that waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waiting {
    /// When the question closes by itself.
    pub deadline: Option<String>,
    /// Where it can be answered, without any key.
    pub page: Option<String>,
}

/// How long a result is kept for whoever collects it.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// How many calls may be let go at once. Older results make room.
const MOST: usize = 256;

/// How long a call of the added tool may wait.
const LONGEST: Duration = Duration::from_secs(10 * 60);

impl Claims {
    /// Lets a call go: what the client is answered.
    pub fn let_go(
        &mut self,
        call: Id,
        token: Option<Box<[u8]>>,
        words: &str,
        waiting: &Waiting,
    ) -> Frame {
        let claim = Token::random();
        let told = Frame::result(&call, &waiting.result(&claim, words));
        self.park(call, claim, token);
        told
    }

    /// Lets a call go whose client was answered in another way: its result is nobody's.
    pub fn abandon(&mut self, call: Id, token: Option<Box<[u8]>>) {
        self.park(call, Token::random(), token);
    }

    fn park(&mut self, call: Id, claim: Token, token: Option<Box<[u8]>>) {
        let state = State::Running(None);
        self.parked.insert(
            call,
            Parked {
                claim,
                token,
                state,
            },
        );
    }

    /// Whether another call may be let go.
    pub fn has_room(&mut self, now: Instant) -> bool {
        self.make_room(now);
        self.parked.len() < MOST
    }

    /// Whether a call was let go, and its client has been answered.
    pub fn has(&self, call: &Id) -> bool {
        self.parked.contains_key(call)
    }

    /// Whether a token belongs to a call that was let go.
    pub fn is_silent(&self, token: Option<&[u8]>) -> bool {
        token.is_some()
            && self
                .parked
                .values()
                .any(|parked| parked.token.as_deref() == token)
    }

    /// Takes what the server answered to a call that was let go, and gives what whoever waits
    /// for it is sent, and who that is.
    pub fn result(&mut self, call: &Id, frame: Frame, now: Instant) -> Option<(Id, Frame)> {
        let parked = self.parked.get_mut(call)?;
        let done = State::Done(frame.clone(), now + KEPT);
        match std::mem::replace(&mut parked.state, done) {
            State::Running(Some(waiter)) => {
                let told = frame.with(&["id"], waiter.id.as_json())?;
                Some((waiter.id, told))
            }
            _ => None,
        }
    }

    /// A call of the added tool: what it is answered, if that is known already.
    pub fn collect(&mut self, id: Id, params: Option<&[u8]>, now: Instant) -> Option<Frame> {
        self.make_room(now);
        let arguments = params.and_then(|params| serde_json::from_slice::<Value>(params).ok());
        let arguments = arguments
            .as_ref()
            .map_or(&Value::Null, |params| &params["arguments"]);
        let claimed = arguments["claim"].as_str().unwrap_or_default();
        let seconds = arguments["waitSeconds"]
            .as_f64()
            .unwrap_or(tools::WAIT_SECONDS);
        let wait = Duration::try_from_secs_f64(seconds)
            .unwrap_or(LONGEST)
            .min(LONGEST);
        let Some(parked) = self
            .parked
            .values_mut()
            .find(|parked| parked.claim.is(claimed))
        else {
            return Some(Frame::result(&id, &tools::unknown_claim()));
        };
        match &mut parked.state {
            State::Done(frame, _) => frame.with(&["id"], id.as_json()),
            State::Running(waiter) => {
                // Whoever asks again has given up on asking before.
                *waiter = Some(Waiter {
                    id,
                    until: now + wait,
                });
                None
            }
        }
    }

    /// The client takes a call of the added tool back; `true` if it was one.
    pub fn cancel(&mut self, id: &Id) -> bool {
        let mut waiters = self
            .parked
            .values_mut()
            .filter_map(|parked| match &mut parked.state {
                State::Running(waiter) => Some(waiter),
                State::Done(..) => None,
            });
        let found = waiters.find(|waiter| waiter.as_ref().is_some_and(|waiter| waiter.id == *id));
        found.and_then(Option::take).is_some()
    }

    /// When somebody has waited long enough for now.
    pub fn wakes_at(&self) -> Option<Instant> {
        let waiters = self
            .parked
            .values()
            .filter_map(|parked| match &parked.state {
                State::Running(Some(waiter)) => Some(waiter.until),
                _ => None,
            });
        waiters.min()
    }

    /// Tells those who have waited long enough that it takes longer: who, and what.
    pub fn woke(&mut self, now: Instant, words: &str, waiting: &Waiting) -> Vec<(Id, Frame)> {
        let mut told = Vec::new();
        for parked in self.parked.values_mut() {
            if let State::Running(waiter) = &mut parked.state
                && waiter.as_ref().is_some_and(|waiter| waiter.until <= now)
                && let Some(Waiter { id, .. }) = waiter.take()
            {
                let frame = Frame::result(&id, &waiting.result(&parked.claim, words));
                told.push((id, frame));
            }
        }
        told
    }

    /// The calls that are still running.
    pub fn running(&self) -> Vec<Id> {
        let is_running = |(_, parked): &(&Id, &Parked)| matches!(parked.state, State::Running(_));
        self.parked
            .iter()
            .filter(is_running)
            .map(|(id, _)| id.clone())
            .collect()
    }

    fn make_room(&mut self, now: Instant) {
        self.parked
            .retain(|_, parked| !matches!(parked.state, State::Done(_, until) if until <= now));
    }
}

impl Waiting {
    /// The result of a call that is let go.
    fn result(&self, claim: &Token, words: &str) -> Value {
        let mut waiting = json!({"claim": claim.reveal()});
        if let Some(deadline) = &self.deadline {
            waiting["deadline"] = deadline.as_str().into();
        }
        if let Some(page) = &self.page {
            waiting["page"] = page.as_str().into();
        }
        let words = words.replace("{claim}", claim.reveal());
        json!({"content": [{"type": "text", "text": words}], "_meta": {"dev.midcall/waiting": waiting}})
    }
}
