//! `<mcp-elicitation>` beside `@rjsf/core` with AJV and React: what a page loads, and how long a
//! form takes to be drawn, in Chromium.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::side::{Side, figure};

/// Every figure of this area.
pub fn run() {
    let (mut browser, sizes) = Browser::start();
    let kilobytes = |name: &str| sizes[name].as_f64().expect("a size") / 1e3;
    let (ours, all, rjsf) = (kilobytes("ours"), kilobytes("ours, all"), kilobytes("rjsf"));
    println!(
        "element, gzipped, with a locale: ours {ours:.1} kB, rjsf {rjsf:.1} kB, ratio {:.2} (budget ≤ 12 kB)",
        rjsf / ours
    );
    println!(
        "element, gzipped, with all it may load later: ours {all:.1} kB, rjsf {rjsf:.1} kB, ratio {:.2} (no budget)",
        rjsf / all
    );
    for fields in [5, 20] {
        let browser = std::cell::RefCell::new(&mut browser);
        let ours = Side::new("ours", |times| {
            browser.borrow_mut().draw("ours", fields, times)
        });
        let rjsf = Side::new("rjsf", |times| {
            browser.borrow_mut().draw("rjsf", fields, times)
        });
        let name = format!("element, {fields} fields drawn");
        figure(&name, "≤ 16 ms", ours, vec![rjsf]);
    }
}

/// A running `peers/web.mjs`. It ends when its input does.
struct Browser {
    _node: Child,
    jobs: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Browser {
    /// Starts the Node that `./bench` has put into `MIDCALL_NODE`; the sizes it tells first.
    fn start() -> (Self, Value) {
        let path =
            env::var_os("MIDCALL_NODE").expect("MIDCALL_NODE: this program is run by ./bench");
        let mut node = Command::new(path)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/web.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node starts");
        let jobs = node.stdin.take().expect("stdin is piped");
        let replies = BufReader::new(node.stdout.take().expect("stdout is piped"));
        let mut browser = Self {
            _node: node,
            jobs,
            replies,
        };
        let sizes = browser.reply()["sizes"].take();
        (browser, sizes)
    }

    fn draw(&mut self, side: &str, fields: u32, times: u64) -> Duration {
        let line = json!({"side": side, "fields": fields, "times": times});
        writeln!(self.jobs, "{line}").expect("Node takes a job");
        let reply = self.reply();
        Duration::from_nanos(reply["ns"].as_u64().expect("Node measures nanoseconds"))
    }

    fn reply(&mut self) -> Value {
        let mut reply = String::new();
        self.replies.read_line(&mut reply).expect("Node replies");
        serde_json::from_str(&reply).expect("Node replies in JSON")
    }
}
