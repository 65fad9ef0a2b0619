//! One question: what is wanted, in which words, and by whom.

use std::fmt;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::ambiguous::is_ambiguous;
use crate::answer::Answer;
use crate::form::{Fault, Form, FormError, Problem};
use crate::limits::{Limits, is_within};
use crate::link::Link;
use crate::values::{Checked, Unfit, Values};
use crate::wire::{Action, Asked, ElicitRequestParams, ElicitResult, Unreadable, hints, mark};

/// What a server wants to know.
///
/// ```
/// use midcall_core::wire::ElicitResult;
/// use midcall_core::{Answer, Asker, Elicitation, Limits};
/// # use serde_json::json;
///
/// let params = r#"{"message": "Delete 3 files?", "requestedSchema":
///     {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}}"#;
/// let question = Elicitation::read(params, Asker::named("files"), &Limits::default())?;
///
/// let yes = ElicitResult::read(json!({"action": "accept", "content": {"sure": true}}))?;
/// let limits = Limits::default();
/// assert!(matches!(question.answer(yes, &limits), Ok(Answer::Accepted(_))));
///
/// let unclear = ElicitResult::read(json!({"action": "accept", "content": {"sure": "yes"}}))?;
/// assert!(question.answer(unclear, &limits).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)] // Debug is written by hand: `_meta` in the params may hold anything
pub struct Elicitation {
    /// What the server says to the person.
    pub message: String,
    /// What is to be done.
    pub wanted: Wanted,
    /// Who asks.
    pub asker: Asker,
    /// How long the server wants the question to wait, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Whether accepting it destroys something, as the server says.
    pub destructive: bool,
    /// True if a field of the form asks for a secret, which belongs in URL mode.
    pub asks_secret: bool,
    /// The params for surfaces that read them by themselves: as they came on the wire, and with
    /// hints and marks where surfaces look for them.
    params: Box<RawValue>,
}

/// What a person is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// Fill in a form.
    Form(Box<Form>),
    /// Open a link.
    Link(Link),
}

/// Who asks. People always see it: an answer goes to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// The server's name, as it introduced itself.
    pub server: String,
    /// The server's version, if it has one.
    pub version: Option<String>,
    /// The tool in whose call the question came up, if that is known.
    pub tool: Option<String>,
    /// The host the server is reached at, if it is not a process on this machine.
    pub host: Option<String>,
    /// Unencrypted origins to which the person's policy lets this server send them, as
    /// [`http_origin`](crate::link::http_origin) writes them.
    pub links: Vec<String>,
}

