//! The client's answer to a question, as its server is told it.
//!
//! Nothing but an accepted form brings content, nothing that doesn't fit the form is an answer, and only Midcall says how
//! a question ended.

use std::fmt::Display;

use midcall_core::wire::{Action, ElicitResult, code, meta};
use midcall_core::{Elicitation, Limits, Problem, Unfit, Values, Wanted, is_ambiguous};
use midcall_desk::{By, Outcome, Route};
use serde_json::{Value, json};

use super::{Place, Question, WantedBy, What};
use crate::frame::{ANSWER, Frame, Id, Members, Object, repeats};
use crate::moment::Moment;
use crate::times::FASTEST_ANSWER;

impl Question {
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
        let frame = tidied(frame, &result, self.is_link());
        let (edited, unchecked) = self.check(&frame, result, elicitation, limits)?;
        if !unchecked.is_empty() {
            let told = outcome.get_or_insert_with(|| json!({"state": "answered", "by": by}));
            told["unchecked"] = unchecked.into();
        }
        let told = edited.unwrap_or(frame);
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
        let reason = result.reason();
        if by.human && !is_claimed && !is_unread && reason.is_none() {
            return None;
        }
        let mut outcome = json!({"state": "answered", "by": by});
        if let Some(reason) = reason {
            outcome["reason"] = reason.as_str().into();
        } else if !by.human && result.action() != Action::Accept {
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
}

/// A response that says what `result` does, without what isn't its server's business: content of anything but an
/// accepted form, and the reason of a refusal, which belongs in the outcome. Old words become those of the protocol.
fn tidied(frame: &Frame, result: &ElicitResult, is_link: bool) -> Frame {
    let peeked = frame.peek();
    let said = peeked.and_then(|(_, members)| Object::read(members.result?));
    let Some(mut said) = said else {
        return frame.clone();
    };
    let keeps_content = result.action() == Action::Accept && !is_link;
    let action = format!("\"{}\"", result.action().as_str());
    let has_reason = (result.meta.as_ref()).is_some_and(|meta| meta.contains_key(meta::REASON));
    let has_surplus = !keeps_content && said.get("content").is_some();
    if !has_surplus && !has_reason && said.get("action") == Some(&action) {
        return frame.clone();
    }
    said.set("action", action);
    if !keeps_content {
        said.remove("content");
    }
    if has_reason {
        let meta = said.get("_meta").map(str::to_owned).unwrap_or_default();
        let mut meta = Object::read(meta.as_bytes()).unwrap_or_default();
        meta.remove(meta::REASON);
        if meta.is_empty() {
            said.remove("_meta");
        } else {
            let meta = meta.write();
            said.set("_meta", meta);
        }
    }
    frame
        .with(&["result"], &said.write())
        .unwrap_or_else(|| frame.clone())
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
