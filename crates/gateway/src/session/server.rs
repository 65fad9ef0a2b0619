//! What the server says, its questions above all.

use midcall_core::Elicitation;
use midcall_core::wire::{ElicitRequestParams, Telling, code};
use midcall_desk::{Outcome, Unavailable, Withdrawn};
use tokio::time::Instant;

use super::calls::Wants;
use super::question::{self, At, Question, State, WantedBy};
use super::{Act, Session, sampling};
use crate::era::legacy;
use crate::frame::{Frame, Id, Kind, Members};
use crate::route::Route;
use crate::unseen::one_line;

/// How many questions may be open at once. The desk has its own, lower bounds.
pub const MOST_QUESTIONS: usize = 1_000;

/// How many characters of a server's name are shown.
const LONGEST_NAME: usize = 200;

/// Why a server that several clients share can't ask one of them.
const ANYBODYS: &str =
    "several clients have calls open here, and which of them this is for isn't known";

impl Session {
    pub(super) fn server_says(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        let Some((kind, members)) = frame.peek() else {
            acts.push(Act::Noise(frame));
            return;
        };
        let edited = match kind {
            Kind::Response { id: Some(id) } => {
                if let Some(refused) = members.error.and_then(|it| self.refused_links(&id, it)) {
                    return self.server_says(now, refused, acts);
                }
                let (id, mapped) = match self.errands.call(&id) {
                    Some(call) => (call.clone(), frame.with(&["id"], call.as_json())),
                    // A call that was made again, and that nobody waits for any more.
                    None if self.own_ids.has(&id) => {
                        return self.task_started_late(&id, &members, acts);
                    }
                    None => (id, None),
                };
                // Of these the server knows nothing.
                if self.calls.is_ours(&id) || self.errands.is_held(&id) {
                    return;
                }
                if self.task_started(&id, &members, acts) {
                    return;
                }
                let told = mapped.as_ref().unwrap_or(&frame);
                if self.needs_links(now, &id, told, &members, acts)
                    || self.moves(&id, told, &members, acts)
                {
                    return;
                }
                self.errands.remove(&id);
                let why = Withdrawn::ByServer;
                self.end_questions(now, self.questions_of(&id, why), why, acts);
                if self.claims.has(&id) {
                    self.closed(&id);
                    let told = self.claims.result(&id, mapped.unwrap_or(frame), now);
                    return self.collected(told, acts);
                }
                let Some(wanted) = self.closed(&id) else {
                    // It came twice, or after the call was taken back, or nobody asked.
                    tracing::debug!("an answer of the server was dropped: nobody waits for it");
                    return;
                };
                if self.opening.as_ref() == Some(&id) {
                    self.initialized(&frame, &members)
                } else if wanted == Wants::Tools && self.reads_tools() {
                    let added = self.added_tools();
                    members
                        .result
                        .and_then(|result| self.tools.listed(&frame, result, added))
                } else {
                    let told = mapped.as_ref().unwrap_or(&frame);
                    let warned = members
                        .error
                        .and_then(|error| self.warned_links(told, error));
                    warned.or(mapped)
                }
            }
            Kind::Request { id, method } if method == ElicitRequestParams::METHOD => {
                return self.question(now, frame.clone(), id, &members, acts);
            }
            // What a server wants of one client's model, or to know of its folders, is none of another's business.
            Kind::Request { id, method }
                if method != "ping" && self.is_anybodys(&self.candidates()) =>
            {
                let told = format!("midcall: {ANYBODYS}");
                let error = Frame::error(Some(&id), code::INVALID_REQUEST, &told);
                return acts.push(Act::ToServer(error));
            }
            Kind::Request { id, method } if method == sampling::METHOD => {
                return self.samples(now, frame.clone(), id, &members, acts);
            }
            Kind::Request { id, .. } => {
                self.passed.add(id);
                None
            }
            Kind::Notification { method } => match &*method {
                "notifications/progress" if self.claims.is_silent(members.progress_token) => return,
                "notifications/progress" => {
                    self.calls.hear(&members);
                    None
                }
                "notifications/tasks/status" if self.is_own_task(&members) => return,
                "notifications/cancelled" if self.server_cancelled(&members, acts) => return,
                "notifications/elicitation/complete" if self.complete(&members, acts) => return,
                _ => None,
            },
            Kind::Batch => {
                for part in frame.parts() {
                    self.server_says(now, part, acts);
                }
                return;
            }
            Kind::Wrong {
                id: Some(id),
                why,
                is_answer: true,
            } => {
                tracing::warn!("an answer of the server was refused: {why}");
                return self.server_says(now, Frame::refused_answer(&id, why), acts);
            }
            Kind::Wrong { id, why, .. } => {
                tracing::warn!("a message of the server was refused: {why}");
                return acts.push(Act::ToServer(Frame::refused(id.as_ref(), why)));
            }
            // It could be a question, and an answer to it couldn't be checked.
            Kind::Odd => {
                let told = "midcall: a request needs an id that is a number or a short text";
                tracing::warn!("a request of the server was refused: nobody can answer its id");
                let error = Frame::error(None, code::INVALID_REQUEST, told);
                return acts.push(Act::ToServer(error));
            }
            Kind::Response { id: None } => None,
        };
        acts.push(Act::ToClient(edited.unwrap_or(frame)));
    }

