//! A server elsewhere, reached by Streamable HTTP, as one end of a session.
//!
//! Every message is a request of its own. What a server says comes back on many streams and is
//! put into one order here. A message says in which era it is: modern ones stand for themselves
//! and bear headers that repeat what they say; legacy ones belong to a session, which is opened
//! again when the server has forgotten it. A stream that breaks is gone on with where the server
//! lets us. What cannot be carried through is answered with an error that says why, never with
//! silence.
//!
//! In: [`Remote::send`]. Out: [`Remote::next`].
//! Elsewhere: one request and what it brings (`stream`), what counts as its answer (`answer`) and
//! what people are told if there is none (`came`), the address (`target`).

mod answer;
mod body;
mod came;
mod end;
mod events;
mod lane;
mod mirror;
mod outgoing;
mod receive;
mod refusal;
mod send;
mod session;
#[cfg(test)]
mod stories;
mod stream;
mod target;
mod tools;
mod wire;

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use tokio::time::timeout;

use super::server::Received;
use crate::frame::{Id, OwnIds};
use outgoing::Outgoing;
use send::Exchange;
use session::UpstreamSession;
use stream::Tag;
pub use target::{Target, TargetError};
use tools::Tools;

/// What is going on with a server elsewhere. Nothing is sent before the first message.
pub struct Remote {
    outgoing: Outgoing,
    exchanges: HashMap<Tag, Exchange>,
    /// The ids of the requests that aren't answered yet.
    wanted: HashSet<Id>,
    /// What the server wants to know, and on which stream it asked.
    asked: HashMap<Id, Tag>,
    session: UpstreamSession,
    /// The revision of the last modern request.
    revision: Option<Vec<u8>>,
    tools: Tools,
    own_ids: OwnIds,
    /// The messages to be handed out.
    ready: VecDeque<Received>,
    /// Whether nothing more will be sent.
    is_finishing: bool,
}

/// How long what was sent may take to get out at the end, and the server to hear of the end.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Remote {
    /// Gets ready to call a server. No message may be longer than `most`.
    pub fn open(target: Target, most: usize) -> Self {
        Self {
            outgoing: Outgoing::new(target, most),
            exchanges: HashMap::new(),
            wanted: HashSet::new(),
            asked: HashMap::new(),
            session: UpstreamSession::default(),
            revision: None,
            tools: Tools::default(),
            own_ids: OwnIds::default(),
            ready: VecDeque::new(),
            is_finishing: false,
        }
    }

    /// Whether enough waits to be sent.
    pub fn is_full(&self) -> bool {
        self.outgoing.is_full()
    }

    /// Whether the server causes more of our answers than it takes.
    pub fn is_flooded(&self) -> bool {
        self.outgoing.is_flooded()
    }

    /// Nothing more will be sent: once everything is answered, the server counts as gone.
    pub fn finish(&mut self) {
        self.is_finishing = true;
    }

    /// What the server says next, if somebody `hears`. Nothing is lost when waiting is given up.
    pub async fn next(&mut self, hears: bool) -> Received {
        let (was_full, was_flooded) = (self.is_full(), self.is_flooded());
        loop {
            if hears && let Some(received) = self.ready.pop_front() {
                return received;
            }
            if hears && self.is_finishing && self.is_idle() {
                return Received::Gone;
            }
            if was_full != self.is_full() || was_flooded != self.is_flooded() {
                return Received::Nothing; // Others may be heard again, or no more.
            }
            if let Some(report) = self.outgoing.next(hears).await {
                self.hear(report);
            }
        }
    }

    /// Ends what is open, and the session with it.
    pub async fn close(&mut self) {
        self.outgoing.close(LAST_WORDS).await;
        if self.session.has_name() {
            let headers = self.session.headers();
            let _ = timeout(LAST_WORDS, wire::delete(&self.outgoing.target, &headers)).await;
        }
    }

    /// Whether nobody waits for anything.
    fn is_idle(&self) -> bool {
        let waits = |exchange: &Exchange| !exchange.is_open_end();
        let is_open = self.session.held.is_empty() && self.session.refused.is_empty();
        is_open && !self.exchanges.values().any(waits)
    }
}
