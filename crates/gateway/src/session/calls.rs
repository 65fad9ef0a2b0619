//! The client's requests that the server has not answered yet.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::frame::{Id, Members};

/// Open requests, by their id.
#[derive(Default)]
pub struct Calls {
    open: HashMap<Id, Call>,
    /// How many of them want to hear of progress.
    following: usize,
}

struct Call {
    closed: Closed,
    since: Instant,
    /// How far it is. Every word about it must be further.
    progress: f64,
}

/// What is left of a request once it is not open any more.
#[derive(Clone, Debug)]
pub struct Closed {
    pub wants: Wants,
    /// The tool or prompt, as JSON.
    pub name: Option<Box<[u8]>>,
    /// What the client wants to hear of its progress by, as JSON.
    pub token: Option<Box<[u8]>>,
}

/// What a request is for, as far as that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// The result of a tool.
    Tool,
    /// A prompt or a resource.
    Text,
    /// The list of tools.
    Tools,
    /// A tool of ours. The server does not know of it.
    Ours,
    /// Anything else.
    Other,
}

/// Longer names are not shown to anybody.
const LONGEST_NAME: usize = 1_000;

/// How far a word of ours moves a call on: less than any server's own step.
const STEP: f64 = 1e-6;

impl Wants {
    pub fn of(method: &str) -> Self {
        match method {
            "tools/call" => Self::Tool,
            "prompts/get" | "resources/read" => Self::Text,
            "tools/list" => Self::Tools,
            _ => Self::Other,
        }
    }
}

impl Calls {
    pub fn open(&mut self, id: Id, wants: Wants, members: &Members<'_>, now: Instant) {
        let name = members.name.filter(|name| name.len() <= LONGEST_NAME);
        let closed = Closed {
            wants,
            name: name.map(Into::into),
            token: members.progress_token.map(Into::into),
        };
        self.following += usize::from(closed.token.is_some());
        let call = Call {
            closed,
            since: now,
            progress: 0.0,
        };
        if let Some(Call { closed, .. }) = self.open.insert(id, call) {
            self.following -= usize::from(closed.token.is_some());
        }
    }

    /// What is left of it, if it was open.
    pub fn close(&mut self, id: &Id) -> Option<Closed> {
        let Call { closed, .. } = self.open.remove(id)?;
        self.following -= usize::from(closed.token.is_some());
        Some(closed)
    }

    pub fn has_any(&self) -> bool {
        !self.open.is_empty()
    }

    pub fn has(&self, id: &Id) -> bool {
        self.open.contains_key(id)
    }

    /// The ids of all that are open.
    pub fn ids(&self) -> Vec<Id> {
        self.open.keys().cloned().collect()
    }

    /// Whether it is a call of a tool of ours, of which the server knows nothing.
    pub fn is_ours(&self, id: &Id) -> bool {
        (self.open.get(id)).is_some_and(|call| call.closed.wants == Wants::Ours)
    }

    /// Those in which the server may have come upon a question.
    pub fn at_server(&self) -> Vec<Id> {
        let at_server = self
            .open
            .iter()
            .filter(|(_, call)| call.closed.wants != Wants::Ours);
        at_server.map(|(id, _)| id.clone()).collect()
    }

    /// Those that may be let go, and since when they are open.
    fn held(&self) -> impl Iterator<Item = (&Id, Wants, Instant)> {
        let held = self
            .open
            .iter()
            .map(|(id, call)| (id, call.closed.wants, call.since));
        held.filter(|(_, wants, _)| matches!(wants, Wants::Tool | Wants::Text))
    }

    /// Since when the oldest of those is open.
    pub fn oldest(&self) -> Option<Instant> {
        self.held().map(|(_, _, since)| since).min()
    }

    /// Those that are older than they should be.
    pub fn older(&self, than: Duration, now: Instant) -> Vec<(Id, Wants)> {
        let old = self
            .held()
            .filter(|(_, _, since)| now.duration_since(*since) >= than);
        old.map(|(id, wants, _)| (id.clone(), wants)).collect()
    }

    /// The oldest call of a tool among these.
    pub fn oldest_tool(&self, among: &[Id]) -> Option<Id> {
        let tools = self.held().filter(|(_, wants, _)| *wants == Wants::Tool);
        let among = tools.filter(|(id, _, _)| among.contains(id));
        let oldest = among.min_by_key(|(id, _, since)| (*since, *id));
        oldest.map(|(id, _, _)| id.clone())
    }

    /// The names of the tools that are being called, as JSON.
    pub fn tools(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let calls = self.open.values().map(|call| &call.closed);
        calls
            .filter(|call| call.wants == Wants::Tool)
            .map(|call| call.name.as_deref())
    }

    /// Hears a server's own word about progress.
    pub fn hear(&mut self, members: &Members<'_>) {
        let progress = members
            .progress
            .and_then(|json| serde_json::from_slice(json).ok());
        let (Some(token), Some(progress)) = (members.progress_token, progress) else {
            return;
        };
        let call = self
            .open
            .values_mut()
            .find(|call| call.closed.token.as_deref() == Some(token));
        if let Some(call) = call {
            call.progress = call.progress.max(progress);
        }
    }

    /// Whether somebody wants to hear of progress.
    pub fn are_followed(&self) -> bool {
        self.following > 0
    }

    /// Moves every call that is followed on a little: its token and how far it is.
    pub fn move_on(&mut self) -> impl Iterator<Item = (&[u8], f64)> {
        self.open.values_mut().filter_map(|call| {
            let token = call.closed.token.as_deref()?;
            call.progress += STEP.max(call.progress.abs() * STEP);
            Some((token, call.progress))
        })
    }
}
