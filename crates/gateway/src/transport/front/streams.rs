//! Which stream each message to the clients of an inbox goes on.
//!
//! An answer goes on the stream of its request, progress on that of its token, news of a
//! subscription on that of its `subscriptions/listen`. A question and whatever else a call may
//! bring goes on the stream of its call. Where the call isn't known, or nobody reads that stream, it
//! goes on the oldest stream with such a call, and where there is none on the stream that the client
//! opened by GET, whether it has done so already or not.
//!
//! Clients that know nothing of each other may use the same ids at the same time, so on an inbox
//! that they share every request gets an id and a token of ours. So does a guest on any inbox: a request of another
//! session that came with a name which was given here. It hears of nothing but its own call.
//!
//! In: [`Streams::open`], [`Streams::send`]. Out: [`Stream`]s. It does no I/O.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use midcall_core::wire::{code, member};
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;

use super::endpoint::locked;
use super::open_request::{Nth, OpenRequest, Purpose};
use super::person::Person;
use super::stream::{Next, Stream};
use super::words::{SUBSCRIPTION, flat, has_subscription, subscription};
use crate::frame::{Frame, Id, Kind, Members, OwnIds};
use crate::leg::client::modern;

/// Whose an inbox is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tenancy {
    /// One client, with a session of its own. It may come back to a stream.
    Own,
    /// Clients that know nothing of each other. None comes back.
    Shared,
}

/// The stream that is opened by GET.
pub const BY_GET: Nth = 0;

pub struct Streams {
    tenancy: Tenancy,
    count: Nth,
    open: BTreeMap<Nth, Stream>,
    /// Requests that are not answered, by the ids that the session knows them by.
    calls: HashMap<Id, OpenRequest>,
    tokens: HashMap<Box<[u8]>, Id>,
    /// Where the server's own requests went.
    asked: HashMap<Id, Nth>,
    /// Streams that are over and kept for clients that come back, the oldest first.
    over: VecDeque<Nth>,
    /// Streams whose readers others would have to wait for.
    slow: Vec<Nth>,
    person: Arc<Person>,
    admits: Admits,
    /// Whether the client could not be opened.
    failed: bool,
    own_ids: OwnIds,
}

/// Whose requests are taken, and why no others.
enum Admits {
    All,
    /// Those of other sessions: the client has left.
    Guests {
        why: String,
    },
    Nobody {
        why: String,
    },
}

/// Why a request is not taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("a request with this id is open")]
    IdInUse,
    #[error("too many requests are open")]
    TooMany,
    #[error("{0}")]
    Closed(String),
}

/// How many requests may be open on one inbox.
const MOST_OPEN: usize = 4_096;
/// How many requests of a client of its own.
const MOST_OWN: usize = 512;
/// How many streams are kept that are over, and how many bytes of them.
const MOST_OVER: usize = 16;
const MOST_OVER_BYTES: usize = 4 * 1024 * 1024;
/// How many of the server's own requests are known. It may never be told the end of one.
const MOST_ASKED: usize = 4_096;
/// How much may wait for a reader before the server is read no more.
const FULL: usize = 256 * 1024;
/// How much may wait for one of many readers before it is let go.
const TOO_SLOW: usize = 4 * 1024 * 1024;

impl Streams {
    pub fn new(tenancy: Tenancy, person: Arc<Person>) -> Self {
        let by_get = (tenancy == Tenancy::Own).then(|| (BY_GET, Stream::new(true)));
        Self {
            tenancy,
            count: BY_GET,
            open: by_get.into_iter().collect(),
            calls: HashMap::new(),
            tokens: HashMap::new(),
            asked: HashMap::new(),
            over: VecDeque::new(),
            slow: Vec::new(),
            person,
            admits: Admits::All,
            failed: false,
            own_ids: OwnIds::default(),
        }
    }

