//! Peers of either era: what they say, and worlds in which a pair of them has been opened.

pub use std::time::Duration;

pub use midcall_core::wire::meta;
pub use midcall_desk::{By, Outcome, Withdrawn};
pub use serde_json::{Value, json};

pub use crate::frame::Frame;
pub use crate::route::ServerEra;
pub use crate::session::world::{PAGE, World};

/// A request of a modern client that can do these.
pub fn modern(id: u64, method: &str, params: Value, elicitation: Value) -> Value {
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

pub fn both() -> Value {
    json!({"form": {}, "url": {}})
}

pub fn initialize(id: u64, capabilities: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}})
}

pub fn initialized() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}, "logging": {},
        "resources": {"subscribe": true}}, "serverInfo": {"name": "books", "version": "2"}, "instructions": "Read."})
}

pub fn discovered() -> Value {
    json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
        "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}}, "instructions": "Read.",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "books", "version": "2"}}})
}

/// A modern client, and a legacy server that is open.
pub fn modern_to_legacy(ask: &str, elicitation: Value) -> World {
    modern_to_legacy_in(World::new(ask), elicitation)
}

pub fn modern_to_legacy_in(mut world: World, elicitation: Value) -> World {
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
pub fn legacy_to_modern(ask: &str, capabilities: Value) -> World {
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
pub fn modern_to_modern(ask: &str, elicitation: Value) -> World {
    modern_to_modern_in(World::new(ask), elicitation)
}

pub fn modern_to_modern_in(mut world: World, elicitation: Value) -> World {
    world.client(modern(0, "server/discover", json!({}), elicitation));
    world.server_answers(discovered());
    world.server_answers(discovered());
    world.to_client.clear();
    world.to_server.clear();
    world
}

pub fn day() -> Value {
    json!({"message": "For which day?", "mode": "form", "requestedSchema": {"type": "object",
        "properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]}})
}

pub fn link(name: &str) -> Value {
    json!({"mode": "url", "message": "Sign in", "url": format!("https://example.com/{name}")})
}

pub fn asks(key: &str, params: Value) -> Value {
    json!({key: {"method": "elicitation/create", "params": params}})
}

pub fn monday() -> Value {
    json!({"action": "accept", "content": {"day": "2026-11-16"}})
}
