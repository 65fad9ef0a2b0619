//! A client, a server and a person around a session, in memory.

use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::{Asker, Elicitation, Limits};
use midcall_desk::{By, Outcome, Route, Withdrawn};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Act, Confirm, Event, OnUnavailable, Rules, Session, Turn};
use crate::claim::Waiting;
use crate::frame::Frame;
use crate::route::Policy;

/// A session, what it did, and the clock.
pub struct World {
    pub session: Session,
    pub now: Instant,
    pub to_client: Vec<Value>,
    pub to_server: Vec<Value>,
    pub asked: Vec<(Turn, Box<Elicitation>)>,
    /// True if the client answers before a person can have read the question.
    pub answers_at_once: bool,
    pub withdrawn: Vec<(Turn, Withdrawn)>,
    pub completed: Vec<(Turn, By)>,
    pub noise: usize,
}

impl World {
    pub fn new(ask: &str) -> Self {
        Self::with(ask, |_| {})
    }

    /// Under other rules than usual.
    pub fn with(ask: &str, change: impl FnOnce(&mut Rules)) -> Self {
        let mut rules = rules(ask);
        change(&mut rules);
        Self {
            session: Session::new(rules),
            now: Instant::now(),
            to_client: Vec::new(),
            to_server: Vec::new(),
            asked: Vec::new(),
            answers_at_once: false,
            withdrawn: Vec::new(),
            completed: Vec::new(),
            noise: 0,
        }
    }

    /// A session that is open: the client's revision and capabilities, the server's revision.
    pub fn opened(ask: &str, client: &str, capabilities: Value, server: &str) -> Self {
        let mut world = Self::new(ask);
        world.open(client, capabilities, server);
        world
    }

    pub fn open(&mut self, client: &str, capabilities: Value, server: &str) {
        self.client(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
            {"protocolVersion": client, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}}));
        self.server(
            json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": server,
            "capabilities": {}, "serverInfo": {"name": "books", "version": "2"}}}),
        );
        self.to_client.clear();
        self.to_server.clear();
    }

    /// With a client that declares nothing.
    pub fn plain() -> Self {
        Self::opened("client,page", "2025-11-25", json!({}), "2025-11-25")
    }

    pub fn on(&mut self, event: Event) {
        let mut acts = Vec::new();
        self.session.on(self.now, event, &mut acts);
        let read = |frame: Frame| serde_json::from_slice(&frame.into_bytes()).unwrap();
        for act in acts {
            match act {
                Act::ToClient(frame) => self.to_client.push(read(frame)),
                Act::ToServer(frame) => self.to_server.push(read(frame)),
                Act::Ask(turn, elicitation) => self.asked.push((turn, elicitation)),
                Act::Withdraw(turn, why) => self.withdrawn.push((turn, why)),
                Act::Complete(turn, by) => self.completed.push((turn, by)),
                Act::Noise(_) => self.noise += 1,
                Act::Elsewhere(..) | Act::StartBeside | Act::ToBeside(_) => {
                    panic!("sessions know of one process")
                }
            }
        }
    }

    pub fn client(&mut self, message: Value) {
        if !self.answers_at_once && is_answer(&message) {
            self.passes(A_MOMENT);
        }
        self.on(Event::Client(Frame::write(&message)));
    }

    pub fn server(&mut self, message: Value) {
        self.on(Event::Server(Frame::write(&message)));
    }

    pub fn calls(&mut self, id: u64) {
        self.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "book", "_meta": {"progressToken": format!("t{id}")}}}));
        self.to_server.clear();
    }

    /// The client lists the tools, and this is what the server says they are.
    pub fn lists(&mut self, tools: Value) -> Value {
        self.client(json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}));
        self.server(json!({"jsonrpc": "2.0", "id": "list", "result": {"tools": tools}}));
        self.to_server.clear();
        self.told_client()["result"]["tools"].clone()
    }

    /// A question comes, and if it goes to the desk, people see it.
    pub fn asks(&mut self, id: u64, params: Value) {
        let before = self.asked.len();
        self.server(
            json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params}),
        );
        self.see(before);
    }

    /// People see what was asked since.
    pub fn see(&mut self, before: usize) {
        let turns: Vec<Turn> = self.asked[before..].iter().map(|(turn, _)| *turn).collect();
        for turn in turns {
            self.on(Event::Asked(turn, waiting()));
        }
    }

    pub fn passes(&mut self, time: Duration) {
        self.now += time;
        if self.session.wakes_at().is_some_and(|at| at <= self.now) {
            self.on(Event::Woke);
        }
    }

    /// The only line the server was sent since it was last looked at.
    pub fn told_server(&mut self) -> Value {
        assert_eq!(self.to_server.len(), 1, "{:?}", self.to_server);
        self.to_server.remove(0)
    }

    pub fn told_client(&mut self) -> Value {
        assert_eq!(self.to_client.len(), 1, "{:?}", self.to_client);
        self.to_client.remove(0)
    }

    /// The question that was put on the desk as the nth ends.
    pub fn ends(&mut self, nth: u64, outcome: Outcome) {
        self.on(Event::Ended(Turn(nth), outcome));
    }
}

/// What a person takes at least to read a question and answer it.
pub const A_MOMENT: Duration = Duration::from_millis(300);

/// True if a client's message answers questions, in the words of either era.
pub fn is_answer(message: &Value) -> bool {
    message["result"]["action"].is_string() || message["params"]["inputResponses"].is_object()
}

pub const PAGE: By = By {
    route: Route::Page,
    human: true,
};

/// The usual rules.
pub fn rules(ask: &str) -> Rules {
    Rules {
        routes: ask.parse().unwrap(),
        policy: Policy::default(),
        profile: None,
        limits: Limits::default(),
        locale: Locale::EnUs,
        hold: Some(Duration::from_secs(45)),
        patience: Duration::from_secs(300),
        confirm: Confirm::Never,
        on_unavailable: OnUnavailable::Cancel,
        asker: Asker::named("server.js"),
    }
}

pub fn waiting() -> Waiting {
    Waiting {
        deadline: Some("2026-11-16T12:00:00.000Z".to_owned()),
        page: Some("http://127.0.0.1:1".to_owned()),
    }
}

pub fn day() -> Value {
    json!({"message": "For which day?", "requestedSchema": {"type": "object",
        "properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]}})
}

pub fn link() -> Value {
    json!({"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "e1"})
}
