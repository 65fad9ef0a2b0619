//! Where a session meets its HTTP clients.
//!
//! The session's task holds the [`Seat`]; the handlers of requests hold the [`Party`] that sits
//! there: one client with a session of its own, or several that know nothing of each other.
//! What a client says goes into the seat in order; what the session says goes onto the streams
//! of the party, where each [`Reading`] waits for it.

use std::collections::HashSet;
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
use crate::call::{GivenName, Name};
use crate::frame::{Frame, Id};

/// What the session's task holds. Dropping it ends the party: whoever waits is told.
pub struct Seat {
    party: Arc<Party>,
    said: UnboundedReceiver<Said>,
    /// What was given out here to come back by.
    names: HashSet<Name>,
}

/// The clients of one seat.
pub struct Party {
    streams: Mutex<Streams>,
    said: UnboundedSender<Said>,
    /// Messages that may wait to be heard.
    room: Arc<Semaphore>,
    /// Somebody took what waited for them.
    taken: Notify,
    /// The clients are gone: they said so, or were not heard of for long.
    leaving: CancellationToken,
    /// The session is over.
    over: CancellationToken,
    used: Mutex<Instant>,
    person: Arc<Person>,
}

/// Somebody reads a stream until this is dropped.
pub struct Reading {
    party: Arc<Party>,
    pub nth: Nth,
    reader: u64,
}

/// A message, and the room it takes.
type Said = (Frame, Option<OwnedSemaphorePermit>);

/// How many messages of clients may wait to be heard.
const MOST_WAITING: usize = 64;
/// Bytes for which a message takes the place of one more.
const PLACE: usize = 1024 * 1024;

/// What those are told whose session is over, unless it said something better.
const OVER: &str = "the server has ended";

impl Seat {
    /// A seat, and who sits there: clients of one person.
    pub fn new(whose: Whose, person: Arc<Person>) -> (Self, Arc<Party>) {
        let (to_session, said) = unbounded_channel();
        let party = Arc::new(Party {
            streams: Mutex::new(Streams::new(whose, person.clone())),
            said: to_session,
            room: Arc::new(Semaphore::new(MOST_WAITING)),
            taken: Notify::new(),
            leaving: CancellationToken::new(),
            over: CancellationToken::new(),
            used: Mutex::new(Instant::now()),
            person,
        });
        let seat = Self {
            party: party.clone(),
            said,
            names: HashSet::new(),
        };
        (seat, party)
    }

    /// What a client says next, if somebody `hears`; none once they are gone. Nothing is lost
    /// when waiting is given up.
    pub async fn next(&mut self, hears: bool) -> Option<Frame> {
        tokio::select! {
            biased;
            () = self.party.leaving.cancelled() => None,
            said = self.said.recv(), if hears => said.map(|(frame, _)| frame),
        }
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
        self.names.insert(given.name);
    }

    /// A name leads nowhere any more.
    pub fn unnamed(&mut self, name: Name) {
        self.names.remove(&name);
        self.party.person.unnamed(name);
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
        for name in &self.names {
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
        let room = self.room_for(frame).await;
        let mut streams = self.streams();
        let (nth, told) = streams.open(frame, wants)?;
        let reader = streams.enter(nth).unwrap_or_default();
        // While they are locked: what is said first is heard first.
        let _ = self.said.send((told, room));
        drop(streams);
        self.touch();
        Ok(Reading {
            party: self.clone(),
            nth,
            reader,
        })
    }

    /// Waits until there is room for a message to wait in: the longer it is, the more it takes.
    async fn room_for(&self, frame: &Frame) -> Option<OwnedSemaphorePermit> {
        let places = (1 + frame.len() / PLACE).min(MOST_WAITING) as u32;
        self.room.clone().acquire_many_owned(places).await.ok()
    }

    /// Says something that wants no answer.
    pub async fn tell(&self, frame: Frame, what: &Tells) {
        let room = self.room_for(&frame).await;
        match what {
            Tells::Answer(id) => self.streams().answered(id),
            Tells::Cancel(id) => self.streams().cancelled(id),
            Tells::News => {}
        }
        let _ = self.said.send((frame, room));
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

    /// The clients go.
    pub fn leave(&self) {
        self.leaving.cancel();
    }

    /// Whether the session is over, or will be.
    pub fn is_over(&self) -> bool {
        self.over.is_cancelled() || self.leaving.is_cancelled()
    }

    /// Tells whoever waits why nothing more comes.
    pub fn close(&self, why: &str) {
        self.streams().close_all(why);
    }

    /// Since when nobody used it; none while somebody does.
    pub fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.streams().is_idle();
        is_idle.then(|| *locked(&self.used))
    }

    /// Whether somebody was told to come back.
    pub fn expects(&self) -> bool {
        self.streams().expects()
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
            let _ = self.said.send((Frame::cancelled(&id), None));
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
