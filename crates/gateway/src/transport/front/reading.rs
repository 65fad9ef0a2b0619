//! What the response to a POST or a GET reads from a stream.

use std::sync::Arc;

use super::inbox::Clients;
use super::open_request::Nth;
use super::stream::{Event, Next};

/// Somebody reads a stream until this is dropped.
pub struct Reading {
    pub clients: Arc<Clients>,
    pub nth: Nth,
    pub reader: u64,
}

impl Reading {
    /// What is next; none if nothing more comes. Nothing is lost when waiting is given up.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let woken = {
                let mut streams = self.clients.streams();
                match streams.next(self.nth, self.reader) {
                    Next::Event(event) => {
                        drop(streams);
                        self.clients.taken.notify_one();
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
        self.clients.streams().forget(self.nth);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let given_up = self.clients.streams().leave(self.nth, self.reader);
        self.clients.give_up(given_up);
        self.clients.touch();
        self.clients.taken.notify_one();
    }
}
