//! What comes back, and whom it is for.

use midcall_core::wire::{Era, code};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

use super::Remote;
use super::answer::{Match, match_of};
use super::came::Cause;
use super::send::{Exchange, LISTEN, Request, Whose};
use super::session::State;
use super::stream::{News, Report, Tag};
use crate::frame::{Frame, Id, Kind, Members};
use crate::transport::server::Received;

/// How many pages of tools are read for one call.
const PAGES: u32 = 100;

/// How many of the server's own requests are known. It may never be told the end of one.
const MOST_ASKED: usize = 4_096;

impl Remote {
    pub(super) fn hear(&mut self, report: Report) {
        match report.news {
            News::Taken(id) => match self.exchanges.get(&report.tag) {
                Some(Exchange::Request(request, _))
                    if &*request.method == "initialize"
                        && request.session == self.session.number =>
                {
                    self.session.name(id);
                }
                Some(Exchange::Listening) if self.session.state == State::Listens(report.tag) => {
                    self.session.state = State::Open;
                    self.release();
                }
                _ => {}
            },
            News::Said(frame, _place) => self.said(report.tag, frame),
            News::Ended(ending) => self.ended(report.tag, ending),
        }
    }

    fn said(&mut self, tag: Tag, frame: Frame) {
        let Some((kind, members)) = frame.peek() else {
            return tracing::debug!(
                "what the server sent is not a JSON-RPC message: it was dropped"
            );
        };
        let open = self.exchanges.get(&tag).map_or(&[][..], Exchange::open);
        match match_of(&kind, &members, open) {
            Some(Match::Answers(id)) => {
                self.wanted.remove(&id);
                return self.answered(tag, &id, frame.clone(), &members);
            }
            Some(Match::Unreadable(_)) => return, // Its request fails when the stream ends.
            None => {}
        }
        match kind {
            Kind::Response { .. } => {
                tracing::debug!("an answer that nobody waits for on its stream was dropped");
            }
            Kind::Request { id, method } if self.is_too_late(tag, &method) => {
                let words = "midcall: the request that this came up in was taken back";
                let error = Frame::error(Some(&id), code::INVALID_REQUEST, words);
                self.tell(error, None);
            }
            Kind::Request { id, .. } => {
                if self.asked.len() < MOST_ASKED {
                    self.asked.insert(id, tag);
                }
                self.hand_out(tag, frame);
            }
            Kind::Notification { method } => {
                if method == "notifications/cancelled"
                    && let Some(id) = members.request_id.and_then(Id::read)
                {
                    self.asked.remove(&id);
                }
                if let Some(frame) = self.translated(tag, &method, &frame) {
                    self.hand_out(tag, frame);
                }
            }
            Kind::Batch => {
                for part in frame.parts() {
                    self.said(tag, part);
                }
            }
            // The session answers for what is wrong.
            Kind::Odd | Kind::Wrong { .. } => self.ready.push_back(Received::Frame(frame)),
        }
    }

    /// True if a server asks in a request that was taken back: in no other can that have come up.
    fn is_too_late(&self, tag: Tag, method: &str) -> bool {
        matches!(self.exchanges.get(&tag), Some(Exchange::TakenBack)) && method != "ping"
    }

    /// Hands out what a server says of itself, with the request that it belongs to.
    fn hand_out(&mut self, tag: Tag, frame: Frame) {
        let exchange = self.exchanges.get(&tag);
        self.ready
            .push_back(match exchange.and_then(Exchange::asks) {
                Some(request) => Received::During(request.clone(), frame),
                None => Received::Frame(frame),
            });
    }

    /// What a subscription that was asked for again tells, as if it were still the first.
    fn translated(&self, tag: Tag, method: &str, frame: &Frame) -> Option<Frame> {
        let request = match self.exchanges.get(&tag) {
            Some(Exchange::Request(request, _)) if &*request.method == LISTEN => request,
            _ => return Some(frame.clone()),
        };
        match &request.whose {
            Whose::Session(id) if *id != request.id => {
                if method == "notifications/subscriptions/acknowledged" {
                    return None;
                }
                let path = ["params", "_meta", "io.modelcontextprotocol/subscriptionId"];
                Some(frame.with(&path, id.as_json()).unwrap_or(frame.clone()))
            }
            _ => Some(frame.clone()),
        }
    }

