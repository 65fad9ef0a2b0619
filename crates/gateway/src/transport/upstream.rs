//! A server, whatever carries what it says.

use std::ffi::OsString;
use std::path::Path;

use super::child::StartError;
use super::process::Process;
use super::remote::{Remote, Target};
use midcall_core::Asker;

use crate::frame::Frame;

/// Where a server is.
#[derive(Clone)]
pub enum Place {
    /// It is started here.
    Command(Vec<OsString>),
    /// It is reached by HTTP.
    Url(Target),
}

/// A server that was started, or is about to be called.
pub enum Upstream {
    Process(Process),
    Remote(Remote),
}

/// What a server says.
pub enum Said {
    /// A message.
    Frame(Frame),
    /// Nothing, but it took what it was slow to take.
    Taken,
    /// Nothing any more, and this is how it went.
    Gone(String),
}

impl Place {
    /// What the server is called until it says so itself: its program without the folder, or its
    /// host.
    pub fn name(&self) -> String {
        match self {
            Self::Command(command) => {
                let program = command.first().map(Path::new).and_then(Path::file_name);
                program.unwrap_or_default().to_string_lossy().into_owned()
            }
            Self::Url(target) => target.host(),
        }
    }

    /// Who asks, under a name until the server gives its own.
    pub fn asker(&self, name: String) -> Asker {
        let host = match self {
            Self::Command(_) => None,
            Self::Url(target) => Some(target.host()),
        };
        Asker {
            host,
            ..Asker::named(name)
        }
    }

    /// Says what people should know who go there.
    pub fn caution(&self) {
        if let Self::Url(target) = self
            && target.is_open_to_others()
        {
            tracing::warn!("what is sent to {} is not encrypted", target.host());
        }
    }

    /// Starts the server, or gets ready to call it. No message may be longer than `most`.
    pub fn open(&self, most: usize) -> Result<Upstream, StartError> {
        match self {
            Self::Command(command) => Process::start(command, most).map(Upstream::Process),
            Self::Url(target) => Ok(Upstream::Remote(Remote::open(target.clone(), most))),
        }
    }
}

impl Upstream {
    /// Sends a message: the client's, or one of our own. It never waits.
    pub fn send(&mut self, frame: Frame, is_own: bool) {
        match self {
            Self::Process(process) => process.send(frame, is_own),
            Self::Remote(remote) => remote.send(frame),
        }
    }

    /// Whether it has enough to take: then the client is not heard.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Process(process) => process.is_full(),
            Self::Remote(remote) => remote.is_full(),
        }
    }

    /// Whether it causes more of our answers than it takes: then it is not heard itself.
    pub fn is_flooded(&self) -> bool {
        match self {
            Self::Process(process) => process.is_flooded(),
            Self::Remote(remote) => remote.is_flooded(),
        }
    }

    /// It gets nothing more: it may end once it has answered what it has. Called again until it
    /// is gone.
    pub async fn finish(&mut self) {
        match self {
            Self::Process(process) => process.finish().await,
            Self::Remote(remote) => remote.finish(),
        }
    }

    /// What it says next, if somebody `hears`; what was sent gets out either way. Nothing is lost
    /// when waiting is given up.
    pub async fn next(&mut self, hears: bool) -> Said {
        match self {
            Self::Process(process) => process.next(hears).await,
            Self::Remote(remote) => remote.next(hears).await,
        }
    }

    /// Ends it.
    pub async fn close(self) {
        match self {
            Self::Process(process) => process.close().await,
            Self::Remote(remote) => remote.close().await,
        }
    }
}
