//! What the server says, its questions above all.

use midcall_core::wire::{ElicitRequestParams, ElicitationCompleteParams, Modes, code};
use midcall_core::{Asker, Elicitation};
use midcall_desk::{Outcome, Withdrawn};
use tokio::time::Instant;

use super::calls::Wants;
use super::question::{self, Question};
use super::{Act, Session, Turn};
use crate::era::legacy;
use crate::frame::{Frame, Id, Kind, Members};

/// How many questions may be open at once. The desk has its own, lower bounds.
const MOST_QUESTIONS: usize = 1_000;

impl Session {
    pub(super) fn server_says(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        let Some((kind, members)) = frame.peek() else {
            acts.push(Act::Noise(frame));
            return;
        };
        let edited = match kind {
            Kind::Response { id: Some(id) } => {
                if self.claims.has(&id) {
                    self.closed(&id);
                    let told = self.claims.result(&id, frame, now);
                    return self.collected(told, acts);
                }
                // Of a call of our own tool the server knows nothing.
                if self.calls.is_claim(&id) {
                    return;
                }
                let wanted = self.closed(&id);
                if self.opening.as_ref() == Some(&id) {
                    self.initialized(&frame, &members)
                } else if wanted == Some(Wants::Tools) && self.may_let_go() {
                    members
                        .result
                        .and_then(|result| self.tools.listed(&frame, result))
                } else {
                    None
                }
            }
            Kind::Request { id, method } if method == ElicitRequestParams::METHOD => {
                match self.question(&frame, id, &members) {
                    Asked::Client(edited) => edited,
                    Asked::Otherwise(act) => {
                        acts.push(act);
                        return;
                    }
                }
            }
            Kind::Notification { method } => match &*method {
                "notifications/progress" if self.claims.is_silent(members.progress_token) => return,
                "notifications/progress" => {
                    self.calls.hear(&members);
                    None
                }
                "notifications/cancelled" if self.server_cancelled(&members, acts) => return,
                "notifications/elicitation/complete" if self.complete(&members, acts) => return,
                _ => None,
            },
            // A question in company is still a question.
            Kind::Batch if are_questions(&frame) => {
                for part in frame.parts() {
                    self.server_says(now, part, acts);
                }
                return;
            }
            _ => None,
        };
        acts.push(Act::ToClient(edited.unwrap_or(frame)));
    }

    fn initialized(&mut self, frame: &Frame, members: &Members<'_>) -> Option<Frame> {
        self.opening = None;
        let (server, edited) = legacy::agree(frame, members.result?, self.client.as_mut()?)?;
        self.server.revision = server.revision;
        self.server.asker.version = server.asker.version;
        if !server.asker.server.is_empty() {
            self.server.asker.server = server.asker.server;
        }
        edited
    }

    /// Finds somebody to answer a question.
    fn question(&mut self, frame: &Frame, id: Id, members: &Members<'_>) -> Asked {
        if self.client_gone {
            let why = Outcome::Withdrawn(Withdrawn::ByClient);
            return Asked::Otherwise(Act::ToServer(question::nobody(&id, &why)));
        }
        if self.questions.len() >= MOST_QUESTIONS || self.questions.contains_key(&id) {
            let told = "midcall: this id is in use, or too many questions are open";
            return Asked::refused(&id, code::INVALID_REQUEST, told);
        }
        let asker = Asker {
            tool: self.calls.tool(),
            ..self.server.asker.clone()
        };
        let params = members
            .params
            .and_then(|params| str::from_utf8(params).ok());
        let read = Elicitation::read(params.unwrap_or("null"), asker, &self.rules.limits);
        let modes = self
            .client
            .as_ref()
            .map_or(Modes::default(), |client| client.modes);
        let elicitation = match read {
            Ok(elicitation) => elicitation,
            // A client that can ask may understand it all the same.
            Err(_) if modes.form && self.rules.routes.client => return Asked::Client(None),
            Err(error) => return Asked::refused(&id, code::INVALID_PARAMS, &error.to_string()),
        };
        if self.rules.routes.client_answers(modes, &elicitation) {
            let revision = self
                .client
                .as_ref()
                .map_or(self.server.revision, |client| client.revision);
            let older = revision < self.server.revision;
            let question = Question::for_client(elicitation, revision, older, self.rules.locale);
            let edited = question.told(frame);
            self.questions.insert(id, question);
            return Asked::Client(edited);
        }
        if !self.rules.routes.page {
            // The client has not said that it can, so let it say that it cannot.
            return Asked::Client(None);
        }
        self.turn = Turn(self.turn.0 + 1);
        let act = Act::Ask(self.turn, Box::new(elicitation.clone()));
        let mut calls = self.calls.at_server();
        calls.extend(self.claims.running());
        let question = Question::at_desk(elicitation, self.turn, calls);
        self.questions.insert(id, question);
        Asked::Otherwise(act)
    }

    /// The server takes a question back; `true` if the client never heard of it.
    fn server_cancelled(&mut self, members: &Members<'_>, acts: &mut Vec<Act>) -> bool {
        let Some(id) = members.request_id.and_then(Id::read) else {
            return false;
        };
        let Some(question) = self.questions.remove(&id) else {
            return false;
        };
        let turn = question.turn();
        acts.extend(turn.map(|turn| Act::Withdraw(turn, Withdrawn::ByServer)));
        turn.is_some()
    }

    /// What a link was for is done; `true` if the client never heard of the link.
    fn complete(&mut self, members: &Members<'_>, acts: &mut Vec<Act>) -> bool {
        let params = members
            .params
            .and_then(|params| serde_json::from_slice(params).ok());
        let Some(Ok(done)) = params.map(ElicitationCompleteParams::read) else {
            return false;
        };
        let mut open = self.questions.values_mut();
        let Some(question) = open.find(|question| question.is_link(&done.elicitation_id)) else {
            return false;
        };
        let Some(turn) = question.turn() else {
            return false;
        };
        acts.push(match question.opened_by() {
            Some(by) => Act::Complete(turn, by),
            // Nobody has opened it here, so nobody has said yes.
            None => {
                question.leaves();
                Act::Withdraw(turn, Withdrawn::ByServer)
            }
        });
        true
    }

    pub(super) fn server_gone(&mut self, now: Instant, how: String, acts: &mut Vec<Act>) {
        let gone = Withdrawn::ServerGone;
        for (_, question) in self.questions.drain() {
            acts.extend(question.turn().map(|turn| Act::Withdraw(turn, gone)));
        }
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

fn gone_words(how: &str) -> String {
    format!("midcall: the server {how} before it answered")
}

/// Whether a batch holds a question.
fn are_questions(batch: &Frame) -> bool {
    batch.parts().iter().any(|part| {
        matches!(part.peek(), Some((Kind::Request { method, .. }, _)) if method == ElicitRequestParams::METHOD)
    })
}

/// Who is going to answer.
enum Asked {
    /// The client, asked in other words if there are any.
    Client(Option<Frame>),
    /// Somebody else, or nobody.
    Otherwise(Act),
}

impl Asked {
    fn refused(id: &Id, code: i64, why: &str) -> Self {
        Self::Otherwise(Act::ToServer(Frame::error(Some(id), code, why)))
    }
}
