//! A server as a client meets it: a process that answers requests.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use midcall_core::wire::code;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout};

use crate::awake::within;
use crate::frame::{Frame, Id, Kind, Members};
use crate::times::DOCTOR_END;
use crate::transport::child::{Child, StartError};
use crate::transport::{Line, Lines, Outbox, Reading};

/// A server that runs.
pub struct Peer {
    child: Child,
    from: Lines,
    to: Outbox,
    errors: Arc<Mutex<VecDeque<u8>>>,
    hearing: JoinHandle<()>,
    asked: u64,
    /// Whether it reads no more.
    is_deaf: bool,
    noise: Noise,
}

/// What it printed among its messages and is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    pub lines: usize,
    /// The beginning of the first one.
    pub first: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Trouble {
    NotStarted(StartError),
    /// Before it answered; without a status, it has closed its pipes and runs on.
    Ended(Option<ExitStatus>),
    /// It runs and says nothing.
    Silent,
    /// A message without an end.
    TooLong,
    /// It says no.
    Refused {
        code: i64,
        message: String,
    },
    /// It answers, but not what was asked.
    Unreadable,
}

/// What is left of a server that was ended.
#[derive(Debug, Default)]
pub struct Remains {
    /// The last lines of its standard error.
    pub errors: Vec<String>,
    pub noise: Noise,
}

/// The longest message.
const LONGEST: usize = 64 * 1024 * 1024;
/// How much of its standard error is kept.
const ERRORS: usize = 8 * 1024;
/// How many lines of it are told.
const ERROR_LINES: usize = 12;
/// How much of a line that is no message is told.
const NOISE: usize = 120;

impl Peer {
    pub fn start(command: &[OsString]) -> Result<Self, Trouble> {
        let started = Child::overheard(command).map_err(Trouble::NotStarted)?;
        let (child, output, input, errors) = started;
        let kept = Arc::default();
        Ok(Self {
            child,
            from: Lines::new(output, LONGEST),
            to: Outbox::new(input),
            hearing: tokio::spawn(hear(errors, Arc::clone(&kept))),
            errors: kept,
            asked: 0,
            is_deaf: false,
            noise: Noise::default(),
        })
    }

    /// Asks for something and waits for the result.
    pub async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        until: Instant,
    ) -> Result<Value, Trouble> {
        self.asked += 1;
        let id = Id::from(self.asked);
        self.to
            .push(Frame::request(&id, method, params).into_bytes());
        let patience = until.saturating_duration_since(Instant::now());
        let answer = within(patience, self.answer(&id)).await;
        answer.unwrap_or(Err(Trouble::Silent))
    }

    /// Tells something.
    pub fn tell(&mut self, method: &str) {
        let told = Frame::write(&json!({"jsonrpc": "2.0", "method": method}));
        self.to.push(told.into_bytes());
    }

    /// Ends it, first kindly.
    pub async fn end(mut self) -> Remains {
        self.to.close().await;
        if timeout(DOCTOR_END.get(), self.child.end()).await.is_err() {
            self.child.signal(Signal::TERM);
            let _ = timeout(DOCTOR_END.get(), self.child.end()).await;
        }
        self.child.clear().await;
        let _ = timeout(DOCTOR_END.get(), &mut self.hearing).await;
        self.hearing.abort(); // What it started may hold its standard error for ever.
        let errors = self.errors.lock();
        let errors: Vec<u8> = (errors.unwrap_or_else(PoisonError::into_inner))
            .iter()
            .copied()
            .collect();
        let errors = String::from_utf8_lossy(&errors);
        let lines: Vec<&str> = errors
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let from = lines.len().saturating_sub(ERROR_LINES);
        Remains {
            errors: lines[from..]
                .iter()
                .map(|line| (*line).to_owned())
                .collect(),
            noise: self.noise,
        }
    }

    async fn answer(&mut self, wanted: &Id) -> Result<Value, Trouble> {
        loop {
            consume_budget().await; // A flood must not keep the time from being looked at.
            let line = tokio::select! {
                line = self.from.next() => line,
                written = self.to.flush(), if !self.is_deaf && !self.to.is_empty() => {
                    self.is_deaf = written.is_err(); // What it said before still counts.
                    continue;
                }
            };
            let frame = match line {
                Ok(Line::Whole(line)) => Frame::new(line),
                Ok(Line::TooLong(_) | Line::Endless) => return Err(Trouble::TooLong),
                Ok(Line::End) | Err(_) => return Err(self.gone().await),
            };
            match frame.peek() {
                Some((Kind::Response { id: Some(id) }, members)) if id == *wanted => {
                    return read(&members);
                }
                Some((Kind::Request { id, method }, _)) if !self.to.is_flooded() => {
                    let answer = match &*method {
                        "ping" => Frame::result(&id, &json!({})),
                        _ => Frame::error(Some(&id), code::METHOD_NOT_FOUND, "not here"),
                    };
                    self.to.answer(answer.into_bytes());
                }
                Some(_) => {}
                None => self.noise.add(frame),
            }
        }
    }

    /// It has closed its pipes: most have ended then.
    async fn gone(&mut self) -> Trouble {
        let status = timeout(DOCTOR_END.get(), self.child.end()).await;
        Trouble::Ended(status.ok().and_then(Result::ok))
    }
}

impl Noise {
    fn add(&mut self, frame: Frame) {
        self.lines += 1;
        if self.lines == 1 {
            let line = frame.into_bytes();
            let start = String::from_utf8_lossy(&line[..line.len().min(4 * NOISE)]);
            self.first = start.trim().chars().take(NOISE).collect();
        }
    }
}

fn read(members: &Members<'_>) -> Result<Value, Trouble> {
    if let Some(result) = members.result {
        return serde_json::from_slice(result).map_err(|_| Trouble::Unreadable);
    }
    let error = members.error.unwrap_or_default();
    let error: Value = serde_json::from_slice(error).map_err(|_| Trouble::Unreadable)?;
    Err(Trouble::Refused {
        code: error["code"].as_i64().unwrap_or_default(),
        message: error["message"].as_str().unwrap_or_default().to_owned(),
    })
}

/// Keeps the end of what is said.
async fn hear(mut errors: Reading, kept: Arc<Mutex<VecDeque<u8>>>) {
    let mut piece = [0; 4 * 1024];
    while let Ok(read @ 1..) = errors.read(&mut piece).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&piece[..read]);
        let surplus = kept.len().saturating_sub(ERRORS);
        kept.drain(..surplus);
    }
}
