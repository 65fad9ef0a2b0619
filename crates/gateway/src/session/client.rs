//! What the client says.

use midcall_core::Wanted;
use midcall_core::wire::code;
use midcall_desk::{Outcome, Unavailable, Withdrawn};
use tokio::time::Instant;

use super::calls::Wants;
use super::errand::Stage;
use super::question::{At, Question, State, WantedBy};
use super::{Act, Inseparable, Session, Turn, unclaimed};
use crate::era::legacy;
use crate::frame::{Frame, Id, Kind, Members};

impl Session {
    pub(super) fn client_says(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        let Some((kind, members)) = frame.peek() else {
            let told = "midcall: this line is not a JSON-RPC message";
            acts.push(Act::ToClient(Frame::error(None, code::PARSE_ERROR, told)));
            return;
        };
        match unclaimed(&frame, &members) {
            Ok(None) => {}
            Ok(Some(unclaimed)) => return self.client_says(now, unclaimed, acts),
            Err(_) => {
                let id = match &kind {
                    Kind::Request { id, .. } => Some(id),
                    _ => None,
                };
                let error = Frame::error(id, code::INVALID_PARAMS, Inseparable::WORDS);
                return acts.push(Act::ToClient(error));
            }
        }
        let act = match kind {
            Kind::Request { id, .. } if self.server_gone.is_some() => {
                self.calls.open(id, Wants::Other, &members, now);
                return self.nobody_answers(acts);
            }
            Kind::Request { id, .. } if self.calls.has(&id) || self.claims.has(&id) => {
                return acts.push(Act::ToClient(in_use(&id)));
            }
            Kind::Request { id, .. } if !self.calls.has_room() => {
                let told = "midcall: too many requests are open";
                let error = Frame::error(Some(&id), code::INVALID_REQUEST, told);
                return acts.push(Act::ToClient(error));
            }
            Kind::Request { id, .. } if members.is_ambiguous && self.may_confirm() => {
                let told = "midcall: this call can't be shown to a person: its params have a member twice, or in other letters";
                let error = Frame::error(Some(&id), code::INVALID_REQUEST, told);
                return acts.push(Act::ToClient(error));
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
            Kind::Notification { method } if method == "notifications/cancelled" => {
                return self.client_cancels(now, &frame, &members, acts);
            }
            Kind::Notification { method }
                if Wants::of(&method) == Wants::Tool && self.may_confirm() =>
            {
                tracing::warn!("a tool call without an id was dropped: it can't be approved");
                return;
            }
            Kind::Notification { .. } => None,
            Kind::Response { id: Some(id) } => match self.questions.turn(&id) {
                Some(turn) => match self.client_answered(now, turn, &id, &frame, &members, acts) {
                    Some(passed) => passed,
                    None => return,
                },
                None if self.passed.remove(&id) => None,
                // It came twice or too late, or nobody asked.
                None => {
                    tracing::debug!("an answer of the client was dropped: nobody waits for it");
                    return;
                }
            },
            Kind::Response { id: None } => None,
            Kind::Batch => {
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
            Kind::Odd => None,
            Kind::Wrong {
                id: Some(id),
                why,
                is_answer: true,
            } => return self.client_says(now, Frame::refused_answer(&id, why), acts),
            Kind::Wrong { id, why, .. } => {
                return acts.push(Act::ToClient(Frame::refused(id.as_ref(), why)));
            }
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
        let approves = (self.rules.profile.as_ref()).is_some_and(|profile| profile.approves);
        if question.is_unattended(now, members, approves) {
            tracing::warn!("the client answered at once: it has not asked anybody");
            if let Some(next) = self.next_route(&question) {
                self.ask_again(now, question, next, acts);
                return None;
            }
            if !matches!(question.wanted_by, WantedBy::Server(_)) {
                let nobody = Outcome::Unavailable(Unavailable::NoRoute);
                self.question_ended(now, question, nobody, acts);
                return None;
            }
        }
        if matches!(question.wanted_by, WantedBy::Server(_)) {
            return Some(question.heard(now, frame, id, members, &self.rules));
        }
        let nobody = Outcome::Unavailable(Unavailable::NoRoute);
        let outcome = question.said(now, members, &self.rules).unwrap_or(nobody);
        self.question_ended(now, question, outcome, acts);
        None
    }

    /// The client takes a call back. A question that can have come up in no other call goes with it.
    fn client_cancels(
        &mut self,
        now: Instant,
        frame: &Frame,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        let call = members.request_id.and_then(Id::read);
        let why = Withdrawn::ByClient;
        let questions = call.map(|call| self.questions_of(&call, why));
        let is_at_client = |turn: &Turn| {
            let question = self.questions.get(*turn);
            question.is_some_and(|question| matches!(question.at, At::Client { .. }))
        };
        // The server is told of those at the client right away, so it has to hear of the call first.
        let (last, first) = questions
            .unwrap_or_default()
            .into_iter()
            .partition(is_at_client);
        self.end_questions(now, first, why, acts);
        if !self.client_cancelled(now, frame, members, acts) {
            acts.push(Act::ToServer(frame.clone()));
        }
        self.end_questions(now, last, why, acts);
    }

    /// Takes back a call; `true` if there is nothing to pass on.
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
        let is_held = self.errands.is_held(&call);
        self.withdraw_for(&call, acts);
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

    /// The server's questions that end with a call: they can have come up in no other.
    pub(super) fn questions_of(&self, call: &Id, why: Withdrawn) -> Vec<Turn> {
        let (oldest, next) = self.two_oldest();
        let Some(nth) = self.nth(call).filter(|nth| oldest == Some(*nth)) else {
            return Vec::new(); // An older one is open, in which any of them can have come up.
        };
        let ends = |question: &Question| {
            // A server may send its result and still want a link opened.
            let is_link = matches!(question.elicitation.wanted, Wanted::Link(_));
            let outlives = why == Withdrawn::ByServer && is_link;
            let is_leaving = matches!(question.at, At::Desk(State::Leaving));
            !outlives && !is_leaving
        };
        let questions = self.questions.asked_between(nth, next);
        let ending = questions.filter(|(_, question)| ends(question));
        ending.map(|(turn, _)| turn).collect()
    }

    /// Ends questions whose call is over, wherever they are.
    pub(super) fn end_questions(
        &mut self,
        now: Instant,
        turns: Vec<Turn>,
        why: Withdrawn,
        acts: &mut Vec<Act>,
    ) {
        for turn in turns {
            let Some(question) = self.questions.get(turn) else {
                continue;
            };
            match question.at {
                At::Desk(_) => {
                    self.questions.change(turn, Question::leaves);
                    acts.push(Act::Withdraw(turn, why));
                }
                At::Client { .. } => {
                    self.end_at_client(now, turn, Outcome::Withdrawn(why), acts);
                }
                At::Model(_) => {
                    if let Some(question) = self.questions.remove(turn) {
                        self.question_ended(now, question, Outcome::Withdrawn(why), acts);
                    }
                }
            }
        }
    }

    /// Nobody waits for anything any more, and the server is told so.
    pub(super) fn client_gone(&mut self, acts: &mut Vec<Act>) {
        let why = Withdrawn::ByClient;
        self.client_gone = true;
        for (turn, question) in self.questions.drain() {
            if question.is_at_desk() {
                acts.push(Act::Withdraw(turn, why));
            }
            match question.wanted_by.clone() {
                WantedBy::Server(id) => {
                    let told = question.ended(&id, Outcome::Withdrawn(why));
                    acts.extend(told.map(Act::ToServer));
                }
                WantedBy::Sampling(id, request) => {
                    self.sampled(&id, request, &Outcome::Withdrawn(why), acts);
                }
                WantedBy::Confirmation(_) | WantedBy::Links(_) => {}
            }
        }
        self.errands.clear();
        for id in self.calls.ids() {
            self.calls.close(&id);
        }
    }
}

/// What a client gets that uses the id of a call which is still running.
pub fn in_use(id: &Id) -> Frame {
    let told = "midcall: this id belongs to a call that is still running";
    Frame::error(Some(id), code::INVALID_REQUEST, told)
}
