//! Calls that a client was told to wait for, and what it collects their results with.
//!
//! Many clients give up on a call after a minute, and a person may take longer. A call that is
//! too old is *let go*: the client gets a result that says what it is waiting for, with a claim,
//! and the server never notices. Calling the added tool with the claim waits on, and brings the
//! result when it is there. It can be collected again for a while, since clients give up on
//! that call too.
//!
//! In: [`Claims::let_go`], [`Claims::result`], [`Claims::find`], [`Claims::woke`].
//! Elsewhere: the tools as they are listed (`tools`), what a model is told (`midcall_core::model`),
//! which calls are too old (`session`).

pub mod tools;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

pub use midcall_core::model::Waiting;
use tokio::time::Instant;

use crate::frame::{Frame, Id};
use crate::session::{Closed, Wants};
use crate::token::Token;

/// Calls that were let go.
#[derive(Default)]
pub struct Claims {
    /// Those that the server is still at, by their ids.
    running: HashMap<Id, Running>,
    /// The results of the others, the oldest first.
    kept: VecDeque<Kept>,
    bytes: usize,
}

struct Running {
    /// None if the client was answered in another way: its result is nobody's.
    claim: Option<Token>,
    call: Closed,
    waiters: Vec<Waiter>,
}

/// A call of the added tool.
struct Waiter {
    id: Id,
    until: Instant,
}

struct Kept {
    claim: Token,
    frame: Frame,
    until: Instant,
}

/// What a claim is for.
pub enum Claimed {
    /// A call that is over.
    Kept(Frame),
    /// A call that the server is still at.
    Running(Id),
    /// Nothing: nobody gave it, or that was too long ago.
    Unknown,
}

/// How long a result is kept for whoever collects it.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// How many calls may be let go at once, and how many results are kept.
const MOST: usize = 256;

/// How many bytes of results are kept, unless one alone has more.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// How long a call of the added tool may wait.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// How many calls of it may wait for one result.
const MOST_WAITERS: usize = 16;

impl Claims {
    /// Lets a call go, and gives its claim.
    pub fn let_go(&mut self, id: Id, call: Closed) -> Token {
        let claim = Token::random();
        self.run(id, Some(claim.clone()), call);
        claim
    }

    /// Lets a call go whose client was answered in another way.
    pub fn abandon(&mut self, id: Id, call: Closed) {
        self.run(id, None, call);
    }

    fn run(&mut self, id: Id, claim: Option<Token>, call: Closed) {
        let waiters = Vec::new();
        self.running.insert(
            id,
            Running {
                claim,
                call,
                waiters,
            },
        );
    }

    /// Whether another call may be let go.
    pub fn has_room(&self) -> bool {
        self.running.len() < MOST
    }

    /// Whether a call was let go, and the server is still at it.
    pub fn has(&self, call: &Id) -> bool {
        self.running.contains_key(call)
    }

    /// The calls that the server is still at.
    pub fn running(&self) -> Vec<Id> {
        self.running.keys().cloned().collect()
    }

    /// The number of such a call.
    pub fn nth(&self, call: &Id) -> Option<u64> {
        self.running.get(call).map(|running| running.call.nth)
    }

