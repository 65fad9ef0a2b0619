//! How a ticket ends, and who ended it.

use midcall_core::Answer;
use serde::{Deserialize, Serialize};

/// How a ticket ended. A timeout is not an answer, and nobody having been asked is neither.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Somebody answered.
    Answered(Answer, By),
    /// Nobody did in time.
    TimedOut,
    /// The question was taken back.
    Withdrawn(Withdrawn),
    /// Nobody could be asked.
    Unavailable(Unavailable),
}

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// The way the answer came.
    pub route: Route,
    /// Whether a human gave it.
    pub human: bool,
}

/// The ways an answer can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The MCP client itself asked.
    Client,
    /// The desk's page.
    Page,
    /// A terminal.
    Terminal,
    /// The model was told to ask.
    Model,
    /// A script over HTTP.
    Api,
}

/// Why a question was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    /// The server cancelled its request.
    ByServer,
    /// The client cancelled the call in which it came up.
    ByClient,
    /// The server went away.
    ServerGone,
    /// Whoever waited for the answer stopped waiting.
    Dropped,
    /// The process that asked ended.
    Shutdown,
}

/// Why nobody could be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unavailable {
    /// No route leads to a person.
    NoRoute,
    /// The store went away.
    StoreLost,
    /// Whoever asked is gone, and the answer came too late for it.
    AskerGone,
}

/// Where a ticket stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits.
    Open,
    /// Somebody answered.
    Answered,
    /// Nobody did in time.
    TimedOut,
    /// It was taken back.
    Withdrawn,
    /// Nobody could be asked.
    Unavailable,
}

/// How a ticket closed, without what was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    /// Anything but open.
    pub state: State,
    /// `accept`, `decline` or `cancel`, if it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// Why it was taken back, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What `status` tells: where a ticket stands and, once it is closed, all that [`Closing`] says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The ticket.
    pub id: String,
    /// Where it stands.
    pub state: State,
    /// When it closes by itself, or would have.
    pub deadline: String,
    /// `accept`, `decline` or `cancel`, if it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// Why it was taken back, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Status {
    /// Where a ticket stands that closed so, or that is open.
    pub(crate) fn new(id: String, deadline: String, closing: Option<Closing>) -> Self {
        let open = Closing {
            state: State::Open,
            action: None,
            by: None,
            reason: None,
        };
        let Closing {
            state,
            action,
            by,
            reason,
        } = closing.unwrap_or(open);
        Self {
            id,
            state,
            deadline,
            action,
            by,
            reason,
        }
    }
}

impl Outcome {
    /// How it is told: the kind of answer, never its content, never a person's words.
    pub fn closing(&self) -> Closing {
        let (state, action, by, reason) = match self {
            Self::Answered(answer, by) => {
                let action = match answer {
                    Answer::Accepted(_) => "accept",
                    Answer::Declined { .. } => "decline",
                    Answer::Cancelled => "cancel",
                };
                (State::Answered, Some(action.to_owned()), Some(*by), None)
            }
            Self::TimedOut => (State::TimedOut, None, None, None),
            Self::Withdrawn(why) => (State::Withdrawn, None, None, word(why)),
            Self::Unavailable(why) => (State::Unavailable, None, None, word(why)),
        };
        Closing {
            state,
            action,
            by,
            reason,
        }
    }
}

/// A reason as the word it has on the wire.
fn word(why: impl Serialize) -> Option<String> {
    let json = serde_json::to_value(why).ok()?;
    json.as_str().map(str::to_owned)
}
