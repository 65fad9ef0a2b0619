//! Where a session meets its HTTP clients.
//!
//! The session's task holds the [`Seat`]; the handlers of requests hold the [`Party`] that sits
//! there: one client with a session of its own, or several that know nothing of each other.
//! What a client says goes into the seat in order; what the session says goes onto the streams
//! of the party, where each [`Reading`] waits for it.
//!
//! A client may leave before its session is over: then only guests are heard, who come from other sessions of the same
//! person with what was given out here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::call::{Nth, Wants};
use super::message::Tells;
use super::person::Person;
use super::stream::{Event, Next};
use super::streams::{OpenError, Streams, Whose};
use crate::call::{GivenName, Name, Tools};
use crate::frame::{Frame, Id};

/// What the session's task holds. Dropping it ends the party: whoever waits is told.
pub struct Seat {
    party: Arc<Party>,
    said: UnboundedReceiver<Said>,
    /// True once it was heard that the client has left.
    has_left: bool,
    /// What was given out here to come back by, and whether the client hasn't got what it is for.
    names: HashMap<Name, bool>,
}

/// What is heard at a seat.
pub enum Heard {
    /// A message of a client.
    Client(Frame),
    /// A request of another session, which brings what was given out here.
    Guest(Frame),
    /// The client has left. Guests may still come.
    Left,
    /// Nobody can come any more.
    Gone,
}