    /// Opens the stream of a message that has requests in it: its number, and the message as
    /// the session is to hear it.
    pub fn open(
        &mut self,
        frame: &Frame,
        purpose: impl Fn(&str) -> Purpose,
    ) -> Result<(Nth, Frame), OpenError> {
        let is_guest = purpose("").is_guest;
        match &self.admits {
            Admits::All => {}
            Admits::Guests { .. } if is_guest => {}
            Admits::Guests { why } | Admits::Nobody { why } => {
                return Err(OpenError::Closed(why.clone()));
            }
        }
        let most = match self.tenancy {
            Tenancy::Own => MOST_OWN,
            Tenancy::Shared => MOST_OPEN,
        };
        let nth = self.count + 1;
        let (told, calls) = match (self.tenancy, is_guest) {
            (Tenancy::Own, false) => (frame.clone(), OpenRequest::verbatim(nth, frame, &purpose)),
            (Tenancy::Own, true) => {
                OpenRequest::renamed(nth, self.own_ids.fresh(), frame, &purpose)
            }
            (Tenancy::Shared, _) => OpenRequest::renamed(nth, Id::from(nth), frame, &purpose),
        };
        let ids: HashSet<&Id> = calls.iter().map(|(id, _)| id).collect();
        if ids.len() < calls.len() || ids.iter().any(|id| self.calls.contains_key(*id)) {
            return Err(OpenError::IdInUse);
        }
        if self.calls.len() + calls.len() > most {
            return Err(OpenError::TooMany);
        }
        self.count = nth;
        let keeps = self.tenancy == Tenancy::Own && !is_guest;
        self.open.insert(nth, Stream::new(keeps));
        for (id, call) in calls {
            if let Some(token) = &call.followed_by {
                self.tokens.insert(token.clone(), id.clone());
            }
            self.calls.insert(id, call);
        }
        Ok((nth, told))
    }

    /// True if several clients may share it.
    pub fn is_shared(&self) -> bool {
        self.tenancy == Tenancy::Shared
    }

    /// Takes a message of the session's to where it belongs. `during`: the request that it belongs to, if that is known.
    pub fn send(&mut self, frame: &Frame, during: Option<&Id>) {
        let Some((kind, members)) = frame.peek() else {
            return;
        };
        match kind {
            Kind::Response { id: Some(id) } => self.answer(&id, frame, &members),
            // It answers what could not be read; no stream waits for that.
            Kind::Response { id: None } => {}
            Kind::Request { id, .. } => {
                let nth = self.at_a_call(during, |purpose| purpose.asks);
                if self.asked.len() < MOST_ASKED {
                    self.asked.insert(id, nth);
                }
                self.push(nth, frame, false);
            }
            Kind::Notification { method } => self.notice(&method, frame, &members, during),
            Kind::Batch => {
                for part in frame.parts() {
                    self.send(&part, during);
                }
            }
            Kind::Odd => self.push(BY_GET, frame, false),
            Kind::Wrong { .. } => {} // The session refuses those.
        }
    }

    fn answer(&mut self, id: &Id, frame: &Frame, members: &Members<'_>) {
        let Some(call) = self.close(id) else {
            return; // Its client has gone, or has its answer.
        };
        if call.purpose.lists_tools {
            locked(&self.person.params).learn(members);
        }
        self.failed |= call.purpose.opens && members.error.is_some();
        let mut told = frame.clone();
        if let Some(id) = &call.id {
            if call.purpose.listens && has_subscription(members) {
                let path = ["result", "_meta", SUBSCRIPTION];
                told = told.with(&path, id).unwrap_or(told);
            }
            told = told.with(&["id"], id).unwrap_or(told);
        }
        if call.purpose.is_modern {
            told = modern::result(&told, false);
        }
        self.push(call.stream, &told, true);
        self.end_if_last(call.stream);
    }

    /// Ends a stream on which no more answers come.
    fn end_if_last(&mut self, nth: Nth) {
        let mut others = self.calls.values();
        if self.tenancy == Tenancy::Shared || !others.any(|other| other.stream == nth) {
            self.end(nth);
        }
    }

