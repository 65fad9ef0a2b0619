//! AJV in a Node process that takes jobs line by line, so that it can take turns with ours.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// A running `peers/ajv.mjs`. It ends when its input does.
pub struct Ajv {
    _node: Child,
    jobs: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Ajv {
    /// Starts the Node that `./bench` has put into `MIDCALL_NODE`.
    pub fn start() -> Self {
        let path =
            env::var_os("MIDCALL_NODE").expect("MIDCALL_NODE: this program is run by ./bench");
        let mut node = Command::new(path)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/ajv.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node starts");
        let jobs = node.stdin.take().expect("stdin is piped");
        let replies = BufReader::new(node.stdout.take().expect("stdout is piped"));
        Self {
            _node: node,
            jobs,
            replies,
        }
    }

    /// Does a job (a name in `ajv.mjs`) so many times and says how long that took.
    pub fn run(&mut self, job: &str, schema: &str, content: &str, times: u64) -> Duration {
        let line = json!({"job": job, "schema": schema, "content": content, "times": times});
        writeln!(self.jobs, "{line}").expect("Node takes a job");
        let mut reply = String::new();
        self.replies.read_line(&mut reply).expect("Node replies");
        let reply: Value = serde_json::from_str(&reply).expect("Node replies in JSON");
        assert_eq!(reply["valid"], true, "AJV takes the content too");
        Duration::from_nanos(reply["ns"].as_u64().expect("Node measures nanoseconds"))
    }
}
