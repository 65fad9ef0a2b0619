//! What the client said of itself, and what becomes of its messages that aren't calls.

use crate::moment::Moment;
use midcall_core::wire::{Modes, code};

use super::unclaimed::{Inseparable, unclaimed};
use super::{Out, Output, Session};
use crate::call::{CallKind, Declared, ServerId, TellBy};
use crate::frame::{Frame, Id, Kind, Members};
use crate::leg::client::legacy::Opened;
use crate::leg::news::Follows;

/// The client, for as long as it is connected.
#[derive(Default)]
pub struct Client {
    /// What it said by `initialize`.
    pub opened: Option<Opened>,
    /// How it is asked and told to wait, as its latest request says.
    pub told: TellBy,
    /// What it follows at a legacy server.
    pub follows: Follows,
    /// When it hears next that its calls go on, while somebody thinks.
    pub keep_alive: Option<Moment>,
    /// When it heard so last.
    pub kept_alive: Option<Moment>,
    /// True while a request of a guest is heard.
    pub hears_guest: bool,
    /// True if it left: it can't be asked or told anything.
    pub has_left: bool,
    /// True if nobody can come any more.
    pub is_gone: bool,
}

/// What a client declares that declares nothing.
static NOTHING: std::sync::LazyLock<Declared> = std::sync::LazyLock::new(|| Declared {
    capabilities: "{}".into(),
    ..Declared::default()
});

impl Client {
    /// What it declared by `initialize`.
    pub fn declared(&self) -> &Declared {
        self.opened
            .as_ref()
            .map_or(&NOTHING, |opened| &opened.declared)
    }

    /// How it can ask a person, if it has said so.
    pub fn modes(&self) -> Option<Modes> {
        self.opened.as_ref().map(|opened| opened.declared.modes)
    }
}

impl Session {
    pub(super) fn client_says(&mut self, now: Moment, frame: Frame, out: Out<'_>) {
        let Some((kind, members)) = frame.peek() else {
            let told = "midcall: this line is not a JSON-RPC message";
            return out.push(Output::ToClient(Frame::error(
                None,
                code::PARSE_ERROR,
                told,
            )));
        };
        match unclaimed(&frame, &members) {
            Ok(None) => {}
            Ok(Some(unclaimed)) => return self.client_says(now, unclaimed, out),
            Err(Inseparable) => {
                let id = match &kind {
                    Kind::Request { id, .. } => Some(id),
                    _ => None,
                };
                let error = Frame::error(id, code::INVALID_PARAMS, Inseparable::WORDS);
                return out.push(Output::ToClient(error));
            }
        }
        match kind {
            Kind::Request { id, method } => {
                self.client_requests(now, &frame, id, &method, &members, out)
            }
            Kind::Batch => {
                for part in frame.parts() {
                    self.client_says(now, part, out);
                }
            }
            Kind::Wrong {
                id: Some(id),
                why,
                is_answer: true,
            } => {
                self.client_says(now, Frame::refused_answer(&id, why), out);
            }
            Kind::Wrong { id, why, .. } => {
                out.push(Output::ToClient(Frame::refused(id.as_ref(), why)))
            }
            _ if self.servers.first.holds() => self.hold(&frame, out),
            Kind::Notification { method } => self.client_tells(now, &frame, &method, &members, out),
            Kind::Response { id: Some(id) } => self.client_answers(now, &frame, &id, &members, out),
            Kind::Odd if self.setup.may_confirm() => {
                let told = "midcall: calls are confirmed here, and this one has no id to answer by";
                out.push(Output::ToClient(Frame::error(
                    None,
                    code::INVALID_REQUEST,
                    told,
                )));
            }
            Kind::Response { id: None } | Kind::Odd => self.pass_to_server(&frame, out),
        }
    }

    /// A modern server knows none of this.
    fn pass_to_server(&mut self, frame: &Frame, out: Out<'_>) {
        if !self.servers.first.facts.has_rounds() {
            out.push(Output::ToServer(ServerId::First, frame.clone()));
        }
    }

    fn client_tells(
        &mut self,
        now: Moment,
        frame: &Frame,
        method: &str,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let is_modern_server = self.servers.first.facts.has_rounds();
        match method {
            "notifications/cancelled" => self.client_cancels(now, frame, members, out),
            // A modern server needs no opening.
            "notifications/initialized" | "notifications/roots/list_changed"
                if is_modern_server => {}
            "notifications/initialized" if self.servers.first.is_told => {}
            "notifications/initialized" => {
                self.servers.first.is_told = true;
                out.push(Output::ToServer(ServerId::First, frame.clone()));
            }
            method if CallKind::of(method) == CallKind::Tool && self.setup.may_confirm() => {
                tracing::warn!("a tool call without an id was dropped: it can't be approved");
            }
            _ => out.push(Output::ToServer(ServerId::First, frame.clone())),
        }
    }

    /// The client answers a request.
    fn client_answers(
        &mut self,
        now: Moment,
        frame: &Frame,
        id: &Id,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        if let Some(question) = self.ledger.questions.asked_to(id) {
            return self.heard(now, question, frame, members, out);
        }
        match self.passed.remove(id) {
            Some((server, id)) => out.push(Output::ToServer(server, frame.with_id(&id))),
            // It came twice or too late, or nobody asked.
            None => tracing::debug!("an answer of the client was dropped: nobody waits for it"),
        }
    }

    /// The client is gone: nobody waits for anything any more, and the servers are told so.
    pub(super) fn client_gone(&mut self, now: Moment, out: Out<'_>) {
        self.client.has_left = true;
        self.client.is_gone = true;
        let why = midcall_desk::Withdrawn::ByClient;
        for (id, question) in self.ledger.questions.drain() {
            if question.is_at_desk() && !self.unasks(question.wanted_by.call(), id) {
                out.push(Output::Withdraw(id, why));
            }
            if question.wanted_by.request().is_some() {
                self.tell_ended(now, question, midcall_desk::Outcome::Withdrawn(why), out);
            }
        }
        let calls: Vec<_> = self.ledger.calls.iter().map(|(id, _)| id).collect();
        for id in calls {
            self.answers_end(id, midcall_desk::Lost::ByClient, out);
            self.ledger.calls.close(id);
        }
        self.client.keep_alive = None;
    }
}
