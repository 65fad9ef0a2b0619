//! The server's ends of a session: the server as it was started, and the same server in the other era if it was needed.

use std::future::pending;
use std::process::ExitStatus;

use rustix::process::Signal;
use tokio::task::JoinSet;

use crate::frame::Frame;
use crate::session::ServerId;
use crate::transport::child::StartError;
use crate::transport::server::{Received, ServerAddress, ServerEnd};

/// Both ends, and how they are opened.
pub struct Servers {
    ends: [Option<ServerEnd>; 2],
    address: ServerAddress,
    /// The longest message that is taken, in bytes.
    most: usize,
    /// An end that could not be opened, until the relay has heard of it.
    not_started: Option<ServerId>,
    /// Ends that are not needed any more, while their processes exit.
    closing: JoinSet<()>,
}

impl Servers {
    /// Opens the first end. No message may be longer than `most` bytes.
    pub fn open(address: ServerAddress, most: usize) -> Result<Self, StartError> {
        Ok(Self {
            ends: [Some(address.open(most)?), None],
            address,
            most,
            not_started: None,
            closing: JoinSet::new(),
        })
    }

    /// Opens an end that isn't there, or opens it again. If that fails, the end counts as gone.
    pub fn start(&mut self, id: ServerId) -> bool {
        match self.address.open(self.most) {
            Ok(end) => {
                self.remove(id);
                self.ends[id as usize] = Some(end);
                true
            }
            Err(error) => {
                tracing::error!("the server cannot be started a second time: {error:#}");
                self.not_started = Some(id);
                false
            }
        }
    }

    /// Closes one end in the background.
    pub fn remove(&mut self, id: ServerId) {
        if let Some(mut end) = self.ends[id as usize].take() {
            self.closing.spawn(async move {
                end.close().await;
            });
        }
    }

    /// Closes both in the background.
    pub fn remove_all(&mut self) {
        self.remove(ServerId::First);
        self.remove(ServerId::Second);
    }

    /// Sends a message, as [`ServerEnd::send`] does.
    pub fn send(&mut self, id: ServerId, frame: Frame, is_own: bool) {
        if let Some(end) = &mut self.ends[id as usize] {
            end.send(frame, is_own);
        }
    }

    /// Writes what the servers take at once.
    pub fn hurry(&mut self) {
        self.ends.iter_mut().flatten().for_each(ServerEnd::hurry);
    }

    /// True while enough messages wait for one of the servers. The client isn't read then.
    pub fn is_full(&self) -> bool {
        self.ends.iter().flatten().any(ServerEnd::is_full)
    }

    /// The client is gone: see [`ServerEnd::finish`].
    pub fn finish(&mut self, closes: bool) {
        if let [Some(first), _] = &mut self.ends {
            first.finish(closes);
        }
    }

    /// Passes a signal on to both.
    pub fn signal(&mut self, signal: Signal) {
        for end in self.ends.iter_mut().flatten() {
            end.signal(signal);
        }
    }

    /// Waits for the next message of either. They are read only if `hears` is true. Nothing is lost if the caller stops
    /// waiting.
    pub async fn next(&mut self, hears: bool) -> (ServerId, Received) {
        if let Some(id) = self.not_started.take() {
            return (id, Received::Gone);
        }
        let [first, second] = &mut self.ends;
        tokio::select! {
            received = next(first, hears) => (ServerId::First, received),
            received = next(second, hears) => (ServerId::Second, received),
        }
    }

    /// How the first one ended, for people.
    pub fn how(&self) -> String {
        self.ends[0]
            .as_ref()
            .map(ServerEnd::how)
            .unwrap_or_default()
    }

    /// Ends both servers and returns the exit status of the first, if it is a process.
    pub async fn close(&mut self) -> Option<ExitStatus> {
        let [first, second] = &mut self.ends;
        let (exit, _) = tokio::join!(close(first), close(second));
        while self.closing.join_next().await.is_some() {}
        exit
    }

    /// Leaves [`Servers::close`] nothing to wait for.
    pub fn kill(&mut self) {
        self.closing.abort_all();
        for end in &mut self.ends {
            match end {
                Some(ServerEnd::Process(process)) => process.signal(Signal::KILL),
                _ => *end = None,
            }
        }
    }
}

async fn next(end: &mut Option<ServerEnd>, hears: bool) -> Received {
    match end {
        Some(end) => end.next(hears && !end.is_flooded()).await,
        None => pending().await,
    }
}

async fn close(end: &mut Option<ServerEnd>) -> Option<ExitStatus> {
    match end {
        Some(end) => end.close().await,
        None => None,
    }
}
