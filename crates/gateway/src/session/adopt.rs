//! A call that another process had goes on here.
//!
//! Its client isn't connected, and comes back by name. Its server is opened when the call needs it. Questions at the desk
//! are asked again as the same tickets, so that people see them once. Of a call that the server had, nobody knows whether
//! it was done: it is made again only if that does no harm.

use crate::moment::Moment;
use midcall_core::wire::code;
use midcall_desk::{Outcome, Unavailable};

use super::{Out, Session};
use crate::call::{
    AWAY, Call, CallId, Declared, Happened, Place, QuestionId, Restored, Stage, TellBy, Todo,
};
use crate::frame::Frame;
use crate::leg::server::opening::Opening;
use crate::route::ServerEra;

impl Session {
    /// Goes on with a call that another process had.
    pub(super) fn adopts(&mut self, now: Moment, mut restored: Restored, out: Out<'_>) {
        if self.has_call(restored.key) {
            return tracing::warn!("a call was to be taken up a second time");
        }
        let is_this_server = self.setup.saves.as_ref() == Some(&restored.server);
        let (key, repeats) = (restored.key, restored.repeats);
        restored.is_called(self.own_ids.fresh());
        if self.client.opened.is_none() && !self.has_calls() {
            self.client.told = restored.call().request.told;
        }
        let _ = self.tools.await_name(); // Its client knows the added tools already.
        let (id, questions) = self.ledger.adopt(restored, &self.setup.limits);
        self.has_adopted(id, key);
        let questions = match questions {
            Ok(questions) => questions,
            Err(_) => {
                let why = "midcall: a question of this call can't be read any more";
                return self.fails_adopted(now, id, why, out);
            }
        };
        for question in &questions {
            self.asks_again(now, *question, out);
        }
        if !is_this_server {
            let why = "midcall: the server was configured otherwise while this call was waiting";
            return self.fails_adopted(now, id, why, out);
        }
        self.takes_up(now, id, repeats, out);
        self.expects_client(now, id);
    }

    fn fails_adopted(&mut self, now: Moment, id: CallId, why: &str, out: Out<'_>) {
        let error = Frame::error(None, code::INTERNAL_ERROR, why);
        self.finish(now, id, error, out);
    }

    /// Puts a question where it was, or to somebody else if whoever had it is gone.
    fn asks_again(&mut self, now: Moment, id: QuestionId, out: Out<'_>) {
        let Some(question) = self.ledger.questions.get(id) else {
            return;
        };
        match question.place {
            Place::Desk(_) => out.extend(self.ask_of(id)), // Its record names it already.
            Place::Client { .. } => {
                let rendition = question.elicitation().and_then(|it| self.rendition(it));
                self.ledger.questions.change(id, |question| {
                    if let Place::Client { rendition: now, .. } = &mut question.place {
                        *now = rendition;
                    }
                });
            }
            Place::Model { .. } => {}
            // The client that would have answered is gone.
            Place::Undecided if question.elicitation().is_none() => {
                self.end_question(now, id, Outcome::Unavailable(Unavailable::NoRoute), out);
            }
            Place::Undecided => self.decides(now, id, None, out),
        }
    }

    /// Goes on where the other process was.
    fn takes_up(&mut self, now: Moment, id: CallId, repeats: bool, out: Out<'_>) {
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        match call.stage() {
            Stage::AtServer(_) => {
                let happened = Happened::Interrupted { repeats };
                let todo = self.ledger.calls.change(id, |call| call.on(now, happened));
                match todo {
                    Some(Todo::Fail(why)) => {
                        self.fails_adopted(now, id, &format!("midcall: {why}"), out);
                    }
                    todo => self.does(now, id, todo, out),
                }
            }
            Stage::Queued => self.send(now, id, out),
            Stage::Confirming if self.ledger.questions.of_call(id).is_empty() => {
                self.may_go(now, id, out);
            }
            Stage::Cancelled { .. } => drop(self.ledger.calls.close(id)),
            Stage::Task(_) => {
                self.saves.waiting.push(id);
                self.opens_for(now, id, out);
            }
            Stage::Paused { .. } => self.opens_for(now, id, out),
            Stage::Confirming | Stage::Asking { .. } | Stage::Done { .. } => {}
        }
    }

    /// A client that has nothing to answer has to come back.
    fn expects_client(&mut self, now: Moment, id: CallId) {
        self.ledger.calls.change(id, |call| {
            if call.is_open() && call.request.told == TellBy::Results {
                call.audience.away_until = Some(now + AWAY);
            }
        });
        let questions = &self.ledger.questions;
        let is_told = |question: &QuestionId| {
            let question = questions.get(*question);
            question.is_some_and(|it| it.told_in_round().is_some() || it.is_at_desk())
        };
        if questions.of_call(id).iter().any(is_told) {
            let waits = |call: &mut Call| call.audience.away_until = None;
            self.ledger.calls.change(id, waits);
        }
    }

    /// True if a call that came from another process waits until its server is open.
    pub(super) fn waits_for_server(&mut self, now: Moment, id: CallId, out: Out<'_>) -> bool {
        if !self.is_adopted(id) || self.servers.first.is_open() {
            return false;
        }
        self.ledger
            .calls
            .change(id, |call| call.on(now, Happened::NotOpen));
        self.saves.waiting.push(id);
        self.opens_for(now, id, out);
        true
    }

    /// Opens the server for a call whose client isn't there to do that.
    fn opens_for(&mut self, now: Moment, id: CallId, out: Out<'_>) {
        if !matches!(self.servers.first.opening, Opening::NotYet) {
            return;
        }
        match self.servers.said {
            ServerEra::Auto | ServerEra::Modern => self.probe(now, None, out),
            ServerEra::Legacy => {
                let call = self.ledger.calls.get(id);
                let declared = call.map(|call| self.declared(call).clone());
                self.open_legacy(&declared.unwrap_or_default(), out);
            }
        }
    }

    /// What the client of a call declared that waits for the server to be open, if it came from another process.
    pub(super) fn adopted_declared(&self) -> Option<Declared> {
        let mut waiting = self.saves.waiting.iter();
        let call = waiting.find_map(|id| self.ledger.calls.get(*id))?;
        Some(self.declared(call).clone())
    }

    /// Goes on with calls that waited for the server, if it is open now.
    pub(super) fn goes_on_with_adopted(&mut self, now: Moment, out: Out<'_>) {
        if self.saves.waiting.is_empty() || !self.servers.first.is_open() {
            return;
        }
        for id in std::mem::take(&mut self.saves.waiting) {
            let is_queued = |call: &Call| matches!(call.stage(), Stage::Queued);
            if self.ledger.calls.get(id).is_some_and(is_queued) {
                self.send(now, id, out);
                continue;
            }
            self.ledger.calls.change(id, |call| {
                if let Some(task) = call.task_mut() {
                    task.poll_at = Some(now);
                }
            });
        }
    }

    /// The server can't be opened: calls that waited for that end with this error.
    pub(super) fn adopted_end(&mut self, now: Moment, error: &Frame, out: Out<'_>) {
        for id in std::mem::take(&mut self.saves.waiting) {
            self.finish(now, id, error.clone(), out);
        }
    }
}
