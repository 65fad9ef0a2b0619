//! How it ends when HTTP did not carry a message through.

use std::time::Duration;

use midcall_core::wire::{Era, code};

use super::Remote;
use super::came::{Cause, NOT_KNOWN};
use super::outgoing::Sent;
use super::send::{Exchange, LISTEN, Request, Whose};
use super::session::State;
use super::stream::{Ending, Tag, pause};
use super::wire::Refusal;
use crate::frame::{Frame, Id, Kind};
use crate::transport::server::Received;

/// What may be asked twice: it changes nothing. A call of a tool is not among them, whatever the
/// tool says of itself.
const SAFE: &[&str] = &[
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "tasks/get",
    "tools/list",
];

/// How often a subscription is asked for again in vain.
const SUBSCRIPTIONS: u32 = 8;

/// After how long a subscription counts as one that worked.
const WORKED: Duration = Duration::from_secs(60);

impl Remote {
    pub(super) fn ended(&mut self, tag: Tag, ending: Ending) {
        match self.exchanges.remove(&tag) {
            Some(Exchange::Request(request, sent)) => {
                self.wanted.remove(&request.id);
                self.unanswered(tag, request, sent, ending);
            }
            Some(Exchange::Batch(ids)) => {
                let cause = self.cause(&ending);
                for id in ids {
                    self.wanted.remove(&id);
                    self.fail(&id, &cause);
                }
            }
            Some(Exchange::Told(session, answers)) => {
                if matches!(ending, Ending::Refused(_) | Ending::Broken { .. }) {
                    self.ready.extend(answers.map(Received::Unreached));
                }
                self.told(tag, session, ending);
            }
            Some(Exchange::Listening) => self.unheard(tag, &ending),
            Some(Exchange::TakenBack) | None => {}
        }
    }

    fn unanswered(&mut self, tag: Tag, request: Request, sent: Sent, ending: Ending) {
        let is_legacy = request.era == Era::Legacy && &*request.method != "initialize";
        match &ending {
            // It was not taken, so it may be sent again.
            Ending::Refused(refusal)
                if is_legacy
                    && request.tries == 0
                    && refusal.forgot_session(Some(&request.id))
                    && self.reopen(request.session) =>
            {
                return self.resend(request);
            }
            Ending::Refused(refusal)
                if refusal.code() == Some(code::HEADER_MISMATCH) && self.list(&request) =>
            {
                return;
            }
            Ending::Broken { .. } | Ending::Refused(Refusal::HungUp(_) | Refusal::Unreached(_))
                if request.era == Era::Modern && self.repeat(&request, &sent) =>
            {
                return;
            }
            Ending::Forgotten => drop(self.reopen(request.session)),
            _ => {}
        }
        self.not_opened(&request);
        self.take_back(tag);
        match &request.whose {
            Whose::Session(id) => match &ending {
                // What the server says in its own words, the client shows.
                Ending::Refused(refusal) if let Some(answer) = refusal.answer(id) => {
                    self.ready.push_back(Received::Frame(answer));
                }
                ending => {
                    let cause = self.cause(ending);
                    self.fail(id, &cause);
                }
            },
            // The call is made once more all the same: its error says more than ours.
            Whose::Listing(call) => self.again((**call).clone()),
            Whose::Reopening => {
                let cause = self.cause(&ending);
                self.not_reopened(cause);
            }
        }
    }

    /// Nobody waits any more for what was asked on this stream.
    fn take_back(&mut self, tag: Tag) {
        let gone = self.asked.extract_if(|_, on| *on == tag);
        let gone: Vec<Id> = gone.map(|(id, _)| id).collect();
        self.ready
            .extend(gone.iter().map(Frame::cancelled).map(Received::Frame));
    }

    /// What the server says outside of calls is not heard any more.
    fn unheard(&mut self, tag: Tag, ending: &Ending) {
        let is_lost = match ending {
            Ending::Refused(refusal) => refusal.may_pass(),
            Ending::Broken { .. } => true,
            Ending::Well | Ending::Other(_) => false,
            // It is opened again when somebody needs it.
            Ending::Forgotten => {
                self.take_back(tag);
                false
            }
        };
        if is_lost {
            let words = self.cause(ending).for_log();
            tracing::warn!("the server is heard in calls only, until the next one: {words}");
            self.session.is_deaf = true;
        }
    }

