//! A call or a question is taken back, or a peer is gone.

use crate::moment::Moment;
use midcall_core::wire::code;
use midcall_desk::{Lost, Outcome, Withdrawn};
use serde_json::json;

use super::{Out, Output, Session};
use crate::call::{
    AtClient, Call, CallId, DeskState, Happened, LegacyTask, Place, Question, QuestionId, ServerId,
    Stage, WantedBy,
};
use crate::frame::{Frame, Id, Members};
use crate::leg::server;

/// How many calls are remembered that were taken back before anybody knew whether they are tasks.
const MOST_CANCELLED: usize = 1_000;

/// What a client is told of a call that a server left behind.
pub fn gone_words(how: &str) -> String {
    format!("midcall: the server {how} before it answered")
}

impl Session {
    /// The client takes a request back.
    pub(super) fn client_cancels(
        &mut self,
        now: Moment,
        frame: &Frame,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let Some(id) = members.request_id.and_then(Id::read) else {
            return self.pass_cancel(frame, out);
        };
        if let Some(told) = self.client.follows.stop(&id, &mut self.own_ids) {
            return out.extend(
                told.into_iter()
                    .map(|frame| Output::ToServer(ServerId::First, frame)),
            );
        }
        let Some(call) = self.ledger.calls.by_id(&id) else {
            // A request that was told to come back has its answer, but its server still works on it.
            return match self.ledger.calls.at_server(ServerId::First, &id) {
                Some(_) => {}
                None => self.pass_cancel(frame, out),
            };
        };
        let only_collects = self.ledger.calls.change(call, |call| {
            let is_collector =
                |waiter: &&crate::call::Waiter| waiter.id == id && waiter.until.is_some();
            let only_collects = call
                .audience
                .waiters()
                .iter()
                .any(|waiter| is_collector(&waiter));
            if only_collects {
                call.audience.leave(&id);
            }
            only_collects
        });
        if only_collects != Some(true) {
            self.cancel(now, call, frame, out);
        }
    }

    fn pass_cancel(&mut self, frame: &Frame, out: Out<'_>) {
        if !self.servers.first.facts.has_rounds() {
            out.push(Output::ToServer(ServerId::First, frame.clone()));
        }
    }

    /// A client that was told to come back didn't.
    pub(super) fn never_came_back(&mut self, now: Moment, id: CallId, out: Out<'_>) {
        self.takes_back(now, id, "the client did not come back", out);
    }

    /// Takes a call back for its client, and tells the server why.
    pub(super) fn takes_back(&mut self, now: Moment, id: CallId, reason: &str, out: Out<'_>) {
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": null, "reason": reason}});
        self.cancel(now, id, &Frame::write(&cancel), out);
    }

    /// Takes a call back, with the questions that can have come up in no other.
    fn cancel(&mut self, now: Moment, id: CallId, frame: &Frame, out: Out<'_>) {
        let why = Withdrawn::ByClient;
        let questions = self.ledger.questions_of(id);
        let is_at_client = |question: &QuestionId| {
            self.ledger
                .questions
                .get(*question)
                .is_some_and(Question::is_at_client)
        };
        // The server is told of those at the client right away, so it has to hear of the call first.
        let (last, first): (Vec<_>, Vec<_>) = questions.into_iter().partition(is_at_client);
        self.end_questions(now, id, first, why, out);
        let is_sent = self.ledger.calls.get(id).is_some_and(Call::is_at_server);
        if !(self.drops_held(id) && is_sent) {
            self.cancel_at_server(now, id, frame, out);
        }
        self.end_questions(now, id, last, why, out);
        let left = self.left_in(id);
        self.answers_end(id, Lost::ByClient, out);
        self.forget(id, out);
        self.ask_elsewhere(now, left, out);
    }

    /// Tells whoever collects the result of a call that it was taken back, and forgets it.
    fn forget(&mut self, id: CallId, out: Out<'_>) {
        let collectors = self.ledger.calls.change(id, |call| {
            let collectors = call
                .audience
                .waiters()
                .iter()
                .filter(|waiter| waiter.until.is_some());
            let collectors: Vec<Id> = collectors.map(|waiter| waiter.id.clone()).collect();
            call.audience.all_leave();
            collectors
        });
        for collector in collectors.into_iter().flatten() {
            // The server need not answer the call any more.
            let told = "midcall: the call was taken back";
            out.push(Output::ToClient(Frame::error(
                Some(&collector),
                code::INTERNAL_ERROR,
                told,
            )));
        }
        let is_kept = self
            .ledger
            .calls
            .get(id)
            .is_some_and(|call| matches!(call.stage(), Stage::Cancelled { .. }));
        if !is_kept {
            self.ledger.calls.close(id);
        }
    }

