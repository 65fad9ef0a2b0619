//! What a server's tools say of themselves is fetched before it matters, if no list has passed by.
//!
//! A model isn't asked in the call of a tool that may destroy something, and a person approves such calls. A client may
//! never list the tools, or may have listed them in an earlier session. What depends on it waits until the server has told
//! all pages. Of a tool of a server that doesn't tell them, nothing is known.

use midcall_core::model::ToolList;

use super::{Out, Output, Session};
use crate::call::{CallId, Happened, Place, Question, QuestionId, ServerId, Stage};
use crate::frame::{Frame, Id, Members};
use crate::leg::server;
use crate::moment::Moment;
use crate::times::LISTING;

/// What is known of the tools of a process of the server.
#[derive(Default)]
pub enum Listing {
    /// No list has passed by, or it has changed since.
    #[default]
    NotYet,
    /// The server was asked for a page.
    Asked(Asked),
    /// As much as the server tells.
    Known,
}

/// A list that is being fetched.
pub struct Asked {
    /// The id of the request for a page.
    id: Id,
    /// How many pages were asked for.
    pages: usize,
    /// When the server has had long enough.
    until: Moment,
    waiting: Vec<Undecided>,
}

/// What waits for a list.
pub enum Undecided {
    /// A question that may be for the model, and the question as the client would get it.
    Question(QuestionId, Option<(Frame, Id)>),
    /// A call that may need approval.
    Call(CallId),
}

/// How many pages are looked at, and how long the name of a page may be.
const MOST_PAGES: usize = 100;
const MOST_CURSOR: usize = 16 * 1024;

impl Listing {
    pub fn is_known(&self) -> bool {
        matches!(self, Self::Known)
    }

    /// When the server has had long enough.
    pub fn until(&self) -> Option<Moment> {
        match self {
            Self::Asked(asked) => Some(asked.until),
            Self::NotYet | Self::Known => None,
        }
    }

    /// The whole list has passed by.
    pub fn has_passed(&mut self) {
        if matches!(self, Self::NotYet) {
            *self = Self::Known;
        }
    }

    /// The server says that its tools are others now.
    pub fn has_changed(&mut self) {
        if self.is_known() {
            *self = Self::NotYet;
        }
    }
}

impl Session {
    /// Puts a question off until it is known what the tools of its server say.
    pub(super) fn waits_for_list(
        &mut self,
        now: Moment,
        mut question: Question,
        request: Option<(Frame, Id)>,
        out: Out<'_>,
    ) -> QuestionId {
        let server = self.server_of(&question);
        question.place = Place::Undecided;
        let id = self.ledger.questions.add(question);
        self.needs_list(now, server, Undecided::Question(id, request), out);
        id
    }

    /// The process of the server whose tools decide about a question.
    pub(super) fn server_of(&self, question: &Question) -> ServerId {
        self.ledger.calls.server_of(question.origin)
    }

    /// Fetches the list that something waits for, unless that is under way.
    pub(super) fn needs_list(
        &mut self,
        now: Moment,
        server: ServerId,
        undecided: Undecided,
        out: Out<'_>,
    ) {
        if let Listing::Asked(asked) = &mut self.servers.get_mut(server).listing {
            return asked.waiting.push(undecided);
        }
        let id = self.own_ids.fresh();
        out.push(self.list_request(server, &id, None));
        self.servers.get_mut(server).listing = Listing::Asked(Asked {
            id,
            pages: 1,
            until: now + LISTING.get(),
            waiting: vec![undecided],
        });
    }

    fn list_request(&self, server: ServerId, id: &Id, cursor: Option<&str>) -> Output {
        let is_modern = self.servers.get(server).facts.has_rounds();
        let meta = is_modern.then(|| self.meta(server));
        Output::ToServer(server, server::list_tools(id, cursor, meta))
    }

    /// A server answers a request for its tools; false if it answers another.
    pub(super) fn told_tools(
        &mut self,
        now: Moment,
        from: ServerId,
        id: &Id,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        match &self.servers.get(from).listing {
            Listing::Asked(asked) if asked.id == *id => {}
            _ => return false,
        }
        let list = members.result.and_then(ToolList::read);
        if let Some(list) = &list {
            self.tools.learn(list);
        }
        let next = list.as_ref().and_then(ToolList::next);
        let next = next.filter(|next| next.len() <= MOST_CURSOR);
        let own = self.own_ids.fresh();
        let request = next.map(|next| self.list_request(from, &own, Some(next)));
        match (&mut self.servers.get_mut(from).listing, request) {
            (Listing::Asked(asked), Some(request)) if asked.pages < MOST_PAGES => {
                asked.id = own;
                asked.pages += 1;
                out.push(request);
            }
            _ => self.list_ends(now, from, out),
        }
        true
    }

    /// Servers that take too long to tell their tools are waited for no longer.
    pub(super) fn lists_lapse(&mut self, now: Moment, out: Out<'_>) {
        for server in [ServerId::First, ServerId::Second] {
            let until = self.servers.listing_until(server);
            if until.is_some_and(|until| until <= now) {
                tracing::warn!("the server doesn't list its tools");
                self.list_ends(now, server, out);
            }
        }
    }

    /// It is known what there is to know: what waited for it goes on.
    fn list_ends(&mut self, now: Moment, server: ServerId, out: Out<'_>) {
        let listing = &mut self.servers.get_mut(server).listing;
        let Listing::Asked(asked) = std::mem::replace(listing, Listing::Known) else {
            return;
        };
        for undecided in asked.waiting {
            match undecided {
                Undecided::Question(id, request) => self.decides(now, id, request, out),
                Undecided::Call(call) => self.may_go(now, call, out),
            }
        }
    }

    /// Puts a question to somebody that waited for a list.
    pub(super) fn decides(
        &mut self,
        now: Moment,
        id: QuestionId,
        request: Option<(Frame, Id)>,
        out: Out<'_>,
    ) {
        let Some(question) = self.ledger.questions.remove(id) else {
            return;
        };
        let elicitation = question.elicitation();
        let Some(plan) = elicitation.map(|it| self.plan(it, question.origin)) else {
            return;
        };
        if let Err(question) = self.place(now, question, &plan, request, out) {
            self.asks_nobody(now, *question, out);
        }
    }

    /// A call that waited for a list goes to its server, or to a person first.
    pub(super) fn may_go(&mut self, now: Moment, id: CallId, out: Out<'_>) {
        let call = self.ledger.calls.get(id);
        let waits = call.filter(|call| matches!(call.stage(), Stage::Confirming));
        let Some(frame) = waits.and_then(|call| call.request.bytes.clone()) else {
            return;
        };
        let Some((_, members)) = frame.peek() else {
            return;
        };
        if self.must_confirm(&members) {
            return self.asks_approval(now, id, &members, out);
        }
        let todo = self
            .ledger
            .calls
            .change(id, |call| call.on(now, Happened::Ready));
        self.does(now, id, todo, out);
    }
}
