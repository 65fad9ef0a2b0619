//! A client's call, from the request to the last collected result.
//!
//! A call has a [`Stage`] (where the work is) and an [`Audience`] (who waits for it, and who may come back for it).
//! Calls and the questions that come up in them are the two tables of one [`Ledger`], linked by ids.
//!
//! Nothing here does I/O, knows a clock, or reads or writes a message of either era (`leg`).

mod audience;
mod ended;
mod hear;
mod key;
mod ledger;
mod link;
mod made_tasks;
mod name;
mod question;
mod questions;
mod receipts;
mod record;
mod rounds;
mod stage;
mod table;
mod task;
mod tools;

pub use audience::{AWAY, Audience, Waiter};
pub use ended::{EndedQuestion, How};
pub use hear::with_outcome;
pub use key::CallKey;
#[cfg(test)]
pub use ledger::looks;
pub use ledger::{Ability, Ledger, Named};
pub use link::{LinkEnd, Links, NamedLink, Refusal};
pub use made_tasks::MadeTask;
pub use name::{GivenName, Name, NameChange, NameUse};
pub use question::{
    AtClient, DeskState, Origin, Place, Question, QuestionId, WantedBy, What, rendition, told,
};
pub use receipts::Way;
pub use record::{Record, Restored};
pub use rounds::{Answers, Rounds};
pub use stage::{Happened, Sent, Stage, Todo};
pub use task::{LegacyTask, MOST_MISSES, Task, Update};
pub use tools::{Added, Called, Tools};

use crate::moment::Moment;
pub use midcall_core::model::Waiting;
use midcall_core::wire::{LogLevel, Modes, member};

use serde::{Deserialize, Serialize};

use crate::frame::{Frame, Id, Object};

/// The number of a call. Smaller is older.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// One of the processes of a server: the second is spoken to in the other era, where the first can't do a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ServerId {
    First,
    Second,
}

/// A client's request, until nobody can come for its result.
///
/// What isn't part of its [`Record`] is skipped: it names connections of this process.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// What it is called in records; none until it needs that.
    #[serde(skip)]
    pub key: Option<CallKey>,
    /// What the client sent. It never changes.
    pub request: Request,
    /// The process that does it.
    pub server: ServerId,
    /// True if messages about it pass between two modern peers as they came, because the client can ask everything
    /// by itself.
    pub hands_off: bool,
    stage: Stage,
    /// Who waits for the result, and who may come back for it.
    pub audience: Audience,
    /// What the server asked so far; none for almost every call.
    rounds: Option<Box<Rounds>>,
    /// How often it was sent to a server.
    attempts: u32,
}

/// What a client sent.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The id that the client gave it first. In another process, it is nobody's.
    #[serde(skip, default = "Id::nobodys")]
    pub id: Id,
    pub kind: CallKind,
    /// How its client is asked, and told to wait.
    pub told: TellBy,
    /// The tool or prompt, as JSON.
    #[serde(with = "record::json")]
    pub name: Option<Box<[u8]>>,
    /// What a server says its progress by, as JSON.
    #[serde(with = "record::json")]
    pub token: Option<Box<[u8]>>,
    /// The request as it came, if it may have to be sent again.
    pub bytes: Option<Frame>,
    /// True if its result says what the server is.
    pub is_opening: bool,
    /// True if its result is a list or a resource, which clients may keep.
    pub is_cacheable: bool,
    pub since: Moment,
}

/// What a request is for, as far as that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallKind {
    /// The result of a tool.
    Tool,
    /// A prompt or a resource.
    Text,
    /// The list of tools.
    ToolList,
    /// Anything else.
    Other,
}

/// How a client is asked something in a call, and told to wait for its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TellBy {
    /// By requests, and by a result that says how to collect the real one.
    #[default]
    Requests,
    /// By a result that says what to answer and with what to repeat the call.
    Results,
}

/// What a client declared with one request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// How it can ask a person.
    #[serde(with = "record::StoredModes")]
    pub modes: Modes,
    pub sampling: bool,
    pub roots: bool,
    /// True if it knows tasks.
    pub tasks: bool,
    /// True if it makes tasks of questions (2025-11-25).
    pub makes_tasks: bool,
    /// Its capabilities, as JSON.
    pub capabilities: Box<str>,
    /// What it is, as JSON.
    pub info: Option<Box<str>>,
    /// The least important log message that it wants, as JSON.
    pub level: Option<Box<str>>,
}

impl Call {
    /// A call of a client that waits for its result.
    pub fn new(
        request: Request,
        server: ServerId,
        stage: Stage,
        declared: Option<Box<Declared>>,
    ) -> Self {
        let (since, token) = (request.since, request.token.as_deref());
        let waiter = Waiter::new(since, request.id.clone(), token);
        Self {
            key: None,
            request,
            server,
            hands_off: false,
            stage,
            audience: Audience::waiting(waiter, declared),
            rounds: None,
            attempts: 0,
        }
    }

    /// From which level on its client reads the log of the server, which has the call.
    pub fn log_level(&self) -> Option<LogLevel> {
        let waits = self.is_open() && !self.audience.waiters().is_empty();
        let is_sent = waits && !matches!(self.stage, Stage::Confirming | Stage::Queued);
        let declared = self.audience.declared.as_ref().filter(|_| is_sent)?;
        serde_json::from_str(declared.level.as_deref()?).ok()
    }
}

impl CallKind {
    /// The kind of a method's requests.
    pub fn of(method: &str) -> Self {
        match method {
            "tools/call" => Self::Tool,
            "prompts/get" | "resources/read" => Self::Text,
            "tools/list" => Self::ToolList,
            _ => Self::Other,
        }
    }

    /// True if a server can need answers before it can finish such a request.
    pub fn can_ask(self) -> bool {
        matches!(self, Self::Tool | Self::Text)
    }
}

impl Request {
    /// The name of the tool that it calls.
    pub fn tool(&self) -> Option<String> {
        let name = self.name.as_deref().filter(|_| self.kind == CallKind::Tool);
        serde_json::from_slice(name?).ok()
    }

    /// What it amounts to, to know it again under another id: its params without what changes from retry to retry.
    pub fn digest(&self) -> Option<[u8; 32]> {
        digest(self.bytes.as_ref()?)
    }
}

/// What a request amounts to.
pub fn digest(frame: &Frame) -> Option<[u8; 32]> {
    use ring::digest::{Context, SHA256};
    let (kind, members) = frame.peek()?;
    let crate::frame::Kind::Request { method, .. } = kind else {
        return None;
    };
    let mut params = Object::read(members.params?)?;
    for changing in ["_meta", member::REQUEST_STATE, member::INPUT_RESPONSES] {
        params.remove(changing);
    }
    let mut members: Vec<(&str, &str)> = params.iter().collect();
    members.sort_by_key(|(name, _)| *name);
    let mut sum = Context::new(&SHA256);
    let mut add = |text: &str| {
        sum.update(&text.len().to_le_bytes());
        sum.update(text.as_bytes());
    };
    add(&method);
    for (name, json) in members {
        add(name);
        match serde_json::from_str(json) {
            Ok(value) => add(&crate::frame::sorted(&value).to_string()),
            Err(_) => add(json),
        }
    }
    sum.finish().as_ref().try_into().ok()
}
