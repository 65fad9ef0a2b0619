//! Calls that a person approves before the server gets them.

use crate::moment::Moment;
use midcall_core::model;
use midcall_core::wire::{member, meta};
use midcall_core::{Answer, Asker, Elicitation, is_ambiguous};
use midcall_desk::Outcome;
use serde_json::{Value, json};

use super::call::NewCall;
use super::listing::Undecided;
use super::preview::{self, EACH};
use super::{Out, Session};
use crate::call::{Call, CallId, Happened, Origin, ServerId, Stage, WantedBy};
use crate::frame::{Frame, Members};
use crate::route::Confirm;
use crate::unseen::one_line;

impl Session {
    /// True if a person has to approve a call of a tool, as far as anybody knows.
    pub(super) fn must_confirm(&self, members: &Members<'_>) -> bool {
        match self.confirm_setting(members) {
            Confirm::Never => false,
            Confirm::Destructive if !self.servers.first.listing.is_known() => true,
            Confirm::Destructive => self.tools.hints(members.name).is_destructive(),
            Confirm::All => true,
        }
    }

    /// Which calls of a tool need approval.
    fn confirm_setting(&self, members: &Members<'_>) -> Confirm {
        if !self.setup.may_confirm() {
            return Confirm::Never;
        }
        let tool: Option<String> = members
            .name
            .and_then(|name| serde_json::from_slice(name).ok());
        let server = self.servers.first.facts.asker.server.as_str();
        self.setup.confirm(server, tool.as_deref())
    }

    /// Asks a person before a call is sent, or finds out first whether that needs to be.
    pub(super) fn confirms(
        &mut self,
        now: Moment,
        new: NewCall,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let call = Call::new(new.request, new.server, Stage::Confirming, new.declared);
        let call = self.ledger.calls.open(call);
        let depends = self.confirm_setting(members) == Confirm::Destructive;
        if depends && !self.servers.first.listing.is_known() {
            return self.needs_list(now, ServerId::First, Undecided::Call(call), out);
        }
        self.asks_approval(now, call, members, out);
    }

    /// Asks a person to approve a call that waits for that.
    pub(super) fn asks_approval(
        &mut self,
        now: Moment,
        call: CallId,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let key = match self.approval_of(call, members) {
            None => "mcp.elicitation.confirm.unreadable",
            Some(elicitation) => {
                let wanted_by = WantedBy::Approval(call);
                if self.ask_for(now, elicitation, wanted_by, Origin::Only(call), out) {
                    return;
                }
                "mcp.elicitation.confirm.nobody"
            }
        };
        let words = self.say(key);
        self.finish_with_words(now, call, &words, out);
    }

    /// A person approved a call, or nobody did.
    pub(super) fn approved(&mut self, now: Moment, call: CallId, outcome: &Outcome, out: Out<'_>) {
        let key = match outcome {
            Outcome::Answered(Answer::Accepted(_), _) => {
                let todo = self
                    .ledger
                    .calls
                    .change(call, |call| call.on(now, Happened::Ready));
                return self.does(now, call, todo, out);
            }
            Outcome::Answered(..) => "mcp.elicitation.confirm.refused",
            Outcome::TimedOut => "mcp.elicitation.confirm.timed_out",
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => "mcp.elicitation.confirm.nobody",
        };
        let mut words = self.say(key);
        if let Outcome::Answered(
            Answer::Declined {
                reason: Some(reason),
            },
            _,
        ) = outcome
        {
            words = format!("{words}: {}", reason.as_str());
        }
        self.finish_with_words(now, call, &words, out);
    }

    /// Ends a call of a tool as one that could not do what it was called for.
    fn finish_with_words(&mut self, now: Moment, id: CallId, words: &str, out: Out<'_>) {
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let told = Frame::result(&call.request.id, &model::error(words));
        self.finish(now, id, told, out);
    }

    /// What a person is asked; none if the call can't be shown as it is.
    fn approval_of(&self, call: CallId, members: &Members<'_>) -> Option<Elicitation> {
        let hints = self.tools.hints(members.name);
        let params = str::from_utf8(members.params?).ok()?;
        if is_ambiguous(params) {
            return None;
        }
        let params: Value = serde_json::from_str(params).ok()?;
        let tool = params["name"].as_str()?;
        let key = match hints.is_destructive() {
            true => "mcp.elicitation.confirm.destructive",
            false => "mcp.elicitation.confirm.call",
        };
        let server = self.servers.first.facts.asker.server.as_str();
        let shown = one_line(tool, EACH);
        let words = [("tool", shown.as_str().into()), ("server", server.into())];
        let mut message = self.setup.locale.say(key, &words);
        match &params["arguments"] {
            Value::Null => {}
            Value::Object(arguments) => {
                message += &preview::arguments(arguments, self.setup.locale)
            }
            _ => return None,
        }
        let mut params = json!({"message": message, (member::REQUESTED_SCHEMA): {"type": "object", "properties": {}}});
        if hints.is_destructive() {
            params["_meta"] = json!({meta::DESTRUCTIVE: true});
        }
        let asker = Asker {
            tool: Some(tool.to_owned()),
            ..self.asker(Origin::Only(call))
        };
        Elicitation::read(&params.to_string(), asker, &self.setup.limits).ok()
    }
}
