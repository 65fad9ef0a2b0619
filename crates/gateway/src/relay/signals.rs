//! The signals by which people and clients end `midcall wrap`.

use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind};

/// The signals that are passed on to a server.
pub struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
    last: Option<Signal>,
}

impl Signals {
    /// Listens to signals from now on. They don't end this process any more.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            hang_up: unix::signal(SignalKind::hangup())?,
            last: None,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Signal {
        let signal = tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.hang_up.recv() => Signal::HUP,
        };
        *self.last.insert(signal)
    }

    /// The last signal that came.
    pub fn last(&self) -> Option<Signal> {
        self.last
    }
}
