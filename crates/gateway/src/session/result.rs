//! A server says something; a result ends a call.

use std::time::Duration;

use crate::moment::Moment;
use midcall_core::wire::{
    ElicitRequestParams, ElicitationCompleteParams, Input as RoundInput, InputRequiredResult, code,
    meta,
};
use midcall_desk::{Lost, Outcome, Withdrawn};
use serde_json::json;

use super::ask::{Asking, MOST_QUESTIONS, ServerRequest};
use super::save::Held;
use super::settle::Settled;
use super::{Out, Output, Session};
use crate::call::{
    Ability, AtClient, CallId, CallKind, Happened, LegacyTask, NamedLink, Origin, Place, Question,
    QuestionId, Sent, ServerId, Stage, TellBy, Todo, WantedBy, What,
};
use crate::frame::{Frame, Id, Kind, Members};
use crate::leg::client::{self, modern};
use crate::leg::server::{self, Returned};

/// What somebody has to be asked for a round: its key, the question as a request, and the id of that.
pub type Want = (String, Frame, Id);

/// How long a result is kept for a client that may come for it.
const KEPT: Duration = Duration::from_secs(10 * 60);

impl Session {
    pub(super) fn server_says(
        &mut self,
        now: Moment,
        from: ServerId,
        frame: Frame,
        during: Option<&Id>,
        out: Out<'_>,
    ) {
        if from == ServerId::Second && self.servers.second.is_none() {
            return; // It spoke before it was ended.
        }
        let Some((kind, members)) = frame.peek() else {
            return out.push(Output::Noise(frame));
        };
        match kind {
            Kind::Response { id: Some(id) } => self.returned(now, from, &id, &frame, &members, out),
            Kind::Request { id, method } => {
                let origin = self.origin(from, during);
                let request = ServerRequest {
                    from,
                    frame: &frame,
                    id,
                    origin,
                };
                self.server_asks(now, request, &method, &members, out);
            }
            Kind::Notification { method } => {
                let call = during.and_then(|id| self.ledger.calls.at_server(from, id));
                self.server_tells(now, (from, call), &frame, &method, &members, out)
            }
            Kind::Batch => {
                for part in frame.parts() {
                    self.server_says(now, from, part, during, out);
                }
            }
            Kind::Wrong {
                id: Some(id),
                why,
                is_answer: true,
            } => {
                tracing::warn!("an answer of the server was refused: {why}");
                self.server_says(now, from, Frame::refused_answer(&id, why), during, out);
            }
            Kind::Wrong { id, why, .. } => {
                tracing::warn!("a message of the server was refused: {why}");
                let refused = Frame::refused(id.as_ref(), why);
                self.refuse(from, refused, id.is_some(), out);
            }
            // It could be a question, and an answer to it couldn't be checked.
            Kind::Odd => {
                let told = "midcall: a request needs an id that is a number or a short text";
                tracing::warn!("a request of the server was refused: nobody can answer its id");
                let refused = Frame::error(None, code::INVALID_REQUEST, told);
                self.refuse(from, refused, false, out);
            }
            Kind::Response { id: None } => out.push(Output::ToClient(frame)),
        }
    }

    /// Tells a server that its message was refused. A modern server has sent no request that such an error could answer
    /// if it can't be told by an id.
    fn refuse(&self, from: ServerId, refused: Frame, has_id: bool, out: Out<'_>) {
        if has_id || !self.servers.get(from).facts.has_rounds() {
            out.push(Output::ToServer(from, refused));
        }
    }

    fn server_tells(
        &mut self,
        now: Moment,
        (from, call): (ServerId, Option<CallId>),
        frame: &Frame,
        method: &str,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let is_modern = self.servers.get(from).facts.has_rounds();
        match method {
            "notifications/tools/list_changed" => {
                self.servers.get_mut(from).listing.has_changed();
            }
            "notifications/progress" => return self.progresses(frame, members, out),
            "notifications/cancelled" => {
                return self.server_cancels(now, from, frame, members, out);
            }
            ElicitationCompleteParams::METHOD => {
                // A modern client has no words for it.
                if !self.link_is_done(now, members, out) && self.client.told == TellBy::Requests {
                    out.push(Output::ToClient(frame.clone()));
                }
                return;
            }
            "notifications/tasks/status" if !is_modern && self.is_own_task(members) => return,
            _ => {}
        }
        if self.hands_over() && from == ServerId::First {
            return out.push(Output::ToClient(frame.clone()));
        }
        match method {
            // The client knows nothing of tasks, and subscriptions are ours.
            "notifications/subscriptions/acknowledged" | "notifications/tasks" if is_modern => {}
            // What has changed is told by the first process.
            method if from == ServerId::Second && method.ends_with("list_changed") => {}
            "notifications/message" if self.client.told == TellBy::Results => {
                if let Some(call) = self.reads_log(from, call, members) {
                    out.push(self.to_client(Some(call), frame.clone()));
                }
            }
            method if self.client.told == TellBy::Results => {
                match self.client.follows.news(method, frame, members) {
                    Some(told) => out.extend(told.into_iter().map(Output::ToClient)),
                    None => out.push(self.to_client(call, frame.clone())),
                }
            }
            _ => out.push(self.to_client(call, frame.clone())),
        }
    }

