//! Why an ask has no answer.

use std::borrow::Cow;
use std::time::Duration;

use crate::shared::SharedError;
use midcall_core::catalog::Locale;
use midcall_core::wire::{ElicitRequestParams, MissingClientCapability, Mode, Modes, Revision};
use midcall_core::wire::{UrlElicitationRequired, code};
use midcall_core::{FormError, Secret, Unfit, Words};
use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorCode};

/// Why an ask has no answer. A refusal is an answer, and becomes an error only by
/// [`Answer::accepted`](crate::Answer::accepted).
///
/// A tool may return it as it is: the client gets a readable result, or the error that the
/// protocol has for the case.
///
/// ```
/// use midcall_server::{Answer, Ask, AskError};
///
/// async fn delete(ask: Ask) -> Result<String, AskError> {
///     match ask.confirm("Delete 3 files?").await {
///         Ok(answer) if answer == Answer::Accepted(true) => Ok("Deleted".into()),
///         Ok(_) => Ok("Nothing was deleted".into()),
///         Err(AskError::TimedOut { .. }) => Ok("Nobody answered, so nothing was deleted".into()),
///         Err(error) => Err(error),
///     }
/// }
/// ```
///
/// It becomes `rmcp`'s `ErrorData` and a `String` by `?`, so tools and prompts that return these need
/// nothing more. A refusal is told with the code -1 then, as a user's *no* is elsewhere in the
/// protocol, and with the person's reason if they gave one.
///
/// # An error of your own
///
/// It needs an `AskError` in it, and to say what its client is told:
///
/// ```
/// use midcall_server::{Ask, AskError};
/// use rmcp::handler::server::tool::IntoCallToolResult;
/// use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
/// use rmcp::{ErrorData, tool, tool_router};
///
/// enum BookingError {
///     Ask(AskError),
///     Full,
/// }
///
/// impl From<AskError> for BookingError {
///     fn from(error: AskError) -> Self {
///         Self::Ask(error)
///     }
/// }
///
/// impl IntoCallToolResult for BookingError {
///     fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
///         match self {
///             Self::Ask(error) => error.into_call_tool_result(),
///             Self::Full => {
///                 let words = ContentBlock::text("There is no table left");
///                 Ok(CallToolResult::error(vec![words]).into())
///             }
///         }
///     }
/// }
///
/// # struct Restaurant;
/// # #[tool_router]
/// # impl Restaurant {
/// #[tool(description = "Books a table")]
/// async fn book(&self, ask: Ask) -> Result<String, BookingError> {
///     match ask.integer("How many guests?").await?.accepted()? {
///         ..=4 => Ok("Booked".into()),
///         _ => Err(BookingError::Full),
///     }
/// }
/// # }
/// ```
///
/// Without the `From`, the compiler names it at each `?`:
///
/// ```compile_fail,E0277
/// # struct BookingError;
/// # async fn book(ask: midcall_server::Ask) -> Result<i64, BookingError> {
/// Ok(ask.integer("How many guests?").await?.accepted()?)
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// There is no layer around the handler, or it is switched off.
    #[error("this server does not ask: {}", self.advice())]
    Off,
    /// Nobody can be asked.
    #[error("nobody can be asked: {why}. {}", self.advice())]
    Unavailable {
        /// What is in the way.
        why: Nobody,
        /// What the client of this request would have to declare, where the protocol has an error
        /// for that.
        required: Option<Modes>,
    },
    /// The person did not answer in time.
    #[error("nobody answered within {}. {}", seconds(*after), self.advice())]
    TimedOut {
        /// How long the question waited.
        after: Duration,
    },
    /// Every answer was held against the form, and none fitted.
    #[error("the answers did not fit, asked {times} times: {problems}. {}", self.advice())]
    Unfit {
        /// How often the person was asked.
        times: u32,
        /// What was wrong with the last answer: names and rules, never values.
        problems: String,
    },
    /// The question cannot be put at all. No client is to blame: the code that asks is.
    #[error(transparent)]
    Unaskable(#[from] Unaskable),
    /// The client answered with an error, or with what is no answer.
    #[error("the client could not ask: {}. {}", .0, self.advice())]
    Client(String),
    /// The tool ran again with the answers so far, and asks something else than before.
    #[error("{}. {}", .0, self.advice())]
    Diverged(Box<Divergence>),
    /// An effect that a call has [once](crate::Ask::once).
    #[error("{}. {}", .0, self.advice())]
    Once(OnceError),
    /// The [store](crate::Asks::store) that replicas share failed.
    #[error("{}. {}", .0, self.advice())]
    Shared(#[from] SharedError),
    /// The client went away, or took the call back.
    #[error("the client is gone")]
    Gone,
    /// The person said no, and the tool took that for an error.
    #[error("the person was asked and said no")]
    Declined {
        /// Why, if they said so.
        reason: Option<Words>,
    },
    /// The person put the question away, and the tool took that for an error.
    #[error("the person was asked and put the question away")]
    Cancelled,
    /// A link must be followed before this call can succeed: [`Ask::require_link`](crate::Ask::require_link).
    #[error("a link must be followed first: {}", .0.message)]
    LinkRequired(Box<ElicitRequestParams>),
}

/// Why an effect that a call has [once](crate::Ask::once) gave nothing.
///
/// ```
/// use midcall_server::{AskError, OnceError};
/// fn needs_a_human(error: &AskError) -> bool {
///     matches!(error, AskError::Once(OnceError::Unsure(_)))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OnceError {
    /// It was begun, and the process that began it ended, or nobody waited for it any more.
    #[error(
        "nobody knows whether `{0}` happened: it was begun, and what came of it was not written down"
    )]
    Unsure(String),
    /// Another effect of the same call has this name.
    #[error("two effects of this call are called `{0}`: give each a name of its own")]
    Repeated(String),
    /// What it gave cannot be written as JSON. It happened.
    #[error("`{0}` happened, and what it gave cannot be written as JSON")]
    Unwritable(String),
    /// What it gave is not of the type that is wanted now.
    #[error("`{0}` happened, and what it gave then cannot be read as what is wanted now")]
    Unreadable(String),
}

