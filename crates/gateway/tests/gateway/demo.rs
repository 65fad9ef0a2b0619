//! The server of `midcall demo`, as a client of one's own meets it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::program::midcall;

/// `midcall demo --stdio`. It ends when its input does.
struct Demo {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Demo {
    fn open() -> Self {
        let mut child = midcall()
            .args(["demo", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut demo = Self { child, lines };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}, "url": {}}},
            "clientInfo": {"name": "test", "version": "1"}});
        demo.say(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        demo.hears(|message| message["id"] == 0);
        demo.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        demo
    }

    fn say(&mut self, message: Value) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    /// The next message that is meant.
    fn hears(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        let lines = self.lines.by_ref().map(Result::unwrap);
        let mut messages = lines.map(|line| serde_json::from_str(&line).unwrap());
        messages.find(is_meant).expect("the server is there")
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[test]
fn what_other_servers_ask_is_taken_back_with_its_call() {
    let mut demo = Demo::open();
    for (id, tool) in (1..).zip(["tags", "group", "json", "hostile", "link_refused"]) {
        let params = json!({"name": tool, "arguments": {}});
        demo.say(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        let question = demo.hears(|message| message["method"] == "elicitation/create");
        let params = json!({"requestId": id});
        demo.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
        let taken_back = demo.hears(|message| message["method"] == "notifications/cancelled");
        assert_eq!(taken_back["params"]["requestId"], question["id"], "{tool}");
    }
}
