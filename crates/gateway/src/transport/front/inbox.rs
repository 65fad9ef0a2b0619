//! Where a session meets its HTTP clients.
//!
//! The session's task holds the [`Inbox`], and the handlers of requests hold the [`Clients`]: one client with a session of its own, or several that know nothing of each other.
//! What a client says goes into the inbox in order; what the session says goes onto the streams
//! of the clients, where each [`Reading`] waits for it.
//!
//! A client may leave before its session is over: then only guests are heard, who come from other sessions of the same
//! person with what was given out here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::endpoint::locked;
use super::message::Tells;
use super::open_request::{Nth, Purpose};
use super::person::Person;
use super::reading::Reading;
use super::streams::{OpenError, Streams, Tenancy};
use crate::call::{GivenName, Name, Tools};
use crate::frame::{Frame, Id};

/// What the session's task holds. Dropping it ends the clients: whoever waits is told.
pub struct Inbox {
    clients: Arc<Clients>,
    said: UnboundedReceiver<Entry>,
    /// True once it was heard that the client has left.
    has_left: bool,
    /// What was given out here to come back by, and whether the client hasn't got what it is for.
    names: HashMap<Name, bool>,
}

/// What is heard at an inbox.
pub enum ClientEvent {
    /// A message of a client.
    Client(Frame),
    /// A request of another session, which brings what was given out here.
    Guest(Frame),
    /// The client has left. Guests may still come.
    Left,
    /// Nobody can come any more.
    Gone,
}

/// The clients of one inbox.
pub struct Clients {
    streams: Mutex<Streams>,
    said: UnboundedSender<Entry>,
    /// Messages that may wait to be heard.
    room: Arc<Semaphore>,
    /// Somebody took what waited for them.
    pub taken: Notify,
    /// The clients have left: they said so. Guests may come.
    left: CancellationToken,
    /// Nobody is let in any more.
    closed: CancellationToken,
    /// The session is over.
    over: CancellationToken,
    names: NameCount,
    used: Mutex<Instant>,
    person: Arc<Person>,
}

/// How many names lead to a session.
#[derive(Default)]
struct NameCount {
    all: AtomicUsize,
    /// Those given for what the client hasn't got.
    owed: AtomicUsize,
}

/// What is on its way to the session, and the room it takes.
type Entry = (ClientEvent, Option<OwnedSemaphorePermit>);

/// How many messages of clients may wait to be heard.
const MOST_WAITING: usize = 64;
/// Bytes for which a message takes the place of one more.
const PLACE: usize = 1024 * 1024;

/// What those are told whose session is over, unless it said something better.
const OVER: &str = "the server has ended";

/// What a client is told that left while its requests were open.
const LEFT: &str = "the session has ended";

impl Inbox {
    /// An inbox, and whose it is: clients of one person.
    pub fn new(tenancy: Tenancy, person: Arc<Person>) -> (Self, Arc<Clients>) {
        let (to_session, said) = unbounded_channel();
        let clients = Arc::new(Clients {
            streams: Mutex::new(Streams::new(tenancy, person.clone())),
            said: to_session,
            room: Arc::new(Semaphore::new(MOST_WAITING)),
            taken: Notify::new(),
            left: CancellationToken::new(),
            closed: CancellationToken::new(),
            over: CancellationToken::new(),
            names: NameCount::default(),
            used: Mutex::new(Instant::now()),
            person,
        });
        let inbox = Self {
            clients: clients.clone(),
            said,
            has_left: false,
            names: HashMap::new(),
        };
        (inbox, clients)
    }

    /// What comes next, if somebody `hears`. What a client said before it left comes first, and that it left comes
    /// whoever hears. Nothing is lost when waiting is given up.
    pub async fn next(&mut self, hears: bool) -> ClientEvent {
        loop {
            let leaves = self.clients.left.is_cancelled() && !self.has_left;
            tokio::select! {
                biased;
                () = self.clients.closed.cancelled() => return ClientEvent::Gone,
                said = self.said.recv(), if hears || leaves => {
                    let heard = said.map_or(ClientEvent::Gone, |(heard, _)| heard);
                    self.has_left |= matches!(heard, ClientEvent::Left);
                    return heard;
                }
                () = self.clients.left.cancelled(), if !leaves && !self.has_left => {}
            }
        }
    }

    /// Lets nobody in but guests from now on.
    pub fn leave(&self) {
        self.clients.leave();
    }