    /// True if both peers are modern: then they have the same words for news.
    fn hands_over(&self) -> bool {
        self.client.told == TellBy::Results && self.servers.first.facts.has_rounds()
    }

    /// A server says how far a call is.
    fn progresses(&mut self, frame: &Frame, members: &Members<'_>, out: Out<'_>) {
        let token = members.progress_token;
        let call = token.and_then(|token| self.ledger.calls.by_token(token));
        let Some((id, call)) = call.and_then(|id| Some((id, self.ledger.calls.get(id)?))) else {
            return out.push(Output::ToClient(frame.clone())); // The client may know.
        };
        if call.hands_off {
            return out.push(Output::ToClient(frame.clone()));
        }
        let progress = members
            .progress
            .and_then(|json| serde_json::from_slice(json).ok());
        let waiters: Vec<_> = call
            .audience
            .waiters()
            .iter()
            .filter_map(|waiter| waiter.token.clone())
            .collect();
        let further = progress.and_then(|progress| self.ledger.calls.hear(id, progress));
        let told = match further {
            Some(further) => frame.with(&["params", "progress"], &json!(further).to_string()),
            None => Some(frame.clone()),
        };
        for waiter in waiters {
            let told = told
                .as_ref()
                .and_then(|told| match Some(&*waiter) == token {
                    true => Some(told.clone()),
                    false => told.with(&["params", "progressToken"], str::from_utf8(&waiter).ok()?),
                });
            out.extend(told.map(Output::ToClient));
        }
    }

    /// A server answers a request.
    fn returned(
        &mut self,
        now: Moment,
        from: ServerId,
        id: &Id,
        frame: &Frame,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let server = self.servers.get(from);
        let is_opening = !server.is_open() || server.late.is_some();
        if is_opening {
            if !self.opening_answered(now, from, id, frame, members, out) {
                self.answered(now, from, id, frame, members, out);
            }
            return self.hears_held(now, out);
        }
        self.answered(now, from, id, frame, members, out);
    }

    /// A server answers a request that isn't its opening, or the client's own opening.
    fn answered(
        &mut self,
        now: Moment,
        from: ServerId,
        id: &Id,
        frame: &Frame,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        if self.servers.get(from).listening.is(id) {
            return;
        }
        if self.told_tools(now, from, id, members, out) {
            return;
        }
        let Some(call) = self.ledger.calls.at_server(from, id) else {
            // It came twice, or after the call was taken back, or nobody asked.
            return tracing::debug!("an answer of the server was dropped: nobody waits for it");
        };
        if let Some(refused) = members
            .error
            .and_then(|error| self.refused_links(call, id, error))
        {
            let Some((_, members)) = refused.peek() else {
                return;
            };
            return self.call_returned(now, call, id, &refused, &members, out);
        }
        self.call_returned(now, call, id, frame, members, out);
    }

    fn call_returned(
        &mut self,
        now: Moment,
        id: CallId,
        at: &Id,
        frame: &Frame,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        match call.stage() {
            Stage::Cancelled { .. } => return self.returned_late(id, members, out),
            Stage::Task(_) => return self.told_of_task(now, id, at, members, out),
            _ => {}
        }
        if members.error.is_none() {
            self.answers_arrived(id, out);
        }
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let what = server::read(&self.servers.get(call.server).facts, call, members);
        if call.hands_off {
            if !self.takes_over(id, &what, members) {
                let told = match members.error {
                    Some(_) => modern::result(frame, false),
                    None if call.request.is_opening => modern::rediscovered(frame),
                    None => frame.clone(),
                };
                self.answers_end(id, Lost::CallEnded, out);
                self.ledger.calls.close(id);
                return out.push(Output::ToClient(told));
            }
            self.ledger.calls.change(id, |call| call.hands_off = false);
        }
        match what {
            Returned::Round(round) => self.round(now, id, *round, out),
            Returned::Unreadable(why) => self.fail(now, id, &format!("midcall: {why}"), out),
            Returned::LegacyTask(task) => self.legacy_task(now, id, task, out),
            Returned::Task(told) => self.task(now, id, &told, out),
            Returned::WrongEra if self.moves(now, id, frame, out) => {}
            Returned::WrongEra | Returned::Final => {
                if !self.needs_links(now, id, frame, members, out) {
                    self.finish(now, id, frame.clone(), out);
                }
            }
        }
    }

