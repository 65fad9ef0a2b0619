//! What is sent, and how.

use std::time::Duration;

use midcall_core::wire::{Era, code};
use reqwest::header::HeaderMap;
use tokio_util::sync::CancellationToken;

use super::body::What;
use super::outgoing::Sent;
use super::session::State;
use super::stream::Tag;
use super::{Remote, mirror};
use crate::frame::{Frame, Id, Kind, Members};
use crate::transport::server::Received;

/// A request, as it is sent.
#[derive(Clone)]
pub struct Request {
    pub whose: Whose,
    pub frame: Frame,
    /// The id it bears.
    pub id: Id,
    pub method: Box<str>,
    pub era: Era,
    /// Which legacy session it was sent in.
    pub session: u32,
    /// How often it was sent before.
    pub tries: u32,
}

/// Who wants to hear the answer.
#[derive(Clone)]
pub enum Whose {
    /// The session; this is the id that it knows.
    Session(Id),
    /// Nobody else: the server is opened again.
    Reopening,
    /// Nobody else: it says how this call has to be made.
    Listing(Box<Request>),
}

/// Something that was sent and is not over.
pub enum Exchange {
    Request(Request, Sent),
    /// Several requests in one message; the ids of those that aren't answered yet.
    Batch(Vec<Id>),
    /// What wants no answer: in which legacy session it was sent, and its id if it is an answer.
    Told(u32, Option<Id>),
    /// A request that was taken back. A legacy server may not have heard that yet.
    TakenBack,
    /// The stream of what belongs to no request.
    Listening,
}

/// How long a legacy server may take to end the stream of a request that was cancelled.
const GRACE: Duration = Duration::from_secs(10);

/// How many requests may be open.
const MOST: usize = 1_000;

impl Exchange {
    /// The requests in it that aren't answered yet.
    pub fn open(&self) -> &[Id] {
        match self {
            Self::Request(request, ..) => std::slice::from_ref(&request.id),
            Self::Batch(ids) => ids,
            Self::Told(..) | Self::TakenBack | Self::Listening => &[],
        }
    }

    /// The request of the session that everything on its stream belongs to, by the id that the session knows. None if
    /// the stream belongs to no request, or to several that aren't answered.
    pub fn asks(&self) -> Option<&Id> {
        match self {
            Self::Request(
                Request {
                    whose: Whose::Session(id),
                    ..
                },
                ..,
            ) if !self.is_open_end() => Some(id),
            Self::Batch(ids) => match &ids[..] {
                [id] => Some(id),
                _ => None,
            },
            Self::Request(..) | Self::Told(..) | Self::TakenBack | Self::Listening => None,
        }
    }

    /// Whether it only ends when somebody ends it.
    pub fn is_open_end(&self) -> bool {
        match self {
            Self::Listening | Self::TakenBack => true,
            Self::Request(request, ..) => &*request.method == LISTEN,
            Self::Batch(_) | Self::Told(..) => false,
        }
    }
}

pub const LISTEN: &str = "subscriptions/listen";

impl Remote {
    /// Sends a message. It never waits.
    pub fn send(&mut self, frame: Frame) {
        let Some((kind, members)) = frame.peek() else {
            return tracing::warn!("what is no message was not sent on");
        };
        let is_modern = members.revision.is_some();
        match kind {
            Kind::Request { id, .. } if self.wanted.contains(&id) => {
                let words = "a request with this id is open already";
                let answer = Frame::error(Some(&id), code::INVALID_REQUEST, words);
                self.ready.push_back(Received::Frame(answer));
            }
            Kind::Request { id, .. } if self.wanted.len() >= MOST => {
                let words = "too many requests to this server are open";
                let answer = Frame::error(Some(&id), code::INTERNAL_ERROR, words);
                self.ready.push_back(Received::Frame(answer));
            }
            Kind::Request { id, method } if is_modern => {
                self.revision = members.revision.map(<[u8]>::to_vec);
                self.first(frame.clone(), id, method.into(), Era::Modern);
            }
            Kind::Notification { method } if method == "notifications/cancelled" => {
                let id = members.request_id.and_then(Id::read);
                self.cancel(frame.clone(), id);
            }
            Kind::Request { id, method } if method == "initialize" => {
                self.session.ask(frame.kept());
                self.first(frame.clone(), id, method.into(), Era::Legacy);
            }
            _ if self.session.holds() => {
                let load = self.outgoing.hold(frame.len());
                self.session.held.push_back((frame.clone(), load));
            }
            Kind::Request { id, method } => {
                self.first(frame.clone(), id, method.into(), Era::Legacy);
            }
            Kind::Batch => self.batch(frame.clone()),
            Kind::Notification { method } if method == "notifications/initialized" => {
                self.session.opening.initialized = Some(frame.kept());
                let tag = self.tell(frame.clone(), None);
                if self.session.state == State::Agreed {
                    self.session.state = State::Told(tag);
                }
            }
            Kind::Response { id } => {
                if let Some(id) = id {
                    self.asked.remove(&id);
                }
                self.tell(frame.clone(), None);
            }
            Kind::Notification { .. } | Kind::Odd | Kind::Wrong { .. } => {
                self.tell(frame.clone(), None);
            }
        }
    }

