//! Stories of a server elsewhere, over real connections.

mod breaks;
mod during;
mod eras;
mod garbage;
mod hostile;
mod server;
mod sessions;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Remote, Target};
use crate::frame::Frame;
use crate::transport::server::Received;
use server::{Asked, PATIENCE, Reply, Server};

/// A server, and what talks to it.
struct World {
    server: Server,
    remote: Remote,
}

/// The longest message that is taken here.
const MOST: usize = 64 * 1024;

impl World {
    async fn with(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::given(&[], script).await
    }

    /// With headers that a person gave.
    async fn given(
        headers: &[&str],
        script: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let server = Server::start(script).await;
        let headers: Vec<String> = headers.iter().map(|header| (*header).to_owned()).collect();
        let target = Target::new(&server.url(), &headers, None).unwrap();
        let remote = Remote::open(target, MOST);
        Self { server, remote }
    }

    fn send(&mut self, message: Value) {
        self.remote.send(Frame::write(&message));
    }

    /// What is said next.
    async fn says(&mut self) -> Value {
        loop {
            return match timeout(PATIENCE, self.remote.next(true)).await {
                Ok(Received::Frame(frame) | Received::During(_, frame)) => {
                    serde_json::from_slice(&frame.into_bytes()).unwrap()
                }
                Ok(Received::Nothing | Received::Unreached(_)) => continue,
                Ok(Received::Gone | Received::Endless) => panic!("it has answered everything"),
                Err(_) => panic!("nothing was said; these came: {:#?}", self.server.seen()),
            };
        }
    }

    /// Opens a legacy session.
    async fn opens(&mut self) {
        self.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}
        }}));
        let opened = self.says().await;
        assert_eq!(opened["id"], 0, "{opened}");
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    /// Nothing more is sent: everything that is still said.
    async fn rest(&mut self) -> Vec<Value> {
        self.remote.finish();
        let mut rest = Vec::new();
        loop {
            match timeout(PATIENCE, self.remote.next(true)).await {
                Ok(Received::Frame(frame) | Received::During(_, frame)) => {
                    rest.push(serde_json::from_slice(&frame.into_bytes()).unwrap());
                }
                Ok(Received::Nothing | Received::Unreached(_)) => {}
                Ok(Received::Gone | Received::Endless) => return rest,
                Err(_) => panic!("it does not end; these came: {:#?}", self.server.seen()),
            }
        }
    }
}

/// A call of a legacy client.
fn call(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "book"}})
}

/// A request of a modern client.
fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// What a legacy server says to all that is not a call, in the session of this name.
fn opening(asked: &Asked, session: &str) -> Option<Reply> {
    if asked.is("initialize") {
        let result = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}
        });
        return Some(Reply::json(&asked.result(result)).header("mcp-session-id", session));
    }
    match asked.method.as_str() {
        "GET" if asked.header("last-event-id").is_none() => Some(Reply::status(405)),
        "DELETE" => Some(Reply::status(200)),
        "POST" if asked.body["id"].is_null() || asked.body["method"].is_null() => {
            Some(Reply::status(202))
        }
        _ => None,
    }
}

/// The words of an error.
fn words(answer: &Value) -> &str {
    answer["error"]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

fn result(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}})
}

fn progress(count: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": count}})
}

fn question(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {"message": "Which?"}})
}
