//! One stream of events to a client: the response to a POST, or to a GET.
//!
//! Events are numbered, and those of a client that may come back stay for a while after they
//! were read, within bounds. Whoever reads is told apart from who read before: a client that
//! comes back is the reader from then on.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Notify;

/// A message on its way.
#[derive(Clone, PartialEq)]
pub struct Event {
    /// How many came before it, and it.
    pub nth: u64,
    pub data: Bytes,
    /// Whether it is the answer that the stream was opened for.
    pub is_answer: bool,
}

/// What there is to read.
#[derive(PartialEq)]
pub enum Next {
    Event(Event),
    /// Nothing yet.
    Wait,
    /// Nothing any more, or not for this reader.
    End,
}

pub struct Stream {
    events: VecDeque<Event>,
    /// Events that were ever put in.
    count: u64,
    /// Events that the reader has.
    read: u64,
    unread_bytes: usize,
    bytes: usize,
    /// Who reads; none while the client is away.
    reader: Option<u64>,
    readers: u64,
    is_over: bool,
    /// Whether what was read is kept for a client that comes back.
    keeps: bool,
    wake: Arc<Notify>,
}

/// How many events and bytes of them are kept for a client that comes back.
const MOST_EVENTS: usize = 512;
const MOST_BYTES: usize = 1024 * 1024;

impl Stream {
    pub fn new(keeps: bool) -> Self {
        Self {
            events: VecDeque::new(),
            count: 0,
            read: 0,
            unread_bytes: 0,
            bytes: 0,
            reader: None,
            readers: 0,
            is_over: false,
            keeps,
            wake: Arc::default(),
        }
    }

    /// What a reader waits for.
    pub fn wake(&self) -> Arc<Notify> {
        self.wake.clone()
    }

    /// Somebody reads from now on, and nobody else: who they are.
    pub fn enter(&mut self) -> u64 {
        self.wake.notify_waiters(); // Whoever read before has to see that they do not.
        self.readers += 1;
        self.reader = Some(self.readers);
        self.readers
    }

    /// Somebody reads on after an event; none if what came next is not kept any more.
    pub fn enter_after(&mut self, nth: u64) -> Option<u64> {
        let first = self
            .events
            .front()
            .map_or(self.count + 1, |event| event.nth);
        if nth > self.count || nth + 1 < first {
            return None;
        }
        self.read = nth;
        let unread = self.events.iter().filter(|event| event.nth > nth);
        self.unread_bytes = unread.map(|event| event.data.len()).sum();
        Some(self.enter())
    }

    /// A reader goes; `true` if nobody reads then.
    pub fn leave(&mut self, reader: u64) -> bool {
        let was_reader = self.reader == Some(reader);
        if was_reader {
            self.reader = None;
        }
        was_reader
    }

    /// Whether what was read is kept for a client that comes back.
    pub fn keeps(&self) -> bool {
        self.keeps
    }

    pub fn is_read(&self) -> bool {
        self.reader.is_some()
    }

    /// How much its reader has not taken. A client that is away takes nothing, and nobody waits
    /// for that.
    pub fn backlog(&self) -> usize {
        self.reader.map_or(0, |_| self.unread_bytes)
    }

    /// How much of it is kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn push(&mut self, data: Bytes, is_answer: bool) {
        self.count += 1;
        self.bytes += data.len();
        self.unread_bytes += data.len();
        self.events.push_back(Event {
            nth: self.count,
            data,
            is_answer,
        });
        while self.events.len() > 1
            && (self.events.len() > MOST_EVENTS || self.bytes > MOST_BYTES)
            && (!self.is_read() || self.events[0].nth <= self.read)
        {
            self.drop_first();
        }
        self.wake.notify_waiters();
    }

    fn drop_first(&mut self) {
        let Some(event) = self.events.pop_front() else {
            return;
        };
        self.bytes -= event.data.len();
        if event.nth > self.read {
            self.unread_bytes -= event.data.len();
        }
    }

    /// Nothing comes after what there is.
    pub fn end(&mut self) {
        self.is_over = true;
        self.wake.notify_waiters();
    }

    /// What is next for a reader.
    pub fn next(&mut self, reader: u64) -> Next {
        if self.reader != Some(reader) {
            return Next::End;
        }
        let first = self
            .events
            .front()
            .map_or(self.count + 1, |event| event.nth);
        // What nobody read in time is lost; whoever is here now has seen that when they came.
        let at = (self.read + 1).max(first) - first;
        let Some(event) = self.events.get(at as usize).cloned() else {
            return if self.is_over { Next::End } else { Next::Wait };
        };
        self.read = event.nth;
        self.unread_bytes -= event.data.len();
        if !self.keeps {
            self.drop_first();
        }
        Next::Event(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(events: usize) -> Stream {
        let mut stream = Stream::new(true);
        for n in 1..=events {
            stream.push(n.to_string().into(), false);
        }
        stream
    }

    fn rest(stream: &mut Stream, reader: u64) -> Vec<u64> {
        let mut rest = Vec::new();
        while let Next::Event(event) = stream.next(reader) {
            assert_eq!(event.data, event.nth.to_string());
            rest.push(event.nth);
        }
        rest
    }

    #[test]
    fn a_client_that_comes_back_misses_nothing_and_hears_nothing_twice() {
        for cut in 0..=5 {
            let mut stream = stream(5);
            let reader = stream.enter();
            for _ in 0..cut {
                stream.next(reader);
            }
            stream.leave(reader);
            stream.push("6".into(), true);
            stream.end();
            let again = stream.enter_after(cut).unwrap();
            let all: Vec<u64> = (cut + 1..=6).collect();
            assert_eq!(rest(&mut stream, again), all);
            assert!(stream.next(again) == Next::End);
            assert_eq!(stream.backlog(), 0);
        }
    }

    #[test]
    fn it_need_not_have_seen_what_was_sent() {
        let mut stream = stream(5);
        let reader = stream.enter();
        assert_eq!(rest(&mut stream, reader), [1, 2, 3, 4, 5]);
        let again = stream.enter_after(2).unwrap();
        assert!(stream.next(reader) == Next::End);
        assert_eq!(rest(&mut stream, again), [3, 4, 5]);
        assert!(!stream.leave(reader) && stream.leave(again));
    }

    #[test]
    fn what_was_never_sent_or_is_not_kept_cannot_be_gone_on_from() {
        let mut few = stream(5);
        assert_eq!(few.enter_after(6), None);
        assert_eq!(few.enter_after(u64::MAX), None);
        let mut many = stream(MOST_EVENTS + 10);
        assert_eq!(many.enter_after(9), None);
        let reader = many.enter_after(10).unwrap();
        assert_eq!(rest(&mut many, reader).len(), MOST_EVENTS);
    }

    #[test]
    fn a_reader_who_is_slow_loses_nothing() {
        let mut stream = Stream::new(true);
        let reader = stream.enter();
        for n in 1..=MOST_EVENTS + 10 {
            stream.push(n.to_string().into(), false);
        }
        assert!(stream.backlog() > MOST_EVENTS);
        assert_eq!(rest(&mut stream, reader).len(), MOST_EVENTS + 10);
        assert_eq!(stream.backlog(), 0);
    }

    #[test]
    fn nothing_is_kept_for_those_who_cannot_come_back() {
        let mut stream = Stream::new(false);
        let reader = stream.enter();
        stream.push("1".into(), true);
        assert!(matches!(stream.next(reader), Next::Event(_)));
        assert_eq!(stream.bytes(), 0);
        assert!(stream.next(reader) == Next::Wait);
    }
}
