//! A call as it is written down, so that another process can go on with it.
//!
//! A record holds what the client sent, where the work on it is, what was found out so far and the questions that belong
//! to this call alone. It doesn't hold what names connections of this process: who waits, ids on the wire, progress. Nor
//! does it hold questions that a server asked by a request, because the answer has nowhere to go once that server's
//! connection is gone.
//!
//! Records hold what people typed. They have no `Debug`, and whoever stores one has to seal it.
//!
//! In: [`Record::of`], [`Restored::read`]. Out: [`Record::write`], [`Ledger::adopt`].

mod question;

use std::time::{Duration, SystemTime};

use midcall_core::wire::{Modes, code};
use midcall_core::{ElicitationError, Limits};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::to_raw_value;

use question::StoredQuestion;

use super::task::Raw;
use super::{Call, CallId, CallKey, Ledger, Question, QuestionId, Stage};
use crate::frame::{Frame, Id};
use crate::moment::Moment;
use crate::route::Fingerprint;

/// A call to be written down. No `Debug`: it holds what people typed.
pub struct Record {
    pub key: CallKey,
    server: Fingerprint,
    content: Raw,
}

/// A call that was read, before it is in a ledger. No `Debug`: it holds what people typed.
pub struct Restored {
    pub key: CallKey,
    pub server: Fingerprint,
    /// True if the server may get the call again though it may have it already.
    pub repeats: bool,
    call: Call,
    questions: Vec<StoredQuestion>,
}

/// Why a record isn't taken up. It says nothing of what the record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableRecord {
    #[error("the record has version {0}, and this version of Midcall reads version {VERSION}")]
    Version(u64),
    #[error("the record has {0} bytes, and at most {LONGEST} are read")]
    TooLarge(usize),
    #[error("the record is damaged")]
    Damaged,
}

/// Why a call can't be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    #[error("it has {0} bytes, and at most {LONGEST} are kept")]
    TooLarge(usize),
    #[error("it holds a message that isn't JSON")]
    NotJson,
}

/// The version of what [`Record::write`] writes.
const VERSION: u64 = 1;

/// How long a record may be.
const LONGEST: usize = 4 * 1024 * 1024;

/// How long a result may be that is kept in a record.
const LONGEST_RESULT: usize = 1024 * 1024;

/// How long what stands around the content of a record may be.
const ENVELOPE: usize = 64 * 1024;

/// The only member that is read before it is known what the others mean.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    version: u64,
    key: String,
    saved: Saved,
    server: Fingerprint,
    content: Raw,
}

/// When a record was written, by the clocks of the process that wrote it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    /// The time of day, in microseconds since 1970.
    wall: u64,
    moment: Moment,
}

#[derive(Serialize)]
struct Written<'a> {
    repeats: bool,
    call: &'a Call,
    questions: Vec<StoredQuestion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    repeats: bool,
    call: Call,
    questions: Vec<StoredQuestion>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Modes", deny_unknown_fields)]
pub struct StoredModes {
    form: bool,
    url: bool,
}

impl Record {
    /// A call of a server as it is now. `repeats`: the server may get the call again though it may have it already.
    pub fn of(
        ledger: &Ledger,
        id: CallId,
        server: &Fingerprint,
        repeats: bool,
    ) -> Option<Result<Self, Unwritable>> {
        let call = ledger.calls.get(id)?;
        let key = call.key?;
        let questions = ledger.questions.of_call(id).into_iter();
        let questions = questions.filter_map(|question| ledger.questions.get(question));
        let written = Written {
            repeats,
            call,
            questions: questions
                .filter_map(|question| question.stored(id))
                .collect(),
        };
        let content = match to_raw_value(&written) {
            Ok(content) if content.get().len() <= LONGEST - ENVELOPE => content,
            Ok(content) => return Some(Err(Unwritable::TooLarge(content.get().len()))),
            Err(_) => return Some(Err(Unwritable::NotJson)),
        };
        Some(Ok(Self {
            key,
            server: server.clone(),
            content,
        }))
    }

    /// What it says, without when it was written.
    pub fn content(&self) -> &[u8] {
        self.content.get().as_bytes()
    }

    /// The record as JSON, written `now`, at this time of day.
    pub fn write(self, now: Moment, wall: SystemTime) -> Vec<u8> {
        let envelope = Envelope {
            version: VERSION,
            key: self.key.to_string(),
            saved: Saved {
                wall: micros(wall),
                moment: now,
            },
            server: self.server,
            content: self.content,
        };
        serde_json::to_vec(&envelope).expect("names, numbers and JSON can be written")
    }
}

