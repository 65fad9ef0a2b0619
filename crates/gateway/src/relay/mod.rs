//! The loop around a session: it holds the client, the server and the page, and does what the session says.
//!
//! One task reads all of them, and writes at once what the other side takes. A side is read only while the other side's
//! outbox has room, so a slow reader slows the writer down, as it would without Midcall.
//!
//! In: [`Relay::run`]. Out: [`Ended`].
//! Not here: what becomes of a message (`session`), pipes, processes and HTTP (`transport`), exit codes (`cmd::wrap`).

mod client;
mod page;
mod room;
mod servers;
mod signals;

use std::future::pending;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::coop::consume_budget;
use tokio::time::{sleep, sleep_until, timeout};

use crate::frame::{Frame, Id};
use crate::moment::Moment;
use crate::printer::Printer;
use crate::session::{Input, Output, ServerId, Session};
use crate::times::{HANG_UP, LAST_WORDS};
use crate::transport::server::Received;
pub use client::{ClientEnd, FromClient};
pub use page::Page;
pub use room::Room;
pub use servers::Servers;
pub use signals::Signals;

/// A session with its ends.
pub struct Relay {
    pub session: Session,
    pub client: ClientEnd,
    pub servers: Servers,
    pub page: Page,
    /// Where lines of a server that aren't messages are printed.
    pub errors: Printer,
    /// The signals to pass on, if the session is all that this process does.
    pub signals: Option<Signals>,
    /// Gets every message between Midcall and the server.
    pub tap: Option<UnboundedSender<Passed>>,
}

/// A message between Midcall and a server.
pub enum Passed {
    ToServer(Frame),
    FromServer(Frame),
}

/// How a session ended.
#[derive(Debug)]
pub struct Ended {
    pub why: Why,
    /// The exit status of the server, if it is a process.
    pub exit: Option<ExitStatus>,
}

/// Why a session ended.
#[derive(Debug)]
pub enum Why {
    /// The client is gone, and nothing of the server is needed any more.
    Client,
    /// The server is gone.
    Server,
    /// Midcall got a signal.
    Signal(Signal),
    /// This side sent a message that may never end.
    Endless(&'static str),
}

/// How long the desk may take to end the last questions.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Where an event came from.
enum Source {
    Client,
    Server(ServerId),
    Midcall,
}

impl Source {
    /// True if what the client is told of it is Midcall's own word.
    fn is_midcall(&self) -> bool {
        !matches!(self, Self::Server(_))
    }
}

impl Relay {
    /// Relays until the client or the server is gone, and nobody may come back any more.
    pub async fn run(mut self) -> Ended {
        let mut out = Vec::new();
        let why = self.relay(&mut out).await;
        let how = match why {
            Why::Endless(who) => format!("was ended: {who} sent a message without end"),
            _ => self.servers.how(),
        };
        match why {
            Why::Endless(_) => tracing::error!("the server {how}"),
            _ => tracing::info!("the server {how}"),
        }
        self.tell(Input::ServerGone(ServerId::First, how), &mut out)
            .await;
        let _ = timeout(LAST_ANSWERS, self.hear_answers(&mut out)).await;
        if self.client.leave() {
            self.servers.remove_all();
            self.hand_out(&mut out).await;
        }
        let exit = self.close().await;
        Ended { why, exit }
    }

    /// Hands out the results that are kept, without a server, to those who come back for them.
    async fn hand_out(&mut self, out: &mut Vec<Output>) {
        while self.session.is_named() || self.client.is_heard() {
            let wakes_at = self.session.wakes_at();
            let event = tokio::select! {
                from_client = self.client.next(true) => match from_client {
                    FromClient::Input(input) => input,
                    FromClient::Nothing => continue,
                    FromClient::Endless | FromClient::Gone => return,
                },
                event = self.page.next() => event,
                () = until(wakes_at) => Input::Woke,
            };
            self.tell(event, out).await;
        }
    }

    /// Hears how the last questions ended. A person may have answered one of them as it was taken back.
    async fn hear_answers(&mut self, out: &mut Vec<Output>) {
        while self.page.has_tickets() {
            let event = self.page.next().await;
            self.tell(event, out).await;
        }
    }

    async fn relay(&mut self, out: &mut Vec<Output>) -> Why {
        let (mut hung_up, mut has_left) = (false, false);
        loop {
            consume_budget().await; // A flood on one side must not keep everything else waiting.
            if hung_up {
                self.servers.finish(!self.session.holds());
            }
            if has_left && !self.session.needs_server() {
                return Why::Client;
            }
            let hears_client = !hung_up && !self.servers.is_full() && !self.client.is_flooded();
            let hears_servers = !self.client.is_full();
            let wakes_at = self.session.wakes_at();
            let event = tokio::select! {
                from_client = self.client.next(hears_client) => match from_client {
                    FromClient::Input(input) => input,
                    FromClient::Endless => return self.endless("the client"),
                    FromClient::Nothing => continue,
                    FromClient::Gone if hung_up => return Why::Client,
                    FromClient::Gone => {
                        hung_up = true;
                        Input::ClientGone
                    }
                },
                (id, received) = self.servers.next(hears_servers) => match (id, received) {
                    (_, Received::Frame(frame)) => self.said(id, frame, None),
                    (_, Received::During(request, frame)) => self.said(id, frame, Some(request)),
                    (_, Received::Nothing) => continue,
                    (_, Received::Unreached(message)) => Input::Unreached(id, message),
                    (ServerId::Second, _) => {
                        self.servers.remove(id);
                        Input::ServerGone(id, "ended".to_owned())
                    }
                    (_, Received::Endless) => return self.endless("it"),
                    (_, Received::Gone) if self.restarts() => {
                        Input::Restarted
                    }
                    (_, Received::Gone) => return self.why_gone(hung_up),
                },
                event = self.page.next() => event,
                () = until(wakes_at) => Input::Woke,
                signal = next_signal(&mut self.signals) => {
                    self.servers.signal(signal);
                    continue;
                }
            };
            let leaves = matches!(event, Input::ClientLeft);
            self.tell(event, out).await;
            if leaves {
                has_left = true;
                self.stays();
            }
        }
    }

