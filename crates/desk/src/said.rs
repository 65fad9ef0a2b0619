//! What a person handed in, in the ticket's record until the asker has sent it on.

use midcall_core::{Answer, Values, Words};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::desk::Submission;

/// An answer as JSON. No `Debug`: it is what people typed.
pub(crate) struct Said(Box<RawValue>);

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Written<'a> {
    Accept(#[serde(serialize_with = "write_values")] &'a Values),
    Decline(Option<&'a str>),
    Cancel(()),
}

impl Said {
    pub fn of(answer: &Answer) -> Option<Self> {
        let said = match answer {
            Answer::Accepted(checked) => Written::Accept(checked.values()),
            Answer::Declined { reason } => Written::Decline(reason.as_ref().map(Words::as_str)),
            Answer::Cancelled => Written::Cancel(()),
        };
        serde_json::value::to_raw_value(&said).ok().map(Self)
    }

    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }

    pub fn read(raw: &RawValue) -> Option<Submission> {
        let said: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
        let (action, what) = said.into_iter().next()?;
        match (action.as_str(), what) {
            ("accept", Value::Object(values)) => Some(Submission::Accept(Values::from(values))),
            ("decline", reason) => Some(Submission::Decline(reason.as_str().and_then(Words::new))),
            ("cancel", _) => Some(Submission::Cancel),
            _ => None,
        }
    }
}

fn write_values<S: Serializer>(values: &Values, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(values.names().map(|name| (name, values.get(name))))
}
