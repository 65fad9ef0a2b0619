//! A question of the server, on its way to whoever answers it.

use std::fmt::Display;

use midcall_core::catalog::Locale;
use midcall_core::wire::{
    Action, Asked, ElicitRequestParams, ElicitResult, Revision, Telling, code, meta,
};
use midcall_core::{Answer, Elicitation, Problem, Unfit, Values, Wanted, is_ambiguous};
use midcall_desk::{By, Outcome, Route, Unavailable};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Rules;
use super::candidates::Candidates;
use super::model::Model;
use crate::frame::{ANSWER, Frame, Id, Members, repeats};
use crate::times::FASTEST_ANSWER;

/// A question that is not answered yet.
pub struct Question {
    pub elicitation: Elicitation,
    pub wanted_by: WantedBy,
    /// The client's calls in which it can have come up.
    pub calls: Candidates,
    pub at: At,
    /// The name by which the server will say that a link has served its purpose.
    link: Option<String>,
    /// True if the question itself can't be read: then its answer can't be checked.
    is_unread: bool,
    /// True if it is one of a round, which can't be answered with an error.
    pub in_round: bool,
}

/// Who waits for the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum WantedBy {
    /// The server, by the id of its request.
    Server(Id),
    /// A call that is not passed on before somebody agrees.
    Confirmation(Id),
    /// A call that the server takes once its links have been followed.
    Links(Id),
    /// A request of the server to the client's model, which isn't passed on before somebody agrees: its id, and as it
    /// came.
    Sampling(Id, Frame),
}

/// Who is asked.
pub enum At {
    /// The client, in other words if it would not understand the server's.
    Client {
        told: Option<Box<Telling>>,
        since: Instant,
        until: Instant,
    },
    /// People, at the desk.
    Desk(State),
    /// The model.
    Model(Model),
}

/// Where a question at the desk stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// It is being put there.
    Coming,
    /// People see it.
    There,
    /// It is a link that somebody opened: the server has its answer.
    Opened(By),
    /// It is being taken back.
    Leaving,
}

impl Question {
    pub fn new(elicitation: Elicitation, wanted_by: WantedBy, calls: Candidates, at: At) -> Self {
        let link = match elicitation.wanted {
            Wanted::Link(_) => link_name(&elicitation),
            Wanted::Form(_) => None,
        };
        Self {
            elicitation,
            wanted_by,
            calls,
            at,
            link,
            is_unread: false,
            in_round: false,
        }
    }

    /// Stands for a question that can't be read.
    pub fn unread(mut self) -> Self {
        self.is_unread = true;
        self
    }

    pub fn is_at_desk(&self) -> bool {
        matches!(self.at, At::Desk(_))
    }

    /// Whether somebody other than the client thinks about it, and a call may wait for them.
    pub fn waits(&self) -> bool {
        match self.at {
            At::Client { .. } => false,
            // A link that the server wanted opened is answered by that; a call that needs
            // one done is not.
            At::Desk(State::Opened(_)) => matches!(self.wanted_by, WantedBy::Links(_)),
            At::Desk(state) => state == State::There,
            At::Model(_) => true,
        }
    }

    /// Who opened it, if it is a link and somebody has.
    pub fn opened_by(&self) -> Option<By> {
        match self.at {
            At::Desk(State::Opened(by)) => Some(by),
            _ => None,
        }
    }

    /// People see it now.
    pub fn asked(&mut self) {
        if let At::Desk(state @ State::Coming) = &mut self.at {
            *state = State::There;
        }
    }

    /// It is being taken back.
    pub fn leaves(&mut self) {
        if let At::Desk(state) = &mut self.at
            && !matches!(state, State::Opened(_))
        {
            *state = State::Leaving;
        }
    }

    /// When it ends by itself, unless that is for the desk to say.
    pub fn until(&self) -> Option<Instant> {
        match &self.at {
            At::Client { until, .. } => Some(*until),
            At::Model(model) => Some(model.until),
            At::Desk(_) => None,
        }
    }

    /// Whether it is the link of that name.
    pub fn is_link(&self, name: &str) -> bool {
        self.link.as_deref() == Some(name)
    }

    /// The request as the client is sent it, if not as it came.
    pub fn told(&self, frame: &Frame) -> Option<Frame> {
        let At::Client {
            told: Some(telling),
            ..
        } = &self.at
        else {
            return None;
        };
        let schema = serde_json::to_string(&telling.schema).ok()?;
        frame.with(&["params", "requestedSchema"], &schema)
    }