    pub(super) fn cancel_at_server(
        &mut self,
        now: Moment,
        id: CallId,
        frame: &Frame,
        out: Out<'_>,
    ) {
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let at = call.server;
        let Some(sent) = call.sent().cloned() else {
            return self.end_task(id, out); // Between two rounds a server has nothing else to take back.
        };
        let may_be_task = self.servers.get(at).facts.makes_tasks && !call.hands_off;
        if let Some(LegacyTask::Running(task)) = &sent.task {
            let end = server::legacy::end_task(&self.own_ids.fresh(), task);
            out.push(Output::ToServer(at, end));
        }
        let cancel = match call.hands_off {
            true => Some(frame.clone()),
            false => frame.with(&["params", "requestId"], sent.id.as_json()),
        };
        out.extend(cancel.map(|cancel| Output::ToServer(at, cancel)));
        let is_starting = sent.task == Some(LegacyTask::Starting);
        if (is_starting || may_be_task) && self.ledger.calls.cancelled() < MOST_CANCELLED {
            self.ledger
                .calls
                .change(id, |call| call.on(now, Happened::TakenBack));
        }
    }

    /// Ends questions whose call is over, wherever they are.
    pub(super) fn end_questions(
        &mut self,
        now: Moment,
        call: CallId,
        questions: Vec<QuestionId>,
        why: Withdrawn,
        out: Out<'_>,
    ) {
        for id in questions {
            let Some(question) = self.ledger.questions.get(id) else {
                continue;
            };
            if question.wanted_by.call() == Some(call) {
                self.drop_question(id, why, out);
                continue;
            }
            // One that is told in the call may have come up in another.
            if self.may_belong_elsewhere(question, call) {
                continue;
            }
            // A server may send its result and still want a link opened.
            let is_leaving = matches!(question.place, Place::Desk(DeskState::Leaving));
            let outlives = why == Withdrawn::ByServer
                && question.is_link()
                && question.told_in_round().is_none_or(|(at, _)| at != call);
            if outlives || is_leaving {
                continue;
            }
            match question.place {
                Place::Desk(_) => {
                    self.ledger.questions.change(id, |question| {
                        if let Place::Desk(state) = &mut question.place
                            && !matches!(state, DeskState::Opened(_))
                        {
                            *state = DeskState::Leaving;
                        }
                    });
                    out.push(Output::Withdraw(id, why));
                }
                Place::Client { .. } | Place::Model { .. } | Place::Undecided => {
                    self.end_question(now, id, Outcome::Withdrawn(why), out);
                }
            }
        }
    }

    /// True if a question can have come up in another call than this one.
    fn may_belong_elsewhere(&self, question: &Question, call: CallId) -> bool {
        let mut candidates = self.ledger.calls.candidates(question.origin);
        candidates.any(|candidate| candidate != call)
    }

    /// Takes back a question that only Midcall or a call's own round waits for.
    pub(super) fn drop_question(&mut self, id: QuestionId, why: Withdrawn, out: Out<'_>) {
        let Some(question) = self.ledger.questions.remove(id) else {
            return;
        };
        match question.place {
            Place::Desk(DeskState::Leaving) => {}
            Place::Desk(_) if self.unasks(question.wanted_by.call(), id) => {}
            Place::Desk(_) => out.push(Output::Withdraw(id, why)),
            Place::Client {
                at: AtClient::Request(request),
                ..
            } => {
                out.push(Output::ToClient(Frame::cancelled(&request)));
            }
            Place::Client { .. } | Place::Undecided => {}
            Place::Model { name, told_in, .. } => {
                if let Some(how) = crate::call::How::without_answer(&Outcome::Withdrawn(why)) {
                    self.ledger
                        .ended
                        .add(crate::call::EndedQuestion { name, told_in, how });
                }
            }
        }
    }

