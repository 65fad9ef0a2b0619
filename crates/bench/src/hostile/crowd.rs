//! What one more message costs a session in which many calls and questions wait, beside one in which nothing does.

use midcall::replay::play;
use serde_json::{Value, json};

use super::ordinary::time;
use crate::MEMORY;
use crate::side::Seconds;

/// How many messages a measurement plays. The printed figure is the cost of one.
const MESSAGES: usize = 2_000;

/// Every session that is measured.
pub fn run() {
    let quiet = one_more(&legacy(0, 0));
    println!("hostile, a message to a session: {}", Seconds::new(quiet));
    for (name, script) in [
        ("1,000 open questions", legacy(1, 1_000)),
        ("10,000 open calls", legacy(10_000, 0)),
        ("9,000 open calls and 1,000 questions", legacy(9_000, 1_000)),
        ("9,000 parked calls", modern(9_000)),
    ] {
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        play(&script);
        let peak = MEMORY.peak_usage().saturating_sub(before);
        let more = one_more(&script);
        println!(
            "hostile, {name}, one more message: {}, {:.1} × without, peak {:.1} kB",
            Seconds::new(more),
            more / quiet,
            peak as f64 / 1e3
        );
    }
}

/// What one more message costs after a script.
fn one_more(script: &str) -> f64 {
    let padding = "x".repeat(2_000);
    let mut longer = script.to_owned();
    for n in 0..MESSAGES {
        // Both sides say something: a call that is answered, and word of progress.
        let call = json!({"jsonrpc": "2.0", "id": format!("m{n}"), "method": "resources/list", "params": {"x": padding}});
        let answer = json!({"jsonrpc": "2.0", "id": format!("m{n}"), "result": {"x": padding}});
        let news = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": format!("t{n}"), "progress": 1, "message": padding}});
        longer += &format!("c {call}\ns {answer}\ns {news}\n");
    }
    let (without, with) = (time(|| play(script)), time(|| play(&longer)));
    (with.seconds() - without.seconds()).max(0.0) / (3.0 * MESSAGES as f64)
}

/// A legacy client with so many calls open, and so many questions that it doesn't answer.
fn legacy(calls: usize, questions: usize) -> String {
    let capabilities = json!({"elicitation": {"form": {}}});
    let mut script = format!(
        "client never\nc {}\nS 0 {}\n",
        initialize(&capabilities),
        initialized()
    );
    for n in 0..calls {
        let params = json!({"name": "book", "_meta": {"progressToken": format!("t{n}")}});
        let call = json!({"jsonrpc": "2.0", "id": n + 1, "method": "tools/call", "params": params});
        script += &format!("c {call}\n");
    }
    for n in 0..questions {
        script += &format!("s {}\n", question(n));
    }
    script
}

/// A modern client whose calls wait for a person.
fn modern(calls: usize) -> String {
    let request = |id: usize, method: &str, name: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": name, "_meta": {
            "progressToken": format!("t{id}"),
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"}
        }}})
    };
    let mut script = "page never\n".to_owned();
    script += &format!(
        "c {}\nS 0 {{}}\nS 1 {}\nS 2 {{}}\n",
        request(0, "tools/list", "-"),
        initialized()
    );
    for id in 1..=calls {
        script += &format!("c {}\n", request(id, "tools/call", "book"));
    }
    script += &format!("s {}\nt 46000\n", question(0));
    script
}

fn question(nth: usize) -> Value {
    let schema = json!({"type": "object", "properties": {"day": {"type": "string"}}});
    json!({"jsonrpc": "2.0", "id": format!("q{nth}"), "method": "elicitation/create",
        "params": {"message": "For which day?", "requestedSchema": schema}})
}

fn initialize(capabilities: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": capabilities, "clientInfo": {"name": "bench", "version": "1"}}})
}

fn initialized() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
}
