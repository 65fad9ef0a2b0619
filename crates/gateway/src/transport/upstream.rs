//! A server, whatever carries what it says.

use std::ffi::OsString;

use super::child::StartError;
use super::process::Process;
use crate::frame::Frame;

/// Where a server is.
#[derive(Clone)]
pub enum Place {
    /// It is started here.
    Command(Vec<OsString>),
}

/// A server that was started, or is about to be called.
pub enum Upstream {
    Process(Process),
}

/// What a server says.
pub enum Said {
    /// A message.
    Frame(Frame),
    /// Nothing any more, and this is how it went.
    Gone(String),
}

impl Place {
    /// Starts the server, or gets ready to call it. No message may be longer than `most`.
    pub fn open(&self, most: usize) -> Result<Upstream, StartError> {
        match self {
            Self::Command(command) => Process::start(command, most).map(Upstream::Process),
        }
    }
}

impl Upstream {
    /// Sends a message: the client's, or one of our own. It never waits.
    pub fn send(&mut self, frame: Frame, is_own: bool) {
        match self {
            Self::Process(process) => process.send(frame, is_own),
        }
    }

    /// Whether it has enough to take: then the client is not heard.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Process(process) => process.is_full(),
        }
    }

    /// Whether it causes more of our answers than it takes: then it is not heard itself.
    pub fn is_flooded(&self) -> bool {
        match self {
            Self::Process(process) => process.is_flooded(),
        }
    }

    /// It gets nothing more: it may end once it has answered what it has. Called again until it
    /// is gone.
    pub async fn finish(&mut self) {
        match self {
            Self::Process(process) => process.finish().await,
        }
    }

    /// What it says next, if somebody `hears`; what was sent gets out either way. Nothing is lost
    /// when waiting is given up.
    pub async fn next(&mut self, hears: bool) -> Said {
        match self {
            Self::Process(process) => process.next(hears).await,
        }
    }

    /// Ends it.
    pub async fn close(self) {
        match self {
            Self::Process(process) => process.close().await,
        }
    }
}