impl Restored {
    /// Reads a record `now`, at this time of day. Its times become times of this process, so that as much is left of a
    /// deadline as the time of day says.
    pub fn read(json: &[u8], now: Moment, wall: SystemTime) -> Result<Self, UnreadableRecord> {
        if json.len() > LONGEST {
            return Err(UnreadableRecord::TooLarge(json.len()));
        }
        let damaged = |_: serde_json::Error| UnreadableRecord::Damaged;
        let versioned: Versioned = serde_json::from_slice(json).map_err(damaged)?;
        if versioned.version != VERSION {
            return Err(UnreadableRecord::Version(versioned.version));
        }
        let envelope: Envelope = serde_json::from_slice(json).map_err(damaged)?;
        let key = envelope.key.parse();
        let key = key.map_err(|_| UnreadableRecord::Damaged)?;
        let Content {
            repeats,
            mut call,
            mut questions,
        } = serde_json::from_str(envelope.content.get()).map_err(damaged)?;
        let then = envelope.saved.moment;
        let since = micros(wall).saturating_sub(envelope.saved.wall);
        let here = now - Duration::from_micros(since);
        let rebase = |moment: &mut Moment| *moment = moment.rebased(then, here);
        call.rebase(rebase);
        for question in &mut questions {
            question.rebase(rebase);
        }
        call.key = Some(key);
        if let Some(task) = call.task_mut() {
            task.restore();
        }
        Ok(Self {
            key,
            server: envelope.server,
            repeats,
            call,
            questions,
        })
    }

    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Calls it by an id of this process. That of its client's request means another one here.
    pub fn is_called(&mut self, id: Id) {
        if let Stage::AtServer(sent) | Stage::Cancelled { sent, .. } = &mut self.call.stage {
            sent.id = id.clone();
        }
        self.call.request.id = id;
    }
}

impl Ledger {
    /// Takes a call up, with its questions. What one of them asked may not be readable any more.
    pub fn adopt(
        &mut self,
        restored: Restored,
        limits: &Limits,
    ) -> (CallId, Result<Vec<QuestionId>, ElicitationError>) {
        let id = self.calls.open(restored.call);
        let questions = restored.questions.into_iter();
        let questions: Result<Vec<Question>, _> =
            questions.map(|it| it.restore(id, limits)).collect();
        let add = |question| self.questions.add(question);
        let ids = questions.map(|questions| questions.into_iter().map(add).collect());
        (id, ids)
    }
}

impl Call {
    /// Changes every time in it that is written down.
    fn rebase(&mut self, rebase: impl Fn(&mut Moment)) {
        rebase(&mut self.request.since);
        match &mut self.stage {
            Stage::Paused { until, .. }
            | Stage::Cancelled { until, .. }
            | Stage::Done { until, .. } => {
                rebase(until);
            }
            Stage::Confirming
            | Stage::Queued
            | Stage::AtServer(_)
            | Stage::Asking { .. }
            | Stage::Task(_) => {}
        }
        let links = self
            .rounds
            .iter_mut()
            .flat_map(|rounds| &mut rounds.links.all);
        for (consented, _) in links.filter_map(|link| link.consent.as_mut()) {
            rebase(consented);
        }
    }
}

/// Writes the result of a call. One that is too large stays with the process that has it.
pub fn result<S: Serializer>(result: &Frame, to: S) -> Result<S::Ok, S::Error> {
    if result.len() <= LONGEST_RESULT {
        return result.serialize(to);
    }
    let told = "midcall: the result was too large to keep, and the process that had it has ended";
    let error = Frame::error(Some(&Id::nobodys()), code::INTERNAL_ERROR, told);
    error.serialize(to)
}

fn micros(wall: SystemTime) -> u64 {
    let since = wall.duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(u64::MAX)
}

/// JSON as it came.
pub mod json {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::value::RawValue;

    pub fn serialize<S: Serializer>(json: &Option<Box<[u8]>>, to: S) -> Result<S::Ok, S::Error> {
        let raw = json.as_deref().map(serde_json::from_slice::<&RawValue>);
        let raw = raw.transpose();
        let raw = raw.map_err(|_| S::Error::custom("this isn't JSON"))?;
        raw.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<[u8]>>, D::Error> {
        let raw = Option::<Box<RawValue>>::deserialize(from);
        let raw = raw.map_err(|_| D::Error::custom("this isn't JSON"))?;
        Ok(raw.map(|raw| raw.get().as_bytes().into()))
    }
}

/// What a server wants back with the call.
pub mod state {
    use midcall_core::wire::RequestState;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(
        state: &Option<RequestState>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let text = state.as_ref().map(|state| &state.0);
        text.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<RequestState>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        Ok(text.map(RequestState))
    }
}

#[cfg(test)]
mod tests;
