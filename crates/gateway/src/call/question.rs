//! A question, on its way to whoever answers it.

use crate::moment::Moment;
use midcall_core::catalog::Locale;
use midcall_core::wire::{Asked, ElicitRequestParams, ElicitResult, Revision, Telling};
use midcall_core::{Answer, Elicitation, Wanted};
use midcall_desk::{By, Outcome};
use serde_json::{Value, json};

use super::task::Raw;
use super::{CallId, Name, ServerId, Waiting};
use crate::frame::{Frame, Id};
use crate::route::Routes;
use crate::token::Token;

/// The number of a question. Ids of requests are no names for it: a server may use its own again while the desk still
/// has news of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub u64);

/// A question that isn't answered yet.
pub struct Question {
    pub what: What,
    pub wanted_by: WantedBy,
    /// The calls that it can have come up in.
    pub origin: Origin,
    pub place: Place,
    /// When it ends by itself, unless that is for the desk to say.
    pub deadline: Moment,
    /// Who may be asked if nobody answers here.
    pub others: Routes,
    /// What those who wait for it are told.
    pub waiting: Waiting,
    /// True if the client may make a task of it (2025-11-25).
    pub may_be_task: bool,
    /// The name by which the server will say that a link has served its purpose.
    link: Option<String>,
}

/// What is asked.
#[derive(Clone)]
pub enum What {
    /// Something that a person answers.
    Elicit(Box<Elicitation>),
    /// Something that a person answers and Midcall can't read: a form without fields in its place, and the params.
    Unread(Box<Elicitation>, Option<Raw>),
    /// Something that the client answers by itself: its model, its folders, or what Midcall doesn't know.
    Other { method: String, params: Option<Raw> },
}

/// Who waits for the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum WantedBy {
    /// A server, by the id of its request.
    Request(ServerId, Id),
    /// A server, by a key of the result that it answered a call with.
    Round(CallId, String),
    /// A call that isn't sent before a person approves it.
    Approval(CallId),
    /// A call that the server takes once its links have been followed, by the number of the link.
    Link(CallId, usize),
    /// A server's request to the client's model, which isn't passed on before a person approves it.
    Sampling(ServerId, Id, Frame),
}

/// The calls that a question can have come up in.
///
/// On stdio nobody says which call a question belongs to, so it may be any that the server had when the question came.
/// A list of them in each question would take calls times questions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// This call.
    Only(CallId),
    /// Every call with a lower number that this server still has.
    Before(ServerId, CallId),
}

impl Origin {
    /// The call that it came up in, if there is no doubt about it.
    pub fn only(self) -> Option<CallId> {
        match self {
            Self::Only(call) => Some(call),
            Self::Before(..) => None,
        }
    }
}

/// Who is asked.
pub enum Place {
    Client {
        at: AtClient,
        since: Moment,
        /// The form in words that the client knows, if those aren't the server's.
        rendition: Option<Box<Telling>>,
    },
    /// People, at the desk.
    Desk(DeskState),
    /// The model: what it answers by, and the call in whose result it was told.
    Model {
        name: Name,
        /// None if another process gave it.
        token: Option<Token>,
        told_in: Option<CallId>,
    },
    /// Nobody yet: who may be asked depends on what the server's tools say of themselves, and the server was asked for
    /// that.
    Undecided,
}

/// Where the client gets it.
#[derive(Clone, Debug, PartialEq)]
pub enum AtClient {
    /// In a request of this id.
    Request(Id),
    /// In the result of a call, by this key.
    Round {
        call: CallId,
        key: String,
        is_told: bool,
    },
}

/// Where a question at the desk stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeskState {
    /// It is being put there.
    Coming,
    /// People see it.
    There,
    /// It is a link that somebody opened.
    Opened(By),
    /// It is being taken back.
    Leaving,
}

impl What {
    /// What a person is asked, as far as it can be read.
    pub fn elicitation(&self) -> Option<&Elicitation> {
        match self {
            Self::Elicit(elicitation) | Self::Unread(elicitation, _) => Some(elicitation),
            Self::Other { .. } => None,
        }
    }
}

impl WantedBy {
    /// The call that waits for it itself.
    pub fn call(&self) -> Option<CallId> {
        match self {
            Self::Round(call, _) | Self::Approval(call) | Self::Link(call, _) => Some(*call),
            Self::Request(..) | Self::Sampling(..) => None,
        }
    }

    /// The request of the server that waits for it.
    pub fn request(&self) -> Option<(ServerId, &Id)> {
        match self {
            Self::Request(server, id) | Self::Sampling(server, id, _) => Some((*server, id)),
            Self::Round(..) | Self::Approval(_) | Self::Link(..) => None,
        }
    }