    /// Sends a request of the session for the first time.
    fn first(&mut self, frame: Frame, id: Id, method: Box<str>, era: Era) {
        let request = Request {
            whose: Whose::Session(id.clone()),
            frame,
            id,
            method,
            era,
            session: 0,
            tries: 0,
        };
        self.request(request, Duration::ZERO);
    }

    /// Sends a request, after a while.
    pub(super) fn request(&mut self, mut request: Request, delay: Duration) {
        request.session = self.session.number;
        if std::mem::take(&mut self.session.is_deaf) && request.era == Era::Legacy {
            self.listen(); // It may ask there.
        }
        let headers = self.headers(&request);
        let resumes = request.era == Era::Legacy;
        let mut stream = self
            .outgoing
            .stream(headers, vec![request.id.clone()], resumes);
        stream.delay = delay;
        let tag = stream.tag;
        let sent = self
            .outgoing
            .request(stream, request.frame.clone().into_bytes());
        self.wanted.insert(request.id.clone());
        self.exchanges.insert(tag, Exchange::Request(request, sent));
    }

    fn headers(&self, request: &Request) -> HeaderMap {
        match request.era {
            Era::Modern => {
                let members = request.frame.peek().map(|(_, members)| members);
                mirror::headers(&request.method, &members.unwrap_or_default(), &self.tools)
            }
            Era::Legacy if &*request.method == "initialize" => HeaderMap::new(),
            Era::Legacy => self.session.headers(),
        }
    }

    fn batch(&mut self, frame: Frame) {
        let id = |part: &Frame| match part.peek()?.0 {
            Kind::Request { id, .. } => Some(id),
            _ => None,
        };
        let ids: Vec<Id> = frame.parts().iter().filter_map(id).collect();
        let headers = self.session.headers();
        let stream = self.outgoing.stream(headers, ids.clone(), false);
        let tag = stream.tag;
        self.outgoing.request(stream, frame.into_bytes());
        self.wanted.extend(ids.iter().cloned());
        self.exchanges.insert(tag, Exchange::Batch(ids));
    }

    /// Sends what wants no answer, after what has to be gone before it.
    pub(super) fn tell(&mut self, frame: Frame, after: Option<CancellationToken>) -> Tag {
        let headers = match (&self.session.state, &self.revision) {
            (State::Closed, Some(revision)) => {
                let method = match frame.peek() {
                    Some((Kind::Notification { method }, _)) => method.into_owned(),
                    _ => String::new(),
                };
                let members = Members {
                    revision: Some(revision),
                    ..Members::default()
                };
                mirror::headers(&method, &members, &self.tools)
            }
            _ => self.session.headers(),
        };
        let (what, answers) = match frame.peek() {
            Some((Kind::Response { id }, _)) => (What::Answer, id),
            _ => (What::Said, None),
        };
        let stream = self.outgoing.stream(headers, Vec::new(), false);
        let tag = stream.tag;
        self.outgoing.queue(stream, frame, what, after);
        self.exchanges
            .insert(tag, Exchange::Told(self.session.number, answers));
        tag
    }

    /// Listens to what belongs to no request.
    pub(super) fn listen(&mut self) -> Tag {
        let headers = self.session.headers();
        let stream = self.outgoing.stream(headers, Vec::new(), true);
        let tag = stream.tag;
        self.session.listening = Some(self.outgoing.listen(stream));
        let is_other = |exchange: &Exchange| !matches!(exchange, Exchange::Listening);
        self.exchanges.retain(|_, exchange| is_other(exchange)); // That of a session before is over.
        self.exchanges.insert(tag, Exchange::Listening);
        tag
    }

    /// Nobody waits for an answer any more. A modern server is told so by closing its stream, a
    /// legacy one in words: there, a connection may break for any reason.
    fn cancel(&mut self, frame: Frame, id: Option<Id>) {
        let Some(id) = id else { return };
        if self.session.unhold(&id) {
            return;
        }
        let is = |exchange: &Exchange| match exchange {
            Exchange::Request(request, _) => match &request.whose {
                Whose::Session(it) => *it == id,
                Whose::Listing(call) => matches!(&call.whose, Whose::Session(it) if *it == id),
                Whose::Reopening => false,
            },
            _ => false,
        };
        let mut found = self.exchanges.iter();
        let tag = found.find_map(|(tag, exchange)| is(exchange).then_some(*tag));
        let Some(tag) = tag else {
            self.tell(frame, None); // It may be known to the server all the same.
            return;
        };
        let Some(Exchange::Request(request, sent)) = self.exchanges.remove(&tag) else {
            return;
        };
        self.wanted.remove(&request.id);
        self.not_opened(&request);
        match request.era {
            Era::Modern => sent.task.abort(),
            Era::Legacy => {
                self.tell(frame, Some(sent.left));
                self.exchanges.insert(tag, Exchange::TakenBack);
                self.outgoing.stop_after(GRACE, tag, sent.task);
            }
        }
    }
}
