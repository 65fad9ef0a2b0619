//! Nobody can be asked.
//!
//! The server hears that, and a client that could have been asked hears what it would have to declare. That ends its
//! call, so it has to be sure that the question came up in that call.

use crate::moment::Moment;
use midcall_core::wire::code;
use midcall_desk::{Outcome, Unavailable};

use super::ask::{ability_of, mode_of};
use super::settle::Settled;
use super::{Out, Session};
use crate::call::{Ability, Call, CallId, Question, ServerId, TellBy, WantedBy};
use crate::frame::Frame;
use crate::leg::client::modern;
use crate::route::Route;

impl Session {
    /// Ends a question of a server that nobody can be asked, and its call if that is for its client to hear.
    pub(super) fn asks_nobody(&mut self, now: Moment, question: Question, out: Out<'_>) {
        let missing = self.missing(&question);
        if let (Some((call, ability)), WantedBy::Round(..)) = (missing, &question.wanted_by) {
            return self.fail_with(now, call, modern::missing(ability), out);
        }
        let settled = match self.is_undeclared(&question) {
            true => {
                let why = "the client did not declare this mode of elicitation".to_owned();
                Settled::Refused(code::INVALID_PARAMS, why)
            }
            false => Settled::Ended(Outcome::Unavailable(Unavailable::NoRoute)),
        };
        self.settle(now, question, settled, out);
        if let Some((call, ability)) = missing {
            self.gives_up(now, call, modern::missing(ability), out);
        }
    }

    /// True if a server asks by a request in a mode that it wasn't told of. A revision with one mode has no error for
    /// that.
    fn is_undeclared(&self, question: &Question) -> bool {
        let (Some((server, _)), Some(elicitation)) =
            (question.wanted_by.request(), question.elicitation())
        else {
            return false;
        };
        let server = self.servers.get(server);
        let has_modes = server.is_open() && server.facts.revision.links();
        let offered = server.offered.as_ref().filter(|_| has_modes);
        offered.is_some_and(|offered| !offered.modes.has(mode_of(elicitation)))
    }

    /// The call whose client could have been asked if it had declared this ability.
    fn missing(&self, question: &Question) -> Option<(CallId, Ability)> {
        let elicitation = question.elicitation()?;
        let id = match &question.wanted_by {
            WantedBy::Round(call, _) => *call,
            WantedBy::Request(server, _) => self.asking_call(*server, question)?,
            WantedBy::Approval(_) | WantedBy::Link(..) | WantedBy::Sampling(..) => return None,
        };
        let call = self.ledger.calls.get(id)?;
        let mode = mode_of(elicitation);
        let may_ask = self
            .plan(elicitation, question.origin)
            .routes
            .has(Route::Client);
        let would_help = may_ask && !self.declared(call).modes.has(mode);
        let hears = call.is_open() && call.request.told == TellBy::Results;
        (hears && would_help && self.renders(elicitation)).then(|| (id, ability_of(elicitation)))
    }

    /// The only call that a legacy server's request can have come up in.
    fn asking_call(&self, server: ServerId, question: &Question) -> Option<CallId> {
        let calls = &self.ledger.calls;
        let mut candidates = calls.candidates(question.origin);
        let call = candidates.next().filter(|_| candidates.next().is_none())?;
        // A task can't be ended before the server has said what it is called.
        let is_its = |call: &&Call| call.request.kind.can_ask() && !call.is_starting();
        let is_legacy = !self.servers.get(server).facts.has_rounds();
        calls
            .get(call)
            .filter(is_its)
            .filter(|_| is_legacy)
            .map(|_| call)
    }

    /// Ends a call that its server still works on with an error.
    fn gives_up(&mut self, now: Moment, id: CallId, error: Frame, out: Out<'_>) {
        let sent = self.ledger.calls.get(id).and_then(Call::sent);
        if let Some(sent) = sent {
            let cancel = Frame::cancelled(&sent.id);
            self.cancel_at_server(now, id, &cancel, out);
        }
        self.finish(now, id, error, out);
    }
}
