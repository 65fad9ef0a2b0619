//! What servers say, and what they are told.

pub mod legacy;
pub mod modern;
pub mod opening;

use midcall_core::Asker;
use midcall_core::wire::{Era, InputRequiredResult, JsonObject, LogLevel, Modes, Revision, code};
use serde::Deserialize;
use serde_json::{Value, json};

use super::SERVER_INFO;
use crate::call::{Call, Declared, Request};
use crate::frame::{Frame, Id, Members};
use crate::leg::wrong_era::refuses_era;

/// What a server said of itself, for as long as its process or session lives.
pub struct ServerFacts {
    era: Era,
    pub revision: Revision,
    /// How people are told of it.
    pub asker: Asker,
    /// True if calls of its tools can be tasks (2025-11-25).
    pub runs_tasks: bool,
    /// True if it may make tasks of calls (2026-07-28).
    pub makes_tasks: bool,
    /// What it answered to `initialize` or `server/discover`.
    pub said: Value,
}

/// What a client can do, as a server is told.
pub struct Offer<'a> {
    pub declared: &'a Declared,
    /// How others than the client can ask a person.
    pub added: Modes,
}

/// What a server's response to a call amounts to.
pub enum Returned {
    /// The end of the call.
    Final,
    /// The server needs answers first.
    Round(Box<InputRequiredResult>),
    /// The same, but nobody can say what it needs, for this reason.
    Unreadable(String),
    /// The server said what the task is called that Midcall made of the call (2025-11-25).
    LegacyTask(String),
    /// The server makes a task of the call, or says how far it is (2026-07-28).
    Task(Box<modern::TaskTold>),
    /// The server can do the call in the other era only.
    WrongEra,
}

impl ServerFacts {
    /// A server that has said nothing yet.
    pub fn new(asker: Asker) -> Self {
        Self {
            era: Era::Legacy,
            revision: super::NEWEST_LEGACY,
            asker,
            runs_tasks: false,
            makes_tasks: false,
            said: Value::Null,
        }
    }

    /// True if it asks by results.
    pub fn has_rounds(&self) -> bool {
        self.era == Era::Modern
    }

    /// A server that answered `server/discover` with this.
    pub fn discovered(&mut self, said: Value) {
        self.era = Era::Modern;
        self.revision = Revision::V2025_11_25; // What it asks, clients of the other era hear in their own words.
        self.makes_tasks = modern::makes_tasks(&said);
        self.said = said;
        let info = self.info();
        self.named(&info);
    }

    /// A server that answered `initialize` with this; false if that can't be read.
    pub fn initialized(&mut self, result: &[u8]) -> bool {
        let Ok(said) = serde_json::from_slice::<Value>(result) else {
            return false;
        };
        let Some(version) = said["protocolVersion"].as_str() else {
            return false;
        };
        self.era = Era::Legacy;
        self.revision = version.parse().unwrap_or(super::NEWEST_LEGACY);
        self.runs_tasks = said
            .pointer("/capabilities/tasks/requests/tools/call")
            .is_some();
        let info = said["serverInfo"].clone();
        self.said = said;
        self.named(&info);
        true
    }

    fn named(&mut self, info: &Value) {
        let text = |name: &str| info[name].as_str().filter(|text| !text.is_empty());
        self.asker.version = info["version"]
            .as_str()
            .filter(|it| !it.is_empty())
            .map(str::to_owned);
        if let Some(name) = text("title").or(text("name")) {
            // It stands in sentences of our own, where it must not look like more than a name.
            self.asker.server = crate::unseen::one_line(name, LONGEST_NAME);
        }
    }

    /// What a modern server calls itself, as the other era has it.
    pub fn info(&self) -> Value {
        let info = &self.said["_meta"][SERVER_INFO];
        match info.is_object() {
            true => info.clone(),
            false => json!({"name": "", "version": ""}),
        }
    }
}

/// How many characters of a server's name are shown.
const LONGEST_NAME: usize = 200;

/// A request as the server gets it; none if it can't be said in its era.
pub fn call(
    facts: &ServerFacts,
    request: &Request,
    frame: &Frame,
    offer: &Offer<'_>,
) -> Option<Frame> {
    match facts.era {
        Era::Legacy => Some(legacy::call(request.told, frame)),
        Era::Modern => modern::call(facts, frame, offer),
    }
}

/// A call as the server gets it once more, with what was found out for it. None if nobody kept how it was made.
pub fn again(facts: &ServerFacts, call: &Call, id: &Id, offer: &Offer<'_>) -> Option<Frame> {
    let frame = call.request.bytes.as_ref()?;
    let frame = match facts.era {
        Era::Legacy => legacy::call(call.request.told, frame),
        Era::Modern => modern::again(facts, frame, call.rounds(), offer)?,
    };
    Some(frame.with_id(id))
}

/// Asks for a page of the server's tools: the first, or the one that the page before named.
pub fn list_tools(id: &Id, cursor: Option<&str>, meta: Option<JsonObject>) -> Frame {
    let mut params = JsonObject::new();
    params.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
    params.extend(meta.map(|meta| ("_meta".to_owned(), meta.into())));
    Frame::request(id, "tools/list", &params)
}

/// What a response to a call amounts to.
pub fn read(facts: &ServerFacts, call: &Call, members: &Members<'_>) -> Returned {
    if call.is_starting()
        && let Some(task) = legacy::task_id(members)
    {
        return Returned::LegacyTask(task);
    }
    if let (Era::Modern, Some(result)) = (facts.era, members.result)
        && let Some(returned) = modern::read(result)
    {
        return returned;
    }
    match refuses_era(members) {
        true => Returned::WrongEra,
        false => Returned::Final,
    }
}

/// The level of a line of a log, or that a client wants to read.
pub fn log_level(members: &Members<'_>) -> Option<LogLevel> {
    #[derive(Deserialize)]
    struct Line {
        level: LogLevel,
    }
    let line = serde_json::from_slice::<Line>(members.params?).ok()?;
    Some(line.level)
}

/// What a server gets that has too many requests open.
pub fn too_many_requests(id: &Id) -> Frame {
    let told = "midcall: too many requests of the server are open";
    Frame::error(Some(id), code::INVALID_REQUEST, told)
}
