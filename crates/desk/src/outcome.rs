//! How a ticket ends, and who ended it.

use midcall_core::Answer;
use serde::de::DeserializeOwned;
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

/// What became of an answer since it was taken, as far as anybody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// The asker has not sent it on yet.
    Pending,
    /// It was sent on. Whether it arrived is not known.
    Sent,
    /// What waited for it went on.
    Delivered,
    /// It did not arrive, or may not have. The reason says why.
    Lost,
}

/// Why an answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// The client took back the call that needed it, or went away.
    ByClient,
    /// The call that needed it ended without it.
    CallEnded,
    /// The server went away.
    ServerGone,
    /// The message that carried it didn't get through to the server.
    Unreached,
    /// Nobody waited for it any more.
    Dropped,
    /// The store could not give it back.
    StoreLost,
}

impl Delivery {
    /// True if this much may be told after that. How an answer ended is told once.
    pub(crate) fn follows(self, before: Self) -> bool {
        before < self && before < Self::Delivered
    }
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
    /// What became of the answer, if it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// In a word, why it was taken back, nobody could be asked, or the answer was lost.
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
    /// What became of the answer, if it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// In a word, why it was taken back, nobody could be asked, or the answer was lost.
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
            delivery: None,
            reason: None,
        };
        let Closing {
            state,
            action,
            by,
            delivery,
            reason,
        } = closing.unwrap_or(open);
        Self {
            id,
            state,
            deadline,
            action,
            by,
            delivery,
            reason,
        }
    }
}

impl Outcome {
    /// How it is told: the kind of answer, never its content, never a person's words. An answer
    /// is only on its way then.
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
        let is_answered = state == State::Answered;
        Closing {
            state,
            action,
            by,
            delivery: is_answered.then_some(Delivery::Pending),
            reason,
        }
    }
}

impl Closing {
    /// Notes what became of the answer, and why if it was lost; false if that is no news.
    pub(crate) fn deliver(&mut self, delivery: Delivery, why: Option<Lost>) -> bool {
        let is_news = self.delivery.is_some_and(|before| delivery.follows(before));
        if is_news {
            (self.delivery, self.reason) = (Some(delivery), why.and_then(word));
        }
        is_news
    }

    /// How a ticket ended that closed so, if nobody answered it.
    pub(crate) fn without_answer(&self) -> Option<Outcome> {
        match self.state {
            State::TimedOut => Some(Outcome::TimedOut),
            State::Withdrawn => self.why().map(Outcome::Withdrawn),
            State::Unavailable => self.why().map(Outcome::Unavailable),
            State::Open | State::Answered => None,
        }
    }

    fn why<T: DeserializeOwned>(&self) -> Option<T> {
        let word = self.reason.clone()?;
        serde_json::from_value(word.into()).ok()
    }
}

/// A reason as the word it has on the wire.
fn word(why: impl Serialize) -> Option<String> {
    let json = serde_json::to_value(why).ok()?;
    json.as_str().map(str::to_owned)
}