    /// The client's response as the server is sent it, if not as it came. An answer that cannot
    /// be read or does not fit is not passed on.
    pub fn heard(
        self,
        now: Instant,
        frame: &Frame,
        id: &Id,
        members: &Members<'_>,
        rules: &Rules,
    ) -> Option<Frame> {
        // Without a result it is an error, and the server's to understand.
        self.passed(now, frame, members.result?, rules)
            .unwrap_or_else(|refused| Some(refused.frame(id)))
    }

    /// What the client's response to a question of our own says; none if it asked nobody.
    pub fn said(&self, now: Instant, members: &Members<'_>, rules: &Rules) -> Option<Outcome> {
        let result = serde_json::from_slice(members.result?).ok()?;
        let result = ElicitResult::read(result).ok()?;
        let answer = self.elicitation.answer(result, &rules.limits);
        let by = self.by_client(now);
        answer.ok().map(|answer| Outcome::Answered(answer, by))
    }

    /// True if the client answered before a person can have read the question, and that answer doesn't count: a
    /// refusal, or whatever it says to a question of our own. `approves`: the client is known to approve on behalf of
    /// its user.
    pub fn is_unattended(&self, now: Instant, members: &Members<'_>, approves: bool) -> bool {
        if self.by_client(now).human || self.is_unread {
            return false;
        }
        let result = members
            .result
            .and_then(|json| serde_json::from_slice(json).ok());
        let Some(Ok(result)) = result.map(ElicitResult::read) else {
            return false;
        };
        let is_ours = matches!(
            self.wanted_by,
            WantedBy::Confirmation(_) | WantedBy::Sampling(..)
        );
        result.action() != Action::Accept || (is_ours && !approves)
    }

    /// Who answers, if the client does so now. It is no person who answers faster than one can read.
    fn by_client(&self, now: Instant) -> By {
        let is_fast = matches!(self.at, At::Client { since, .. } if now.duration_since(since) < FASTEST_ANSWER.get());
        By {
            route: Route::Client,
            human: !is_fast,
        }
    }

    fn passed(
        self,
        now: Instant,
        frame: &Frame,
        result: &[u8],
        rules: &Rules,
    ) -> Result<Option<Frame>, Refused> {
        if repeats(result, &ANSWER) || str::from_utf8(result).is_ok_and(is_ambiguous) {
            let why = "it has a member twice, or in other letters";
            return Err(Refused::unreadable(&why));
        }
        let unread =
            serde_json::from_slice(result).map_err(|_| Refused::unreadable(&"it is not JSON"));
        let result = ElicitResult::read(unread?).map_err(|why| Refused::unreadable(&why))?;
        let by = self.by_client(now);
        let mut outcome = self.outcome(by, &result);
        let (edited, unchecked) = self.checked(frame, result, rules)?;
        if !unchecked.is_empty() {
            let told = outcome.get_or_insert_with(|| json!({"state": "answered", "by": by}));
            told["unchecked"] = unchecked.into();
        }
        let Some(outcome) = outcome else {
            return Ok(edited);
        };
        let told = with_outcome(edited.as_ref().unwrap_or(frame), outcome);
        told.map(Some)
            .ok_or_else(|| Refused::unreadable(&"it has no result"))
    }

    /// What the server is told of who answered, where the client's words alone would not be the truth.
    fn outcome(&self, by: By, result: &ElicitResult) -> Option<Value> {
        let is_claimed =
            (result.meta.as_ref()).is_some_and(|meta| meta.contains_key(meta::OUTCOME));
        if by.human && !is_claimed && !self.is_unread {
            return None;
        }
        let mut outcome = json!({"state": "answered", "by": by});
        if !by.human && result.action() != Action::Accept {
            outcome["reason"] = "unattended".into();
        }
        if self.is_unread {
            outcome["checked"] = false.into();
        }
        Some(outcome)
    }