pub(crate) const DIVERGED: &str = "the tool asked something else when it ran again";

/// Two questions at the same place of a call, of which the second should be the first: the tool ran
/// again, and took another way. No answer was used for what it was not given to.
///
/// [`Display`](std::fmt::Display) shows their fields. Their words may have in them what a person typed
/// before, so [`AskError::words`] alone shows those, to the client that was asked.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{DIVERGED}: question {question} had {}, and has {}", self.before.0, self.now.0)]
pub struct Divergence {
    /// Which question of the call, counted from 1.
    pub question: u32,
    /// The fields and the words of the question that was answered.
    pub(crate) before: (String, String),
    /// Those of the question that the tool asked instead.
    pub(crate) now: (String, String),
}

impl std::fmt::Debug for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Divergence")
            .field("question", &self.question)
            .field("before", &self.before.0)
            .field("now", &self.now.0)
            .finish()
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        1 => "a second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

/// Why nobody can be asked.
///
/// ```
/// use midcall_server::{AskError, Nobody};
/// fn is_for_a_human(error: &AskError) -> bool {
///     matches!(error, AskError::Unavailable { why: Nobody::Destructive | Nobody::Dangerous, .. })
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Nobody {
    /// The client does not declare the mode, and no model may ask instead.
    #[error("the client does not declare elicitation in {0} mode")]
    Undeclared(Mode),
    /// A link is opened by a person in their client, not by a model.
    #[error("the client cannot open links, and a model must not")]
    Link,
    /// The client declares elicitation, and says that it could reach nobody: a gateway without a page
    /// or another way to a person.
    #[error("the client could reach nobody")]
    Unreached,
    /// The question is [dangerous](crate::Question::dangerous), and no model may agree to that.
    #[error(
        "the client does not ask, and a model must not agree to a question that is marked as dangerous"
    )]
    Dangerous,
    /// The question is [dangerous](crate::Question::dangerous), and the annotations of its tool say
    /// `destructiveHint: false`. One of the two is wrong.
    #[error(
        "the client does not ask, and a model must not agree to a question that is marked as dangerous, although \
         its tool says `destructiveHint: false`"
    )]
    Contradictory,
    /// A model may not agree to what cannot be undone.
    #[error("the client does not ask, and a model must not agree to what may destroy something")]
    Destructive,
    /// Only the result of a tool call can tell a model to ask.
    #[error("the client does not ask, and a model can be told to only in a tool call")]
    NotATool,
    /// There is no client: [`Asks::without_client`](crate::Asks::without_client).
    #[error("there is no client, and no answer to this question was given beforehand")]
    NoClient,
    /// Too many calls wait for an answer, or for their clients.
    #[error("too many calls wait for an answer")]
    Crowded,
}

