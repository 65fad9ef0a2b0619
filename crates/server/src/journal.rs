//! What a call's person has said so far, so that its tool can run again and go on.
//!
//! Each answer is pinned to the position of its question in the call, and to a hash of that question.
//! A tool that runs again gets an answer only to the same question at the same position:
//!
//! - The same form with other words (a message, a title, an option, a default) is a *reworded*
//!   question. It is asked again, and so is all that came after it: those answers were given in the
//!   light of the old words. Where an effect ([`Ask::once`](crate::Ask::once)) came after it, that is
//!   too late, and it is a divergence.
//! - Another form (other fields, a link, another id) means that the tool took another way. That is a
//!   divergence: an error, and no answer is used.
//!
//! A journal also holds what the effects of a call gave.
//!
//! Elsewhere: how a journal travels (`place`), how effects run (`once`).

use std::sync::{Mutex, MutexGuard, PoisonError};

use midcall_core::wire::{ElicitResult, InputResponses};
use midcall_core::{Fields, Kind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::asking::{Asking, Misfit, Reply};
use crate::error::Divergence;
use crate::kind::Wants;
use crate::token;

/// Where a question stands in its call: which one it is, and which time it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Position(pub u32, pub u32);

/// What a question is known again by.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pin {
    /// Its fields and their kinds, or that it is a link.
    #[serde(rename = "f")]
    form: u64,
    /// All that the person reads.
    #[serde(rename = "w")]
    words: u64,
    /// For people, if it isn't the same any more: cut, since it may travel.
    #[serde(rename = "m")]
    message: String,
    #[serde(rename = "n")]
    fields: String,
}

/// All that has to be kept of a call. No `Debug`: it has what people typed.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// What the ids of this call are made of. Nobody but the replicas knows it.
    #[serde(rename = "s")]
    pub seed: String,
    #[serde(rename = "q")]
    entries: Vec<Entry>,
    #[serde(rename = "e", default, skip_serializing_if = "Vec::is_empty")]
    effects: Vec<Effect>,
    /// How many questions were reworded.
    #[serde(rename = "r", default, skip_serializing_if = "is_zero")]
    reworded: u32,
}

/// A question that was put.
#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    #[serde(rename = "p")]
    position: Position,
    #[serde(rename = "k")]
    key: String,
    #[serde(rename = "h")]
    pin: Pin,
    /// When its time is over, in Unix seconds.
    #[serde(rename = "u")]
    until: u64,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    said: Option<Said>,
    /// The answer came with the request that this run is for: observers have not heard of it.
    #[serde(skip)]
    is_new: bool,
}

/// How a question ended.
#[derive(Clone, Serialize, Deserialize)]
enum Said {
    /// What came back, and how it ended where a gateway says so. `true` if a client said it, which was
    /// told the question in the words of its revision.
    #[serde(rename = "r")]
    Reply(Map<String, Value>, Option<Value>, bool),
    /// Answers that did not fit, found out elsewhere.
    #[serde(rename = "m")]
    Misfit(String, u32),
    #[serde(rename = "t")]
    TimedOut,
}

/// What an effect of the call gave.
#[derive(Clone, Serialize, Deserialize)]
struct Effect {
    #[serde(rename = "n")]
    name: String,
    /// How many questions were put before it.
    #[serde(rename = "q")]
    after: u32,
    #[serde(rename = "v")]
    value: Value,
}

fn is_zero(times: &u32) -> bool {
    *times == 0
}

/// What is known of a question that a tool puts.
pub(crate) enum Recalled {
    /// It is asked, as if it never was.
    New,
    /// It was told and has no answer yet: it waits for so many seconds more.
    Open(u64),
    /// It has an answer.
    Said {
        ended: Ended,
        /// Observers have not heard of the answer.
        is_new: bool,
    },
}

/// How a question that is recalled ended.
pub(crate) enum Ended {
    Reply { reply: Box<Reply>, by_client: bool },
    Misfit(Misfit),
    TimedOut,
}

/// The journal of a call at work.
pub(crate) struct Journal(Mutex<Record>);

impl Record {
    /// Of a call that begins.
    pub fn new() -> Self {
        Self {
            seed: token::random(),
            entries: Vec::new(),
            effects: Vec::new(),
            reworded: 0,
        }
    }

    /// Whether a client answers a question that is open.
    pub fn is_answered(&self, responses: &InputResponses) -> bool {
        let open = self.entries.iter().filter(|entry| entry.said.is_none());
        let mut answers = open.map(|entry| responses.elicit_result(&entry.key));
        answers.any(|answer| matches!(answer, Some(Ok(_))))
    }

    /// Takes a client's answers to the questions that are open.
    pub fn answer(&mut self, responses: &InputResponses, outcomes: Option<&Value>, now: u64) {
        let mut taken = Vec::new();
        for entry in self.entries.iter_mut().filter(|entry| entry.said.is_none()) {
            if entry.until <= now {
                // Too late, as it would be for a tool that waits.
                entry.said = Some(Said::TimedOut);
                entry.is_new = true;
                continue;
            }
            let result = match responses.elicit_result(&entry.key) {
                Some(Ok(result)) if !taken.contains(&entry.key) => result,
                _ => continue,
            };
            taken.push(entry.key.clone());
            let outcome = outcomes.and_then(|outcomes| outcomes.get(&entry.key).cloned());
            entry.said = Some(Said::Reply(result.write(), outcome, true));
            entry.is_new = true;
        }
    }
}

impl Journal {
    pub fn new(record: Record) -> Self {
        Self(Mutex::new(record))
    }