    /// The response as the server is sent it, if its content has to change, and the fields that only the server can
    /// check. An answer that doesn't fit is refused.
    fn checked(
        self,
        frame: &Frame,
        result: ElicitResult,
        rules: &Rules,
    ) -> Result<(Option<Frame>, Vec<String>), Refused> {
        if self.is_unread {
            let content = json!(result.content()).to_string();
            return match content.len() <= rules.limits.content_bytes {
                true => Ok((None, Vec::new())),
                false => Err(Refused::unreadable(&"it is too long")),
            };
        }
        let unfit = Refused::unfit;
        let (
            At::Client {
                told: Some(telling),
                ..
            },
            Wanted::Form(form),
            true,
        ) = (
            &self.at,
            &self.elicitation.wanted,
            result.content().is_some(),
        )
        else {
            let answer = self.elicitation.answer(result, &rules.limits);
            let answer = answer.map_err(unfit)?;
            return Ok((None, answer.unchecked().to_vec()));
        };
        let values = Values::from(result.into_content().unwrap_or_default());
        let values = telling.back(form, values).map_err(unfit)?;
        let result = ElicitResult::accept(Some(values.into_object()));
        let answer = self
            .elicitation
            .answer(result, &rules.limits)
            .map_err(unfit)?;
        let unchecked = answer.unchecked().to_vec();
        let result = self.elicitation.result(answer);
        let content =
            serde_json::to_string(&result.content()).map_err(|why| Refused::unreadable(&why))?;
        let edited = frame.with(&["result", "content"], &content);
        edited
            .map(|edited| (Some(edited), unchecked))
            .ok_or_else(|| Refused::unreadable(&"it has no content"))
    }

    /// What the server is told when somebody opens the link.
    pub fn opened(&mut self, by: By) -> Option<Frame> {
        let At::Desk(state) = &mut self.at else {
            return None;
        };
        let is_link = matches!(self.elicitation.wanted, Wanted::Link(_));
        if !is_link || matches!(state, State::Opened(_) | State::Leaving) {
            return None;
        }
        *state = State::Opened(by);
        let WantedBy::Server(id) = &self.wanted_by else {
            return None;
        };
        let told = json!({"state": "answered", "by": by});
        let result = ElicitResult::accept(None).with_outcome(told);
        Some(Frame::result(id, &result.write()))
    }

    /// What the server is told when its question ends, unless it was told already.
    pub fn ended(self, id: &Id, outcome: Outcome) -> Option<Frame> {
        if self.opened_by().is_some() {
            return None;
        }
        let told = told(&outcome);
        let result = match outcome {
            Outcome::Answered(answer, _) => self.elicitation.result(answer),
            Outcome::TimedOut | Outcome::Withdrawn(_) | Outcome::Unavailable(_) => {
                ElicitResult::cancel()
            }
        };
        Some(Frame::result(id, &result.with_outcome(told).write()))
    }
}

/// A form in words that a client knows which cannot know the server's (`older`), or that peers
/// often get wrong; none if the server's do.
pub fn telling(
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

/// Why a client's answer does not reach the server.
struct Refused {
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

    /// An error. A server that knows of us asks again, and says why.
    fn frame(self, id: &Id) -> Frame {
        let error = Frame::error(Some(id), code::INTERNAL_ERROR, &self.why);
        if self.problems.is_empty() {
            return error;
        }
        let data = json!({meta::PROBLEMS: self.problems}).to_string();
        error.with(&["error", "data"], &data).unwrap_or(error)
    }
}

/// A client's response that says how the question ended, whatever the client itself says of that.
fn with_outcome(frame: &Frame, outcome: Value) -> Option<Frame> {
    let (_, members) = frame.peek()?;
    let result = serde_json::from_slice(members.result?).ok()?;
    let result = ElicitResult::read(result).ok()?.with_outcome(outcome);
    frame.with(&["result"], &serde_json::to_string(&result.write()).ok()?)
}

/// What the server is told of a question that nobody was asked.
pub fn nobody(id: &Id, outcome: &Outcome) -> Frame {
    let result = ElicitResult::cancel().with_outcome(told(outcome));
    Frame::result(id, &result.write())
}

/// What the server is told of a question of a round that is refused.
pub fn refused(id: &Id, why: &str) -> Frame {
    let told = json!({"state": "unavailable", "reason": why});
    Frame::result(id, &ElicitResult::cancel().with_outcome(told).write())
}

/// The error that a server gets which prefers one.
pub fn unavailable(id: &Id, why: Unavailable) -> Frame {
    let why = match why {
        Unavailable::NoRoute => "no route leads to a person",
        Unavailable::StoreLost => "the store is gone",
        Unavailable::AskerGone => "whoever asked is gone",
    };
    let told = format!("midcall: nobody could be asked: {why}");
    Frame::error(Some(id), code::INTERNAL_ERROR, &told)
}

/// How a question ended, as `_meta` tells it.
fn told(outcome: &Outcome) -> Value {
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

fn link_name(elicitation: &Elicitation) -> Option<String> {
    let params = serde_json::from_str(elicitation.params().get()).ok()?;
    match ElicitRequestParams::read(params).ok()?.asked {
        Asked::Url { elicitation_id, .. } => elicitation_id,
        Asked::Form { .. } => None,
    }
}
