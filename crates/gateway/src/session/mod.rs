//! One client's dealings with one server.
//!
//! The session is told what happened and says what to do; the relay does it. Messages pass as they came. All questions
//! come in by one door ([`ask`]), and all answers go out by one ([`settle`]): a question is put to the client if it can
//! show it, else to a person at the desk or to the model, and meanwhile the client's calls are kept alive or answered
//! with how to come back.
//!
//! In: [`Session::on`]. Out: [`Output`]s.
//! Elsewhere: the tables of calls and questions (`call`), the words of each era (`leg`), pipes and sockets (`relay`).

mod adopt;
mod answer;
mod ask;
mod call;
mod cancel;
mod client;
mod confirm;
mod delivery;
mod initialize;
mod leave;
mod level;
mod links;
mod listing;
mod made_task;
mod model;
mod nobody;
mod opening;
mod passed;
mod preview;
mod rate;
mod result;
mod retry;
mod sampling;
mod save;
mod servers;
mod settle;
#[cfg(test)]
mod stories;
mod task;
mod tools;
mod unclaimed;
mod unread;
mod verdict;
mod wait;
#[cfg(test)]
pub mod world;

use crate::moment::Moment;
use midcall_core::catalog::Locale;
use midcall_core::wire::Modes;
use midcall_core::{Elicitation, Link};
use midcall_desk::{By, Lost, Outcome, TicketId, Withdrawn};

use crate::call::{Call, CallId, CallKey, Declared, Ledger, NameChange, Record, Restored, TellBy};
pub use crate::call::{GivenName, Name, QuestionId, ServerId, Tools, Waiting};
use crate::frame::{Frame, Id, OwnIds};
use crate::leg::server::Offer;
use crate::route::{ServerEra, Setup};
use client::Client;
use passed::Passed;
use rate::RateLimit;
use save::Saves;
use servers::Servers;

/// What happened.
pub enum Input {
    /// The client sent a message.
    Client(Frame),
    /// Another session of the same person sent a request that brings something which was given out here.
    Guest(Frame),
    /// The client left. Guests may still come for what it was told to come back for.
    ClientLeft,
    /// Nobody can come any more.
    ClientGone,
    /// A server sent a message: while it answered this request, if the transport knows.
    Server {
        from: ServerId,
        frame: Frame,
        during: Option<Id>,
    },
    /// A server is gone, or couldn't be started, and this is how.
    ServerGone(ServerId, String),
    /// A request or an answer of this id may not have got through to the server.
    Unreached(ServerId, Id),
    /// The server ended while it was asked what it speaks, and was started again.
    Restarted,
    /// A question is on the desk: what those who wait for it are told.
    Asked(QuestionId, Waiting),
    /// The desk didn't take a question, and this is why.
    Refused(QuestionId, String),
    /// Somebody opened the link of a question at the desk.
    Opened(QuestionId, By),
    /// A question at the desk ended.
    Ended(QuestionId, Outcome),
    /// The save of this number is done.
    Saved(CallKey, u64),
    /// The save of this number failed, and this is why.
    NotSaved(CallKey, u64, String),
    /// Another process goes on with a call.
    Lost(CallKey),
    /// A call that another process had.
    Adopt(Box<Restored>),
    /// The time came that [`Session::wakes_at`] told.
    Woke,
}

