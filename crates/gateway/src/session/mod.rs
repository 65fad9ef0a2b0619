//! One client's dealings with one server.
//!
//! The session is told what happened and says what to do; whoever holds the pipes does it.
//! Messages pass as they came. A question is answered by the client if it can ask it, else it
//! waits at the desk, and while it does the client's calls are kept alive.
//!
//! In: [`Session::on`]. Out: [`Act`]s.
//! Elsewhere: pipes (`transport`), the desk (`route::page`), the opening (`era`).

mod alive;
mod calls;
mod client;
mod hold;
mod question;
mod server;
#[cfg(test)]
mod stories;
#[cfg(test)]
pub mod world;

use std::collections::HashMap;
use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::wire::{Revision, code};
use midcall_core::{Asker, Elicitation, Limits};
use midcall_desk::{By, Outcome, Withdrawn};
use tokio::time::Instant;

use crate::claim::tools::Tools;
use crate::claim::{Claims, Waiting};
use crate::era::legacy;
use crate::frame::{Frame, Id};
use crate::route::Routes;
use calls::{Calls, Wants};
use question::Question;

/// A question that was put on the desk. The server's own ids are no names for it: they may be
/// used again while the desk still has news of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn(pub u64);

/// What happened.
pub enum Event {
    /// The client sent a line.
    Client(Frame),
    /// The server sent a line.
    Server(Frame),
    /// A question is on the desk: what those who wait for it are told.
    Asked(Turn, Waiting),
    /// The desk did not take a question, and this is why.
    Refused(Turn, String),
    /// Somebody opened the link of a question that waits at the desk.
    Opened(Turn, By),
    /// A question at the desk ended.
    Ended(Turn, Outcome),
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
    /// Put a question on the desk.
    Ask(Turn, Box<Elicitation>),
    /// Take it back.
    Withdraw(Turn, Withdrawn),
    /// What the link was for is done: whoever opened it need not say so.
    Complete(Turn, By),
    /// The server wrote a line that is no message.
    Noise(Frame),
}

/// How a session is set up.
pub struct Rules {
    pub routes: Routes,
    pub limits: Limits,
    /// The language of what the gateway itself says.
    pub locale: Locale,
    /// How long a client's call is kept open while a person thinks; for ever if none.
    pub hold: Option<Duration>,
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
    /// The last question that was put on the desk.
    turn: Turn,
    /// Whether the client is gone.
    client_gone: bool,
    /// How the server went, once it is gone.
    server_gone: Option<String>,
    /// When the client's calls are kept alive next.
    keep_alive: Option<Instant>,
    tools: Tools,
    claims: Claims,
    waiting: Waiting,
}

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
            turn: Turn(0),
            client_gone: false,
            server_gone: None,
            keep_alive: None,
            tools: Tools::default(),
            claims: Claims::default(),
            waiting: Waiting::default(),
        }
    }

    /// Hears what happened, and adds to `acts` what is to be done.
    pub fn on(&mut self, now: Instant, event: Event, acts: &mut Vec<Act>) {
        match event {
            Event::Client(frame) => self.client_says(now, frame, acts),
            Event::Server(frame) => self.server_says(now, frame, acts),
            Event::Asked(turn, waiting) => self.asked(turn, waiting),
            Event::Refused(turn, why) => self.refused(turn, &why, acts),
            Event::Opened(turn, by) => self.opened(turn, by, acts),
            Event::Ended(turn, outcome) => self.ended(turn, outcome, acts),
            Event::Woke => {}
            Event::ClientGone => self.client_gone(acts),
            Event::ServerGone(how) => self.server_gone(now, how, acts),
        }
        self.let_go(now, acts);
        self.keep_alive(now, acts);
    }

    /// When it wants to be woken.
    pub fn wakes_at(&self) -> Option<Instant> {
        let times = [self.keep_alive, self.lets_go_at(), self.claims.wakes_at()];
        times.into_iter().flatten().min()
    }

    fn asked(&mut self, turn: Turn, waiting: Waiting) {
        if let Some(id) = self.id_of(turn)
            && let Some(question) = self.questions.get_mut(&id)
        {
            question.asked();
            self.waiting = waiting;
        }
    }

    fn refused(&mut self, turn: Turn, why: &str, acts: &mut Vec<Act>) {
        if let Some(id) = self.id_of(turn) {
            self.questions.remove(&id);
            let told = format!("midcall: {why}");
            let error = Frame::error(Some(&id), code::INTERNAL_ERROR, &told);
            acts.push(Act::ToServer(error));
        }
    }

    /// Opening a link is consent, and that is all the server asked for.
    fn opened(&mut self, turn: Turn, by: By, acts: &mut Vec<Act>) {
        if let Some(id) = self.id_of(turn)
            && let Some(question) = self.questions.get_mut(&id)
        {
            acts.extend(question.opened(&id, by).map(Act::ToServer));
        }
    }

    fn ended(&mut self, turn: Turn, outcome: Outcome, acts: &mut Vec<Act>) {
        if let Some(id) = self.id_of(turn)
            && let Some(question) = self.questions.remove(&id)
        {
            acts.extend(question.ended(&id, outcome).map(Act::ToServer));
        }
    }

    /// The server's own id of a question on the desk, if that is not over.
    fn id_of(&self, turn: Turn) -> Option<Id> {
        let mut questions = self.questions.iter();
        let found = questions.find(|(_, question)| question.turn() == Some(turn));
        found.map(|(id, _)| id.clone())
    }

    /// Whether a call may be waiting for somebody at the desk.
    fn somebody_thinks(&self) -> bool {
        self.questions.values().any(Question::waits)
    }

    /// A call is over: no question can belong to it any more.
    fn closed(&mut self, call: &Id) -> Option<Wants> {
        for question in self.questions.values_mut() {
            question.forget(call);
        }
        self.calls.close(call).map(|(wants, _)| wants)
    }
}
