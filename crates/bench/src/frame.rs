//! A message on its way through the gateway: peeked and passed on, beside parsing it and writing
//! it again.

use bytes::Bytes;
use midcall::frame::Frame;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::side::{Side, figure};

/// How long a message is.
const LENGTH: usize = 2_048;

/// Every figure of this area.
pub fn run() {
    pass::<ClientJsonRpcMessage>("frame, tools/call of 2 KB", &request());
    pass::<ServerJsonRpcMessage>("frame, its answer of 2 KB", &answer());
}

/// A message comes as a line and goes on as one.
fn pass<Typed: DeserializeOwned + Serialize>(name: &str, message: &Value) {
    let line = Bytes::from(format!("{message}\n"));
    assert!(
        line.len().abs_diff(LENGTH) < 100,
        "{name}: {} bytes",
        line.len()
    );
    let ours = Side::here("ours", {
        let (line, mut out) = (line.clone(), Vec::new());
        move || {
            let frame = Frame::new(line.clone());
            assert!(frame.peek().is_some());
            out.clear();
            out.extend_from_slice(&frame.into_bytes());
            out.len()
        }
    });
    let typed = Side::here("rmcp", again::<Typed>(line.clone()));
    let value = Side::here("serde_json::Value", again::<Value>(line));
    let budget = "≤ 1.5 µs, ≥ 10 × rmcp";
    figure(name, budget, ours, vec![typed, value]);
}

/// Reads a line into something and writes that.
fn again<T: DeserializeOwned + Serialize>(line: Bytes) -> impl FnMut() -> usize {
    let mut out = Vec::new();
    move || {
        let message: T = serde_json::from_slice(&line).expect("a message");
        out.clear();
        serde_json::to_writer(&mut out, &message).expect("it was read before");
        out.push(b'\n');
        out.len()
    }
}

/// Guests to book a table for: a few short members each, as arguments and results have them.
fn guests(count: usize) -> Vec<Value> {
    (0..count)
        .map(|n| {
            json!({"name": format!("Guest {n}"), "age": 20 + n, "vegetarian": n % 2 == 0,
                   "wishes": ["window", "quiet"]})
        })
        .collect()
}

fn request() -> Value {
    json!({"jsonrpc": "2.0", "id": 41, "method": "tools/call", "params": {
        "name": "book_table",
        "arguments": {"day": "2026-11-20", "note": "A window, \"please\".\n".repeat(36),
                      "guests": guests(14)},
        "_meta": {"progressToken": 41}}})
}

/// The result as text and once more as what it is, as the specification wants it.
fn answer() -> Value {
    let booked = json!({"table": 7, "guests": guests(11)});
    json!({"jsonrpc": "2.0", "id": 41, "result": {
        "content": [{"type": "text", "text": booked.to_string()}],
        "structuredContent": booked,
        "isError": false}})
}
