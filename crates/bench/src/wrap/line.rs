//! A client on standard streams that does nothing but what is measured.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::way::{Era, Way};

/// An open session. What was started for it is ended with it.
pub struct Line {
    front: Running,
    behind: Option<Running>,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    read: String,
    id: u64,
    era: Era,
}

/// It says nothing any more, or never did.
#[derive(Debug)]
pub struct Mute;

/// A process in a group of its own, ended with all that it started.
struct Running(Child);

/// What is looked at of a message.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// What is answered to every question.
const ANSWER: &str = r#"{"action":"accept","content":{"word":"yes"}}"#;

/// What a modern client says with every request.
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}"#;

/// How long a way may take to come up.
const PATIENCE: Duration = Duration::from_secs(30);

impl Line {
    /// Starts what the way needs, and opens a session.
    pub fn open(way: &Way) -> Result<Self, Mute> {
        let commands = way.commands();
        let behind = commands.behind.map(|(command, port)| {
            let running = Running::start(&command, Stdio::null(), Stdio::null());
            await_port(port);
            running
        });
        let mut front = Running::start(&commands.front, Stdio::piped(), Stdio::piped());
        let input = front.0.stdin.take().expect("it was piped");
        let output = BufReader::new(front.0.stdout.take().expect("it was piped"));
        let mut line = Self {
            front,
            behind,
            input,
            output,
            read: String::new(),
            id: 0,
            era: way.era,
        };
        line.within(PATIENCE, |line| {
            if line.era == Era::Modern {
                return line.request("server/discover", "");
            }
            let client = r#""protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"bench","version":"1"}"#;
            line.request("initialize", client)?;
            line.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        })?;
        Ok(line)
    }

    /// A call of a tool.
    pub fn call(&mut self) -> Result<(), Mute> {
        self.request(
            "tools/call",
            r#""name":"echo","arguments":{"text":"Hello, is anybody there?"}"#,
        )
    }

    /// A call of a tool that asks, and the answer.
    pub fn ask(&mut self) -> Result<(), Mute> {
        self.request("tools/call", r#""name":"ask","arguments":{}"#)
    }

    /// Does something that may never come to an end. If it does not, this line is over.
    pub fn within(
        &mut self,
        time: Duration,
        work: impl FnOnce(&mut Self) -> Result<(), Mute>,
    ) -> Result<(), Mute> {
        let group = self.front.group();
        let (done, late) = channel::<()>();
        let guard = thread::spawn(move || {
            if late.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                let _ = kill_process_group(group, Signal::KILL);
            }
        });
        let worked = work(self);
        drop(done);
        guard.join().expect("it only waits");
        worked
    }

    /// The processes that were started for it.
    pub fn pids(&self) -> Vec<u32> {
        let behind = self.behind.iter().map(|running| running.0.id());
        behind.chain([self.front.0.id()]).collect()
    }

    /// Sends a request, the members of its params, and waits for its response. Questions are
    /// answered meanwhile, by a response or by the same request again.
    fn request(&mut self, method: &str, params: &str) -> Result<(), Mute> {
        let mut wanted = self.sends(method, params)?;
        loop {
            self.read.clear();
            let read = self.output.read_line(&mut self.read).map_err(|_| Mute)?;
            if read == 0 {
                return Err(Mute);
            }
            let Ok(peek) = serde_json::from_str::<Peek<'_>>(&self.read) else {
                continue; // a proxy talks
            };
            match (peek.id.map(RawValue::get), peek.method) {
                (Some(id), None) if id == wanted => {
                    let Some((key, state)) = peek.result.and_then(round) else {
                        return Ok(());
                    };
                    let again = format!(
                        r#"{params},"requestState":{state},"inputResponses":{{"{key}":{ANSWER}}}"#
                    );
                    wanted = self.sends(method, &again)?;
                }
                (Some(id), Some("elicitation/create")) => {
                    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ANSWER}}}"#);
                    self.send(&answer)?;
                }
                _ => {}
            }
        }
    }

    /// Sends a request: the id of its response.
    fn sends(&mut self, method: &str, params: &str) -> Result<String, Mute> {
        self.id += 1;
        let (id, comma) = (self.id, if params.is_empty() { "" } else { "," });
        let params = match self.era {
            Era::Legacy => params.to_owned(),
            Era::Modern => format!(r#"{params}{comma}"_meta":{META}"#),
        };
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#
        ))?;
        Ok(id.to_string())
    }

    fn send(&mut self, line: &str) -> Result<(), Mute> {
        self.input
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|_| Mute)
    }
}

impl Running {
    fn start(command: &[String], input: Stdio, output: Stdio) -> Self {
        let child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(input)
            .stdout(output)
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", command[0]));
        Self(child)
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // First kindly: what ends at once cannot end what it started elsewhere.
        let last = Instant::now() + Duration::from_secs(2);
        let _ = kill_process_group(self.group(), Signal::TERM);
        while Instant::now() < last && matches!(self.0.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = kill_process_group(self.group(), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// The key of the question in a result that asks one, and the state to come back with.
fn round(result: &RawValue) -> Option<(String, String)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Round<'a> {
        input_requests: HashMap<String, IgnoredAny>,
        #[serde(borrow)]
        request_state: &'a RawValue,
    }
    if !result.get().contains("input_required") {
        return None;
    }
    let round: Round<'_> = serde_json::from_str(result.get()).ok()?;
    let key = round.input_requests.into_keys().next()?;
    Some((key, round.request_state.get().to_owned()))
}

/// Waits until somebody listens.
fn await_port(port: u16) {
    let last = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() && Instant::now() < last {
        thread::sleep(Duration::from_millis(10));
    }
}
