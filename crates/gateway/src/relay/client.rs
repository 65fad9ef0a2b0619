//! The client's end of a session.

use crate::frame::{Frame, Id};
use crate::session::{GivenName, Input, Name, Tools};
use crate::transport::Pipes;
use crate::transport::front::{ClientEvent, Inbox};
use crate::transport::server::Received;

/// A client on two pipes, or clients that come over HTTP.
#[expect(clippy::large_enum_variant, reason = "there is one per session")]
pub enum ClientEnd {
    Pipes(Pipes),
    Inbox(Inbox),
}

/// What comes from the client's end.
pub enum FromClient {
    /// Something for the session.
    Input(Input),
    /// A message that may never end.
    Endless,
    /// No message, but the end changed: it may be full no longer, for example.
    Nothing,
    /// Nobody can come any more.
    Gone,
}

impl ClientEnd {
    /// Sends a message, or adds it to the outbox until [`ClientEnd::hurry`]. `during`: the request of the client that it
    /// belongs to, if that is known. `is_own` marks a message that is not the server's. It never waits.
    pub fn send(&mut self, frame: Frame, during: Option<&Id>, is_own: bool) {
        match self {
            Self::Pipes(pipes) => pipes.send(frame, is_own),
            Self::Inbox(inbox) => match during {
                Some(request) => inbox.send_in(&frame, request),
                None => inbox.send(&frame),
            },
        }
    }

    /// The client was given something to come back by. On pipes there is only one way.
    pub fn named(&mut self, given: GivenName) {
        if let Self::Inbox(inbox) = self {
            inbox.named(given);
        }
    }

    /// A name leads nowhere any more.
    pub fn unnamed(&mut self, name: Name) {
        if let Self::Inbox(inbox) = self {
            inbox.unnamed(name);
        }
    }

    /// More is known of the server's tools. On pipes there is no other session to tell.
    pub fn learns(&mut self, tools: Tools) {
        if let Self::Inbox(inbox) = self {
            inbox.learns(tools);
        }
    }

    /// The session goes on without the client, for those who come back by a name.
    pub fn stays(&self) {
        if let Self::Inbox(inbox) = self {
            inbox.stays();
        }
    }

    /// Lets nobody in but those who come back by a name, and says whether such can come.
    pub fn leave(&self) -> bool {
        match self {
            Self::Pipes(_) => false,
            Self::Inbox(inbox) => {
                inbox.leave();
                true
            }
        }
    }

    /// True while something is still to be heard from those who came back by a name.
    pub fn is_heard(&self) -> bool {
        matches!(self, Self::Inbox(inbox) if inbox.is_heard())
    }

    /// Writes what the client takes at once.
    pub fn hurry(&mut self) {
        if let Self::Pipes(pipes) = self {
            pipes.hurry();
        }
    }

    /// True while enough messages wait for the client. The servers aren't read then.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Pipes(pipes) => pipes.is_full(),
            Self::Inbox(inbox) => inbox.is_full(),
        }
    }

    /// True while the client causes more of Midcall's own messages than it takes. It isn't read then.
    pub fn is_flooded(&self) -> bool {
        match self {
            Self::Pipes(pipes) => pipes.is_flooded(),
            Self::Inbox(_) => false, // It disconnects clients that don't read.
        }
    }

    /// Waits for the next message, which is read only if `hears` is true. What was sent gets out either way. Nothing is
    /// lost if the caller stops waiting. A second `Gone` means that the client can't be told anything either.
    pub async fn next(&mut self, hears: bool) -> FromClient {
        match self {
            Self::Pipes(pipes) => match pipes.next(hears).await {
                Received::Frame(frame) | Received::During(_, frame) => {
                    FromClient::Input(Input::Client(frame))
                }
                Received::Endless => FromClient::Endless,
                Received::Nothing | Received::Unreached(_) => FromClient::Nothing,
                Received::Gone => FromClient::Gone,
            },
            Self::Inbox(inbox) => {
                let (is_full, taken) = (inbox.is_full(), inbox.taken());
                let heard = tokio::select! {
                    heard = inbox.next(hears) => heard,
                    () = taken, if is_full => return FromClient::Nothing,
                };
                match heard {
                    ClientEvent::Client(frame) => FromClient::Input(Input::Client(frame)),
                    ClientEvent::Guest(frame) => FromClient::Input(Input::Guest(frame)),
                    ClientEvent::Left => FromClient::Input(Input::ClientLeft),
                    ClientEvent::Gone => FromClient::Gone,
                }
            }
        }
    }

    /// Waits until everything that was sent is out, and closes the client's end.
    pub async fn close(self) {
        match self {
            Self::Pipes(mut pipes) => pipes.close().await,
            Self::Inbox(inbox) => drop(inbox), // Its streams go on without it.
        }
    }
}