    /// True if the session has to see to a response, though messages about its call pass as they came.
    fn takes_over(&self, id: CallId, what: &Returned, members: &Members<'_>) -> bool {
        let is_links = members.error_code() == Some(code::URL_ELICITATION_REQUIRED);
        let is_tool = self
            .ledger
            .calls
            .get(id)
            .is_some_and(|call| call.request.tool().is_some());
        match what {
            Returned::Round(_) | Returned::Unreadable(_) => members
                .result
                .is_some_and(|result| self.must_judge(id, result)),
            Returned::WrongEra => self.servers.speaks_both && is_tool,
            Returned::LegacyTask(_) | Returned::Task(_) => false,
            Returned::Final => {
                is_links
                    && self
                        .ledger
                        .calls
                        .get(id)
                        .is_some_and(|call| call.request.bytes.is_some())
            }
        }
    }

    /// The server can do a call in the other era only: it is made there.
    fn moves(&mut self, now: Moment, id: CallId, refusal: &Frame, out: Out<'_>) -> bool {
        let Some(call) = self.ledger.calls.get(id) else {
            return false;
        };
        if !self.servers.speaks_both
            || call.request.bytes.is_none()
            || call.server == ServerId::Second
        {
            return false;
        }
        let tool = call.request.tool();
        let questions = self.ledger.questions_of(id);
        self.end_questions(now, id, questions, Withdrawn::ByServer, out);
        let todo = self.ledger.calls.change(id, |call| {
            let todo = call.on(now, Happened::WrongEra);
            if todo == Todo::Send {
                call.server = ServerId::Second;
            }
            todo
        });
        if todo != Some(Todo::Send) {
            return false;
        }
        if let Some(tool) = tool {
            self.servers.moved.insert(tool, refusal.kept());
        }
        self.send(now, id, out);
        true
    }

    /// A server needs answers before it can go on with a call.
    fn round(&mut self, now: Moment, id: CallId, mut round: InputRequiredResult, out: Out<'_>) {
        let state = round.request_state.take();
        let (wants, again) = self.wants(id, round);
        if self.ledger.questions.len() + wants.len() + again.len() > MOST_QUESTIONS {
            return self.fail(now, id, "midcall: the server asks too much at once", out);
        }
        let happened = Happened::Round {
            state,
            asks: wants.len(),
            again,
        };
        let todo = self.ledger.calls.change(id, |call| call.on(now, happened));
        self.renews_links(id, out);
        self.does(now, id, todo, out);
        self.ask_each(now, id, wants, out);
    }

    /// Puts what a server wants to know to somebody, as long as its call goes on.
    pub(super) fn ask_each(&mut self, now: Moment, id: CallId, wants: Vec<Want>, out: Out<'_>) {
        for (key, request, own) in wants {
            let goes_on =
                self.ledger.calls.get(id).is_some_and(|call| {
                    matches!(call.stage(), Stage::Asking { .. } | Stage::Task(_))
                });
            if !goes_on {
                return;
            }
            let wanted_by = WantedBy::Round(id, key);
            if method_of(&request).as_deref() != Some(ElicitRequestParams::METHOD) {
                self.ask_other(now, wanted_by, request, own, out);
                continue;
            }
            let asking = Asking {
                wanted_by,
                origin: Origin::Only(id),
                request,
                id: own,
            };
            self.elicit(now, asking, out);
        }
    }