    /// The client has left. If somebody may come back, the session goes on without it.
    fn stays(&self) {
        if self.session.is_named() {
            self.client.stays();
        }
    }

    fn said(&self, from: ServerId, frame: Frame, during: Option<Id>) -> Input {
        self.tap(&frame, Passed::FromServer);
        Input::Server {
            from,
            frame,
            during,
        }
    }

    /// Starts a server again that ended when it was asked which era it speaks: it can only be a legacy one.
    fn restarts(&mut self) -> bool {
        self.session.is_probing() && self.told().is_none() && self.servers.start(ServerId::First)
    }

    fn endless(&mut self, who: &'static str) -> Why {
        self.servers.signal(Signal::KILL);
        Why::Endless(who)
    }

    fn why_gone(&self, hung_up: bool) -> Why {
        match self.told() {
            Some(signal) => Why::Signal(signal),
            None if hung_up => Why::Client,
            None => Why::Server,
        }
    }

    /// The signal that told us to end.
    fn told(&self) -> Option<Signal> {
        self.signals.as_ref().and_then(Signals::last)
    }

    /// Tells the session what happened, and does what it says.
    async fn tell(&mut self, input: Input, out: &mut Vec<Output>) {
        let source = match &input {
            Input::Client(_) => Source::Client,
            Input::Server { from, .. } => Source::Server(*from),
            _ => Source::Midcall,
        };
        self.session.on(Moment::now(), input, out);
        self.perform(out, source).await;
    }

    /// Does what the session says. What one side sent is passed on to the other; the rest is our own.
    async fn perform(&mut self, out: &mut Vec<Output>, source: Source) {
        for output in out.drain(..) {
            match output {
                Output::ToClient(frame) => self.client.send(frame, None, source.is_midcall()),
                Output::InCall(frame, request) => {
                    let is_own = source.is_midcall();
                    self.client.send(frame, Some(&request), is_own);
                }
                Output::ToServer(to, frame) => self.send(to, frame, &source),
                Output::StartSecond => drop(self.servers.start(ServerId::Second)),
                Output::Ask(question, ticket, elicitation) => {
                    self.page.ask(question, ticket, &elicitation).await;
                }
                Output::Detach(question) => self.page.detach(question),
                // Without a store, nothing is written down (`Setup::saves`).
                Output::Save(number, record) => {
                    tracing::error!(call = %record.key, number, "there is no store for a call");
                }
                Output::Forget(_) => {}
                Output::Withdraw(question, why) => self.page.withdraw(question, why).await,
                Output::Renew(question, link) => self.page.renew(question, &link).await,
                Output::Complete(question, by) => self.page.complete(question, by).await,
                Output::Named(given) => self.client.named(given),
                Output::Unnamed(name) => self.client.unnamed(name),
                Output::Learned(tools) => self.client.learns(*tools),
                Output::Sent(question) => self.page.sent(question).await,
                Output::Delivered(question) => self.page.delivered(question).await,
                Output::Undelivered(question, why) => self.page.undelivered(question, why).await,
                Output::Unknown(question) => self.page.forget(question),
                // People see it where they see the server's errors.
                Output::Noise(frame) => drop(self.errors.noise(&frame.into_bytes())),
            }
        }
        self.client.hurry();
        self.servers.hurry();
    }

    fn send(&mut self, id: ServerId, frame: Frame, source: &Source) {
        self.tap(&frame, Passed::ToServer);
        let is_own = match source {
            Source::Client => false,
            Source::Server(from) => *from == id,
            Source::Midcall => true,
        };
        self.servers.send(id, frame, is_own);
    }

    fn tap(&self, frame: &Frame, how: fn(Frame) -> Passed) {
        if let Some(tap) = &self.tap {
            let _ = tap.send(how(frame.clone())); // The reader may be gone.
        }
    }

    /// Lets the client take what it was told, and ends the servers. The next signal ends this at once.
    async fn close(mut self) -> Option<ExitStatus> {
        let patience = match (&self.signals, self.told()) {
            (None, _) => Some(HANG_UP.get()),
            (Some(_), Some(_)) => Some(LAST_WORDS.get()),
            // A pipe would keep it for as long as somebody may read it, and so do we.
            (Some(_), None) => None,
        };
        let client = async {
            tokio::select! {
                () = self.client.close() => {}
                () = lapse(patience) => {}
            }
        };
        tokio::select! {
            (exit, ()) = async { tokio::join!(self.servers.close(), client) } => return exit,
            _ = next_signal(&mut self.signals) => {}
        }
        self.servers.kill();
        self.servers.close().await
    }
}

async fn next_signal(signals: &mut Option<Signals>) -> Signal {
    match signals {
        Some(signals) => signals.next().await,
        None => pending().await,
    }
}

async fn until(at: Option<Moment>) {
    match at {
        Some(at) => sleep_until(at.instant()).await,
        None => pending().await,
    }
}

async fn lapse(patience: Option<Duration>) {
    match patience {
        Some(patience) => sleep(patience).await,
        None => pending().await,
    }
}