/// What is to be done. No `Debug`: records hold what people typed.
pub enum Output {
    ToClient(Frame),
    /// Send the client a message that belongs to this request of its own.
    InCall(Frame, Id),
    ToServer(ServerId, Frame),
    /// Start the server a second time, to speak its other era with it.
    StartSecond,
    /// Put a question on the desk: as this ticket, if it may have to be asked again. Where that is open already, it is
    /// the same question.
    Ask(QuestionId, Option<TicketId>, Box<Elicitation>),
    /// Leave a question at the desk to another process.
    Detach(QuestionId),
    /// Take it back.
    Withdraw(QuestionId, Withdrawn),
    /// What the link was for is done, so the person who opened it need not say so.
    Complete(QuestionId, By),
    /// The link that somebody opened leads there by now.
    Renew(QuestionId, Box<Link>),
    /// The client was given something to come back by. This comes before the message that gives it.
    Named(GivenName),
    /// A name leads nowhere any more.
    Unnamed(Name),
    /// More is known of the server's tools. Other sessions of the same person start with that.
    Learned(Box<Tools>),
    /// The answer that a person gave at the desk went to the server.
    Sent(QuestionId),
    /// What waited for that answer went on.
    Delivered(QuestionId),
    /// The answer didn't arrive, or may not have, and this is why.
    Undelivered(QuestionId, Lost),
    /// Of an answer that was sent, nothing more will be known.
    Unknown(QuestionId),
    /// Write a call down, and say what became of the save of this number.
    Save(u64, Box<Record>),
    /// Nobody needs the record of a call any more.
    Forget(CallKey),
    /// A server wrote a line that isn't a message.
    Noise(Frame),
}

pub struct Session {
    setup: Setup,
    ledger: Ledger,
    client: Client,
    servers: Servers,
    tools: Tools,
    rate: RateLimit,
    passed: Passed,
    own_ids: OwnIds,
    saves: Saves,
    /// True if several clients share the session, and one must not see what another is asked.
    is_shared: bool,
}

/// Everything that a story of a call needs: when it happens, and where what is to be done goes.
type Out<'a> = &'a mut Vec<Output>;

impl Session {
    /// A session with a server that is said to speak an era.
    pub fn new(setup: Setup, era: ServerEra) -> Self {
        Self {
            servers: Servers::new(era, setup.asker.clone()),
            setup,
            ledger: Ledger::default(),
            client: Client::default(),
            tools: Tools::default(),
            rate: RateLimit::default(),
            passed: Passed::default(),
            own_ids: OwnIds::default(),
            saves: Saves::default(),
            is_shared: false,
        }
    }

