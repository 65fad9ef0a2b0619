//! What peers of different eras live through, in memory.

mod beside;
mod both;
mod client;
mod crowd;
mod opening;
mod parked;
mod requests;
mod server;
mod task;

use std::time::Duration;

use midcall_core::Elicitation;
use midcall_core::wire::meta;
use midcall_desk::{By, Outcome, Withdrawn};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::bridge::{Bridge, ServerEra};
use crate::frame::Frame;
use crate::session::world::{A_MOMENT, is_answer, rules, waiting};
use crate::session::{Act, Event, Rules, Turn};

/// A bridge, what it did, and the clock.
struct World {
    bridge: Bridge,
    now: Instant,
    to_client: Vec<Value>,
    to_server: Vec<Value>,
    asked: Vec<(Turn, Box<Elicitation>)>,
    /// True if the client answers before a person can have read the question.
    answers_at_once: bool,
    withdrawn: Vec<(Turn, Withdrawn)>,
    started: usize,
    to_beside: Vec<Value>,
}

impl World {
    fn new(ask: &str) -> Self {
        Self::with(ask, ServerEra::Auto, |_| {})
    }

    fn with(ask: &str, era: ServerEra, change: impl FnOnce(&mut Rules)) -> Self {
        let mut rules = rules(ask);
        change(&mut rules);
        Self {
            bridge: Bridge::new(rules, era),
            now: Instant::now(),
            to_client: Vec::new(),
            to_server: Vec::new(),
            asked: Vec::new(),
            answers_at_once: false,
            withdrawn: Vec::new(),
            started: 0,
            to_beside: Vec::new(),
        }
    }

    fn on(&mut self, event: Event) {
        let mut acts = Vec::new();
        self.bridge.on(self.now, event, &mut acts);
        self.act(acts);
    }

    fn act(&mut self, acts: Vec<Act>) {
        let read = |frame: Frame| serde_json::from_slice(&frame.into_bytes()).unwrap();
        for act in acts {
            match act {
                Act::ToClient(frame) => self.to_client.push(read(frame)),
                Act::ToServer(frame) => self.to_server.push(read(frame)),
                Act::Ask(turn, elicitation) => self.asked.push((turn, elicitation)),
                Act::Withdraw(turn, why) => self.withdrawn.push((turn, why)),
                Act::StartBeside => self.started += 1,
                Act::ToBeside(frame) => self.to_beside.push(read(frame)),
                Act::Elsewhere(..) => panic!("it is for the bridge"),
                Act::Complete(..) | Act::Noise(_) => {}
            }
        }
    }

    fn client(&mut self, message: Value) {
        if !self.answers_at_once && is_answer(&message) {
            self.passes(A_MOMENT);
        }
        self.on(Event::Client(Frame::write(&message)));
    }

    fn server(&mut self, message: Value) {
        self.on(Event::Server(Frame::write(&message)));
    }

    fn passes(&mut self, time: Duration) {
        self.now += time;
        if self.bridge.wakes_at().is_some_and(|at| at <= self.now) {
            self.on(Event::Woke);
        }
    }

    /// The only line the server was sent since it was last looked at.
    fn told_server(&mut self) -> Value {
        assert_eq!(self.to_server.len(), 1, "{:#?}", self.to_server);
        self.to_server.remove(0)
    }

    fn told_client(&mut self) -> Value {
        assert_eq!(self.to_client.len(), 1, "{:#?}", self.to_client);
        self.to_client.remove(0)
    }

    /// The server answers the only line it was sent.
    fn server_answers(&mut self, result: Value) -> Value {
        let asked = self.told_server();
        self.server(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
        asked
    }

    /// People see what was asked.
    fn see(&mut self) {
        let turns: Vec<Turn> = self.asked.iter().map(|(turn, _)| *turn).collect();
        for turn in turns {
            self.on(Event::Asked(turn, waiting()));
        }
    }

    fn ends(&mut self, nth: u64, outcome: Outcome) {
        self.on(Event::Ended(Turn(nth), outcome));
    }
}

/// A request of a modern client that can do these.
fn modern(id: u64, method: &str, params: Value, elicitation: Value) -> Value {
    let mut params = params;
    let mut capabilities = json!({});
    if !elicitation.is_null() {
        capabilities["elicitation"] = elicitation;
    }
    params["_meta"][meta::PROTOCOL_VERSION] = "2026-07-28".into();
    params["_meta"][meta::CLIENT_CAPABILITIES] = capabilities;
    params["_meta"][meta::CLIENT_INFO] = json!({"name": "c", "version": "1"});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn both() -> Value {
    json!({"form": {}, "url": {}})
}

fn initialize(id: u64, capabilities: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}})
}

fn initialized() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}, "logging": {},
        "resources": {"subscribe": true}}, "serverInfo": {"name": "books", "version": "2"}, "instructions": "Read."})
}

fn discovered() -> Value {
    json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
        "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}}, "instructions": "Read.",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "books", "version": "2"}}})
}

/// A modern client, and a legacy server that is open.
fn modern_to_legacy(ask: &str, elicitation: Value) -> World {
    modern_to_legacy_in(World::new(ask), elicitation)
}

fn modern_to_legacy_in(mut world: World, elicitation: Value) -> World {
    world.client(modern(0, "tools/list", json!({}), elicitation));
    let probe = world.told_server();
    assert_eq!(probe["method"], "server/discover");
    world.server(json!({"jsonrpc": "2.0", "id": probe["id"], "error": {"code": -32601, "message": "Method not found"}}));
    world.server_answers(initialized());
    assert_eq!(
        world.to_server.remove(0)["method"],
        "notifications/initialized"
    );
    world.server_answers(json!({"tools": []}));
    world.to_client.clear();
    world
}

/// A legacy client, and a modern server.
fn legacy_to_modern(ask: &str, capabilities: Value) -> World {
    let mut world = World::new(ask);
    world.client(initialize(0, capabilities));
    let opening = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "error": {"code": -32601, "message": "Method not found"}}));
    world.server_answers(discovered());
    world.to_server.clear();
    world.to_client.clear();
    world.client(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert!(world.to_server.is_empty());
    world
}

/// A modern client, and a modern server.
fn modern_to_modern(ask: &str, elicitation: Value) -> World {
    let mut world = World::new(ask);
    world.client(modern(0, "server/discover", json!({}), elicitation));
    world.server_answers(discovered());
    world.server_answers(discovered());
    world.to_client.clear();
    world.to_server.clear();
    world
}

fn day() -> Value {
    json!({"message": "For which day?", "mode": "form", "requestedSchema": {"type": "object",
        "properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]}})
}

fn link(name: &str) -> Value {
    json!({"mode": "url", "message": "Sign in", "url": format!("https://example.com/{name}")})
}

fn asks(key: &str, params: Value) -> Value {
    json!({key: {"method": "elicitation/create", "params": params}})
}

fn monday() -> Value {
    json!({"action": "accept", "content": {"day": "2026-11-16"}})
}

const PAGE: By = crate::session::world::PAGE;
