//! A question of the server, on its way to whoever answers it.

use midcall_core::catalog::Locale;
use midcall_core::wire::{Asked, ElicitRequestParams, ElicitResult, Revision, Telling, code};
use midcall_core::{Answer, Elicitation, Unfit, Values, Wanted};
use midcall_desk::{By, Outcome, Route};
use serde_json::{Value, json};

use super::Rules;
use crate::frame::{Frame, Id, Members};

/// A question that is not answered yet.
pub struct Question {
    elicitation: Elicitation,
    asked: At,
}

enum At {
    /// The client asks it, in other words if it would not understand the server's.
    Client { told: Option<Box<Telling>> },
    /// It waits at the desk.
    Desk {
        /// The client's calls in which it can have come up.
        calls: Vec<Id>,
        /// Whether the server has its answer already: a link is answered when it is opened.
        answered: bool,
    },
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
        Self {
            elicitation,
            asked: At::Client { told },
        }
    }

    /// A question for the desk.
    pub fn at_desk(elicitation: Elicitation, calls: Vec<Id>) -> Self {
        let asked = At::Desk {
            calls,
            answered: false,
        };
        Self { elicitation, asked }
    }

    pub fn is_at_desk(&self) -> bool {
        matches!(self.asked, At::Desk { .. })
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
    pub fn is_link(&self, id: &str) -> bool {
        let params =
            serde_json::from_str(self.elicitation.params().get()).map(ElicitRequestParams::read);
        let Ok(Ok(params)) = params else {
            return false;
        };
        matches!(params.asked, Asked::Url { elicitation_id: Some(name), .. } if name == id)
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

    /// The client's response as the server is sent it, if not as it came. An answer that does
    /// not fit is not passed on.
    pub fn heard(
        self,
        frame: &Frame,
        id: &Id,
        members: &Members<'_>,
        rules: &Rules,
    ) -> Option<Frame> {
        let result: Value = serde_json::from_slice(members.result?).ok()?;
        let result = match ElicitResult::read(result) {
            Ok(result) => result,
            Err(error) => {
                let told = format!("midcall: the client's answer cannot be read: {error}");
                return Some(Frame::error(Some(id), code::INTERNAL_ERROR, &told));
            }
        };
        let told = match &self.asked {
            At::Client { told } => told.as_deref(),
            At::Desk { .. } => None,
        };
        let (Some(telling), Wanted::Form(form), true) =
            (told, &self.elicitation.wanted, result.content().is_some())
        else {
            return match self.elicitation.answer(result, &rules.limits) {
                Ok(_) => None,
                Err(unfit) => Some(refused(id, &unfit)),
            };
        };
        let values = Values::from(result.into_content().unwrap_or_default());
        let meant = telling
            .back(form, values)
            .map(|values| ElicitResult::accept(Some(values.into_object())));
        let answer = meant.and_then(|result| self.elicitation.answer(result, &rules.limits));
        match answer {
            Err(unfit) => Some(refused(id, &unfit)),
            Ok(answer) => {
                let result = self.elicitation.result(answer);
                let content = serde_json::to_string(&result.content()).ok()?;
                frame.with(&["result", "content"], &content)
            }
        }
    }

    /// What the server is told when the person opens the link.
    pub fn opened(&mut self, id: &Id) -> Option<Frame> {
        let At::Desk { answered, .. } = &mut self.asked else {
            return None;
        };
        if std::mem::replace(answered, true) {
            return None;
        }
        let by = By {
            route: Route::Page,
            human: true,
        };
        let result =
            ElicitResult::accept(None).with_outcome(json!({"state": "answered", "by": by}));
        Some(Frame::result(id, &result.write()))
    }

    /// What the server is told when the question ends, unless it was told already.
    pub fn ended(self, id: &Id, outcome: Outcome) -> Option<Frame> {
        if matches!(self.asked, At::Desk { answered: true, .. }) {
            return None;
        }
        let closing = outcome.closing();
        let mut told = json!({"state": closing.state});
        if let Some(by) = closing.by {
            told["by"] = json!(by);
        }
        let reason = match &outcome {
            Outcome::Answered(Answer::Declined { reason }, _) => {
                reason.as_ref().map(|reason| reason.as_str().to_owned())
            }
            _ => closing.reason,
        };
        if let Some(reason) = reason {
            told["reason"] = reason.into();
        }
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
fn refused(id: &Id, unfit: &Unfit) -> Frame {
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
    let told = format!(
        "midcall: the client's answer does not fit the form: {}",
        fields.join(", ")
    );
    Frame::error(Some(id), code::INTERNAL_ERROR, &told)
}
