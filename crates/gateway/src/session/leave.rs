//! A session goes on without its client, for those who come with what the client was given to come back by.
//!
//! What the client was not told to come back for ends when it leaves. Other sessions of the same person are guests here:
//! they collect results and hand in a model's answers, and have nothing else to say.

use midcall_core::wire::code;
use midcall_desk::{Lost, Outcome, Withdrawn};

use super::{Out, Output, Session};
use crate::call::{CallId, DeskState, Place, Question, QuestionId, WantedBy};
use crate::frame::{Frame, Id, Kind};
use crate::moment::Moment;

/// Why a call is taken back whose client left, and what a server is told that wants something of it.
const LEFT: &str = "the client has left";

/// What a server gets that wants something of a client that has left.
pub fn client_left(id: Option<&Id>) -> Frame {
    Frame::error(id, code::INTERNAL_ERROR, &format!("midcall: {LEFT}"))
}

impl Session {
    /// A guest calls one of the added tools.
    pub(super) fn guest_says(&mut self, now: Moment, frame: &Frame, out: Out<'_>) {
        let Some((Kind::Request { id, .. }, members)) = frame.peek() else {
            return;
        };
        self.client.hears_guest = true;
        if self.has_asked(&members) {
            self.model_answers(now, id, &members, out);
        } else {
            self.collects(now, id, &members, out);
        }
        self.client.hears_guest = false;
    }

    /// The client left. If it was told to come back for something, that goes on.
    pub(super) fn client_leaves(&mut self, now: Moment, out: Out<'_>) {
        if !self.is_named() {
            return self.client_gone(now, out);
        }
        self.client.has_left = true;
        self.drops_held_for_client();
        for (server, id) in self.passed.drain() {
            out.push(Output::ToServer(server, client_left(Some(&id))));
        }
        let calls = self.ledger.calls.iter();
        let calls: Vec<_> = calls
            .map(|(id, call)| (id, call.audience.has_names(), call.request.is_opening))
            .collect();
        for (id, is_named, is_opening) in calls {
            match (is_named, is_opening) {
                (true, _) => {
                    let leaves = |call: &mut crate::call::Call| call.audience.client_leaves();
                    self.ledger.calls.change(id, leaves);
                }
                (false, false) => self.takes_back(now, id, LEFT, out),
                (false, true) => self.drops(id, out),
            }
        }
        let questions: Vec<QuestionId> = self.ledger.questions.iter().map(|(id, _)| id).collect();
        for id in questions {
            self.client_left_question(now, id, out);
        }
    }

    /// Forgets a call that can't be taken back.
    fn drops(&mut self, id: CallId, out: Out<'_>) {
        self.answers_end(id, Lost::ByClient, out);
        self.ledger.calls.close(id);
    }

    /// A question is open whose client left: others are asked instead, if a call goes on that it can have come up in.
    fn client_left_question(&mut self, now: Moment, id: QuestionId, out: Out<'_>) {
        let Some(question) = self.ledger.questions.get(id) else {
            return;
        };
        let is_wanted = self.is_wanted(question);
        match &question.place {
            Place::Client { .. } if is_wanted => self.asks_others(now, id, out),
            _ if is_wanted => {}
            Place::Desk(DeskState::Leaving) => {}
            Place::Desk(_) => {
                self.ledger.questions.change(id, |question| {
                    question.place = Place::Desk(DeskState::Leaving);
                });
                out.push(Output::Withdraw(id, Withdrawn::ByClient));
            }
            Place::Client { .. } | Place::Model { .. } | Place::Undecided => {
                let left = Outcome::Withdrawn(Withdrawn::ByClient);
                self.end_question(now, id, left, out);
            }
        }
    }

    /// True if one of the calls that a question can have come up in goes on without the client.
    fn is_wanted(&self, question: &Question) -> bool {
        let calls = &self.ledger.calls;
        match &question.wanted_by {
            WantedBy::Sampling(..) => false, // It is for the client's own model.
            WantedBy::Round(call, _) | WantedBy::Approval(call) | WantedBy::Link(call, _) => {
                calls.get(*call).is_some()
            }
            WantedBy::Request(..) => calls.candidates(question.origin).next().is_some(),
        }
    }

    /// Asks the next that may be asked, after the client.
    fn asks_others(&mut self, now: Moment, id: QuestionId, out: Out<'_>) {
        let Some(question) = self.ledger.questions.remove(id) else {
            return;
        };
        let elicitation = question.elicitation();
        let plan = elicitation.map(|it| self.plan(it, question.origin));
        let unasked = match plan {
            Some(plan) => self.place(now, question, &plan, None, out).err(),
            None => Some(Box::new(question)),
        };
        if let Some(question) = unasked {
            let left = super::settle::Settled::Ended(Outcome::Withdrawn(Withdrawn::ByClient));
            self.settle(now, *question, left, out);
        }
    }
}