/// Why a question cannot be put. Fix the code that asks.
///
/// ```
/// use midcall_server::{Unaskable, check};
/// use std::collections::HashMap;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Trip {
///     city: String,
///     prices: HashMap<String, f64>,
/// }
///
/// let refused = check::<Trip>().unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "`/prices` cannot be asked: the wire has no field for it. Use texts, numbers, booleans, \
///      enums without data, lists of texts or of such enums, or a struct of these",
/// );
/// assert!(matches!(refused, Unaskable::Field { path, .. } if path == "/prices"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unaskable {
    /// The type is not a struct with named fields.
    #[error("`{0}` cannot be asked as a form: a form is a struct with named fields")]
    NotAForm(String),
    /// A field that the wire cannot say.
    #[error("`{path}` cannot be asked: {why}")]
    Field {
        /// A JSON Pointer: `/address/city`.
        path: String,
        /// What is wrong with it, and what to do.
        why: Cow<'static, str>,
    },
    /// The schema is no form, or too large for one.
    #[error("the form cannot be asked: {0}")]
    Form(#[from] FormError),
    /// A field that asks for a secret. The specification forbids that: the answer passes through the
    /// client and gateways, and often a model reads it. A field is recognized by the words of its
    /// name, title and description, in ten languages ([`secret`](midcall_core::secret)).
    #[error(
        "`{path}` asks for a secret ({}), and a form must not. Let the person type it on a page of your own, by \
         `ask.link(..)`", Locale::EnUs.say(secret.key(), &[])
    )]
    Secret {
        /// Where it stands, as a JSON Pointer.
        path: String,
        /// What kind of secret.
        secret: Secret,
    },
    /// A choice without options.
    #[error("there is nothing to choose from: give at least one option")]
    NoOptions,
    /// A longer message than clients show.
    #[error("the message is {bytes} bytes long; at most {limit} are shown")]
    MessageTooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// A default that does not fit its own form.
    #[error("the default does not fit the form: {0}")]
    Default(Unfit),
    /// A link that no person should open.
    #[error("the link cannot be asked to be opened: only https, and http on this machine, are")]
    Link,
}

impl AskError {
    /// What to do about it, for whoever reads the error.
    ///
    /// ```
    /// use midcall_server::AskError;
    /// assert!(AskError::Off.advice().contains("with_asks"));
    /// ```
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Off => {
                "put the layer around its handler (`handler.with_asks()`), and do not switch it off"
            }
            Self::Unavailable { why, .. } => match why {
                Nobody::Undeclared(_) | Nobody::Link | Nobody::Dangerous | Nobody::NotATool => {
                    "Use a client that supports elicitation, or put `midcall wrap --` before the server's command"
                }
                Nobody::Destructive => {
                    "Use a client that supports elicitation, put `midcall wrap --` before the server's command, \
                     or say in the tool's annotations that it destroys nothing"
                }
                Nobody::Contradictory => {
                    "Use a client that supports elicitation, or put `midcall wrap --` before the server's command. \
                     In the server's code, one of the two must be wrong"
                }
                Nobody::Unreached => {
                    "Give the client, or the gateway before this server, a way to a person, such as `midcall wrap --ask page`"
                }
                Nobody::NoClient => {
                    "Write an answer down for it, or call the tool through a client"
                }
                Nobody::Crowded => "Call the tool again",
            },
            Self::TimedOut { .. } => "Call the tool again when the person is there",
            Self::Unfit { .. } => "Call the tool again with the person at hand",
            Self::Unaskable(_) => "Fix the question in the server's code",
            Self::Client(_) => {
                "Update the client, or put `midcall wrap --` before the server's command"
            }
            Self::Diverged(_) => {
                "Call the tool again. In its code, ask the same in the same order each time it runs, or park \
                 its calls only (`Resume::ParkOnly`)"
            }
            Self::Once(OnceError::Unsure(_)) => {
                "Find out where it would have left a trace, before you call the tool again"
            }
            Self::Once(_) => "Fix the effect in the server's code",
            Self::Shared(SharedError::TooLarge(_)) => "Ask for less in this tool",
            Self::Shared(_) => "Call the tool again when the store can be reached",
            Self::Gone => "Nothing can be done: nobody hears the result",
            Self::Declined { .. } | Self::Cancelled => {
                "Respect it, and do not ask again by yourself"
            }
            Self::LinkRequired(_) => "Follow the link, then call again",
        }
    }

    /// The error as its client reads it: with the person's own words, which [`Display`] leaves out
    /// because it ends up in logs.
    ///
    /// ```
    /// use midcall_server::{AskError, Words};
    ///
    /// let declined = AskError::Declined { reason: Words::new("Not today") };
    /// assert_eq!(declined.words(), "the person was asked and said no: Not today");
    /// assert_eq!(declined.to_string(), "the person was asked and said no");
    /// ```
    ///
    /// [`Display`]: std::fmt::Display
    pub fn words(&self) -> String {
        match self {
            Self::Declined {
                reason: Some(reason),
            } => format!("{self}: {}", reason.as_str()),
            Self::Diverged(divergence) => format!(
                "{self}. It was \"{}\", and is \"{}\"",
                divergence.before.1, divergence.now.1
            ),
            _ => self.to_string(),
        }
    }

    /// Whether this is a person's own refusal.
    ///
    /// ```
    /// use midcall_server::AskError;
    /// assert!(AskError::Cancelled.is_refusal() && !AskError::Off.is_refusal());
    /// ```
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Declined { .. } | Self::Cancelled)
    }
}