    /// Asks again, under another id, what may be asked twice.
    fn repeat(&mut self, request: &Request, sent: &Sent) -> bool {
        let is_subscription = &*request.method == LISTEN;
        let tries = match is_subscription && sent.at.elapsed() >= WORKED {
            true => 0,
            false => request.tries,
        };
        let may = match is_subscription {
            true => tries < SUBSCRIPTIONS,
            false => tries == 0 && SAFE.contains(&&*request.method),
        };
        let id = self.own_ids.fresh();
        let frame = request.frame.with(&["id"], id.as_json()).filter(|_| may);
        let Some(frame) = frame else { return false };
        let delay = if is_subscription {
            pause(None, tries)
        } else {
            Duration::ZERO
        };
        let again = Request {
            frame,
            id,
            tries: tries + 1,
            ..request.clone()
        };
        self.request(again, delay);
        true
    }

    /// Opens a session again that the server has forgotten; `false` if nobody knows how.
    fn reopen(&mut self, session: u32) -> bool {
        if session != self.session.number {
            return true; // It was, or is being opened.
        }
        let Some(initialize) = self.session.opens_again_by() else {
            return false;
        };
        tracing::warn!("the server has forgotten the session, which is opened again");
        // Nobody waits any more for what it asked in that one.
        let gone: Vec<Id> = self.asked.drain().map(|(id, _)| id).collect();
        self.ready
            .extend(gone.iter().map(Frame::cancelled).map(Received::Frame));
        self.session.ask(initialize.clone());
        let id = self.own_ids.fresh();
        let Some(frame) = initialize.with(&["id"], id.as_json()) else {
            return false;
        };
        let request = Request {
            whose: Whose::Reopening,
            frame,
            id,
            method: "initialize".into(),
            era: Era::Legacy,
            session: 0,
            tries: 1,
        };
        self.request(request, Duration::ZERO);
        true
    }

    /// Where a session was not opened, nothing waits for it.
    pub(super) fn not_opened(&mut self, request: &Request) {
        let is_own = matches!(request.whose, Whose::Session(_));
        if is_own && &*request.method == "initialize" && request.session == self.session.number {
            self.session.state = State::Closed;
            self.release();
        }
    }

    /// Sends a request again that was refused with a session that is gone.
    fn resend(&mut self, request: Request) {
        match self.session.holds() {
            true => self.session.refused.push(request),
            false => self.again(request),
        }
    }

    /// The server has forgotten the session and does not open another one.
    pub(super) fn not_reopened(&mut self, why: Cause) {
        self.session.state = State::Closed;
        let what = "the server has forgotten the session, and opens no other";
        let cause = Cause {
            what: format!("{what}: {}", why.what),
            ..why
        };
        tracing::error!("{}", cause.for_log());
        for request in std::mem::take(&mut self.session.refused) {
            self.fail(&request.id, &cause);
        }
        for (frame, _) in std::mem::take(&mut self.session.held) {
            if let Some((Kind::Request { id, .. }, _)) = frame.peek() {
                self.fail(&id, &cause);
            }
        }
    }

    fn told(&mut self, tag: Tag, session: u32, ending: Ending) {
        let is_opening = self.session.state == State::Told(tag);
        match ending {
            Ending::Refused(refusal) if !is_opening && refusal.forgot_session(None) => {
                self.reopen(session);
            }
            Ending::Refused(refusal) => {
                let words = refusal.cause(&self.outgoing.target).for_log();
                tracing::warn!("a message was not taken: {words}");
            }
            Ending::Broken { why, .. } => tracing::warn!("a message was not taken: {why}"),
            Ending::Well | Ending::Other(_) | Ending::Forgotten => {}
        }
        if is_opening {
            self.session.state = State::Listens(self.listen());
        }
    }

    fn cause(&self, ending: &Ending) -> Cause {
        match ending {
            Ending::Refused(refusal) => refusal.cause(&self.outgoing.target),
            Ending::Other(came) => Cause {
                what: format!(
                    "the server answered {}, not with a JSON-RPC answer to this request",
                    came.head()
                ),
                quote: came.quote(),
                hint: came.hint(),
            },
            Ending::Well => Cause::new("the server did not answer this request", NOT_KNOWN),
            Ending::Broken { why, came: None } => {
                Cause::new(format!("the server did not answer: {why}"), NOT_KNOWN)
            }
            Ending::Broken {
                why,
                came: Some(came),
            } => Cause {
                what: format!(
                    "the server answered {} and did not finish its answer: {why}",
                    came.head()
                ),
                quote: match came.body.is_empty() {
                    true => String::new(),
                    false => format!("; it sent{}", came.quote()),
                },
                hint: NOT_KNOWN,
            },
            Ending::Forgotten => Cause::new(
                "the server does not know this call any more: it may have been started again",
                "",
            ),
        }
    }

    fn fail(&mut self, id: &Id, cause: &Cause) {
        tracing::warn!("a request failed: {}", cause.for_log());
        let answer = Frame::error(Some(id), code::INTERNAL_ERROR, &cause.for_client());
        self.ready.push_back(Received::Unreached(id.clone()));
        self.ready.push_back(Received::Frame(answer));
    }
}
