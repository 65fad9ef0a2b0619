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
                if method == "notifications/cancelled" && self.client_cancelled(&members, acts) {
                    return;
                }
                None
            }
            Kind::Response { id: Some(id) } => match self.questions.get(&id) {
                // Nobody asked the client.
                Some(question) if question.is_at_desk() => return,
                Some(_) => {
                    let question = self.questions.remove(&id);
                    question.and_then(|question| question.heard(&frame, &id, &members, &self.rules))
                }
                None => None,
            },
            Kind::Response { id: None } => None,
            Kind::Batch => None,
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
    fn client_cancelled(&mut self, members: &Members<'_>, acts: &mut Vec<Act>) -> bool {
        let Some(call) = members.request_id.and_then(Id::read) else {
            return false;
        };
        if self.claims.cancel(&call) {
            self.calls.close(&call);
            return true;
        }
        for (id, question) in &mut self.questions {
            if question.is_at_desk() && question.only_of(&call) {
                acts.push(Act::Withdraw(id.clone(), Withdrawn::ByClient));
            }
        }
        self.closed(&call);
        false
    }

    /// Nobody waits for anything any more, and the server is told so.
    pub(super) fn client_gone(&mut self, acts: &mut Vec<Act>) {
        let why = Withdrawn::ByClient;
        for (id, question) in self.questions.drain() {
            if question.is_at_desk() {
                acts.push(Act::Withdraw(id.clone(), why));
            }
            acts.extend(
                question
                    .ended(&id, Outcome::Withdrawn(why))
                    .map(Act::ToServer),
            );
        }
        self.at_desk = 0;
        for id in self.calls.ids() {
            self.calls.close(&id);
        }
    }
}
