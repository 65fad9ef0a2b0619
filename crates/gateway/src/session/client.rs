//! What the client says.

use midcall_core::wire::code;
use midcall_desk::{Outcome, Unavailable, Withdrawn};
use tokio::time::Instant;

use super::calls::Wants;
use super::errand::Stage;
use super::question::{At, WantedBy};
use super::{Act, Session, Turn};
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
                if wants == Wants::Tool {
                    if self.is_claim(&members) {
                        return self.collect(now, id, &members, acts);
                    }
                    if self.is_send(&members) {
                        return self.send(now, id, &members, acts);
                    }
                }
                let edited = (method == "initialize")
                    .then(|| self.initialize(&frame, &id, &members))
                    .flatten();
                self.calls.open(id.clone(), wants, &members, now);
                if wants == Wants::Tool && self.confirms(now, &id, &frame, &members, acts) {
                    return;
                }
                let is_text = wants == Wants::Text && self.follows_links();
                if wants == Wants::Tool || is_text {
                    self.errands.add(id.clone(), &frame, Stage::Server(None));
                }
                if wants == Wants::Tool && self.starts_task(&id, acts) {
                    return;
                }
                edited
            }
            Kind::Notification { method } => {
                if method == "notifications/cancelled"
                    && self.client_cancelled(now, &frame, &members, acts)
                {
                    return;
                }
                None
            }
            Kind::Response { id: Some(id) } => match self.questions.turn(&id) {
                Some(turn) => match self.client_answered(now, turn, &id, &frame, &members, acts) {
                    Some(passed) => passed,
                    None => return,
                },
                // An answer to a question of ours that nobody waits for any more.
                None if self.own_ids.has(&id) => return,
                // It came too late: the server has been told that nobody answered.
                None if self.lapsed.remove(&id) => return,
                None => None,
            },
            Kind::Response { id: None } => None,
            // An answer in company is still an answer.
            // So is a call that somebody has to agree to.
            Kind::Batch if self.may_confirm() || self.are_answers(&frame) => {
                for part in frame.parts() {
                    self.client_says(now, part, acts);
                }
                return;
            }
            Kind::Odd if self.may_confirm() => {
                let told = "midcall: calls are confirmed here, and this one has no id to answer by";
                acts.push(Act::ToClient(Frame::error(
                    None,
                    code::INVALID_REQUEST,
                    told,
                )));
                return;
            }
            Kind::Batch | Kind::Odd => None,
        };
        acts.push(Act::ToServer(act.unwrap_or(frame)));
    }

    fn initialize(&mut self, frame: &Frame, id: &Id, members: &Members<'_>) -> Option<Frame> {
        let added = self.rules.added();
        let (client, edited) = legacy::offer(frame, members.params?, added)?;
        self.client = Some(client);
        self.opening = Some(id.clone());
        edited
    }

    /// The client answers a question: what the server is sent, if it is the server's and was put
    /// to the client at all.
    fn client_answered(
        &mut self,
        now: Instant,
        turn: Turn,
        id: &Id,
        frame: &Frame,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) -> Option<Option<Frame>> {
        if !matches!(self.questions.get(turn)?.at, At::Client { .. }) {
            return None;
        }
        let question = self.questions.remove(turn)?;
        if matches!(question.wanted_by, WantedBy::Server(_)) {
            return Some(question.heard(now, frame, id, members, &self.rules));
        }
        let nobody = Outcome::Unavailable(Unavailable::NoRoute);
        let outcome = question.said(now, members, &self.rules).unwrap_or(nobody);
        self.question_ended(now, question, outcome, acts);
        None
    }

    /// The client takes a call back. A question that can have come up in no other call goes
    /// with it. `true` if there is nothing to pass on.
    fn client_cancelled(
        &mut self,
        now: Instant,
        frame: &Frame,
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
        let taken_back = Outcome::Withdrawn(Withdrawn::ByClient);
        let is_held = self.errands.is_held(&call);
        self.withdraw_for(&call, acts);
        let mut at_model = Vec::new();
        for (turn, question) in self.questions.iter_mut() {
            if question.only_of(&call) {
                match question.at {
                    At::Desk(_) => {
                        question.leaves();
                        acts.push(Act::Withdraw(turn, Withdrawn::ByClient));
                    }
                    At::Model(_) => at_model.push(turn),
                    At::Client { .. } => {}
                }
            }
        }
        for turn in at_model {
            if let Some(question) = self.questions.remove(turn) {
                self.question_ended(now, question, taken_back.clone(), acts);
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
        let known_as = self.errands.id_at_server(&call).cloned();
        let errand = self.errands.remove(&call);
        self.cancel_task(
            errand.and_then(|errand| errand.task),
            known_as.clone(),
            acts,
        );
        if let Some(known_as) = known_as {
            let cancel = frame.with(&["params", "requestId"], known_as.as_json());
            acts.extend(cancel.map(Act::ToServer));
            return true;
        }
        is_held
    }

    /// Whether a batch holds an answer to an open question.
    fn are_answers(&self, batch: &Frame) -> bool {
        batch.parts().iter().any(|part| {
            matches!(part.peek(), Some((Kind::Response { id: Some(id) }, _)) if self.questions.turn(&id).is_some())
        })
    }

    /// Nobody waits for anything any more, and the server is told so.
    pub(super) fn client_gone(&mut self, acts: &mut Vec<Act>) {
        let why = Withdrawn::ByClient;
        self.client_gone = true;
        for (turn, question) in self.questions.drain() {
            if question.is_at_desk() {
                acts.push(Act::Withdraw(turn, why));
            }
            if let WantedBy::Server(id) = question.wanted_by.clone() {
                let told = question.ended(&id, Outcome::Withdrawn(why));
                acts.extend(told.map(Act::ToServer));
            }
        }
        self.errands.clear();
        for id in self.calls.ids() {
            self.calls.close(&id);
        }
    }
}