    /// The same, for several clients that share the server.
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    /// The same, with what an earlier session learned of the server's tools.
    pub fn knowing(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// Hears what happened, and adds to `out` what is to be done.
    pub fn on(&mut self, now: Moment, input: Input, out: Out<'_>) {
        let before = out.len();
        match input {
            Input::Client(frame) => self.client_says(now, frame, out),
            Input::Guest(frame) => self.guest_says(now, &frame, out),
            Input::ClientLeft => self.client_leaves(now, out),
            Input::ClientGone => self.client_gone(now, out),
            Input::Server {
                from,
                frame,
                during,
            } => self.server_says(now, from, frame, during.as_ref(), out),
            Input::ServerGone(ServerId::First, how) => self.server_gone(now, &how, out),
            Input::ServerGone(ServerId::Second, _) => self.second_gone(now, out),
            Input::Unreached(server, id) => self.answers_unreached(server, &id, out),
            Input::Restarted => self.probed(now, None, out),
            Input::Asked(question, waiting) => self.asked(question, waiting),
            Input::Refused(question, why) => self.refused(now, question, why, out),
            Input::Opened(question, by) => self.opened(now, question, by, out),
            Input::Ended(question, outcome) => self.ended(now, question, outcome, out),
            Input::Saved(call, number) => self.saved(call, number),
            Input::NotSaved(call, number, why) => self.not_saved(now, call, number, &why, out),
            Input::Lost(call) => self.lost(now, call, out),
            Input::Adopt(restored) => self.adopts(now, *restored, out),
            Input::Woke => {}
        }
        self.tell_rounds(out);
        if self.is_busy() {
            self.sweep(now, out);
            self.tell_rounds(out);
        }
        self.goes_on_with_adopted(now, out);
        self.tunes_log(out);
        self.writes_down(now, out);
        if !self.ledger.untold.is_empty() {
            self.tell_rounds(out);
            self.writes_down(now, out);
        }
        self.tell_names(before, out);
        #[cfg(test)]
        self.ledger.check_sometimes();
    }

    /// Tells which names the client has now and what is known of the tools, before the messages that came about at the same
    /// time.
    fn tell_names(&mut self, before: usize, out: Out<'_>) {
        let changes = self.ledger.renamed().into_iter();
        let told = changes.map(|change| match change {
            NameChange::Given(given) => Output::Named(given),
            NameChange::Forgotten(name) => Output::Unnamed(name),
        });
        let learned = self.tools.learned();
        let learned = learned.map(|tools| Output::Learned(Box::new(tools)));
        out.splice(before..before, told.chain(learned));
    }

    /// True while somebody may come back for a call that the client was told to come back for.
    pub fn is_named(&self) -> bool {
        self.ledger.has_names()
    }

    /// True while a server may still do something for a call.
    pub fn needs_server(&self) -> bool {
        self.ledger.calls.open_count() > 0
    }

    /// True while a server is only being asked what it speaks. One that ends at that is a legacy one, and can be
    /// started again.
    pub fn is_probing(&self) -> bool {
        self.servers.first.is_probing()
    }

    /// True if what the client said waits for the server to be open.
    pub fn holds(&self) -> bool {
        self.servers.first.holds()
    }

    /// A sentence of the catalog.
    fn say(&self, key: &str) -> String {
        let server = self.servers.first.facts.asker.server.as_str();
        self.setup.locale.say(key, &[("server", server.into())])
    }

    fn locale(&self) -> Locale {
        self.setup.locale
    }

    /// A result or an error of our own, as the client's era has it.
    fn reply(&self, frame: Frame, out: Out<'_>) {
        out.push(Output::ToClient(self.replied(frame)));
    }

    fn replied(&self, frame: Frame) -> Frame {
        match self.client.told {
            TellBy::Requests => frame,
            TellBy::Results => crate::leg::client::modern::result(&frame, false),
        }
    }

    /// Tells the client a server's message that belongs to a call, if that is known.
    fn to_client(&self, call: Option<CallId>, frame: Frame) -> Output {
        let call = call.and_then(|call| self.ledger.calls.get(call));
        let waiter = call.and_then(|call| {
            let waiters = call.audience.waiters();
            call.audience.maker().or(waiters.last())
        });
        match waiter {
            Some(waiter) => Output::InCall(frame, waiter.id.clone()),
            None => Output::ToClient(frame),
        }
    }

    /// What the client of a call declared.
    fn declared<'a>(&'a self, call: &'a Call) -> &'a Declared {
        let of_request = call.audience.declared.as_deref();
        of_request.unwrap_or_else(|| self.client.declared())
    }

    /// What a server is told that the client of a call can do.
    fn offer<'a>(&'a self, call: &'a Call) -> Offer<'a> {
        Offer {
            declared: self.declared(call),
            added: self.setup.added(),
        }
    }

    /// True if a request of the client isn't answered yet.
    fn has_calls(&self) -> bool {
        let is_open = |call: &Call| {
            let is_away = call.request.told == TellBy::Results;
            call.is_open() && (is_away || call.audience.maker().is_some())
        };
        !self.servers.held.is_empty() || self.ledger.calls.iter().any(|(_, call)| is_open(call))
    }

    /// True if a client that can ask in these modes gets every question in them, so that it may make tasks of them.
    fn gets_all(&self, modes: Modes) -> bool {
        !self.leaves_some(modes) && !self.setup.restricts() && self.setup.profile.is_none()
    }

    /// True if some questions are left to others than a client that can ask in these modes.
    fn leaves_some(&self, modes: Modes) -> bool {
        use midcall_core::wire::Mode;
        self.setup.leaves_one(Mode::Form, modes) || self.setup.leaves_one(Mode::Url, modes)
    }
}
