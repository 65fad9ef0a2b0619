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
mod ask;
mod body;
mod came;
mod end;
mod events;
mod hear;
mod lane;
mod mirror;
mod refusal;
mod session;
#[cfg(test)]
mod stories;
mod stream;
mod target;
mod tools;
mod wire;

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::server::Received;
use crate::frame::{Id, OwnIds};
use ask::Exchange;
use body::Waiting;
use lane::Lane;
use session::Session;
use stream::{Report, Tag, Telling};
pub use target::{Target, TargetError};
use tools::Tools;

/// What is going on with a server elsewhere. Nothing is sent before the first message.
pub struct Remote {
    target: Target,
    /// The longest message that is taken, in bytes.
    most: usize,
    told: Telling,
    reports: UnboundedReceiver<Report>,
    tasks: JoinSet<()>,
    lane: Option<Lane>,
    waiting: Waiting,
    last_tag: Tag,
    exchanges: HashMap<Tag, Exchange>,
    /// The ids of the requests that aren't answered yet.
    wanted: HashSet<Id>,
    /// What the server wants to know, and on which stream it asked.
    asked: HashMap<Id, Tag>,
    session: Session,
    /// The revision of the last modern request.
    revision: Option<Vec<u8>>,
    tools: Tools,
    own_ids: OwnIds,
    /// The messages to be handed out.
    ready: VecDeque<Received>,
    /// Whether nothing more will be sent.
    is_finishing: bool,
}

/// How many bytes may wait before the other side is read no more.
const FULL: usize = 256 * 1024;

/// How many bytes of answers may wait before whoever causes them is read no more.
const FLOODED: usize = 1024 * 1024;

/// How long what was sent may take to get out at the end, and the server to hear of the end.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Remote {
    /// Gets ready to call a server. No message may be longer than `most`.
    pub fn open(target: Target, most: usize) -> Self {
        let (told, reports) = unbounded_channel();
        Self {
            target,
            most,
            told: Telling::new(told),
            reports,
            tasks: JoinSet::new(),
            lane: None,
            waiting: Waiting::default(),
            last_tag: 0,
            exchanges: HashMap::new(),
            wanted: HashSet::new(),
            asked: HashMap::new(),
            session: Session::default(),
            revision: None,
            tools: Tools::default(),
            own_ids: OwnIds::default(),
            ready: VecDeque::new(),
            is_finishing: false,
        }
    }

    /// Whether enough waits to be sent.
    pub fn is_full(&self) -> bool {
        self.waiting.bytes() >= FULL
    }

    /// Whether the server causes more of our answers than it takes.
    pub fn is_flooded(&self) -> bool {
        self.waiting.answers() >= FLOODED
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
            while self.tasks.try_join_next().is_some() {}
            if was_full != self.is_full() || was_flooded != self.is_flooded() {
                return Received::Nothing; // Others may be heard again, or no more.
            }
            tokio::select! {
                report = self.reports.recv(), if hears => {
                    self.hear(report.expect("we hold the other end ourselves"));
                }
                () = self.waiting.less() => {}
            }
        }
    }

    /// Ends what is open, and the session with it.
    pub async fn close(&mut self) {
        self.tasks.abort_all();
        if let Some(lane) = self.lane.take() {
            lane.close(LAST_WORDS).await;
        }
        if self.session.has_name() {
            let headers = self.session.headers();
            let _ = timeout(LAST_WORDS, wire::delete(&self.target, &headers)).await;
        }
    }

    /// Whether nobody waits for anything.
    fn is_idle(&self) -> bool {
        let waits = |exchange: &Exchange| !exchange.is_open_end();
        let is_open = self.session.held.is_empty() && self.session.refused.is_empty();
        is_open && !self.exchanges.values().any(waits)
    }
}