    /// Asks the client what isn't a person's to answer.
    fn ask_other(
        &mut self,
        now: Moment,
        wanted_by: WantedBy,
        request: Frame,
        own: Id,
        out: Out<'_>,
    ) {
        let (Some(call), Some(method)) = (wanted_by.call(), method_of(&request)) else {
            return;
        };
        let deadline = now + self.setup.patience();
        let origin = Origin::Only(call);
        let ability = ability_of(&method);
        let peeked = request.peek();
        let params = peeked.and_then(|(_, members)| serde_json::from_slice(members.params?).ok());
        let place = Place::Client {
            at: AtClient::Request(own),
            since: now,
            rendition: None,
        };
        let question = Question::new(
            What::Other { method, params },
            wanted_by,
            origin,
            place,
            deadline,
        );
        if self.client.has_left {
            let left = super::leave::client_left(None);
            return self.settle(now, question, Settled::Response(left), out);
        }
        if self.client.told == TellBy::Requests {
            self.ledger.questions.add(question);
            return out.push(self.to_client(Some(call), request));
        }
        let host =
            ability.and_then(|ability| self.ledger.calls.askable(ability, origin, self.is_shared));
        let hears = self.ledger.calls.get(call);
        let hears = hears.is_some_and(|call| call.request.told == TellBy::Results);
        if host.is_some() {
            self.ask_in_round(now, question, host, None);
        } else if let Some(missing) = ability.filter(|_| hears) {
            self.fail_with(now, call, modern::missing(missing), out);
        } else {
            let told = "midcall: the client cannot do this";
            let error = Frame::error(None, code::METHOD_NOT_FOUND, told);
            self.settle(now, question, Settled::Response(error), out);
        }
    }

    /// What a server needs that somebody has to be asked: by which key, as a request, and the id of that. And the links,
    /// by key, that somebody has answered for before.
    pub(super) fn wants(
        &mut self,
        id: CallId,
        round: InputRequiredResult,
    ) -> (Vec<Want>, Vec<(String, NamedLink)>) {
        let timeout = round.timeout_ms();
        let (mut wants, mut again) = (Vec::new(), Vec::new());
        for (key, request) in round.input_requests.0 {
            let own = self.own_ids.fresh();
            match request.input {
                RoundInput::Elicit(mut params) => {
                    if let Some(link) = self.asked_again(id, &params) {
                        again.push((key, link));
                        continue;
                    }
                    params.identify(|| own.as_json().trim_matches('"').to_owned());
                    let Ok(mut params) = params.write(crate::leg::NEWEST_LEGACY) else {
                        continue;
                    };
                    if let Some(timeout) = timeout {
                        let told = params.entry("_meta").or_insert_with(|| json!({}));
                        told[meta::TIMEOUT] = timeout.into();
                    }
                    wants.push((
                        key,
                        Frame::request(&own, ElicitRequestParams::METHOD, &params),
                        own,
                    ));
                }
                other => {
                    let method = other.method().to_owned();
                    let (RoundInput::Sampling(params)
                    | RoundInput::Roots(params)
                    | RoundInput::Other { params, .. }) = other
                    else {
                        continue;
                    };
                    let params = params.map(|params| params.0).unwrap_or_default();
                    wants.push((key, Frame::request(&own, &method, &params), own));
                }
            }
        }
        (wants, again)
    }

    /// The server said what the task is called that was made of a call (2025-11-25).
    fn legacy_task(&mut self, now: Moment, id: CallId, task: String, out: Out<'_>) {
        let at = self.own_ids.fresh();
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        out.push(Output::ToServer(
            call.server,
            server::legacy::wait_for_task(&at, &task),
        ));
        let sent = Sent {
            id: at,
            is_again: true,
            task: Some(LegacyTask::Running(task)),
        };
        self.ledger
            .calls
            .change(id, |call| call.on(now, Happened::Sent(sent)));
    }

    /// Ends a call with an error of ours.
    pub(super) fn fail(&mut self, now: Moment, id: CallId, why: &str, out: Out<'_>) {
        self.fail_with(now, id, Frame::error(None, code::INTERNAL_ERROR, why), out);
    }

    /// Ends a call with an error before its server has finished it.
    pub(super) fn fail_with(&mut self, now: Moment, id: CallId, error: Frame, out: Out<'_>) {
        self.end_task(id, out);
        self.finish(now, id, error, out);
    }