    /// True while something waits to be heard.
    pub fn is_heard(&self) -> bool {
        !self.said.is_empty()
    }

    /// The session goes on without its client.
    pub fn stays(&self) {
        self.clients.person.keeps(&self.clients);
    }

    /// What earlier sessions of this person learned of the server's tools.
    pub fn learned(&self) -> Option<Tools> {
        locked(&self.clients.person.learned).clone()
    }

    /// More is known of the server's tools.
    pub fn learns(&self, tools: Tools) {
        *locked(&self.clients.person.learned) = Some(tools);
    }

    /// Tells the clients something.
    pub fn send(&mut self, frame: &Frame) {
        self.tell(frame, None);
    }

    /// Tells the clients something that belongs to this request of theirs.
    pub fn send_in(&mut self, frame: &Frame, request: &Id) {
        self.tell(frame, Some(request));
    }

    fn tell(&mut self, frame: &Frame, during: Option<&Id>) {
        let mut streams = self.clients.streams();
        streams.send(frame, during);
        let given_up = streams.let_slow_go();
        let has_failed = streams.has_failed();
        drop(streams);
        self.clients.give_up(given_up);
        if has_failed {
            self.clients.leave();
        }
    }

    /// A client was given something to come back by. Whoever does so is led here.
    pub fn named(&mut self, given: GivenName) {
        self.clients.person.named(&self.clients, &given);
        let before = self.names.insert(given.name, given.is_owed);
        self.counts(before, Some(given.is_owed));
    }

    /// A name leads nowhere any more.
    pub fn unnamed(&mut self, name: Name) {
        let before = self.names.remove(&name);
        self.clients.person.unnamed(name);
        self.counts(before, None);
    }

    /// Counts the names for what is owed, of which one was owed before or is now.
    fn counts(&self, before: Option<bool>, now: Option<bool>) {
        let (before, now) = (before == Some(true), now == Some(true));
        let names = &self.clients.names;
        names.owed.fetch_add(now.into(), Ordering::Relaxed);
        names.owed.fetch_sub(before.into(), Ordering::Relaxed);
        names.all.store(self.names.len(), Ordering::Relaxed);
    }

    /// True if several clients may share it.
    pub fn is_shared(&self) -> bool {
        self.clients.streams().is_shared()
    }

    /// Whether the clients have enough to read.
    pub fn is_full(&self) -> bool {
        self.clients.streams().is_full()
    }

    /// Waits until they have read some of it.
    pub fn taken(&self) -> impl Future<Output = ()> + use<> {
        let clients = self.clients.clone();
        async move { clients.taken.notified().await }
    }

    /// Ends it, and tells whoever waits why.
    pub fn end(self, why: &str) {
        self.clients.streams().close_all(why);
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.clients.over.cancel();
        for name in self.names.keys() {
            self.clients.person.unnamed(*name);
        }
        self.clients.streams().close_all(OVER);
    }
}

impl Clients {
    /// Says something that wants answers, and reads them.
    pub async fn call(
        self: &Arc<Self>,
        frame: &Frame,
        purpose: impl Fn(&str) -> Purpose,
    ) -> Result<Reading, OpenError> {
        self.say(frame, purpose, ClientEvent::Client).await
    }

    /// Calls one of the added tools from another session, with what was given out here.
    pub async fn call_as_guest(
        self: &Arc<Self>,
        frame: &Frame,
        is_modern: bool,
    ) -> Result<Reading, OpenError> {
        let purpose = |_: &str| Purpose {
            is_guest: true,
            is_modern,
            ..Purpose::default()
        };
        self.say(frame, purpose, ClientEvent::Guest).await
    }

    async fn say(
        self: &Arc<Self>,
        frame: &Frame,
        purpose: impl Fn(&str) -> Purpose,
        heard: fn(Frame) -> ClientEvent,
    ) -> Result<Reading, OpenError> {
        let room = self.room_for(frame).await;
        let mut streams = self.streams();
        let (nth, told) = streams.open(frame, purpose)?;
        let reader = streams.enter(nth).unwrap_or_default();
        // While they are locked: what is said first is heard first.
        let _ = self.said.send((heard(told), room));
        drop(streams);
        Ok(self.reading(nth, reader))
    }