    fn initialized(&mut self, frame: &Frame, members: &Members<'_>) -> Option<Frame> {
        self.opening = None;
        let (server, edited) = legacy::agree(frame, members.result?, self.client.as_mut()?)?;
        self.server.revision = server.revision;
        self.server.runs_tasks = server.runs_tasks;
        self.server.asker.version = server.asker.version;
        if !server.asker.server.is_empty() {
            // It stands in sentences of our own, where it must not look like more than a name.
            self.server.asker.server = one_line(&server.asker.server, LONGEST_NAME);
        }
        edited
    }

    /// Finds somebody to answer a question.
    fn question(
        &mut self,
        now: Instant,
        frame: Frame,
        id: Id,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        if self.client_gone {
            let why = Outcome::Withdrawn(Withdrawn::ByClient);
            return acts.push(Act::ToServer(question::nobody(&id, &why)));
        }
        if self.questions.take_cancelled(&id) {
            let why = Outcome::Withdrawn(Withdrawn::ByServer);
            return acts.push(Act::ToServer(question::nobody(&id, &why)));
        }
        let in_round = self.in_round;
        let refused = |code, why: &str| {
            Act::ToServer(match in_round {
                true => question::refused(&id, why),
                false => Frame::error(Some(&id), code, &format!("midcall: {why}")),
            })
        };
        let is_used = self.questions.turn(&id).is_some() || self.passed.has(&id);
        if is_used || self.questions.len() >= MOST_QUESTIONS {
            let told = "this id is in use, or too many questions are open";
            return acts.push(refused(code::INVALID_REQUEST, told));
        }
        if members.is_ambiguous {
            let told = "the question's params have a member twice, or in other letters";
            return acts.push(refused(code::INVALID_REQUEST, told));
        }
        let params = members
            .params
            .and_then(|params| str::from_utf8(params).ok());
        let read = Elicitation::read(params.unwrap_or("null"), self.asker(), &self.rules.limits);
        let mut elicitation = match read {
            Ok(elicitation) => elicitation,
            Err(error) => {
                let passed = self.pass_unread(now, frame, id.clone(), &error, acts);
                if let Err(why) = passed {
                    acts.push(refused(code::INVALID_PARAMS, &why));
                }
                return;
            }
        };
        let calls = self.candidates();
        let plan = self.plan(&elicitation);
        if let Some(why) = self.forbidden(now, &mut elicitation, &plan) {
            return acts.push(refused(code::INVALID_REQUEST, &why));
        }
        let route = self.route(&elicitation, &calls, &plan);
        let wanted_by = WantedBy::Server(id.clone());
        let new = |at| {
            let mut question =
                Question::new(elicitation.clone(), wanted_by.clone(), calls.clone(), at);
            question.in_round = in_round;
            question
        };
        match route {
            Some(Route::Client) => {
                let until = now + self.patience(&elicitation);
                let question = new(At::Client {
                    told: self.told(&elicitation),
                    since: now,
                    until,
                });
                let told = question.told(&frame).unwrap_or(frame);
                acts.push(Act::ToClient(self.warned(&elicitation, told)));
                self.questions.add(Some(id), question);
            }
            Some(Route::Page | Route::Api) => {
                let question = new(At::Desk(State::Coming));
                let turn = self.questions.add(Some(id), question);
                acts.push(Act::Ask(turn, Box::new(elicitation)));
            }
            Some(Route::Model) => {
                let question = new(At::Desk(State::Coming));
                self.ask_model(now, question, Some(id), acts);
            }
            None if self.is_anybodys(&calls) => {
                acts.push(refused(code::INVALID_REQUEST, ANYBODYS));
            }
            None => {
                let nobody = Outcome::Unavailable(Unavailable::NoRoute);
                let question = new(At::Desk(State::Coming));
                self.question_ended(now, question, nobody, acts);
            }
        }
    }

