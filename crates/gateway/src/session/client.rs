//! What the client says.

use midcall_core::wire::code;
use midcall_desk::{Outcome, Withdrawn};
use tokio::time::Instant;

use super::calls::Wants;
use super::{Act, Session};
use crate::era::legacy;
use crate::frame::{Frame, Id, Kind, Members};

impl Session {
    pub(super) fn client_says(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        let Some((kind, members)) = frame.peek() else {
            let told = "midcall: this line is not a JSON-RPC message";
            acts.push(Act::ToClient(Frame::error(None, code::PARSE_ERROR, told)));
            return;
        };
        let act = match kind {
            Kind::Request { id, .. } if self.server_gone.is_some() => {
                self.calls.open(id, Wants::Other, &members, now);
                return self.nobody_answers(acts);
            }
            Kind::Request { id, .. } if self.claims.has(&id) => {
                let told = "midcall: this id belongs to a call that is still running";
                let error = Frame::error(Some(&id), code::INVALID_REQUEST, told);
                acts.push(Act::ToClient(error));
                return;
            }
            Kind::Request { id, method } => {
                let wants = Wants::of(&method);
                if wants == Wants::Tool && self.is_claim(&members) {
                    self.collect(now, id, &members, acts);
                    return;
                }
                let edited = (method == "initialize")
                    .then(|| self.initialize(&frame, &id, &members))
                    .flatten();
                self.calls.open(id, wants, &members, now);
                edited
            }
            Kind::Notification { method } => {
                if method == "notifications/cancelled" && self.client_cancelled(now, &members, acts)
                {
                    return;
                }
                None
            }
            Kind::Response { id: Some(id) } => match self.questions.get(&id) {
                // Nobody asked the client.
                Some(question) if question.turn().is_some() => return,
                Some(_) => {
                    let question = self.questions.remove(&id);
                    question.and_then(|question| question.heard(&frame, &id, &members, &self.rules))
                }
                None => None,
            },
            Kind::Response { id: None } => None,
            // An answer in company is still an answer.
            Kind::Batch if self.are_answers(&frame) => {
                for part in frame.parts() {
                    self.client_says(now, part, acts);
                }
                return;
            }
            Kind::Batch | Kind::Odd => None,
        };
        acts.push(Act::ToServer(act.unwrap_or(frame)));
    }

    fn initialize(&mut self, frame: &Frame, id: &Id, members: &Members<'_>) -> Option<Frame> {
        let added = self.rules.routes.added();
        let (client, edited) = legacy::offer(frame, members.params?, added)?;
        self.client = Some(client);
        self.opening = Some(id.clone());
        edited
    }

    /// The client takes a call back. A question that can have come up in no other call goes
    /// with it. `true` if the server never heard of the call.
    fn client_cancelled(
        &mut self,
        now: Instant,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) -> bool {
        let Some(call) = members.request_id.and_then(Id::read) else {
            return false;
        };
        if self.claims.cancel(&call) {
            self.calls.close(&call);
            return true;
        }
        for question in self.questions.values_mut() {
            if let Some(turn) = question.turn()
                && question.only_of(&call)
            {
                question.leaves();
                acts.push(Act::Withdraw(turn, Withdrawn::ByClient));
            }
        }
        if self.claims.has(&call) {
            // The server need not answer it any more.
            let told = "midcall: the call was taken back";
            let error = Frame::error(Some(&call), code::INTERNAL_ERROR, told);
            let told = self.claims.result(&call, error, now);
            self.collected(told, acts);
        }
        self.closed(&call);
        false
    }

    /// Whether a batch holds an answer to an open question.
    fn are_answers(&self, batch: &Frame) -> bool {
        batch.parts().iter().any(|part| {
            matches!(part.peek(), Some((Kind::Response { id: Some(id) }, _)) if self.questions.contains_key(&id))
        })
    }

    /// Nobody waits for anything any more, and the server is told so.
    pub(super) fn client_gone(&mut self, acts: &mut Vec<Act>) {
        let why = Withdrawn::ByClient;
        self.client_gone = true;
        for (id, question) in self.questions.drain() {
            acts.extend(question.turn().map(|turn| Act::Withdraw(turn, why)));
            acts.extend(
                question
                    .ended(&id, Outcome::Withdrawn(why))
                    .map(Act::ToServer),
            );
        }
        for id in self.calls.ids() {
            self.calls.close(&id);
        }
    }
}
