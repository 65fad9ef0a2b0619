//! What becomes of the answers that people give at the desk, as far as the wire shows it.
//!
//! An answer is *sent* when the message that carries it goes to the server. It is *delivered* when the call that it was
//! for comes back after that with anything but an error: a result, the next round, a task, or the receipt of a task's
//! answers. If the server goes away before, the message doesn't get through, or the call ends before the answer was sent,
//! it is *undelivered*. Of an answer that was sent, nothing more is known if its call is taken back or ends with an
//! error, or if it isn't known which of several calls it was for.
//!
//! Answers to Midcall's own questions need no server to take effect if they are a no.

use midcall_core::Answer;
use midcall_desk::Lost;

use super::save::Held;
use super::{Out, Output, Session};
use crate::call::{Call, CallId, Origin, Question, QuestionId, ServerId, Stage, WantedBy, Way};
use crate::frame::Id;

impl Session {
    /// A person answered a question, which is about to be settled.
    pub(super) fn is_answered(
        &mut self,
        id: QuestionId,
        question: &Question,
        answer: &Answer,
        out: Out<'_>,
    ) {
        let accepts = matches!(answer, Answer::Accepted(_));
        let is_over = |call| !self.ledger.calls.get(call).is_some_and(|it| it.is_open());
        match question.wanted_by {
            WantedBy::Request(..) => {}
            // Its call came back as the link was about to be closed.
            WantedBy::Round(call, _) | WantedBy::Link(call, _) if is_over(call) => {
                out.push(match accepts {
                    true => Output::Delivered(id),
                    false => Output::Undelivered(id, Lost::Dropped),
                })
            }
            WantedBy::Round(call, _) => self.ledger.receipts.add(call, id, Way::Waits),
            WantedBy::Approval(call) | WantedBy::Link(call, _) => {
                self.ledger.receipts.add(call, id, Way::Waits);
                // A no is all that Midcall needs to end the call, and makes answers needless that the server hasn't got.
                if !accepts {
                    let used = self.ledger.receipts.take_waiting(call);
                    out.extend(used.into_iter().map(Output::Delivered));
                }
            }
            WantedBy::Sampling(..) => out.push(Output::Delivered(id)),
        }
    }

    /// The answer to a question was settled.
    pub(super) fn was_answered(
        &mut self,
        id: QuestionId,
        (wanted_by, origin): (WantedBy, Origin),
        out: Out<'_>,
    ) {
        match wanted_by {
            WantedBy::Request(server, request) => {
                out.push(Output::Sent(id));
                self.await_call(id, (server, request), origin, out);
            }
            // That somebody opened a link was told when they did, and may be at the server by now.
            WantedBy::Round(call, _) => {
                match self.ledger.calls.get(call).map(|call| call.stage()) {
                    Some(Stage::Asking { .. } | Stage::Queued) => {}
                    Some(_) => self.answers_sent(call, out),
                    None => self.answers_end(call, Lost::Dropped, out),
                }
            }
            // The server is looking whether the link is done: what it says next is for this answer, too, though no
            // message brings it.
            WantedBy::Link(call, _) if self.is_at_server(call) => {
                let sent = self.ledger.receipts.send(call);
                out.extend(sent.into_iter().map(Output::Sent));
            }
            WantedBy::Approval(_) | WantedBy::Link(..) | WantedBy::Sampling(..) => {}
        }
        let surplus = self.ledger.receipts.surplus();
        out.extend(surplus.map(Output::Unknown));
    }

    fn is_at_server(&self, call: CallId) -> bool {
        self.ledger.calls.get(call).is_some_and(Call::is_at_server)
    }

    /// Waits for the call that an answer was for, if that may still come back.
    fn await_call(
        &mut self,
        id: QuestionId,
        request: (ServerId, Id),
        origin: Origin,
        out: Out<'_>,
    ) {
        let mut candidates = self.ledger.calls.candidates(origin);
        let (first, second) = (candidates.next(), candidates.next());
        drop(candidates);
        match (first, second, origin) {
            (None, ..) => out.push(Output::Unknown(id)),
            (Some(_), Some(_), Origin::Before(_, next)) => {
                self.ledger.receipts.add_before(request, next, id)
            }
            (Some(call), ..) => self.ledger.receipts.add(call, id, Way::Sent(Some(request))),
        }
    }

    /// A person answered a question that is in the ledger no more.
    pub(super) fn answered_late(&self, id: QuestionId, out: Out<'_>) {
        let why = match (&self.servers.gone, self.client.has_left) {
            (Some(_), _) => Lost::ServerGone,
            (None, true) => Lost::ByClient,
            (None, false) => Lost::Dropped,
        };
        out.push(Output::Undelivered(id, why));
    }

    /// The answers of a call went to its server.
    pub(super) fn answers_sent(&mut self, call: CallId, out: Out<'_>) {
        for question in self.ledger.receipts.send(call) {
            self.tells(call, Output::Sent(question), Held::Server, out);
        }
    }

    /// A call came back with something other than an error.
    pub(super) fn answers_arrived(&mut self, call: CallId, out: Out<'_>) {
        let arrived = self.ledger.receipts.take_sent(call);
        out.extend(arrived.into_iter().map(Output::Delivered));
    }

    /// A call is over. What wasn't sent by now never is.
    pub(super) fn answers_end(&mut self, call: CallId, why: Lost, out: Out<'_>) {
        self.drops_held(call);
        let left = self.ledger.receipts.take(call);
        out.extend(left.into_iter().map(|(id, was_sent)| match was_sent {
            true => Output::Unknown(id),
            false => Output::Undelivered(id, why),
        }));
        let Some(server) = self.ledger.calls.get(call).map(|call| call.server) else {
            return;
        };
        let oldest = self.ledger.calls.open_at(server).find(|id| *id != call);
        let ambiguous = self.ledger.receipts.take_before(server, oldest);
        out.extend(ambiguous.into_iter().map(Output::Unknown));
    }

    /// A message to a server may not have got through: the request of a call, or the answer to a request. A task is told
    /// its answers again.
    pub(super) fn answers_unreached(&mut self, server: ServerId, id: &Id, out: Out<'_>) {
        let receipts = &mut self.ledger.receipts;
        let mut lost = Vec::from_iter(receipts.take_answer(server, id));
        if let Some(call) = self.ledger.calls.at_server(server, id) {
            let call_is_task = matches!(
                self.ledger.calls.get(call).map(|call| call.stage()),
                Some(Stage::Task(_))
            );
            if !call_is_task {
                lost.extend(receipts.take_sent(call));
            }
        }
        out.extend(
            lost.into_iter()
                .map(|id| Output::Undelivered(id, Lost::Unreached)),
        );
    }

    /// A server is gone, and with it whatever its calls were about to do with their answers.
    pub(super) fn answers_lost(&mut self, server: ServerId, out: Out<'_>) {
        let lost = |id| Output::Undelivered(id, Lost::ServerGone);
        let calls = self.ledger.calls.iter();
        let calls = calls.filter(|(_, call)| call.server == server);
        for call in calls.map(|(id, _)| id).collect::<Vec<_>>() {
            let left = self.ledger.receipts.take(call).into_iter();
            out.extend(left.map(|(id, _)| lost(id)));
        }
        let ambiguous = self.ledger.receipts.take_before(server, None);
        out.extend(ambiguous.into_iter().map(lost));
    }
}
