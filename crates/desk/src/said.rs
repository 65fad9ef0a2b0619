//! What a person handed in, on its way from the node that took it to the node that waits.

use midcall_core::{Answer, Values, Words};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::desk::Submission;

/// An answer as JSON. No `Debug`: it is what people typed.
pub(crate) struct Said(Box<RawValue>);

impl Said {
    pub fn of(answer: &Answer) -> Option<Self> {
        let said = match answer {
            Answer::Accepted(checked) => json!({"accept": checked.values().clone().into_object()}),
            Answer::Declined { reason } => json!({"decline": reason.as_ref().map(Words::as_str)}),
            Answer::Cancelled => json!({"cancel": null}),
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