    /// A form in words that the client knows, if it does not know the server's.
    fn told(&self, elicitation: &Elicitation) -> Option<Box<Telling>> {
        let client = self.client.as_ref();
        let revision = client.map_or(self.server.revision, |client| client.revision);
        let older = revision < self.server.revision;
        question::telling(elicitation, revision, older, self.rules.locale)
    }

    /// The tool that is being called, if there is no doubt about it.
    pub(super) fn tool(&self) -> Option<String> {
        let claimed = self.claims.tools().map(|name| (name, 1));
        let called = self.calls.tools().chain(claimed);
        let mut named = called.filter_map(|(name, count)| Some((name?, count)));
        let (name, _) =
            (named.next()).filter(|(_, count)| *count == 1 && named.next().is_none())?;
        serde_json::from_slice(name).ok()
    }

    /// The server takes a question back; `true` if the client never heard of it.
    fn server_cancelled(&mut self, members: &Members<'_>, acts: &mut Vec<Act>) -> bool {
        let Some(id) = members.request_id.and_then(Id::read) else {
            return false;
        };
        if let Some(turn) = self.questions.sampled(&id) {
            self.take_back(turn, Withdrawn::ByServer, acts);
            return true;
        }
        let Some(turn) = self.questions.turn(&id) else {
            self.passed.remove(&id);
            self.questions.cancel_early(id);
            return false;
        };
        let Some(question) = self.questions.remove(turn) else {
            return false;
        };
        match &question.at {
            At::Client { .. } => return false,
            At::Desk(_) => acts.push(Act::Withdraw(turn, Withdrawn::ByServer)),
            At::Model(model) => {
                let taken_back = Outcome::Withdrawn(Withdrawn::ByServer);
                self.answered.ended(model, &taken_back);
            }
        }
        true
    }

    pub(super) fn server_gone(&mut self, now: Instant, how: String, acts: &mut Vec<Act>) {
        let gone = Withdrawn::ServerGone;
        for (turn, question) in self.questions.drain() {
            if question.is_at_desk() {
                acts.push(Act::Withdraw(turn, gone));
            }
        }
        self.errands.clear();
        let words = self.server_gone.insert(gone_words(&how)).clone();
        for id in self.claims.running() {
            let error = Frame::error(Some(&id), code::INTERNAL_ERROR, &words);
            let told = self.claims.result(&id, error, now);
            self.collected(told, acts);
        }
        self.nobody_answers(acts);
    }

    /// Tells the client that the server will not answer its calls.
    pub(super) fn nobody_answers(&mut self, acts: &mut Vec<Act>) {
        let words = self.server_gone.as_deref().unwrap_or_default();
        for id in self.calls.ids() {
            let error = Frame::error(Some(&id), code::INTERNAL_ERROR, words);
            acts.push(Act::ToClient(error));
            self.calls.close(&id);
        }
    }
}

/// What a client is told of a call that a server left behind.
pub fn gone_words(how: &str) -> String {
    format!("midcall: the server {how} before it answered")
}
