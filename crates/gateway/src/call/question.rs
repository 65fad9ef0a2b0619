//! A question, on its way to whoever answers it.

use std::fmt::Display;

use crate::moment::Moment;
use midcall_core::catalog::Locale;
use midcall_core::wire::{
    Action, Asked, ElicitRequestParams, ElicitResult, Revision, Telling, code, meta,
};
use midcall_core::{Answer, Elicitation, Limits, Problem, Unfit, Values, Wanted, is_ambiguous};
use midcall_desk::{By, Outcome, Route};
use serde_json::{Value, json};

use super::task::Raw;
use super::{CallId, Name, ServerId, Waiting};
use crate::frame::{ANSWER, Frame, Id, Members, Object, repeats};
use crate::route::Routes;
use crate::times::FASTEST_ANSWER;
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
    /// The name by which the server will say that a link has served its purpose.
    link: Option<String>,
}

/// What is asked.
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
    /// A call that the server takes once its links have been followed.
    Link(CallId),
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
        token: Token,
        told_in: Option<CallId>,
    },
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
            Self::Round(call, _) | Self::Approval(call) | Self::Link(call) => Some(*call),
            Self::Request(..) | Self::Sampling(..) => None,
        }
    }

    /// The request of the server that waits for it.
    pub fn request(&self) -> Option<(ServerId, &Id)> {
        match self {
            Self::Request(server, id) | Self::Sampling(server, id, _) => Some((*server, id)),
            Self::Round(..) | Self::Approval(_) | Self::Link(_) => None,
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

    /// True if it is the link that the server knows by this name.
    pub fn is_link_named(&self, name: &str) -> bool {
        self.link.as_deref() == Some(name)
    }

    /// True if somebody other than the client thinks about it, and a call may wait for them.
    pub fn waits(&self) -> bool {
        match self.place {
            Place::Client { .. } => false,
            // A link that the server wanted opened is answered by that; a call that needs one done is not.
            Place::Desk(DeskState::Opened(_)) => matches!(self.wanted_by, WantedBy::Link(_)),
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

    /// Who answers, if the client does so now. An answer that is faster than a person can read isn't a person's.
    pub fn by_client(&self, now: Moment) -> By {
        let is_fast = matches!(self.place, Place::Client { since, .. } if now.duration_since(since) < FASTEST_ANSWER.get());
        By {
            route: Route::Client,
            human: !is_fast,
        }
    }

    /// True if the client answered before a person can have read the question, and that answer doesn't count: a
    /// refusal, or whatever it says to a question of Midcall's own. `approves`: the client is known to approve on behalf
    /// of its user.
    pub fn is_unattended(&self, now: Moment, result: Option<&[u8]>, approves: bool) -> bool {
        if self.by_client(now).human || !matches!(self.what, What::Elicit(_)) {
            return false;
        }
        let result = result.and_then(|json| serde_json::from_slice(json).ok());
        let Some(Ok(result)) = result.map(ElicitResult::read) else {
            return false;
        };
        let is_ours = matches!(
            self.wanted_by,
            WantedBy::Approval(_) | WantedBy::Sampling(..)
        );
        result.action() != Action::Accept || (is_ours && !approves)
    }

    /// What the client's response to a question of Midcall's own says; none if it asked nobody.
    pub fn said(&self, now: Moment, members: &Members<'_>, limits: &Limits) -> Option<Outcome> {
        let result = serde_json::from_slice(members.result?).ok()?;
        let result = ElicitResult::read(result).ok()?;
        let answer = self.elicitation()?.answer(result, limits);
        answer
            .ok()
            .map(|answer| Outcome::Answered(answer, self.by_client(now)))
    }

    /// The client's response as the server is told it. One that can't be read or doesn't fit becomes an error, which
    /// says so without the values.
    pub fn hear(&self, now: Moment, frame: &Frame, limits: &Limits) -> Result<Frame, Refused> {
        let peeked = frame.peek();
        let result = peeked.as_ref().and_then(|(_, members)| members.result);
        let (Some(elicitation), Some(result)) = (self.elicitation(), result) else {
            return Ok(frame.clone()); // An error is the server's to understand.
        };
        if repeats(result, &ANSWER) || str::from_utf8(result).is_ok_and(is_ambiguous) {
            return Err(Refused::unreadable(
                &"it has a member twice, or in other letters",
            ));
        }
        let value =
            serde_json::from_slice(result).map_err(|_| Refused::unreadable(&"it is not JSON"));
        let result = ElicitResult::read(value?).map_err(|why| Refused::unreadable(&why))?;
        let by = self.by_client(now);
        let mut outcome = self.outcome(by, &result);
        let (edited, unchecked) = self.check(frame, result, elicitation, limits)?;
        if !unchecked.is_empty() {
            let told = outcome.get_or_insert_with(|| json!({"state": "answered", "by": by}));
            told["unchecked"] = unchecked.into();
        }
        let told = edited.unwrap_or_else(|| frame.clone());
        match outcome {
            None => Ok(told),
            Some(outcome) => {
                with_outcome(&told, outcome).ok_or_else(|| Refused::unreadable(&"it has no result"))
            }
        }
    }

    /// What the server is told of who answered, where the client's words alone wouldn't be the truth.
    fn outcome(&self, by: By, result: &ElicitResult) -> Option<Value> {
        let is_claimed =
            (result.meta.as_ref()).is_some_and(|meta| meta.contains_key(meta::OUTCOME));
        let is_unread = matches!(self.what, What::Unread(..));
        if by.human && !is_claimed && !is_unread {
            return None;
        }
        let mut outcome = json!({"state": "answered", "by": by});
        if !by.human && result.action() != Action::Accept {
            outcome["reason"] = "unattended".into();
        }
        if is_unread {
            outcome["checked"] = false.into();
        }
        Some(outcome)
    }

    /// The response as the server is sent it, if its content has to change, and the fields that only the server can
    /// check.
    fn check(
        &self,
        frame: &Frame,
        result: ElicitResult,
        elicitation: &Elicitation,
        limits: &Limits,
    ) -> Result<(Option<Frame>, Vec<String>), Refused> {
        if matches!(self.what, What::Unread(..)) {
            let content = json!(result.content()).to_string();
            return match content.len() <= limits.content_bytes {
                true => Ok((None, Vec::new())),
                false => Err(Refused::unreadable(&"it is too long")),
            };
        }
        let telling = match &self.place {
            Place::Client {
                rendition: Some(telling),
                ..
            } if result.content().is_some() => telling,
            _ => {
                let answer = elicitation.answer(result, limits).map_err(Refused::unfit)?;
                return Ok((None, answer.unchecked().to_vec()));
            }
        };
        let Wanted::Form(form) = &elicitation.wanted else {
            return Ok((None, Vec::new()));
        };
        let values = Values::from(result.into_content().unwrap_or_default());
        let values = telling.back(form, values).map_err(Refused::unfit)?;
        let result = ElicitResult::accept(Some(values.into_object()));
        let answer = elicitation.answer(result, limits).map_err(Refused::unfit)?;
        let unchecked = answer.unchecked().to_vec();
        let result = elicitation.result(answer);
        let content =
            serde_json::to_string(&result.content()).map_err(|why| Refused::unreadable(&why))?;
        let edited = frame.with(&["result", "content"], &content);
        edited
            .map(|edited| (Some(edited), unchecked))
            .ok_or_else(|| Refused::unreadable(&"it has no content"))
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

/// Why a client's answer doesn't reach the server.
pub struct Refused {
    why: String,
    problems: Vec<Problem>,
}

impl Refused {
    fn unreadable(why: &dyn Display) -> Self {
        Self {
            why: format!("midcall: the client's answer cannot be read: {why}"),
            problems: Vec::new(),
        }
    }

    /// Names fields, not values: what a client sends may be what a person typed.
    fn unfit(Unfit { problems }: Unfit) -> Self {
        let named = |problem: &Problem| match problem.path.as_str() {
            "" => "/".to_owned(),
            path => path.to_owned(),
        };
        let fields: Vec<String> = problems.iter().map(named).collect();
        let fields = fields.join(", ");
        Self {
            why: format!("midcall: the client's answer does not fit the form: {fields}"),
            problems,
        }
    }

    /// The error that a server gets. A server that knows of Midcall asks again, and says why.
    pub fn frame(self, id: &Id) -> Frame {
        let error = Frame::error(Some(id), code::INTERNAL_ERROR, &self.why);
        if self.problems.is_empty() {
            return error;
        }
        let data = json!({meta::PROBLEMS: self.problems}).to_string();
        error.with(&["error", "data"], &data).unwrap_or(error)
    }
}

/// A response with how the question ended, whatever the client itself says of that.
pub fn with_outcome(frame: &Frame, outcome: Value) -> Option<Frame> {
    let (_, members) = frame.peek()?;
    let mut result = Object::read(members.result?)?;
    let meta = result.get("_meta").map(str::to_owned).unwrap_or_default();
    let mut meta = Object::read(meta.as_bytes()).unwrap_or_default();
    meta.put(meta::OUTCOME, &outcome);
    let meta = meta.write();
    result.set("_meta", meta);
    frame.with(&["result"], &result.write())
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