    fn notice(&mut self, method: &str, frame: &Frame, members: &Members<'_>, during: Option<&Id>) {
        let by_token = members
            .progress_token
            .and_then(|token| self.tokens.get(token));
        if method == "notifications/progress" {
            let Some(call) = by_token.and_then(|id| self.calls.get(id)) else {
                return; // Nobody waits for it any more.
            };
            let nth = call.stream;
            let told = match &call.token {
                Some(token) => frame.with(&["params", "progressToken"], token),
                None => Some(frame.clone()),
            };
            return told.iter().for_each(|told| self.push(nth, told, false));
        }
        if method == "notifications/cancelled"
            && let Some(nth) = members.request_id.and_then(Id::read)
            && let Some(nth) = self.asked.remove(&nth)
        {
            return self.push(nth, frame, false);
        }
        if let Some((id, call)) = subscription(members).and_then(|id| self.calls.get_key_value(&id))
        {
            let path = ["params", "_meta", SUBSCRIPTION];
            let name = call.id.as_deref().unwrap_or(id.as_json());
            let (nth, told) = (call.stream, frame.with(&path, name));
            return told.iter().for_each(|told| self.push(nth, told, false));
        }
        let is_news =
            method.ends_with("/list_changed") || method == "notifications/resources/updated";
        let nth = match (self.tenancy, method) {
            (Tenancy::Own, _) if is_news => BY_GET,
            // They hear what they listen for, and nothing else.
            (Tenancy::Shared, _) if is_news => return,
            (Tenancy::Shared, "notifications/message") => {
                let own = during.and_then(|id| self.calls.get(id));
                if own.is_some_and(|call| !call.purpose.loud) {
                    return; // The others have nothing to do with it.
                }
                self.at_a_call(during, |purpose| purpose.loud)
            }
            _ => self.at_a_call(during, |purpose| purpose.asks),
        };
        self.push(nth, frame, false);
    }

    /// The stream of a call, if it is such a one, else the oldest stream with such a call, and of those one that is read
    /// if there is any. Where there is none, or somebody reads only what belongs to no call, that one.
    fn at_a_call(&self, during: Option<&Id>, is_such: impl Fn(&Purpose) -> bool) -> Nth {
        let own = during.and_then(|id| self.calls.get(id));
        let own = own
            .filter(|call| is_such(&call.purpose))
            .map(|call| call.stream);
        if let Some(own) = own.filter(|nth| self.is_read(*nth)) {
            return own;
        }
        let calls = self.calls.values().filter(|call| is_such(&call.purpose));
        let oldest = calls
            .map(|call| call.stream)
            .min_by_key(|nth| (!self.is_read(*nth), Some(*nth) != own, *nth));
        oldest
            .filter(|nth| self.is_read(*nth) || !self.is_read(BY_GET))
            .unwrap_or(BY_GET)
    }

    fn push(&mut self, nth: Nth, frame: &Frame, is_answer: bool) {
        if let Some(stream) = self.open.get_mut(&nth) {
            stream.push(flat(frame), is_answer);
            if !stream.keeps() && !is_answer && stream.backlog() > TOO_SLOW {
                self.slow.push(nth);
            }
        }
    }

    /// The client has answered a request of the server's.
    pub fn answered(&mut self, id: &Id) {
        self.asked.remove(id);
    }

    /// The client takes a request back: no answer will come. True if another session was to answer it.
    pub fn cancelled(&mut self, id: &Id) -> bool {
        let call = self.close(id);
        if let Some(call) = &call {
            self.end_if_last(call.stream);
        }
        call.is_some_and(|call| call.elsewhere.is_some())
    }

    /// Another session answers the request on a stream. It is dropped there if the client takes it back.
    pub fn is_elsewhere(&mut self, nth: Nth, taking_back: DropGuard) {
        let call = self.calls.values_mut().find(|call| call.stream == nth);
        if let Some(call) = call {
            call.elsewhere = Some(taking_back);
        }
    }

    fn close(&mut self, id: &Id) -> Option<OpenRequest> {
        let call = self.calls.remove(id)?;
        if let Some(token) = &call.followed_by {
            self.tokens.remove(token);
        }
        Some(call)
    }

    /// A stream has all its answers.
    fn end(&mut self, nth: Nth) {
        if let Some(stream) = self.open.get_mut(&nth) {
            stream.end();
            if stream.keeps() {
                self.over.push_back(nth);
            }
        }
        self.asked.retain(|_, at| *at != nth);
        while self.over.len() > MOST_OVER || self.over_bytes() > MOST_OVER_BYTES {
            let kept = |nth: &Nth| self.open.get(nth).is_some_and(Stream::is_read);
            let Some(oldest) = self.over.iter().position(|nth| !kept(nth)) else {
                return; // All of them are being read.
            };
            if let Some(nth) = self.over.remove(oldest) {
                self.open.remove(&nth);
            }
        }
    }

    fn over_bytes(&self) -> usize {
        let over = self.over.iter().filter_map(|nth| self.open.get(nth));
        over.map(Stream::bytes).sum()
    }

    /// Somebody reads a stream from now on.
    pub fn enter(&mut self, nth: Nth) -> Option<u64> {
        self.open.get_mut(&nth).map(Stream::enter)
    }