    /// Ends a call with this response, which may have any id. Its questions end with it.
    pub(super) fn finish(&mut self, now: Moment, id: CallId, response: Frame, out: Out<'_>) {
        if !self.ledger.calls.get(id).is_some_and(|call| call.is_open()) {
            return;
        }
        self.drops_held(id); // It isn't sent again, now that it ends.
        let response = self.without_links(id, &response).unwrap_or(response);
        let is_result = response.peek().is_some_and(|(_, it)| it.error.is_none());
        if is_result {
            self.answers_arrived(id, out);
        }
        self.answers_end(id, Lost::CallEnded, out);
        let mut questions = self.ledger.questions_of(id);
        if is_result {
            questions.retain(|question| !self.completes(*question, id, true, out));
        }
        self.end_questions(now, id, questions, Withdrawn::ByServer, out);
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let is_list = call.request.kind == CallKind::ToolList;
        let told = match is_list && self.reads_tools(Some(self.declared(call).modes)) {
            true => self.listed(id, &response),
            false => None,
        };
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let told = told
            .or_else(|| self.edited(id, &response))
            .unwrap_or_else(|| response.clone());
        let waiters = call.audience.waiters().iter();
        let results = waiters.map(|waiter| {
            let result = client::result(&call.request, &told, &waiter.id);
            (waiter.is_guest, result)
        });
        let results: Vec<_> = results.collect();
        let has_result = !results.is_empty();
        for (is_guest, result) in results {
            self.tells(id, Output::ToClient(result), Held::Result { is_guest }, out);
        }
        let left = self.left_in(id);
        self.is_over(now, id, &response, has_result);
        self.ask_elsewhere(now, left, out);
    }

    /// Keeps the result of a call for those who may come for it; else the call is forgotten.
    fn is_over(&mut self, now: Moment, id: CallId, response: &Frame, has_result: bool) {
        let call = self.ledger.calls.get(id);
        if !call.is_some_and(|call| call.audience.has_names()) {
            self.ledger.calls.close(id);
            return;
        }
        let over = Happened::Over {
            result: response.kept(),
            until: now + KEPT,
        };
        self.ledger.calls.change(id, |call| {
            call.audience.all_leave();
            call.audience.has_result = has_result;
            call.on(now, over)
        });
        for surplus in self.ledger.calls.surplus() {
            self.ledger.calls.close(surplus);
        }
    }

    /// A final response as the client gets it, if that differs for another reason than its era.
    fn edited(&self, id: CallId, response: &Frame) -> Option<Frame> {
        let call = self.ledger.calls.get(id)?;
        let (_, members) = response.peek()?;
        if call.request.told == TellBy::Results || call.audience.has_names() {
            return None;
        }
        if let Some(error) = members.error {
            return self.warned_links(id, response, error);
        }
        let opened = self
            .client
            .opened
            .as_ref()
            .filter(|_| call.request.is_opening)?;
        let facts = &self.servers.first.facts;
        Some(server::legacy::agreed(response, facts, opened.revision).into_owned())
    }

    /// Questions that the client was told in a call, although they may belong to another.
    pub(super) fn left_in(&self, id: CallId) -> Vec<QuestionId> {
        let questions = &self.ledger.questions;
        let is_told = |question: &QuestionId| {
            questions
                .get(*question)
                .is_some_and(|it| it.told_in_round().is_some_and(|(at, _)| at == id))
        };
        questions.of_call(id).into_iter().filter(is_told).collect()
    }

    /// Asks questions in another call of the same client whose own call is over, or not at all.
    pub(super) fn ask_elsewhere(&mut self, now: Moment, left: Vec<QuestionId>, out: Out<'_>) {
        for id in left {
            let Some(question) = self.ledger.questions.remove(id) else {
                continue;
            };
            let ability = match &question.what {
                What::Other { method, .. } if method == super::sampling::METHOD => {
                    Ability::Sampling
                }
                What::Other { .. } => Ability::Roots,
                What::Elicit(_) | What::Unread(..) if question.is_link() => Ability::Url,
                What::Elicit(_) | What::Unread(..) => Ability::Form,
            };
            let host = self
                .ledger
                .calls
                .askable(ability, question.origin, self.is_shared)
                .filter(|_| !self.is_shared);
            match host {
                Some(_) => {
                    let (since, rendition) = match question.place {
                        Place::Client {
                            since,
                            ref rendition,
                            ..
                        } => (since, rendition.clone()),
                        Place::Desk(_) | Place::Model { .. } | Place::Undecided => (now, None),
                    };
                    self.ask_in_round(since, question, host, rendition);
                }
                None => {
                    let gone = Settled::Ended(Outcome::Withdrawn(Withdrawn::ByServer));
                    self.settle(now, question, gone, out);
                }
            }
        }
    }
}

/// What a client has to have declared to be asked this, if it isn't a person's to answer.
pub fn ability_of(method: &str) -> Option<Ability> {
    match method {
        super::sampling::METHOD => Some(Ability::Sampling),
        "roots/list" => Some(Ability::Roots),
        _ => None,
    }
}

/// What a request wants.
fn method_of(request: &Frame) -> Option<String> {
    match request.peek() {
        Some((Kind::Request { method, .. }, _)) => Some(method.into_owned()),
        _ => None,
    }
}