/// The clients of one seat.
pub struct Party {
    streams: Mutex<Streams>,
    said: UnboundedSender<Said>,
    /// Messages that may wait to be heard.
    room: Arc<Semaphore>,
    /// Somebody took what waited for them.
    taken: Notify,
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

/// Somebody reads a stream until this is dropped.
pub struct Reading {
    party: Arc<Party>,
    pub nth: Nth,
    reader: u64,
}

/// What is on its way to the session, and the room it takes.
type Said = (Heard, Option<OwnedSemaphorePermit>);

/// How many messages of clients may wait to be heard.
const MOST_WAITING: usize = 64;
/// Bytes for which a message takes the place of one more.
const PLACE: usize = 1024 * 1024;

/// What those are told whose session is over, unless it said something better.
const OVER: &str = "the server has ended";

/// What a client is told that left while its requests were open.
const LEFT: &str = "the session has ended";

impl Seat {
    /// A seat, and who sits there: clients of one person.
    pub fn new(whose: Whose, person: Arc<Person>) -> (Self, Arc<Party>) {
        let (to_session, said) = unbounded_channel();
        let party = Arc::new(Party {
            streams: Mutex::new(Streams::new(whose, person.clone())),
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
        let seat = Self {
            party: party.clone(),
            said,
            has_left: false,
            names: HashMap::new(),
        };
        (seat, party)
    }

    /// What comes next, if somebody `hears`. What a client said before it left comes first, and that it left comes
    /// whoever hears. Nothing is lost when waiting is given up.
    pub async fn next(&mut self, hears: bool) -> Heard {
        loop {
            let leaves = self.party.left.is_cancelled() && !self.has_left;
            tokio::select! {
                biased;
                () = self.party.closed.cancelled() => return Heard::Gone,
                said = self.said.recv(), if hears || leaves => {
                    let heard = said.map_or(Heard::Gone, |(heard, _)| heard);
                    self.has_left |= matches!(heard, Heard::Left);
                    return heard;
                }
                () = self.party.left.cancelled(), if !leaves && !self.has_left => {}
            }
        }
    }

    /// Lets nobody in but guests from now on.
    pub fn leave(&self) {
        self.party.leave();
    }

    /// True while something waits to be heard.
    pub fn is_heard(&self) -> bool {
        !self.said.is_empty()
    }

    /// The session goes on without its client.
    pub fn stays(&self) {
        self.party.person.keeps(&self.party);
    }

    /// What earlier sessions of this person learned of the server's tools.
    pub fn learned(&self) -> Option<Tools> {
        locked(&self.party.person.learned).clone()
    }

    /// More is known of the server's tools.
    pub fn learns(&self, tools: Tools) {
        *locked(&self.party.person.learned) = Some(tools);
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
        let mut streams = self.party.streams();
        streams.send(frame, during);
        let given_up = streams.let_slow_go();
        let has_failed = streams.has_failed();
        drop(streams);
        self.party.give_up(given_up);
        if has_failed {
            self.party.leave();
        }
    }

    /// A client was given something to come back by. Whoever does so is led here.
    pub fn named(&mut self, given: GivenName) {
        self.party.person.named(&self.party, &given);
        let before = self.names.insert(given.name, given.is_owed);
        self.counts(before, Some(given.is_owed));
    }

    /// A name leads nowhere any more.
    pub fn unnamed(&mut self, name: Name) {
        let before = self.names.remove(&name);
        self.party.person.unnamed(name);
        self.counts(before, None);
    }

    /// Counts the names for what is owed, of which one was owed before or is now.
    fn counts(&self, before: Option<bool>, now: Option<bool>) {
        let (before, now) = (before == Some(true), now == Some(true));
        let names = &self.party.names;
        names.owed.fetch_add(now.into(), Ordering::Relaxed);
        names.owed.fetch_sub(before.into(), Ordering::Relaxed);
        names.all.store(self.names.len(), Ordering::Relaxed);
    }

    /// True if several clients may sit here.
    pub fn is_shared(&self) -> bool {
        self.party.streams().is_shared()
    }

    /// Whether the clients have enough to read.
    pub fn is_full(&self) -> bool {
        self.party.streams().is_full()
    }

    /// Waits until they have read some of it.
    pub fn taken(&self) -> impl Future<Output = ()> + use<> {
        let party = self.party.clone();
        async move { party.taken.notified().await }
    }

    /// Ends it, and tells whoever waits why.
    pub fn end(self, why: &str) {
        self.party.streams().close_all(why);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.party.over.cancel();
        for name in self.names.keys() {
            self.party.person.unnamed(*name);
        }
        self.party.streams().close_all(OVER);
    }
}

impl Party {
    /// Says something that wants answers, and reads them.
    pub async fn call(
        self: &Arc<Self>,
        frame: &Frame,
        wants: impl Fn(&str) -> Wants,
    ) -> Result<Reading, OpenError> {
        self.say(frame, wants, Heard::Client).await
    }

    /// Calls one of the added tools from another session, with what was given out here.
    pub async fn call_as_guest(
        self: &Arc<Self>,
        frame: &Frame,
        is_modern: bool,
    ) -> Result<Reading, OpenError> {
        let wants = |_: &str| Wants {
            is_guest: true,
            is_modern,
            ..Wants::default()
        };
        self.say(frame, wants, Heard::Guest).await
    }

    async fn say(
        self: &Arc<Self>,
        frame: &Frame,
        wants: impl Fn(&str) -> Wants,
        heard: fn(Frame) -> Heard,
    ) -> Result<Reading, OpenError> {
        let room = self.room_for(frame).await;
        let mut streams = self.streams();
        let (nth, told) = streams.open(frame, wants)?;
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
        wants: impl Fn(&str) -> Wants,
    ) -> Result<Reading, OpenError> {
        let mut guest = host.call_as_guest(frame, false).await?;
        let taken_back = CancellationToken::new();
        let mut streams = self.streams();
        let (nth, _) = streams.open(frame, wants)?;
        streams.is_elsewhere(nth, taken_back.clone().drop_guard());
        let reader = streams.enter(nth).unwrap_or_default();
        drop(streams);
        let party = self.clone();
        tokio::spawn(taken_back.run_until_cancelled_owned(async move {
            while let Some(event) = guest.next().await {
                party.streams().send(&Frame::new(event.data), None);
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
            let _ = self.said.send((Heard::Client(frame), room));
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
            party: self.clone(),
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
            let _ = self.said.send((Heard::Left, None));
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

    fn touch(&self) {
        *locked(&self.used) = Instant::now();
    }

    /// Tells the session that some requests need no answer any more.
    fn give_up(&self, requests: Vec<Id>) {
        for id in requests {
            let cancelled = Frame::cancelled(&id);
            let _ = self.said.send((Heard::Client(cancelled), None));
        }
    }
}

impl Reading {
    /// What is next; none if nothing more comes. Nothing is lost when waiting is given up.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let woken = {
                let mut streams = self.party.streams();
                match streams.next(self.nth, self.reader) {
                    Next::Event(event) => {
                        drop(streams);
                        self.party.taken.notify_one();
                        return Some(event);
                    }
                    Next::End => return None,
                    // Made while they are locked, it misses nothing.
                    Next::Wait => streams.get(self.nth)?.wake().notified_owned(),
                }
            };
            woken.await;
        }
    }

    /// The client has all it wanted.
    pub fn done(self) {
        self.party.streams().forget(self.nth);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let given_up = self.party.streams().leave(self.nth, self.reader);
        self.party.give_up(given_up);
        self.party.touch();
        self.party.taken.notify_one();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