/// For tools that return their errors as text.
impl From<AskError> for String {
    fn from(error: AskError) -> Self {
        error.words()
    }
}

/// What a person said no to is no failure: the protocol has this code for what a user rejects.
const REJECTED: i64 = -1;

/// For tools and prompts that return `ErrorData`.
impl From<AskError> for ErrorData {
    fn from(error: AskError) -> Self {
        let text = error.words();
        let (code, data) = match &error {
            AskError::LinkRequired(link) => {
                let data = UrlElicitationRequired {
                    elicitations: vec![(**link).clone()],
                    rest: Default::default(),
                };
                let data = data.write(Revision::V2025_11_25).ok();
                (code::URL_ELICITATION_REQUIRED, data)
            }
            AskError::Unavailable {
                required: Some(modes),
                ..
            } => {
                let missing = MissingClientCapability::of(*modes);
                let data = missing.write(Revision::V2026_07_28).ok();
                (code::MISSING_CLIENT_CAPABILITY, data)
            }
            AskError::Declined { .. } | AskError::Cancelled => (REJECTED, None),
            _ => (code::INTERNAL_ERROR, None),
        };
        let code = ErrorCode(i32::try_from(code).unwrap_or(ErrorCode::INTERNAL_ERROR.0));
        ErrorData::new(code, text, data.map(Into::into))
    }
}

impl IntoCallToolResult for AskError {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        match self {
            Self::LinkRequired(_)
            | Self::Unavailable {
                required: Some(_), ..
            } => Err(self.into()),
            other => {
                let text = ContentBlock::text(other.words());
                Ok(CallToolResult::error(vec![text]).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_to_do_and_becomes_what_the_protocol_has_for_it() {
        let nobody = AskError::Unavailable {
            why: Nobody::Undeclared(Mode::Form),
            required: Some(Modes {
                form: true,
                url: false,
            }),
        };
        assert_eq!(
            nobody.to_string(),
            "nobody can be asked: the client does not declare elicitation in form mode. Use a client that \
             supports elicitation, or put `midcall wrap --` before the server's command"
        );
        let told = nobody.into_call_tool_result().unwrap_err();
        assert_eq!(told.code.0, -32021);
        assert_eq!(
            told.data.unwrap()["requiredCapabilities"],
            serde_json::json!({"elicitation": {"form": {}}})
        );
        let late = AskError::TimedOut {
            after: Duration::from_secs(300),
        };
        let CallToolResponse::Complete(told) = late.into_call_tool_result().unwrap() else {
            panic!("a result");
        };
        assert_eq!(told.is_error, Some(true));
    }
}
