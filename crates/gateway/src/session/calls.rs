//! The client's requests that the server has not answered yet.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tokio::time::Instant;

use crate::frame::{Id, Members};

/// Open requests, by their id. What every message wants to know of them is found without looking at each.
#[derive(Default)]
pub struct Calls {
    open: HashMap<Id, Call>,
    /// How many were ever opened.
    count: u64,
    /// Those in which the server may have come upon a question, the oldest first.
    at_server: BTreeMap<u64, Id>,
    /// Those of tools, prompts and resources, the oldest first.
    held: BTreeMap<u64, Id>,
    /// How many calls of each tool are open.
    named: HashMap<Option<Box<[u8]>>, usize>,
    /// Those that want to hear of progress, by their tokens.
    followed: HashMap<Box<[u8]>, Id>,
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
    /// How many requests were opened before it.
    pub nth: u64,
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

/// How many requests may be open. The server may never answer one.
const MOST: usize = 10_000;

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
        self.close(&id);
        let name = members.name.filter(|name| name.len() <= LONGEST_NAME);
        let closed = Closed {
            nth: self.count,
            wants,
            name: name.map(Into::into),
            token: members.progress_token.map(Into::into),
        };
        self.count += 1;
        if wants != Wants::Ours {
            self.at_server.insert(closed.nth, id.clone());
        }
        if matches!(wants, Wants::Tool | Wants::Text) {
            self.held.insert(closed.nth, id.clone());
        }
        if wants == Wants::Tool {
            *self.named.entry(closed.name.clone()).or_default() += 1;
        }
        if let Some(token) = &closed.token {
            self.followed.insert(token.clone(), id.clone());
        }
        let call = Call {
            closed,
            since: now,
            progress: 0.0,
        };
        self.open.insert(id, call);
    }

    /// What is left of it, if it was open.
    pub fn close(&mut self, id: &Id) -> Option<Closed> {
        let Call { closed, .. } = self.open.remove(id)?;
        self.at_server.remove(&closed.nth);
        self.held.remove(&closed.nth);
        if closed.wants == Wants::Tool
            && let Some(count) = self.named.get_mut(&closed.name)
        {
            *count -= 1;
            if *count == 0 {
                self.named.remove(&closed.name);
            }
        }
        if let Some(token) = &closed.token
            && self.followed.get(token) == Some(id)
        {
            self.followed.remove(token);
        }
        Some(closed)
    }

    pub fn has_any(&self) -> bool {
        !self.open.is_empty()
    }

    /// True if one more may be opened.
    pub fn has_room(&self) -> bool {
        self.open.len() < MOST
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

    /// How many were ever opened: the number of the next.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of a call, if it is open and the server may have come upon a question in it.
    pub fn nth(&self, id: &Id) -> Option<u64> {
        let call = self.open.get(id).map(|call| &call.closed);
        call.filter(|call| call.wants != Wants::Ours)
            .map(|call| call.nth)
    }

    /// Those in which the server may have come upon a question, by their numbers, the oldest first.
    pub fn at_server(&self) -> impl Iterator<Item = u64> {
        self.at_server.keys().copied()
    }

    /// Since when the oldest call that may be let go is open.
    pub fn oldest(&self) -> Option<Instant> {
        let (_, id) = self.held.first_key_value()?;
        self.open.get(id).map(|call| call.since)
    }

    /// Those that are older than they should be.
    pub fn older(&self, than: Duration, now: Instant) -> Vec<(Id, Wants)> {
        let held = self.held.values().filter_map(|id| {
            let call = self.open.get(id)?;
            Some((id, call.closed.wants, call.since))
        });
        let old = held.take_while(|(_, _, since)| now.duration_since(*since) >= than);
        old.map(|(id, wants, _)| (id.clone(), wants)).collect()
    }

    /// The oldest call of a tool among those that one picks by their numbers.
    pub fn oldest_tool(&self, is_meant: impl Fn(u64) -> bool) -> Option<Id> {
        let is_tool = |id: &Id| {
            let call = self.open.get(id);
            call.is_some_and(|call| call.closed.wants == Wants::Tool)
        };
        let mut held = self.held.iter();
        let oldest = held.find(|(nth, id)| is_meant(**nth) && is_tool(id));
        oldest.map(|(_, id)| id.clone())
    }

    /// The tools that are being called: the name of each as JSON, and how often.
    pub fn tools(&self) -> impl Iterator<Item = (Option<&[u8]>, usize)> {
        let named = self.named.iter();
        named.map(|(name, count)| (name.as_deref(), *count))
    }

    /// Hears a server's own word about progress.
    pub fn hear(&mut self, members: &Members<'_>) {
        let progress = members
            .progress
            .and_then(|json| serde_json::from_slice(json).ok());
        let (Some(token), Some(progress)) = (members.progress_token, progress) else {
            return;
        };
        let id = self.followed.get(token);
        if let Some(call) = id.and_then(|id| self.open.get_mut(id)) {
            call.progress = call.progress.max(progress);
        }
    }

    /// Whether somebody wants to hear of progress.
    pub fn are_followed(&self) -> bool {
        !self.followed.is_empty()
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
