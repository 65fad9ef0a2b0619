//! What the server says, its questions above all.

use midcall_core::wire::{ElicitRequestParams, ElicitationCompleteParams, Modes, code};
use midcall_core::{Asker, Elicitation};
use midcall_desk::Withdrawn;
use tokio::time::Instant;

use super::calls::Wants;
use super::question::Question;
use super::{Act, Session};
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
                let wanted = self.closed(&id);
                if self.claims.has(&id) {
                    let told = self.claims.result(&id, frame, now);
                    return self.collected(told, acts);
                }
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
        let is_open = self.questions.contains_key(&id) || self.leaving.contains(&id);
        if self.questions.len() >= MOST_QUESTIONS || is_open {
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
        let act = Act::Ask(id.clone(), Box::new(elicitation.clone()));
        let mut calls = self.calls.at_server();
        calls.extend(self.claims.running());
        let question = Question::at_desk(elicitation, calls);
        self.questions.insert(id, question);
        self.at_desk += 1;
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
        if question.is_at_desk() {
            self.at_desk -= 1;
            self.leaving.insert(id.clone());
            acts.push(Act::Withdraw(id, Withdrawn::ByServer));
        }
        question.is_at_desk()
    }

    /// What a link was for is done; `true` if the client never heard of the link.
    fn complete(&mut self, members: &Members<'_>, acts: &mut Vec<Act>) -> bool {
        let params = members
            .params
            .and_then(|params| serde_json::from_slice(params).ok());
        let Some(Ok(done)) = params.map(ElicitationCompleteParams::read) else {
            return false;
        };
        let ours = self
            .questions
            .iter()
            .find(|(_, question)| question.is_link(&done.elicitation_id));
        let Some((id, question)) = ours else {
            return false;
        };
        if question.is_at_desk() {
            acts.push(Act::Complete(id.clone()));
        }
        question.is_at_desk()
    }

    pub(super) fn server_gone(&mut self, now: Instant, how: &str, acts: &mut Vec<Act>) {
        for (id, question) in self.questions.drain() {
            if question.is_at_desk() {
                acts.push(Act::Withdraw(id, Withdrawn::ServerGone));
            }
        }
        self.at_desk = 0;
        let words = format!("midcall: the server {how} before it answered");
        let error = |id: &Id| Frame::error(Some(id), code::INTERNAL_ERROR, &words);
        for id in self.claims.running() {
            let told = self.claims.result(&id, error(&id), now);
            self.collected(told, acts);
        }
        for id in self.calls.ids() {
            acts.push(Act::ToClient(error(&id)));
            self.calls.close(&id);
        }
    }
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
