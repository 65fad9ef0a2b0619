//! A server as one end of a session: a process of ours, or a server reached by HTTP.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use midcall_core::Asker;
use rustix::process::Signal;

use super::child::StartError;
use super::process::Process;
use super::remote::{Remote, Target};
use crate::awake::{Patience, late};
use crate::frame::{Frame, Id};
use crate::times::HANG_UP;

/// Where a server is.
#[derive(Clone)]
pub enum ServerAddress {
    /// Midcall starts it with this command.
    Command(Vec<OsString>),
    /// Midcall reaches it by HTTP.
    Url(Target),
}

/// A server that was started, or is about to be called.
pub enum ServerEnd {
    Process(Process),
    /// Once the client is gone, how long the server may take to answer what it was asked.
    Remote(Remote, Option<Patience>),
}

/// What comes from one end of a session.
pub enum Received {
    /// A message.
    Frame(Frame),
    /// A message that a server sent while it answered this request.
    During(Id, Frame),
    /// A message to the server may not have got through: a request or an answer of this id.
    Unreached(Id),
    /// A message that may never end.
    Endless,
    /// No message, but the end changed: it may be full no longer, for example.
    Nothing,
    /// Nothing more will come.
    Gone,
}

impl ServerAddress {
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

    /// Starts the server, or gets ready to call it. No message may be longer than `most` bytes.
    pub fn open(&self, most: usize) -> Result<ServerEnd, StartError> {
        match self {
            Self::Command(command) => Process::start(command, most).map(ServerEnd::Process),
            Self::Url(target) => Ok(ServerEnd::Remote(Remote::open(target.clone(), most), None)),
        }
    }
}

impl ServerEnd {
    /// Sends a message, or adds it to the outbox until [`ServerEnd::hurry`]. `is_own` marks a message that the server
    /// caused Midcall to write. It never waits.
    pub fn send(&mut self, frame: Frame, is_own: bool) {
        match self {
            Self::Process(process) => process.send(frame, is_own),
            Self::Remote(remote, _) => remote.send(frame),
        }
    }

    /// Writes what the server takes at once.
    pub fn hurry(&mut self) {
        if let Self::Process(process) = self {
            process.hurry();
        }
    }

    /// True while enough messages wait for the server. The client isn't read then.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Process(process) => process.is_full(),
            Self::Remote(remote, _) => remote.is_full(),
        }
    }

    /// True while the server causes more of Midcall's own messages than it takes. It isn't read then.
    pub fn is_flooded(&self) -> bool {
        match self {
            Self::Process(process) => process.is_flooded(),
            Self::Remote(remote, _) => remote.is_flooded(),
        }
    }

    /// The client is gone: the server may still answer what it was asked, but not forever. If `closes` is true, it gets
    /// nothing after what was sent. Call this again until the server is gone.
    pub fn finish(&mut self, closes: bool) {
        match self {
            Self::Process(process) => process.finish(closes),
            Self::Remote(remote, patience) => {
                patience.get_or_insert_with(|| Patience::new(HANG_UP.get()));
                if closes {
                    remote.finish();
                }
            }
        }
    }

    /// Passes a signal on to the server's process. A remote server is left at once.
    pub fn signal(&mut self, signal: Signal) {
        match self {
            Self::Process(process) => process.signal(signal),
            Self::Remote(_, patience) => *patience = Some(Patience::new(Duration::ZERO)),
        }
    }

    /// Waits for the next message, which is read only if `hears` is true. What was sent gets out either way. Nothing is
    /// lost if the caller stops waiting.
    pub async fn next(&mut self, hears: bool) -> Received {
        match self {
            Self::Process(process) => process.next(hears).await,
            Self::Remote(remote, patience) => tokio::select! {
                received = remote.next(hears) => received,
                () = late(patience.as_mut()) => Received::Gone,
            },
        }
    }

    /// How the server ended, for people.
    pub fn how(&self) -> String {
        match self {
            Self::Process(process) => process.how(),
            Self::Remote(..) => "was let go".to_owned(),
        }
    }

    /// Ends the server. A process has an exit status.
    pub async fn close(&mut self) -> Option<ExitStatus> {
        match self {
            Self::Process(process) => process.close().await,
            Self::Remote(remote, _) => {
                remote.close().await;
                None
            }
        }
    }
}