    /// The numbers of such calls.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.running.values().map(|running| running.call.nth)
    }

    /// Those of them whose results can be collected.
    pub fn claimed(&self) -> impl Iterator<Item = &Id> {
        let claimed = (self.running.iter()).filter(|(_, running)| running.claim.is_some());
        claimed.map(|(call, _)| call)
    }

    /// Whether a token belongs to such a call.
    pub fn is_silent(&self, token: Option<&[u8]>) -> bool {
        token.is_some()
            && (self.running.values()).any(|running| running.call.token.as_deref() == token)
    }

    /// The names of the tools that the server is still at, as JSON.
    pub fn tools(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let tools = self.running.values().map(|running| &running.call);
        tools
            .filter(|call| call.wants == Wants::Tool)
            .map(|call| call.name.as_deref())
    }

    /// The claim of a call that can be collected.
    pub fn of(&self, call: &Id) -> Option<&Token> {
        self.running.get(call)?.claim.as_ref()
    }

    /// Takes out one of those who wait for a call.
    pub fn interrupt(&mut self, call: &Id) -> Option<Id> {
        let waiters = &mut self.running.get_mut(call)?.waiters;
        (!waiters.is_empty()).then(|| waiters.remove(0).id)
    }

    /// Takes what the server answered to a call that was let go, and gives what those who wait
    /// for it are sent, and who they are.
    pub fn result(&mut self, call: &Id, frame: Frame, now: Instant) -> Vec<(Id, Frame)> {
        let Some(running) = self.running.remove(call) else {
            return Vec::new();
        };
        let waiters = running.waiters.into_iter().map(|waiter| waiter.id);
        let told = waiters.filter_map(|id| Some((id.clone(), frame.with(&["id"], id.as_json())?)));
        let told = told.collect();
        if let Some(claim) = running.claim {
            self.bytes += frame.len();
            let until = now + KEPT;
            self.kept.push_back(Kept {
                claim,
                frame,
                until,
            });
        }
        self.make_room(now);
        told
    }

    /// What a claim is for.
    pub fn find(&mut self, claimed: &str, now: Instant) -> Claimed {
        self.make_room(now);
        if let Some(kept) = self.kept.iter().find(|kept| kept.claim.is(claimed)) {
            return Claimed::Kept(kept.frame.clone());
        }
        let is_meant = |running: &Running| {
            let claim = running.claim.as_ref();
            claim.is_some_and(|claim| claim.is(claimed)) && running.waiters.len() < MOST_WAITERS
        };
        let found = self.running.iter().find(|(_, running)| is_meant(running));
        found.map_or(Claimed::Unknown, |(call, _)| Claimed::Running(call.clone()))
    }

    /// A call of an added tool waits for another call.
    pub fn wait(&mut self, call: &Id, id: Id, seconds: f64, now: Instant) {
        let wait = Duration::try_from_secs_f64(seconds.clamp(0.0, LONGEST.as_secs_f64()));
        let until = now + wait.unwrap_or_default();
        if let Some(running) = self.running.get_mut(call) {
            running.waiters.push(Waiter { id, until });
        }
    }

    /// The client takes a call of the added tool back; `true` if it was one.
    pub fn cancel(&mut self, id: &Id) -> bool {
        self.running.values_mut().any(|running| {
            let found = running.waiters.iter().position(|waiter| waiter.id == *id);
            found.map(|at| running.waiters.swap_remove(at)).is_some()
        })
    }

    /// When somebody has waited long enough for now, or a result has been kept long enough.
    pub fn wakes_at(&self) -> Option<Instant> {
        let waiters = self.running.values().flat_map(|running| &running.waiters);
        let kept = self.kept.front().map(|kept| kept.until);
        waiters.map(|waiter| waiter.until).chain(kept).min()
    }

    /// Tells those who have waited long enough that it takes longer: who, and what.
    pub fn woke(&mut self, now: Instant, words: &str, waiting: &Waiting) -> Vec<(Id, Frame)> {
        self.make_room(now);
        let mut told = Vec::new();
        for running in self.running.values_mut() {
            let Some(claim) = &running.claim else {
                continue;
            };
            let is_late = |waiter: &mut Waiter| waiter.until <= now;
            for Waiter { id, .. } in running.waiters.extract_if(.., is_late) {
                let frame = Frame::result(&id, &waiting.result(claim.reveal(), words));
                told.push((id, frame));
            }
        }
        told
    }

    /// Drops what was kept long enough, and the oldest of what is too much.
    fn make_room(&mut self, now: Instant) {
        while let Some(oldest) = self.kept.front() {
            let is_too_much =
                self.kept.len() > 1 && (self.kept.len() > MOST || self.bytes > MOST_BYTES);
            if oldest.until > now && !is_too_much {
                return;
            }
            self.bytes -= oldest.frame.len();
            self.kept.pop_front();
        }
    }
}