    /// A server takes a question back.
    pub(super) fn server_cancels(
        &mut self,
        now: Moment,
        from: ServerId,
        frame: &Frame,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let is_modern = self.servers.get(from).facts.has_rounds();
        let Some(id) = members.request_id.and_then(Id::read) else {
            if !is_modern {
                out.push(Output::ToClient(frame.clone()));
            }
            return;
        };
        if let Some(question) = self.ledger.questions.asked_by(from, &id) {
            let round = self
                .ledger
                .questions
                .get(question)
                .and_then(|it| it.told_in_round().map(|(call, _)| call));
            self.drop_question(question, Withdrawn::ByServer, out);
            if let Some(call) = round {
                self.left_round(now, call);
            }
            return;
        }
        if let Some(known) = self.passed.take_back(from, &id) {
            let told = match known == id {
                true => Some(frame.clone()),
                false => frame.with(&["params", "requestId"], known.as_json()),
            };
            return out.extend(told.map(Output::ToClient));
        }
        if is_modern {
            // Else it ends a subscription: of the client's if it has the same words, or of ours.
            if self.client.told == crate::call::TellBy::Results && from == ServerId::First {
                out.push(Output::ToClient(frame.clone()));
            }
            return;
        }
        self.ledger.questions.cancel_early(from, id);
        if self.client.told == crate::call::TellBy::Requests {
            out.push(Output::ToClient(frame.clone()));
        }
    }

    /// The server is gone: everything that waited for it ends.
    pub(super) fn server_gone(&mut self, now: Moment, how: &str, out: Out<'_>) {
        self.answers_lost(ServerId::First, out);
        self.answers_lost(ServerId::Second, out);
        for (id, question) in self.ledger.questions.drain() {
            if question.is_at_desk() && !self.unasks(question.wanted_by.call(), id) {
                out.push(Output::Withdraw(id, Withdrawn::ServerGone));
            }
        }
        let words = gone_words(how);
        self.servers.gone = Some(words.clone());
        for frame in std::mem::take(&mut self.servers.held) {
            if let Some((crate::frame::Kind::Request { id, .. }, _)) = frame.peek() {
                out.push(Output::ToClient(Frame::error(
                    Some(&id),
                    code::INTERNAL_ERROR,
                    &words,
                )));
            }
        }
        self.end_calls(now, |_| true, &words, out);
    }

    /// The second process is gone. It can be started again.
    pub(super) fn second_gone(&mut self, now: Moment, out: Out<'_>) {
        let Some(second) = &self.servers.second else {
            return;
        };
        let is_open = second.is_open();
        self.answers_lost(ServerId::Second, out);
        if !is_open {
            self.second_failed(now, out);
        }
        self.servers.second = None;
        let its = self.ledger.questions.iter().filter(|(_, question)| {
            question
                .wanted_by
                .request()
                .is_some_and(|(server, _)| server == ServerId::Second)
        });
        let its: Vec<QuestionId> = its.map(|(id, _)| id).collect();
        for question in its {
            self.drop_question(question, Withdrawn::ByServer, out);
        }
        for id in self.passed.of(ServerId::Second) {
            out.push(Output::ToClient(Frame::cancelled(&id)));
        }
        self.end_calls(
            now,
            |server| server == ServerId::Second,
            &gone_words("ended"),
            out,
        );
    }

    /// Ends the calls of a server with an error.
    fn end_calls(
        &mut self,
        now: Moment,
        is_its: impl Fn(ServerId) -> bool,
        words: &str,
        out: Out<'_>,
    ) {
        let calls = self
            .ledger
            .calls
            .iter()
            .filter(|(_, call)| call.is_open() && is_its(call.server));
        let calls: Vec<CallId> = calls.map(|(id, _)| id).collect();
        for id in calls {
            self.finish(
                now,
                id,
                Frame::error(None, code::INTERNAL_ERROR, words),
                out,
            );
        }
    }

    /// Takes back what a call waits for.
    pub(super) fn withdraw_for(&mut self, call: CallId, out: Out<'_>) {
        for id in self.ledger.questions.of_call(call) {
            let is_wanted = self.ledger.questions.get(id).is_some_and(|it| matches!(it.wanted_by, WantedBy::Approval(of) | WantedBy::Link(of, _) if of == call));
            if is_wanted {
                self.drop_question(id, Withdrawn::ByClient, out);
            }
        }
    }

    /// A call that was taken back is answered; if it is a task by now, that is ended.
    pub(super) fn returned_late(&mut self, id: CallId, members: &Members<'_>, out: Out<'_>) {
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let at = call.server;
        let own = self.own_ids.fresh();
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let facts = &self.servers.get(at).facts;
        let end = match server::read(facts, call, members) {
            server::Returned::LegacyTask(task) => Some(server::legacy::end_task(&own, &task)),
            server::Returned::Task(told) => {
                let bytes = call.request.bytes.as_ref();
                bytes.map(|bytes| {
                    server::modern::end_task(facts, bytes, &own, &told.task_id, &self.offer(call))
                })
            }
            _ => None,
        };
        out.extend(end.map(|end| Output::ToServer(at, end)));
        self.ledger.calls.close(id);
    }
}
