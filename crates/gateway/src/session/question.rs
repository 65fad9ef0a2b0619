//! A question of the server, on its way to whoever answers it.

use std::fmt::Display;

use midcall_core::catalog::Locale;
use midcall_core::wire::{Asked, ElicitRequestParams, ElicitResult, Revision, Telling, code};
use midcall_core::{Answer, Elicitation, Unfit, Values, Wanted};
use midcall_desk::{By, Outcome};
use serde_json::{Value, json};

use super::{Rules, Turn};
use crate::frame::{Frame, Id, Members};

/// A question that is not answered yet.
pub struct Question {
    elicitation: Elicitation,
    /// The name by which the server will say that a link has served its purpose.
    link: Option<String>,
    asked: At,
}

enum At {
    /// The client asks it, in other words if it would not understand the server's.
    Client { told: Option<Box<Telling>> },
    /// It waits at the desk.
    Desk {
        turn: Turn,
        /// The client's calls in which it can have come up.
        calls: Vec<Id>,
        state: State,
    },
}

/// Where a question at the desk stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
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
    /// A question for the client. What it cannot know (`older`) or peers often get wrong is said
    /// in words it knows.
    pub fn for_client(
        elicitation: Elicitation,
        revision: Revision,
        older: bool,
        locale: Locale,
    ) -> Self {
        let told = match &elicitation.wanted {
            Wanted::Form(form) if older || !form.repairs.is_empty() => {
                let telling = Telling::of(form, revision, locale);
                (!telling.changes.is_empty() || !form.repairs.is_empty()).then(|| Box::new(telling))
            }
            _ => None,
        };
        Self::new(elicitation, At::Client { told })
    }

    /// A question for the desk.
    pub fn at_desk(elicitation: Elicitation, turn: Turn, calls: Vec<Id>) -> Self {
        let state = State::Coming;
        let asked = At::Desk { turn, calls, state };
        Self::new(elicitation, asked)
    }

    fn new(elicitation: Elicitation, asked: At) -> Self {
        let link = match elicitation.wanted {
            Wanted::Link(_) => link_name(&elicitation),
            Wanted::Form(_) => None,
        };
        Self {
            elicitation,
            link,
            asked,
        }
    }

    /// Its name at the desk, if it is there.
    pub fn turn(&self) -> Option<Turn> {
        match self.asked {
            At::Desk { turn, .. } => Some(turn),
            At::Client { .. } => None,
        }
    }

    /// Whether people see it, and the server waits for what they say.
    pub fn waits(&self) -> bool {
        self.state() == Some(State::There)
    }

    /// Who opened it, if it is a link and somebody has.
    pub fn opened_by(&self) -> Option<By> {
        match self.state() {
            Some(State::Opened(by)) => Some(by),
            _ => None,
        }
    }

    /// People see it now.
    pub fn asked(&mut self) {
        if let At::Desk { state, .. } = &mut self.asked
            && *state == State::Coming
        {
            *state = State::There;
        }
    }

    /// It is being taken back.
    pub fn leaves(&mut self) {
        if let At::Desk { state, .. } = &mut self.asked
            && !matches!(state, State::Opened(_))
        {
            *state = State::Leaving;
        }
    }

    fn state(&self) -> Option<State> {
        match self.asked {
            At::Desk { state, .. } => Some(state),
            At::Client { .. } => None,
        }
    }

    /// Whether it can have come up in no other call.
    pub fn only_of(&self, call: &Id) -> bool {
        matches!(&self.asked, At::Desk { calls, .. } if calls.as_slice() == [call.clone()])
    }

    /// A call is over.
    pub fn forget(&mut self, call: &Id) {
        if let At::Desk { calls, .. } = &mut self.asked {
            calls.retain(|candidate| candidate != call);
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
        } = &self.asked
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
        frame: &Frame,
        id: &Id,
        members: &Members<'_>,
        rules: &Rules,
    ) -> Option<Frame> {
        // Without a result it is an error, and the server's to understand.
        self.passed(frame, members.result?, rules)
            .unwrap_or_else(|why| Some(Frame::error(Some(id), code::INTERNAL_ERROR, &why)))
    }

    fn passed(self, frame: &Frame, result: &[u8], rules: &Rules) -> Result<Option<Frame>, String> {
        let unreadable =
            |why: &dyn Display| format!("midcall: the client's answer cannot be read: {why}");
        let result: Value =
            serde_json::from_slice(result).map_err(|_| unreadable(&"it is not JSON"))?;
        let result = ElicitResult::read(result).map_err(|why| unreadable(&why))?;
        let unfit = |unfit: Unfit| refused(&unfit);
        let (
            At::Client {
                told: Some(telling),
            },
            Wanted::Form(form),
            true,
        ) = (
            &self.asked,
            &self.elicitation.wanted,
            result.content().is_some(),
        )
        else {
            let answer = self.elicitation.answer(result, &rules.limits);
            return answer.map(|_| None).map_err(unfit);
        };
        let values = Values::from(result.into_content().unwrap_or_default());
        let values = telling.back(form, values).map_err(unfit)?;
        let result = ElicitResult::accept(Some(values.into_object()));
        let answer = self
            .elicitation
            .answer(result, &rules.limits)
            .map_err(unfit)?;
        let result = self.elicitation.result(answer);
        let content = serde_json::to_string(&result.content()).map_err(|why| unreadable(&why))?;
        let edited = frame.with(&["result", "content"], &content);
        edited
            .map(Some)
            .ok_or_else(|| unreadable(&"it has no content"))
    }

    /// What the server is told when somebody opens the link.
    pub fn opened(&mut self, id: &Id, by: By) -> Option<Frame> {
        let At::Desk { state, .. } = &mut self.asked else {
            return None;
        };
        let is_link = matches!(self.elicitation.wanted, Wanted::Link(_));
        if !is_link || matches!(state, State::Opened(_) | State::Leaving) {
            return None;
        }
        *state = State::Opened(by);
        let told = json!({"state": "answered", "by": by});
        let result = ElicitResult::accept(None).with_outcome(told);
        Some(Frame::result(id, &result.write()))
    }

    /// What the server is told when the question ends, unless it was told already.
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

/// Names fields, not values: what a client sends may be what a person typed.
fn refused(unfit: &Unfit) -> String {
    let named = |path: &str| {
        if path.is_empty() {
            "/".to_owned()
        } else {
            path.to_owned()
        }
    };
    let fields: Vec<String> = unfit
        .problems
        .iter()
        .map(|problem| named(&problem.path))
        .collect();
    let fields = fields.join(", ");
    format!("midcall: the client's answer does not fit the form: {fields}")
}

/// What the server is told of a question that nobody was asked.
pub fn nobody(id: &Id, outcome: &Outcome) -> Frame {
    let result = ElicitResult::cancel().with_outcome(told(outcome));
    Frame::result(id, &result.write())
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
    told
}

fn link_name(elicitation: &Elicitation) -> Option<String> {
    let params = serde_json::from_str(elicitation.params().get()).ok()?;
    match ElicitRequestParams::read(params).ok()?.asked {
        Asked::Url { elicitation_id, .. } => elicitation_id,
        Asked::Form { .. } => None,
    }
}