    /// What travels.
    pub fn record(&self) -> Record {
        self.lock().clone()
    }

    /// What is known of a question. `most` is how many may be reworded in a call.
    pub fn recall(
        &self,
        asking: &Asking,
        position: Position,
        now: u64,
        most: u32,
    ) -> Result<Recalled, Divergence> {
        let pin = Pin::of(asking);
        let mut record = self.lock();
        let at = record.entries.iter().position(|it| it.position == position);
        let Some(at) = at else {
            record.put(asking, position, pin, now);
            return Ok(Recalled::New);
        };
        let entry = &mut record.entries[at];
        if entry.pin == pin {
            let is_new = std::mem::take(&mut entry.is_new);
            return Ok(match &entry.said {
                None => Recalled::Open(entry.until.saturating_sub(now)),
                Some(said) => {
                    let ended = said
                        .read()
                        .ok_or_else(|| entry.pin.diverges(position, &pin))?;
                    Recalled::Said { ended, is_new }
                }
            });
        }
        let is_done = record.effects.iter().any(|it| it.after > position.0);
        let entry = &record.entries[at];
        if entry.pin.form != pin.form || is_done || record.reworded >= most {
            return Err(entry.pin.diverges(position, &pin));
        }
        record.entries.retain(|entry| entry.position < position);
        record.reworded += 1;
        record.put(asking, position, pin, now);
        Ok(Recalled::New)
    }

    /// A question ended.
    pub fn ended(&self, position: Position, ended: &Ended) {
        let said = Said::of(ended);
        let mut record = self.lock();
        let entry = record.entries.iter_mut().find(|it| it.position == position);
        if let Some(entry) = entry {
            entry.said = Some(said);
        }
    }

    /// What the ids of this call are made of.
    pub fn seed(&self) -> String {
        self.lock().seed.clone()
    }

    /// What an effect gave.
    pub fn effect(&self, name: &str) -> Option<Value> {
        let record = self.lock();
        let effect = record.effects.iter().find(|effect| effect.name == name)?;
        Some(effect.value.clone())
    }

    /// Notes what an effect gave, after so many questions.
    pub fn done(&self, name: &str, after: u32, value: Value) {
        let name = name.to_owned();
        self.lock().effects.push(Effect { name, after, value });
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    fn put(&mut self, asking: &Asking, position: Position, pin: Pin, now: u64) {
        let patience = asking.patience.time.as_secs_f64().ceil() as u64;
        self.entries.push(Entry {
            position,
            key: asking.key.clone(),
            pin,
            until: now.saturating_add(patience.max(1)),
            said: None,
            is_new: false,
        });
    }
}

impl Said {
    fn of(ended: &Ended) -> Self {
        match ended {
            Ended::Reply { reply, by_client } => {
                Self::Reply(reply.result.write(), reply.outcome.clone(), *by_client)
            }
            Ended::Misfit(misfit) => Self::Misfit(misfit.problems.clone(), misfit.times),
            Ended::TimedOut => Self::TimedOut,
        }
    }

    /// None if another version of this crate wrote it.
    fn read(&self) -> Option<Ended> {
        Some(match self {
            Self::Reply(result, outcome, by_client) => Ended::Reply {
                reply: Box::new(Reply {
                    result: ElicitResult::read(Value::Object(result.clone())).ok()?,
                    outcome: outcome.clone(),
                }),
                by_client: *by_client,
            },
            Self::Misfit(problems, times) => Ended::Misfit(Misfit {
                problems: problems.clone(),
                times: *times,
            }),
            Self::TimedOut => Ended::TimedOut,
        })
    }
}

impl Pin {
    fn of(asking: &Asking) -> Self {
        let (form, source) = match &asking.wants {
            Wants::Form(shape) => (
                fields_of(&shape.form.fields),
                Value::from(shape.source.clone()),
            ),
            Wants::Link { url, .. } => ("a link".to_owned(), Value::from(url.as_str())),
        };
        let words = Value::from_iter([
            Value::from(asking.message.as_str()),
            asking.again.as_deref().into(),
            asking.because.as_deref().into(),
            asking.dangerous.into(),
            source,
        ]);
        Self {
            form: hash(&format!("{} {form}", asking.key)),
            words: hash(&words.to_string()),
            message: cut(&asking.message),
            fields: cut(&form),
        }
    }

    fn diverges(&self, position: Position, now: &Self) -> Divergence {
        Divergence {
            question: position.0 + 1,
            before: (self.fields.clone(), self.message.clone()),
            now: (now.fields.clone(), now.message.clone()),
        }
    }
}

/// The fields of a form and their kinds, in the words of JSON Schema.
fn fields_of(fields: &Fields) -> String {
    let one = |field: &midcall_core::Field| {
        let kind = match &field.kind {
            Kind::Text(_) => "text".to_owned(),
            Kind::Number(_) => "number".to_owned(),
            Kind::Integer(_) => "integer".to_owned(),
            Kind::Switch => "yes or no".to_owned(),
            Kind::Choice(_) => "choice".to_owned(),
            Kind::Choices(_) => "choices".to_owned(),
            Kind::Tags(_) => "tags".to_owned(),
            Kind::Group(inner) => format!("({})", fields_of(inner)),
            Kind::Json(_) => "json".to_owned(),
        };
        format!("`{}`: {kind}", field.name)
    };
    let all: Vec<String> = fields.iter().map(one).collect();
    all.join(", ")
}

fn hash(text: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = token::digest(text.as_bytes());
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// As much of a text as is worth carrying along.
fn cut(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
