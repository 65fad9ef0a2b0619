//! What a legacy server wants to be reminded of with every request.

use std::collections::VecDeque;
use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderValue};
use serde::Deserialize;
use tokio::task::AbortHandle;

use super::body::Load;
use super::send::Request;
use super::stream::Tag;
use crate::frame::{Frame, Id, Kind, Members};

/// A session with a legacy server, opened or being opened.
#[derive(Default)]
pub struct UpstreamSession {
    pub state: State,
    /// How many there were before it.
    pub number: u32,
    id: Option<HeaderValue>,
    /// Whether the server keeps sessions, as far as is known.
    is_kept: bool,
    version: Option<HeaderValue>,
    pub opening: Opening,
    /// What waits until it is open.
    pub held: VecDeque<(Frame, Arc<Load>)>,
    /// What was refused in the session before, and goes out first.
    pub refused: Vec<Request>,
    /// The stream of what belongs to no request.
    pub listening: Option<AbortHandle>,
    /// Whether that was lost, and should be there.
    pub is_deaf: bool,
}

/// What a session was opened by, should the server forget it.
#[derive(Default)]
pub struct Opening {
    initialize: Option<Frame>,
    pub initialized: Option<Frame>,
}

/// How far it is.
#[derive(Default, PartialEq)]
pub enum State {
    /// Nobody opened it.
    #[default]
    Closed,
    /// The server was asked to open it.
    Asked,
    /// The server has answered.
    Agreed,
    /// The server is being told that it is open.
    Told(Tag),
    /// The stream that questions may come on is being opened.
    Listens(Tag),
    /// It is open.
    Open,
}

impl UpstreamSession {
    /// What every request in it bears.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(id) = &self.id {
            headers.insert("mcp-session-id", id.clone());
        }
        if let Some(version) = &self.version {
            headers.insert("mcp-protocol-version", version.clone());
        }
        headers
    }

    /// It is to be opened by this request, as if there had been none before.
    pub fn ask(&mut self, initialize: Frame) {
        self.opening.initialize = Some(initialize);
        self.state = State::Asked;
        self.number += 1;
        self.id = None;
        self.version = None;
        self.is_deaf = false;
        if let Some(listening) = self.listening.take() {
            listening.abort();
        }
    }

    /// The server calls it so, if it keeps sessions at all.
    pub fn name(&mut self, id: Option<HeaderValue>) {
        self.is_kept = id.is_some();
        self.id = id;
    }

    /// Whether there is one that has to be ended.
    pub fn has_name(&self) -> bool {
        self.id.is_some()
    }

    /// What opens it again, if the server keeps sessions and may have forgotten this one.
    pub fn opens_again_by(&self) -> Option<Frame> {
        self.opening.initialize.clone().filter(|_| self.is_kept)
    }

    /// The server has answered that; `false` if it does not want to.
    pub fn agree(&mut self, members: &Members<'_>) -> bool {
        #[derive(Deserialize)]
        struct Result {
            #[serde(rename = "protocolVersion")]
            version: String,
        }
        let result = members.result.map(serde_json::from_slice::<Result>);
        let version = result.and_then(std::result::Result::ok);
        let Some(version) = version else {
            self.state = State::Closed;
            return false;
        };
        self.version = HeaderValue::try_from(version.version).ok();
        self.state = State::Agreed;
        true
    }

    /// Whether messages have to wait.
    pub fn holds(&self) -> bool {
        matches!(
            self.state,
            State::Asked | State::Told(_) | State::Listens(_)
        )
    }

    /// Takes back a request that waits; `false` if it does not.
    pub fn unhold(&mut self, id: &Id) -> bool {
        let before = self.held.len() + self.refused.len();
        let is = |frame: &Frame| matches!(frame.peek(), Some((Kind::Request { id: it, .. }, _)) if it == *id);
        self.held.retain(|(frame, _)| !is(frame));
        self.refused.retain(|request| request.id != *id);
        self.held.len() + self.refused.len() < before
    }
}