    fn answered(&mut self, tag: Tag, id: &Id, frame: Frame, members: &Members<'_>) {
        let request = match self.exchanges.remove(&tag) {
            Some(Exchange::Request(request, _)) => request,
            Some(Exchange::Batch(mut ids)) => {
                ids.retain(|it| it != id);
                self.exchanges.insert(tag, Exchange::Batch(ids));
                return self.ready.push_back(Received::Frame(frame));
            }
            other => {
                self.exchanges.extend(other.map(|other| (tag, other)));
                return;
            }
        };
        if members.error_code() == Some(code::HEADER_MISMATCH) && self.list(&request) {
            return;
        }
        if &*request.method == "initialize" && request.session == self.session.number {
            let is_open = self.session.agree(members);
            if matches!(request.whose, Whose::Reopening) {
                return match is_open {
                    true => self.reopened(),
                    false => self.not_reopened(Cause::new("it does not want to", "")),
                };
            }
            self.release(); // What says that it is open goes out, and the rest waits for that.
        }
        match request.whose.clone() {
            Whose::Session(known) => {
                let frame = self.list_answer(&request, &frame, members).unwrap_or(frame);
                let is_same = known == request.id && members_id_is(&frame, &known);
                let frame = match is_same {
                    true => frame,
                    false => frame.with(&["id"], known.as_json()).unwrap_or(frame),
                };
                self.ready.push_back(Received::Frame(frame));
            }
            Whose::Listing(call) => self.listed(&request, *call, &frame, members),
            Whose::Reopening => {}
        }
    }

    /// Learns from a list of tools, which may have to be changed.
    fn list_answer(
        &mut self,
        request: &Request,
        frame: &Frame,
        members: &Members<'_>,
    ) -> Option<Frame> {
        if request.era != Era::Modern || &*request.method != "tools/list" {
            return None;
        }
        self.tools.learn(frame, members)
    }

    /// Asks which headers a call needs, if the server missed some; `false` if it was told so
    /// before.
    pub(super) fn list(&mut self, request: &Request) -> bool {
        let is_call = &*request.method == "tools/call" && request.era == Era::Modern;
        if !is_call || request.tries > 0 {
            return false;
        }
        tracing::info!("the server misses headers of a call: its tools are listed again");
        self.tools.forget();
        self.list_page(request.clone(), None, 0);
        true
    }

    fn list_page(&mut self, call: Request, cursor: Option<Value>, tries: u32) {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: serde_json::Map<String, Value>,
        }
        let params = call.frame.peek().and_then(|(_, members)| members.params);
        let params = params.and_then(|params| serde_json::from_slice::<Params>(params).ok());
        let mut meta = params.map(|params| params.meta).unwrap_or_default();
        meta.remove("progressToken"); // What goes on here is not the call.
        let mut params = json!({"_meta": meta});
        if let Some(cursor) = cursor {
            params["cursor"] = cursor;
        }
        let id = self.own_ids.fresh();
        let request = Request {
            whose: Whose::Listing(Box::new(call)),
            frame: Frame::request(&id, "tools/list", &params),
            id,
            method: "tools/list".into(),
            era: Era::Modern,
            session: 0,
            tries,
        };
        self.request(request, Duration::ZERO);
    }

    fn listed(&mut self, request: &Request, call: Request, frame: &Frame, members: &Members<'_>) {
        #[derive(Deserialize)]
        struct Page {
            #[serde(rename = "nextCursor")]
            next: Option<Value>,
        }
        self.tools.learn(frame, members);
        let page = members.result.map(serde_json::from_slice::<Page>);
        let next = page.and_then(Result::ok).and_then(|page| page.next);
        if let Some(next) = next.filter(|next| !next.is_null() && request.tries < PAGES) {
            return self.list_page(call, Some(next), request.tries + 1);
        }
        self.again(call);
    }

    /// Sends a request once more, as it was.
    pub(super) fn again(&mut self, mut request: Request) {
        request.tries += 1;
        self.request(request, Duration::ZERO);
    }

    /// The session is open, or will not be: what waited for it goes out.
    pub(super) fn release(&mut self) {
        for request in std::mem::take(&mut self.session.refused) {
            self.again(request);
        }
        for (frame, load) in std::mem::take(&mut self.session.held) {
            drop(load);
            self.send(frame);
        }
    }

    /// The server knows us again.
    fn reopened(&mut self) {
        match self.session.opening.initialized.clone() {
            Some(frame) => {
                let tag = self.tell(frame, None);
                self.session.state = State::Told(tag);
            }
            None => self.release(),
        }
    }
}

fn members_id_is(frame: &Frame, known: &Id) -> bool {
    matches!(frame.peek(), Some((Kind::Response { id: Some(id) }, _)) if id == *known)
}