    /// True if a server asks, not Midcall itself.
    pub fn is_server(&self) -> bool {
        matches!(self, Self::Request(..) | Self::Round(..))
    }
}

impl Question {
    pub fn new(
        what: What,
        wanted_by: WantedBy,
        origin: Origin,
        place: Place,
        deadline: Moment,
    ) -> Self {
        let link = what.elicitation().and_then(link_name);
        Self {
            what,
            wanted_by,
            origin,
            place,
            deadline,
            others: Routes::none(),
            waiting: Waiting::default(),
            may_be_task: false,
            link,
        }
    }

    /// What a person is asked.
    pub fn elicitation(&self) -> Option<&Elicitation> {
        self.what.elicitation()
    }

    pub fn is_at_desk(&self) -> bool {
        matches!(self.place, Place::Desk(_))
    }

    pub fn is_at_client(&self) -> bool {
        matches!(self.place, Place::Client { .. })
    }

    /// True if it asks to open a link.
    pub fn is_link(&self) -> bool {
        self.elicitation()
            .is_some_and(|it| matches!(it.wanted, Wanted::Link(_)))
    }

    /// The name by which the server will say that a link has served its purpose.
    pub fn link_name(&self) -> Option<&str> {
        self.link.as_deref()
    }

    /// True if somebody other than the client thinks about it, and a call may wait for them.
    pub fn waits(&self) -> bool {
        match self.place {
            Place::Client { .. } | Place::Undecided => false,
            // A link that the server wanted opened is answered by that; a call that needs one done is not.
            Place::Desk(DeskState::Opened(_)) => matches!(self.wanted_by, WantedBy::Link(..)),
            Place::Desk(state) => state == DeskState::There,
            Place::Model { .. } => true,
        }
    }

    /// Who opened it, if it is a link and somebody has.
    pub fn opened_by(&self) -> Option<By> {
        match self.place {
            Place::Desk(DeskState::Opened(by)) => Some(by),
            _ => None,
        }
    }

    /// The call whose result it is told in, and by which key.
    pub fn told_in_round(&self) -> Option<(CallId, &str)> {
        match &self.place {
            Place::Client {
                at: AtClient::Round { call, key, .. },
                ..
            } => Some((*call, key)),
            _ => None,
        }
    }

    /// The id of the request that the client got.
    pub fn request_id(&self) -> Option<&Id> {
        match &self.place {
            Place::Client {
                at: AtClient::Request(id),
                ..
            } => Some(id),
            _ => None,
        }
    }

    /// When Midcall ends it. The desk ends its own.
    pub fn ends_at(&self) -> Option<Moment> {
        (!self.is_at_desk()).then_some(self.deadline)
    }

    /// The result that says how it ended, and how that is told.
    pub fn ended(&self, outcome: Outcome) -> (ElicitResult, Value) {
        let told = told(&outcome);
        let result = match (outcome, self.elicitation()) {
            (Outcome::Answered(answer, _), Some(elicitation)) => elicitation.result(answer),
            _ => ElicitResult::cancel(),
        };
        (result, told)
    }
}

/// A form in words that a client knows which can't know the server's (`older`), or that peers often get wrong; none if
/// the server's words do.
pub fn rendition(
    elicitation: &Elicitation,
    revision: Revision,
    older: bool,
    locale: Locale,
) -> Option<Box<Telling>> {
    let Wanted::Form(form) = &elicitation.wanted else {
        return None;
    };
    if !older && form.repairs.is_empty() {
        return None;
    }
    let telling = Telling::of(form, revision, locale);
    (!telling.changes.is_empty() || !form.repairs.is_empty()).then(|| Box::new(telling))
}

/// How a question ended, as `_meta` tells it.
pub fn told(outcome: &Outcome) -> Value {
    let closing = outcome.closing();
    let mut told = json!({"state": closing.state});
    if let Some(by) = closing.by {
        told["by"] = json!(by);
    }
    let reason = match outcome {
        Outcome::Answered(Answer::Declined { reason }, _) => {
            reason.as_ref().map(|reason| reason.as_str().to_owned())
        }
        _ => closing.reason,
    };
    if let Some(reason) = reason {
        told["reason"] = reason.into();
    }
    if let Outcome::Answered(answer, _) = outcome
        && !answer.unchecked().is_empty()
    {
        told["unchecked"] = json!(answer.unchecked());
    }
    told
}

/// The name by which a server speaks of a link later.
fn link_name(elicitation: &Elicitation) -> Option<String> {
    let Wanted::Link(_) = elicitation.wanted else {
        return None;
    };
    let params = serde_json::from_str(elicitation.params().get()).ok()?;
    match ElicitRequestParams::read(params).ok()?.asked {
        Asked::Url { elicitation_id, .. } => elicitation_id,
        Asked::Form { .. } => None,
    }
}
