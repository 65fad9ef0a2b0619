//! A legacy client opens its session.
//!
//! A server hears `initialize` once, however often and by whomever its session is opened. Who comes later gets the answer
//! that is known.

use crate::moment::Moment;
use midcall_desk::Lost;

use super::{Out, Output, Session};
use crate::call::ServerId;
use crate::frame::{Frame, Id, Members};
use crate::leg::client::legacy::{self, Opened};
use crate::leg::server;
use crate::leg::server::opening::{Asked, Offered, Opening};

impl Session {
    /// The client opens the session. A server that is open, or being opened, hears nothing of that.
    pub(super) fn initializes(
        &mut self,
        now: Moment,
        frame: &Frame,
        id: &Id,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let mut opened = legacy::opened(members);
        if let Some(Opened { declared, .. }) = &mut opened {
            declared.makes_tasks &= self.gets_all(declared.modes);
        }
        match &self.servers.first.opening {
            Opening::Open => {
                let told = self.opened_again(id, opened);
                return out.push(Output::ToClient(told));
            }
            Opening::Asked(_) | Opening::Probing(_) => return self.hold(frame, out),
            Opening::NotYet | Opening::Failed => {}
        }
        let added = self.setup.added();
        let told = opened.as_ref().map(|opened| {
            server::legacy::offer(frame, opened.revision, &opened.declared, added).into_owned()
        });
        let first = &mut self.servers.first;
        first.offered = (opened.as_ref()).map(|opened| Offered::new(&opened.declared, added));
        first.is_told = false;
        first.opening = Opening::Asked(Asked {
            id: id.clone(),
            is_clients: true,
            until: None,
        });
        self.client.opened = opened.or(self.client.opened.take());
        let request = self.request(now, frame, id.clone(), "initialize", members);
        self.open(request, ServerId::First, None);
        let told = told.unwrap_or_else(|| frame.clone());
        out.push(Output::ToServer(ServerId::First, told));
    }

    /// The answer to a client that opens a session which is open. A legacy server can be told only once what its client
    /// can do; Midcall asks people itself, so that may change.
    fn opened_again(&mut self, id: &Id, opened: Option<Opened>) -> Frame {
        let first = &self.servers.first;
        let is_known = |opened: &Opened| {
            let offered = first.offered.as_ref();
            offered.is_some_and(|offered| offered.is_of(&opened.declared))
        };
        if !first.facts.has_rounds() && !opened.as_ref().is_some_and(is_known) {
            return legacy::opened_already(id);
        }
        self.client.opened = opened.or(self.client.opened.take());
        self.initialized(id)
    }

    /// Goes on with what waited for the client's own opening of the server.
    pub(super) fn hears_held(&mut self, now: Moment, out: Out<'_>) {
        if !self.servers.first.holds() {
            self.release(now, out);
        }
    }

    /// Answers the client's own `initialize` for a modern server.
    pub(super) fn answer_initialize(&mut self, id: Option<Id>, out: Out<'_>) {
        let Some(id) = id else { return };
        if let Some(call) = self.ledger.calls.by_id(&id) {
            self.answers_end(call, Lost::CallEnded, out);
            self.ledger.calls.close(call);
        }
        out.push(Output::ToClient(self.initialized(&id)));
    }

    /// What the server says of itself, as the answer to `initialize`.
    fn initialized(&self, id: &Id) -> Frame {
        let opened = self.client.opened.as_ref();
        let asked = opened.map_or(crate::leg::NEWEST_LEGACY, |opened| opened.revision);
        let facts = &self.servers.first.facts;
        match facts.has_rounds() {
            true => legacy::initialized(id, asked, facts),
            false => {
                server::legacy::agreed(&Frame::result(id, &facts.said), facts, asked).into_owned()
            }
        }
    }
}
