//! Questions that Midcall can't read.
//!
//! What is too large is refused, whoever might be asked. What is merely unknown, such as a field of a later revision, may
//! still be understood by the client; but the person's rules can't be applied to it, so it is refused where there are
//! any.

use memchr::memmem;
use midcall_core::link::Verdict;
use midcall_core::wire::{Input, InputRequiredResult, Revision};
use midcall_core::{Asker, Elicitation, ElicitationError, Limits, Wanted};
use serde_json::Value;
use tokio::time::Instant;

use super::question::{At, Question, WantedBy};
use super::{Act, Session};
use crate::era::{is_round, is_unclear};
use crate::frame::{Frame, Id, Members, PARAMS, repeats};
use crate::route::Route;

impl Session {
    /// Passes an unknown question to the client, or says why it isn't passed on.
    pub(super) fn pass_unread(
        &mut self,
        now: Instant,
        frame: Frame,
        id: Id,
        why: &ElicitationError,
        acts: &mut Vec<Act>,
    ) -> Result<(), String> {
        let has_link = frame.peek().is_some_and(|(_, members)| has_link(&members));
        let may_pass = why.is_unknown() && self.modes().form && !has_link;
        if !may_pass || !self.rules.routes.has(Route::Client) {
            return Err(why.to_string());
        }
        if self.rules.profile.is_some() {
            return Err(format!("{why}; whether this client shows it isn't known"));
        }
        if self.judges_questions() {
            return Err(format!("{why}; the policy can't be applied to it"));
        }
        let elicitation = stand_in(self.server.asker.clone(), &self.rules.limits);
        let wanted_by = WantedBy::Server(id.clone());
        let at = At::Client {
            told: None,
            since: now,
            until: now + self.patience(&elicitation),
        };
        let calls = self.candidates();
        if self.is_anybodys(&calls) {
            return Err(format!("{why}; and it may be for any of several clients"));
        }
        let question = Question::new(elicitation, wanted_by, calls, at).unread();
        self.questions.add(Some(id), question);
        acts.push(Act::ToClient(frame));
        Ok(())
    }
}

impl Session {
    /// True if a result of a modern server asks what can't be passed on as it is: a question that can't be read or is
    /// beyond a bound, or a link that is refused or warned about.
    pub fn must_judge(&self, result: &[u8]) -> bool {
        let name = InputRequiredResult::RESULT_TYPE.as_bytes();
        let has = |text: &[u8]| memmem::find(result, text).is_some();
        if !has(name) && !has(b"\\u") || !is_round(result) {
            return false;
        }
        let Ok(Ok(round)) = serde_json::from_slice(result).map(InputRequiredResult::read) else {
            return true;
        };
        if is_unclear(result) {
            return true;
        }
        round.input_requests.0.iter().any(|(_, request)| {
            let Input::Elicit(params) = &request.input else {
                return false;
            };
            let Ok(params) = params.write(Revision::V2026_07_28) else {
                return true;
            };
            let params = serde_json::to_string(&params).unwrap_or_default();
            if repeats(params.as_bytes(), &PARAMS) {
                return true;
            }
            match Elicitation::read(&params, self.asker(), &self.rules.limits) {
                Ok(Elicitation {
                    wanted: Wanted::Link(link),
                    ..
                }) => *link.verdict() != Verdict::Plain,
                Ok(_) => false,
                Err(why) => !why.is_unknown(),
            }
        })
    }
}

/// True if a question has a link, whatever its mode is.
fn has_link(members: &Members<'_>) -> bool {
    let params = members.params.map(serde_json::from_slice::<Value>);
    // What can't be read may well have one.
    params.is_some_and(|params| params.map_or(true, |params| params.get("url").is_some()))
}

/// A question in the place of one that can't be read: it has a deadline and calls, and no fields.
fn stand_in(asker: Asker, limits: &Limits) -> Elicitation {
    let params = r#"{"message":"","requestedSchema":{"type":"object","properties":{}}}"#;
    Elicitation::read(params, asker, limits).expect("it is a form without fields")
}
