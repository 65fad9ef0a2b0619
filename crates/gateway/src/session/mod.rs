//! One client's dealings with one server.
//!
//! The session is told what happened and says what to do; whoever holds the pipes does it.
//! Messages pass as they came. A question is answered by the client if it can ask it, else it
//! waits at the desk, and while it does the client's calls are kept alive.
//!
//! In: [`Session::on`]. Out: [`Act`]s.
//! Elsewhere: pipes (`transport`), the desk (`route::page`), the opening (`era`).

mod calls;
mod question;
#[cfg(test)]
mod stories;

use std::collections::HashMap;
use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::wire::{ElicitRequestParams, ElicitationCompleteParams, Modes, Revision, code};
use midcall_core::{Asker, Elicitation, Limits};
use midcall_desk::{Outcome, Withdrawn};
use serde_json::json;
use tokio::time::Instant;

use crate::era::legacy;
use crate::frame::{Frame, Id, Kind, Members};
use crate::route::Routes;
use calls::Calls;
use question::Question;

/// What happened.
pub enum Event {
    /// The client sent a line.
    Client(Frame),
    /// The server sent a line.
    Server(Frame),
    /// The person opened the link of a question that waits at the desk.
    Opened(Id),
    /// A question at the desk ended.
    Ended(Id, Outcome),
    /// The desk did not take a question, and this is why.
    Refused(Id, String),
    /// The time came that [`Session::wakes_at`] told.
    Woke,
    /// The client is gone.
    ClientGone,
    /// The server is gone, and this is how.
    ServerGone(String),
}

/// What is to be done.
#[derive(Debug)]
pub enum Act {
    /// Send the client a line.
    ToClient(Frame),
    /// Send the server a line.
    ToServer(Frame),
    /// Put a question on the desk, under the server's own id.
    Ask(Id, Box<Elicitation>),
    /// Take it back.
    Withdraw(Id, Withdrawn),
    /// What the link was for is done: the person need not say so.
    Complete(Id),
    /// The server wrote a line that is no message.
    Noise(Frame),
}

/// How a session is set up.
pub struct Rules {
    pub routes: Routes,
    pub limits: Limits,
    /// The language of what the gateway itself says.
    pub locale: Locale,
    /// What the server is called until it says so itself.
    pub name: String,
}

pub struct Session {
    rules: Rules,
    /// What the client said of itself.
    client: Option<legacy::Client>,
    /// The id of its `initialize`, while that is not answered.
    opening: Option<Id>,
    server: legacy::Server,
    calls: Calls,
    /// Questions of the server that are not answered yet, by its own ids.
    questions: HashMap<Id, Question>,
    /// How many of those wait at the desk.
    at_desk: usize,
    /// When the client's calls are kept alive next.
    keep_alive: Option<Instant>,
}

/// How many questions may be open at once. The desk has its own, lower bounds.
const MOST_QUESTIONS: usize = 1_000;

/// How often a client is told that its call is alive. Many give up after a minute, some after
/// half of one.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

impl Session {
    pub fn new(rules: Rules) -> Self {
        let server = legacy::Server {
            revision: Revision::V2025_11_25,
            asker: Asker::named(rules.name.clone()),
        };
        Self {
            rules,
            client: None,
            opening: None,
            server,
            calls: Calls::default(),
            questions: HashMap::new(),
            at_desk: 0,
            keep_alive: None,
        }
    }

    /// Hears what happened, and adds to `acts` what is to be done.
    pub fn on(&mut self, now: Instant, event: Event, acts: &mut Vec<Act>) {
        match event {
            Event::Client(frame) => self.client_says(frame, acts),
            Event::Server(frame) => self.server_says(frame, acts),
            Event::Opened(id) => self.opened(&id, acts),
            Event::Ended(id, outcome) => self.ended(&id, outcome, acts),
            Event::Refused(id, why) => self.refused(&id, &why, acts),
            Event::Woke => {}
            Event::ClientGone => self.client_gone(acts),
            Event::ServerGone(how) => self.server_gone(&how, acts),
        }
        self.keep_alive(now, acts);
    }

    /// When it wants to be woken.
    pub fn wakes_at(&self) -> Option<Instant> {
        self.keep_alive
    }

