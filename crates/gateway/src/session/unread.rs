//! Questions that Midcall can't read.
//!
//! What is too large is refused, whoever might be asked. What is merely unknown, such as a field of a later revision, may
//! still be understood by the client; but the person's rules can't be applied to it, so it is refused where there are
//! any.

use crate::moment::Moment;
use memchr::memmem;
use midcall_core::link::Verdict;
use midcall_core::wire::{Input, InputRequiredResult, Revision, member};
use midcall_core::{Asker, Elicitation, ElicitationError, Limits, Wanted};
use serde_json::{Value, json};

use super::ask::Asking;
use super::{Out, Session};
use crate::call::{Ability, CallId, DeskState, Origin, Place, Question, TellBy, What};
use crate::frame::{Members, PARAMS, repeats};
use crate::leg::server::modern::{is_round, is_unclear};
use crate::route::Route;

impl Session {
    /// Passes an unknown question to the client, or says why it isn't passed on.
    pub(super) fn pass_unread(
        &mut self,
        now: Moment,
        asking: &Asking,
        why: &ElicitationError,
        has_link: bool,
        out: Out<'_>,
    ) -> Result<(), String> {
        let can = match self.client.told {
            _ if self.client.has_left => false,
            TellBy::Requests => self.client.modes().is_some_and(|modes| modes.form),
            TellBy::Results => self
                .ledger
                .calls
                .askable(Ability::Form, asking.origin, self.is_shared)
                .is_some(),
        };
        let may_pass = why.is_unknown() && can && !has_link;
        if !may_pass || !self.setup.flags_allow(Route::Client) {
            return Err(why.to_string());
        }
        if self.setup.profile.is_some() {
            return Err(format!("{why}; whether this client shows it isn't known"));
        }
        let server = self.servers.first.facts.asker.server.as_str();
        if self
            .setup
            .judges_questions(server, &self.tools_of(asking.origin))
        {
            return Err(format!("{why}; the policy can't be applied to it"));
        }
        if self.is_anybodys(asking.origin) {
            return Err(format!("{why}; and it may be for any of several clients"));
        }
        let peeked = asking.request.peek();
        let params = peeked.and_then(|(_, members)| serde_json::from_slice(members.params?).ok());
        let stand_in = stand_in(self.servers.first.facts.asker.clone(), &self.setup.limits);
        let plan = self.plan(&stand_in, asking.origin);
        let deadline = now + plan.wait(None);
        let what = What::Unread(Box::new(stand_in), params);
        let place = Place::Desk(DeskState::Coming);
        let question = Question::new(
            what,
            asking.wanted_by.clone(),
            asking.origin,
            place,
            deadline,
        );
        self.ask_client(
            now,
            question,
            asking.request.clone(),
            asking.id.clone(),
            out,
        );
        Ok(())
    }

    /// True if a result of a modern server asks what can't be passed on as it is: a question that can't be read or is
    /// beyond a bound, or a link that is refused or warned about.
    pub(super) fn must_judge(&self, call: CallId, result: &[u8]) -> bool {
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
        let asker = self.asker(Origin::Only(call));
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
            match Elicitation::read(&params, asker.clone(), &self.setup.limits) {
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
pub fn has_link(members: &Members<'_>) -> bool {
    let params = members.params.map(serde_json::from_slice::<Value>);
    // What can't be read may well have one.
    params.is_some_and(|params| params.map_or(true, |params| params.get("url").is_some()))
}

/// A question in the place of one that can't be read: it has a deadline and calls, and no fields.
fn stand_in(asker: Asker, limits: &Limits) -> Elicitation {
    let schema = json!({"type": "object", "properties": {}});
    let params = json!({"message": "", (member::REQUESTED_SCHEMA): schema}).to_string();
    Elicitation::read(&params, asker, limits).expect("it is a form without fields")
}
