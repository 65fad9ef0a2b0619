//! How a prompt hears from outside.

use std::time::Instant;

use midcall_core::Link;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::outcome::Closing;

/// Tells a prompt what becomes of its ticket. Made with the [`News`] that the prompt reads. Whatever is said before the
/// prompt is there isn't lost, and saying something to a prompt that is gone does nothing.
#[derive(Clone, Debug)]
pub struct Remote(UnboundedSender<Told>);

/// What a [`Remote`] says, for one question: first to [`ask`](crate::ask), then to [`opened`](crate::opened).
#[derive(Debug)]
pub struct News(pub(crate) UnboundedReceiver<Told>);

/// One piece of news.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Closed(Closing),
    Deadline(Option<Instant>),
    Link(Link),
}

impl Remote {
    /// A remote and the news that it sends.
    pub fn new() -> (Self, News) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), News(receiver))
    }

    /// Closes the question. The person is told why, and can't answer it anymore.
    pub fn close(&self, why: Closing) {
        let _ = self.0.send(Told::Closed(why)); // it has ended
    }

    /// Sets when the question closes by itself; never, if there is no deadline.
    pub fn deadline(&self, deadline: Option<Instant>) {
        let _ = self.0.send(Told::Deadline(deadline));
    }

    /// Gives an opened link its newest address, for "Open again". An address of another site is ignored: the person
    /// agreed to that site.
    pub fn renew(&self, link: Link) {
        let _ = self.0.send(Told::Link(link));
    }
}
