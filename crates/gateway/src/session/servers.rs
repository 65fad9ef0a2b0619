//! The server: its first process, and its second one in the other era.

use std::collections::HashMap;

use crate::moment::Moment;
use midcall_core::Asker;
use midcall_core::wire::LogLevel;

use super::ServerId;
use super::listing::Listing;
use crate::frame::{Frame, Id};
use crate::leg::news::Listening;
use crate::leg::server::ServerFacts;
use crate::leg::server::opening::{Asked, Offered, Opening};
use crate::route::ServerEra;

/// Both processes, and which tools need the second.
pub struct Servers {
    /// Which era the server is said to speak, or was found to speak.
    pub said: ServerEra,
    pub first: Server,
    pub second: Option<Server>,
    /// The tools that can only be called in the other era, with the words in which they were refused in the first.
    pub moved: HashMap<String, Frame>,
    /// True if the server may be spoken to in the other era, as far as anybody knows.
    pub speaks_both: bool,
    /// What clients are told once the server is gone.
    pub gone: Option<String>,
    /// What the client says while nobody knows yet what the server speaks.
    pub held: Vec<Frame>,
}

/// One process of the server, or one connection to it.
pub struct Server {
    pub facts: ServerFacts,
    pub opening: Opening,
    /// What it was told by `initialize`; none if it wasn't, or nobody could read that.
    pub offered: Option<Offered>,
    /// True once it was told that the session is open.
    pub is_told: bool,
    /// The question whether it is a modern one, if it wasn't answered in time.
    pub late: Option<Id>,
    /// The log level that it was last told.
    pub level: Option<LogLevel>,
    /// The one that a legacy client told it.
    pub usual_level: Option<LogLevel>,
    pub listening: Listening,
    /// Whether it is known what its tools say of themselves.
    pub listing: Listing,
}

/// How much a client may say before its server is open.
pub const MOST_HELD: usize = 1_000;

impl Servers {
    pub fn new(said: ServerEra, asker: Asker) -> Self {
        Self {
            said,
            first: Server::new(asker),
            second: None,
            moved: HashMap::new(),
            speaks_both: said == ServerEra::Auto,
            gone: None,
            held: Vec::new(),
        }
    }

    pub fn get(&self, id: ServerId) -> &Server {
        match (id, &self.second) {
            (ServerId::Second, Some(second)) => second,
            _ => &self.first,
        }
    }

    pub fn get_mut(&mut self, id: ServerId) -> &mut Server {
        match (id, &mut self.second) {
            (ServerId::Second, Some(second)) => second,
            _ => &mut self.first,
        }
    }

    /// When a process has had long enough to tell its tools, if it was asked for them.
    pub fn listing_until(&self, id: ServerId) -> Option<Moment> {
        match id {
            ServerId::First => self.first.listing.until(),
            ServerId::Second => self.second.as_ref()?.listing.until(),
        }
    }

    /// True if a tool can only be called in the other era.
    pub fn is_moved(&self, tool: Option<&[u8]>) -> bool {
        let tool = tool.filter(|_| self.speaks_both && !self.moved.is_empty());
        let tool = tool.and_then(|name| serde_json::from_slice::<String>(name).ok());
        tool.is_some_and(|tool| self.moved.contains_key(&tool))
    }
}

impl Server {
    pub fn new(asker: Asker) -> Self {
        Self {
            facts: ServerFacts::new(asker),
            opening: Opening::NotYet,
            offered: None,
            is_told: false,
            late: None,
            level: None,
            usual_level: None,
            listening: Listening::default(),
            listing: Listing::default(),
        }
    }

    pub fn is_probing(&self) -> bool {
        matches!(self.opening, Opening::Probing(_))
    }

    pub fn is_open(&self) -> bool {
        matches!(self.opening, Opening::Open)
    }

    /// True if what the client says waits for it.
    pub fn holds(&self) -> bool {
        matches!(
            self.opening,
            Opening::Probing(_)
                | Opening::Asked(Asked {
                    is_clients: false,
                    ..
                })
        )
    }

    /// When it has had long enough to be opened.
    pub fn until(&self) -> Option<Moment> {
        match &self.opening {
            Opening::Probing(probe) => probe.until,
            Opening::Asked(asked) => asked.until,
            Opening::NotYet | Opening::Open | Opening::Failed => None,
        }
    }
}