    /// Somebody comes back to a stream, after an event of it.
    pub fn enter_after(&mut self, nth: Nth, event: u64) -> Option<u64> {
        self.open.get_mut(&nth)?.enter_after(event)
    }

    pub fn is_read(&self, nth: Nth) -> bool {
        self.open.get(&nth).is_some_and(Stream::is_read)
    }

    /// A stream to look at.
    pub fn get(&self, nth: Nth) -> Option<&Stream> {
        self.open.get(&nth)
    }

    /// What is next for a reader.
    pub fn next(&mut self, nth: Nth, reader: u64) -> Next {
        let next = self.open.get_mut(&nth).map(|stream| stream.next(reader));
        next.unwrap_or(Next::End)
    }

    /// A reader goes. The requests that are given up by that, where nobody comes back.
    pub fn leave(&mut self, nth: Nth, reader: u64) -> Vec<Id> {
        let stream = self.open.get_mut(&nth);
        let is_forgotten = stream.is_some_and(|stream| stream.leave(reader) && !stream.keeps());
        match is_forgotten {
            true => self.forget(nth),
            false => Vec::new(),
        }
    }

    /// A stream whose client has everything, or wants nothing any more: the requests that were
    /// still open.
    pub fn forget(&mut self, nth: Nth) -> Vec<Id> {
        self.open.remove(&nth);
        self.over.retain(|over| *over != nth);
        let mut open: Vec<Id> = match self.tenancy {
            Tenancy::Shared => vec![Id::from(nth)],
            Tenancy::Own => {
                let open = self.calls.iter().filter(|(_, call)| call.stream == nth);
                open.map(|(id, _)| id.clone()).collect()
            }
        };
        open.retain(|id| self.close(id).is_some());
        open
    }

    /// Whether the server is to be read no more for now.
    pub fn is_full(&self) -> bool {
        let is_full = |stream: &Stream| stream.keeps() && stream.backlog() >= FULL;
        self.open.values().any(is_full)
    }

    /// Lets go of readers that others would have to wait for: the requests given up by that.
    pub fn let_slow_go(&mut self) -> Vec<Id> {
        let slow = std::mem::take(&mut self.slow);
        slow.into_iter().flat_map(|nth| self.forget(nth)).collect()
    }

    /// Whether nobody reads and nobody waits.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty() && !self.open.values().any(Stream::is_read)
    }

    /// How many requests wait for an answer, other than those that only listen.
    pub fn waiting(&self) -> usize {
        self.calls
            .values()
            .filter(|call| !call.purpose.listens)
            .count()
    }

    /// Whether the client could not be opened: its inbox is of no use.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Tells everybody why it is over, and takes nothing any more.
    pub fn close_all(&mut self, why: &str) {
        if matches!(self.admits, Admits::Nobody { .. }) {
            return;
        }
        self.answer_all(why, |_| true);
        for stream in self.open.values_mut() {
            stream.end();
        }
        self.admits = Admits::Nobody {
            why: why.to_owned(),
        };
    }

    /// The client leaves: it is told why nothing more comes, and only guests are let in.
    pub fn client_leaves(&mut self, why: &str) {
        if !matches!(self.admits, Admits::All) {
            return;
        }
        self.answer_all(why, |call| !call.purpose.is_guest);
        let guests: HashSet<Nth> = self.calls.values().map(|call| call.stream).collect();
        for (_, stream) in self
            .open
            .iter_mut()
            .filter(|(nth, _)| !guests.contains(nth))
        {
            stream.end();
        }
        self.asked.clear();
        self.admits = Admits::Guests {
            why: why.to_owned(),
        };
    }

    /// Answers some of the open requests, whose results nobody will bring.
    fn answer_all(&mut self, why: &str, is_one: impl Fn(&OpenRequest) -> bool) {
        let calls = self.calls.iter().filter(|(_, call)| is_one(call));
        let calls: Vec<_> = calls
            .map(|(id, call)| (id.clone(), call.purpose.listens))
            .collect();
        for (id, listens) in calls {
            let answer = if listens {
                let over = json!({(member::RESULT_TYPE): "complete", "_meta": {SUBSCRIPTION: Value::Null}});
                Frame::result(&id, &over)
            } else {
                Frame::error(Some(&id), code::INTERNAL_ERROR, &format!("midcall: {why}"))
            };
            self.send(&answer, None);
        }
    }
}