/// Why a question cannot be put to a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElicitationError {
    /// More bytes than [`Limits::schema_bytes`] and [`Limits::message_bytes`] together.
    #[error("the question is {bytes} bytes long; at most {limit} are read")]
    TooLong {
        /// How long it was.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Not JSON.
    #[error("the question is not JSON (line {line}, column {column})")]
    NotJson {
        /// Where reading stopped.
        line: usize,
        /// Where reading stopped.
        column: usize,
    },
    /// An object in it has a member twice.
    #[error("the question has a member twice, so that two readers may understand it in two ways")]
    Ambiguous,
    /// Not the params of `elicitation/create`.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The schema is not a form.
    #[error("the requested schema cannot be asked: {0}")]
    Form(#[from] FormError),
    /// More bytes than [`Limits::message_bytes`].
    #[error("the message is {bytes} bytes long; at most {limit} are shown")]
    MessageTooLong {
        /// How long it was.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
}

impl ElicitationError {
    /// True if the question is merely not understood here: a field of an unknown kind, a mode of a later revision.
    /// Otherwise it is larger than anything that is looked at, or not to be judged at all.
    pub fn is_unknown(&self) -> bool {
        match self {
            Self::Unreadable(_) => true,
            Self::Form(error) => matches!(error, FormError::Nonsense { .. }),
            Self::TooLong { .. }
            | Self::NotJson { .. }
            | Self::Ambiguous
            | Self::MessageTooLong { .. } => false,
        }
    }
}

impl Elicitation {
    /// Reads a question from the params of `elicitation/create`, as the wire brought them.
    pub fn read(text: &str, asker: Asker, limits: &Limits) -> Result<Self, ElicitationError> {
        let limit = limits.schema_bytes + limits.message_bytes;
        if text.len() > limit {
            let bytes = text.len();
            return Err(ElicitationError::TooLong { bytes, limit });
        }
        let not_json = |error: serde_json::Error| ElicitationError::NotJson {
            line: error.line(),
            column: error.column(),
        };
        let mut raw: Box<RawValue> = serde_json::from_str(text).map_err(not_json)?;
        let mut params: Value = serde_json::from_str(raw.get()).map_err(not_json)?;
        if is_ambiguous(raw.get()) {
            return Err(ElicitationError::Ambiguous);
        }
        if hints::apply(&mut params, limits) {
            raw = serde_json::value::to_raw_value(&params).map_err(not_json)?;
        }
        let params = ElicitRequestParams::read(params)?;
        if params.message.len() > limits.message_bytes {
            return Err(ElicitationError::MessageTooLong {
                bytes: params.message.len(),
                limit: limits.message_bytes,
            });
        }
        let timeout_ms = params.timeout_ms();
        let destructive = params.is_destructive();
        let mut asks_secret = false;
        let wanted = match params.asked {
            Asked::Form { requested_schema } => {
                let mut form = Form::from_value(requested_schema, limits)?;
                let marks = mark::of(&form);
                asks_secret = !marks.is_empty();
                if asks_secret {
                    let mut shown: Value = serde_json::from_str(raw.get()).map_err(not_json)?;
                    mark::apply(&mut shown["requestedSchema"], &marks);
                    raw = serde_json::value::to_raw_value(&shown).map_err(not_json)?;
                    let bytes = raw.get().len();
                    if bytes > limit {
                        return Err(ElicitationError::TooLong { bytes, limit });
                    }
                    form = Form::from_value(shown["requestedSchema"].take(), limits)?;
                }
                Wanted::Form(Box::new(form))
            }
            Asked::Url { url, .. } => {
                let host = asker.host.as_deref();
                Wanted::Link(Link::read_allowing(&url, host, &asker.links))
            }
        };
        Ok(Self {
            message: params.message,
            wanted,
            asker,
            timeout_ms,
            destructive,
            asks_secret,
            params: raw,
        })
    }

    /// The params as they came on the wire. Hints in their `_meta` ([`HINTS`](crate::wire::meta::HINTS))
    /// also stand in the schema.
    pub fn params(&self) -> &RawValue {
        &self.params
    }

    /// What a client's result says. Content that does not fit, or is too large, is not an
    /// answer.
    pub fn answer(&self, result: ElicitResult, limits: &Limits) -> Result<Answer, Unfit> {
        Ok(match (result.action(), &self.wanted) {
            (Action::Accept, Wanted::Form(form)) => {
                let content = Value::Object(result.into_content().unwrap_or_default());
                if !is_within(&content, limits.content_bytes) {
                    let problems = vec![Problem::new("", Fault::TooBig)];
                    return Err(Unfit { problems });
                }
                let Value::Object(content) = content else {
                    unreachable!("it was made an object above")
                };
                Answer::Accepted(form.check(form.trim(Values::from(content)))?)
            }
            // Opening a link is consent and has no content, whatever a client puts there.
            (Action::Accept, Wanted::Link(_)) => Answer::Accepted(Checked::consent()),
            (Action::Decline, _) => Answer::Declined {
                reason: result.reason(),
            },
            (Action::Cancel, _) => Answer::Cancelled,
        })
    }

    /// How an answer is said to the server. The protocol has no place for the reason of a
    /// refusal: it belongs in the outcome, under `_meta`.
    pub fn result(&self, answer: Answer) -> ElicitResult {
        match (answer, &self.wanted) {
            (Answer::Accepted(content), Wanted::Form(_)) => {
                ElicitResult::accept(Some(content.into_values().into_object()))
            }
            (Answer::Accepted(_), Wanted::Link(_)) => ElicitResult::accept(None),
            (Answer::Declined { .. }, _) => ElicitResult::decline(),
            (Answer::Cancelled, _) => ElicitResult::cancel(),
        }
    }
}

impl fmt::Debug for Elicitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elicitation")
            .field("message", &self.message)
            .field("wanted", &self.wanted)
            .field("asker", &self.asker)
            .finish_non_exhaustive()
    }
}

impl Asker {
    /// A server of which no more is known than its name.
    pub fn named(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            version: None,
            tool: None,
            host: None,
            links: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn question(params: Value) -> Elicitation {
        Elicitation::read(
            &params.to_string(),
            Asker::named("files"),
            &Limits::default(),
        )
        .unwrap()
    }

    #[test]
    fn an_answer_goes_to_the_wire_as_it_came() {
        let form = question(json!({"message": "Name?", "requestedSchema":
            {"type": "object", "properties": {"name": {"type": "string"}}}}));
        let approve = question(json!({"message": "Go?", "requestedSchema": {"type": "object"}}));
        let link =
            question(json!({"message": "Sign in", "mode": "url", "url": "https://a.example/"}));
        for (question, result, expected) in [
            (
                &form,
                json!({"action": "accept", "content": {"name": "Ana"}}),
                None,
            ),
            (&form, json!({"action": "decline"}), None),
            (&form, json!({"action": "cancel"}), None),
            (
                &approve,
                json!({"action": "accept"}),
                Some(json!({"action": "accept", "content": {}})),
            ),
            (
                &link,
                json!({"action": "accept", "content": {"x": 1}}),
                Some(json!({"action": "accept"})),
            ),
        ] {
            let answer = question.answer(
                ElicitResult::read(result.clone()).unwrap(),
                &Limits::default(),
            );
            let told = question.result(answer.unwrap()).write();
            assert_eq!(Value::Object(told), expected.unwrap_or(result));
        }
    }

    #[test]
    fn a_question_that_cannot_be_put_says_why() {
        let limits = Limits {
            message_bytes: 4,
            ..Limits::default()
        };
        for (params, expected) in [
            (
                json!({"message": "Hello", "requestedSchema": {"type": "object"}}),
                "the message is 5 bytes long; at most 4 are shown",
            ),
            (
                json!({"message": "", "requestedSchema": {"type": "array"}}),
                "the requested schema cannot be asked: at `/type`: a form's own type must be \"object\"",
            ),
        ] {
            let error = Elicitation::read(&params.to_string(), Asker::named("x"), &limits);
            let error = error.unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