    fn client_says(&mut self, frame: Frame, acts: &mut Vec<Act>) {
        let Some((kind, members)) = frame.peek() else {
            let told = "midcall: this line is not a JSON-RPC message";
            acts.push(Act::ToClient(Frame::error(None, code::PARSE_ERROR, told)));
            return;
        };
        let act = match kind {
            Kind::Request { id, method } => {
                let edited =
                    (method == "initialize").then(|| self.initialize(&frame, &id, &members));
                self.calls.open(id, &members);
                edited.flatten()
            }
            Kind::Notification { method } => {
                if method == "notifications/cancelled" {
                    self.client_cancelled(&members, acts);
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
    /// with it.
    fn client_cancelled(&mut self, members: &Members<'_>, acts: &mut Vec<Act>) {
        let Some(call) = members.request_id.and_then(Id::read) else {
            return;
        };
        for (id, question) in &mut self.questions {
            if question.is_at_desk() && question.only_of(&call) {
                acts.push(Act::Withdraw(id.clone(), Withdrawn::ByClient));
            }
        }
        self.closed(&call);
    }

    /// A call is over: no question can belong to it any more.
    fn closed(&mut self, call: &Id) {
        self.calls.close(call);
        for question in self.questions.values_mut() {
            question.forget(call);
        }
    }

    fn server_says(&mut self, frame: Frame, acts: &mut Vec<Act>) {
        let Some((kind, members)) = frame.peek() else {
            acts.push(Act::Noise(frame));
            return;
        };
        let edited = match kind {
            Kind::Response { id: Some(id) } => {
                let edited = (self.opening.as_ref() == Some(&id))
                    .then(|| self.initialized(&frame, &members))
                    .flatten();
                self.closed(&id);
                edited
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
        let act = Act::Ask(id.clone(), Box::new(elicitation.clone()));
        self.questions
            .insert(id, Question::at_desk(elicitation, self.calls.ids()));
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

    /// Opening a link is consent, and that is all the server asked for.
    fn opened(&mut self, id: &Id, acts: &mut Vec<Act>) {
        if let Some(question) = self.questions.get_mut(id) {
            acts.extend(question.opened(id).map(Act::ToServer));
        }
    }

    fn ended(&mut self, id: &Id, outcome: Outcome, acts: &mut Vec<Act>) {
        if let Some(question) = self.questions.remove(id) {
            self.at_desk -= 1;
            acts.extend(question.ended(id, outcome).map(Act::ToServer));
        }
    }

    fn refused(&mut self, id: &Id, why: &str, acts: &mut Vec<Act>) {
        if self.questions.remove(id).is_some() {
            self.at_desk -= 1;
            let told = format!("midcall: {why}");
            acts.push(Act::ToServer(Frame::error(
                Some(id),
                code::INTERNAL_ERROR,
                &told,
            )));
        }
    }

    /// Nobody waits for anything any more, and the server is told so.
    fn client_gone(&mut self, acts: &mut Vec<Act>) {
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

    fn server_gone(&mut self, how: &str, acts: &mut Vec<Act>) {
        for (id, question) in self.questions.drain() {
            if question.is_at_desk() {
                acts.push(Act::Withdraw(id, Withdrawn::ServerGone));
            }
        }
        self.at_desk = 0;
        let told = format!("midcall: the server {how} before it answered");
        for id in self.calls.ids() {
            let error = Frame::error(Some(&id), code::INTERNAL_ERROR, &told);
            acts.push(Act::ToClient(error));
            self.calls.close(&id);
        }
    }

    /// Tells the client that its calls go on while a person thinks.
    fn keep_alive(&mut self, now: Instant, acts: &mut Vec<Act>) {
        if self.at_desk == 0 || !self.calls.are_followed() {
            self.keep_alive = None;
            return;
        }
        if self.keep_alive.is_some_and(|at| at > now) {
            return;
        }
        self.keep_alive = Some(now + KEEP_ALIVE);
        let server = self.server.asker.server.as_str();
        let message = self
            .rules
            .locale
            .say("mcp.elicitation.wait.person", &[("server", server.into())]);
        for (token, progress) in self.calls.move_on() {
            let Ok(token) = serde_json::from_slice::<&serde_json::value::RawValue>(token) else {
                continue;
            };
            let params = json!({"progressToken": token, "progress": progress, "message": message});
            acts.push(Act::ToClient(Frame::write(&json!({
                "jsonrpc": "2.0", "method": "notifications/progress", "params": params
            }))));
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