    /// Has a request answered by another session, which gave out what it brings. Else it is as any other request here:
    /// the client may come back to its stream, and may take it back.
    pub async fn call_at(
        self: &Arc<Self>,
        host: &Arc<Self>,
        frame: &Frame,
        purpose: impl Fn(&str) -> Purpose,
    ) -> Result<Reading, OpenError> {
        let mut guest = host.call_as_guest(frame, false).await?;
        let taken_back = CancellationToken::new();
        let mut streams = self.streams();
        let (nth, _) = streams.open(frame, purpose)?;
        streams.is_elsewhere(nth, taken_back.clone().drop_guard());
        let reader = streams.enter(nth).unwrap_or_default();
        drop(streams);
        let clients = self.clone();
        tokio::spawn(taken_back.run_until_cancelled_owned(async move {
            while let Some(event) = guest.next().await {
                clients.streams().send(&Frame::new(event.data), None);
            }
        }));
        Ok(self.reading(nth, reader))
    }

    /// Waits until there is room for a message to wait in: the longer it is, the more it takes.
    async fn room_for(&self, frame: &Frame) -> Option<OwnedSemaphorePermit> {
        let places = (1 + frame.len() / PLACE).min(MOST_WAITING) as u32;
        self.room.clone().acquire_many_owned(places).await.ok()
    }

    /// Says something that wants no answer.
    pub async fn tell(&self, frame: Frame, what: &Tells) {
        let room = self.room_for(&frame).await;
        let was_elsewhere = match what {
            Tells::Answer(id) => {
                self.streams().answered(id);
                false
            }
            Tells::Cancel(id) => self.streams().cancelled(id),
            Tells::News => false,
        };
        let streams = self.streams(); // A client says nothing after it has left.
        if !was_elsewhere && !self.has_left() {
            let _ = self.said.send((ClientEvent::Client(frame), room));
        }
        drop(streams);
        self.touch();
    }

    /// Reads a stream from its beginning; none if somebody does, or it is not there.
    pub fn read(self: &Arc<Self>, nth: Nth) -> Option<Reading> {
        let mut streams = self.streams();
        if streams.is_read(nth) {
            return None;
        }
        let reader = streams.enter(nth)?;
        Some(self.reading(nth, reader))
    }

    /// Reads on after an event.
    pub fn read_after(self: &Arc<Self>, nth: Nth, event: u64) -> Option<Reading> {
        let reader = self.streams().enter_after(nth, event)?;
        Some(self.reading(nth, reader))
    }

    fn reading(self: &Arc<Self>, nth: Nth, reader: u64) -> Reading {
        self.touch();
        Reading {
            clients: self.clone(),
            nth,
            reader,
        }
    }

    /// The clients leave. Only guests are let in from now on.
    pub fn leave(&self) {
        let mut streams = self.streams();
        streams.client_leaves(LEFT);
        if !self.left.is_cancelled() {
            // While they are locked: what was said before is heard before.
            let _ = self.said.send((ClientEvent::Left, None));
            self.left.cancel();
        }
    }

    /// Ends the session, and tells whoever waits why nothing more comes.
    pub fn end(&self, why: &str) {
        self.streams().close_all(why);
        self.left.cancel();
        self.closed.cancel();
    }

    /// Whether the clients have left: nobody else is let in by the session's id.
    pub fn has_left(&self) -> bool {
        self.left.is_cancelled() || self.over.is_cancelled()
    }

    /// Whether the session is over, or will be: not even guests are let in.
    pub fn is_over(&self) -> bool {
        self.over.is_cancelled() || self.closed.is_cancelled()
    }

    /// Since when nobody used it; none while somebody does.
    pub fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.streams().is_idle();
        is_idle.then(|| *locked(&self.used))
    }

    /// Whether somebody may come back by something that was given out here.
    pub fn is_named(&self) -> bool {
        self.names.all.load(Ordering::Relaxed) > 0
    }

    /// Whether a client was told to come back, and hasn't got yet what it was told to come back for.
    pub fn owes(&self) -> bool {
        self.names.owed.load(Ordering::Relaxed) > 0
    }

    /// How many requests wait for an answer.
    pub fn waiting(&self) -> usize {
        self.streams().waiting()
    }

    /// Looks at the streams.
    pub fn streams(&self) -> MutexGuard<'_, Streams> {
        locked(&self.streams)
    }

    pub fn touch(&self) {
        *locked(&self.used) = Instant::now();
    }

    /// Tells the session that some requests need no answer any more.
    pub fn give_up(&self, requests: Vec<Id>) {
        for id in requests {
            let cancelled = Frame::cancelled(&id);
            let _ = self.said.send((ClientEvent::Client(cancelled), None));
        }
    }
}
