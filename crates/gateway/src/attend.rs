//! Attending to one session: the loop that holds its two ends, whatever carries them, and does
//! what the session says.
//!
//! `cmd/wrap/relay.rs` is the same for a server on the pipes of this process, where the exit
//! status and the signals are the server's own.

use std::future::pending;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::era::bridge::Bridge;
use crate::frame::Frame;
use crate::printer::Printer;
use crate::route::Page;
use crate::session::{Act, Event};
use crate::times::HANG_UP;
use crate::transport::front::Seat;
use crate::transport::upstream::{Place, Said, Upstream};
use crate::transport::{Instead, Line, Lines, Outbox};

/// A session with its two ends.
pub struct Attendant {
    pub bridge: Bridge,
    pub client: ClientEnd,
    pub server: Upstream,
    /// Where the server is, should it be needed again.
    pub place: Place,
    /// The longest message that is taken, in bytes.
    pub most: usize,
    pub page: Page,
    pub news: UnboundedReceiver<Event>,
    pub events: UnboundedSender<Event>,
    /// Where people see what is no message.
    pub errors: Printer,
    /// Cancelled when the session has to end.
    pub closing: CancellationToken,
    /// Who is told every message that passes between us and the server.
    pub tap: Option<UnboundedSender<Passed>>,
}

/// A message between us and the server.
pub enum Passed {
    ToServer(Frame),
    FromServer(Frame),
}

/// A client, whatever carries what it says.
#[expect(clippy::large_enum_variant, reason = "there is one per session")]
pub enum ClientEnd {
    Pipes(Lines, Outbox),
    Seat(Seat),
}

/// What a client says.
pub enum Heard {
    Frame(Frame),
    /// A message that may never end.
    Endless,
    /// Nothing, but it took what it was slow to take.
    Taken,
    /// Nothing any more.
    Gone,
}

/// How a session ended.
#[derive(Debug, PartialEq)]
pub enum Ended {
    /// The client went.
    ByClient,
    /// The server went, and this is how.
    ByServer(String),
    /// It was told to.
    Told,
}

impl Attendant {
    /// Goes on until one of the two is gone, or the session has to end.
    pub async fn run(mut self) -> Ended {
        let mut beside = None;
        let ended = self.attend(&mut beside).await;
        let how = match &ended {
            Ended::ByServer(how) => how.clone(),
            Ended::ByClient | Ended::Told => "was let go".to_owned(),
        };
        self.tell(Event::ServerGone(how), &mut beside).await;
        let _ = timeout(HANG_UP.get(), self.client.flush()).await;
        drop(self.client); // It is not heard any more.
        for server in beside.into_iter().chain([self.server]) {
            server.close().await;
        }
        ended
    }

    async fn attend(&mut self, beside: &mut Option<Upstream>) -> Ended {
        let mut hung_up: Option<Instant> = None;
        loop {
            consume_budget().await; // A flood on one side must not keep everything else waiting.
            if hung_up.is_some() && !self.bridge.holds() {
                self.server.finish().await;
            }
            let is_full = beside.as_ref().is_some_and(Upstream::is_full);
            let hears_client = hung_up.is_none()
                && !self.server.is_full()
                && !is_full
                && !self.client.is_flooded();
            let hears_server = !self.client.is_full() && !self.server.is_flooded();
            let wakes_at = self.bridge.wakes_at();
            let late = hung_up.map(|at| at + HANG_UP.get());
            let event = tokio::select! {
                heard = self.client.next(hears_client) => match heard {
                    Heard::Frame(frame) => Event::Client(frame),
                    Heard::Endless => {
                        let how = "was ended: the client sent a message longer than is taken";
                        return Ended::ByServer(how.to_owned());
                    }
                    Heard::Taken => continue,
                    // It does not even read any more.
                    Heard::Gone if hung_up.is_some() => return Ended::ByClient,
                    Heard::Gone => {
                        hung_up = Some(Instant::now());
                        Event::ClientGone
                    }
                },
                said = self.server.next(hears_server) => match said {
                    Said::Frame(frame) => {
                        self.tap(&frame, Passed::FromServer);
                        Event::Server(frame)
                    }
                    Said::Taken => continue,
                    Said::Gone(_) if self.bridge.is_probing() && self.restart() => {
                        let mut acts = Vec::new();
                        self.bridge.restarted(Instant::now(), &mut acts);
                        self.act(acts, (false, false), beside).await;
                        continue;
                    }
                    Said::Gone(_) if hung_up.is_some() => return Ended::ByClient,
                    Said::Gone(how) => return Ended::ByServer(how),
                },
                said = next_said(beside, hears_server) => match said {
                    Said::Frame(frame) => Event::Beside(frame),
                    Said::Taken => continue,
                    Said::Gone(_) => Event::BesideGone,
                },
                Some(event) = self.news.recv() => event,
                () = until(wakes_at) => Event::Woke,
                () = until(late) => return Ended::ByClient,
                () = self.closing.cancelled() => return Ended::Told,
            };
            self.tell(event, beside).await;
        }
    }

    /// Tells the session what happened, and does what it says.
    async fn tell(&mut self, event: Event, beside: &mut Option<Upstream>) {
        match &event {
            Event::Ended(turn, _) => self.page.forget(*turn),
            Event::BesideGone => {
                if let Some(beside) = beside.take() {
                    tokio::spawn(beside.close());
                }
            }
            _ => {}
        }
        let passes_on = (
            matches!(event, Event::Server(_)),
            matches!(event, Event::Client(_)),
        );
        let mut acts = Vec::new();
        self.bridge.on(Instant::now(), event, &mut acts);
        self.act(acts, passes_on, beside).await;
    }

    /// Does what the session says. What one side said is passed on to the other (`passes_on`: to
    /// the client, to the server); the rest is ours.
    async fn act(
        &mut self,
        acts: Vec<Act>,
        passes_on: (bool, bool),
        beside: &mut Option<Upstream>,
    ) {
        for act in acts {
            match act {
                Act::ToClient(frame) => self.client.send(frame, !passes_on.0),
                Act::ToServer(frame) => {
                    self.tap(&frame, Passed::ToServer);
                    self.server.send(frame, !passes_on.1);
                }
                Act::Ask(turn, elicitation) => self.page.ask(turn, &elicitation).await,
                Act::Withdraw(turn, why) => self.page.withdraw(turn, why).await,
                Act::Complete(turn, by) => self.page.complete(turn, by).await,
                Act::StartBeside => *beside = self.start_beside(),
                Act::ToBeside(frame) => {
                    if let Some(beside) = beside {
                        beside.send(frame, true);
                    }
                }
                // The bridge has seen to it.
                Act::Elsewhere(..) => {}
                // People see it where they see the server's errors.
                Act::Noise(frame) => drop(self.errors.noise(&frame.into_bytes())),
            }
        }
    }

    fn tap(&self, frame: &Frame, how: fn(Frame) -> Passed) {
        if let Some(tap) = &self.tap {
            let _ = tap.send(how(frame.clone())); // Nobody may look any more.
        }
    }

    /// Starts the server a second time, to speak another era with it.
    fn start_beside(&mut self) -> Option<Upstream> {
        let started = self.place.open(self.most).inspect_err(|error| {
            tracing::error!("the server cannot be started a second time: {error:#}");
            let _ = self.events.send(Event::BesideGone);
        });
        started.ok()
    }

    /// Starts the server once more, if it would not be asked what it speaks: it can only be a
    /// legacy one.
    fn restart(&mut self) -> bool {
        let Ok(server) = self.place.open(self.most) else {
            return false;
        };
        let old = std::mem::replace(&mut self.server, server);
        tokio::spawn(old.close());
        true
    }
}

impl ClientEnd {
    /// Sends a message: the server's, or one of our own. It never waits.
    pub fn send(&mut self, frame: Frame, is_own: bool) {
        match self {
            Self::Pipes(_, out) => {
                out.add(frame.into_bytes(), is_own);
                let _ = out.hurry(); // An error is seen when it is waited for.
            }
            Self::Seat(seat) => seat.send(&frame),
        }
    }

    /// Whether it has enough to take: then the server is not heard.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Pipes(_, out) => out.is_full(),
            Self::Seat(seat) => seat.is_full(),
        }
    }

    /// Whether it causes more of our answers than it takes: then it is not heard itself.
    pub fn is_flooded(&self) -> bool {
        match self {
            Self::Pipes(_, out) => out.is_flooded(),
            Self::Seat(_) => false, // Whoever does not read is let go, or not heard.
        }
    }

    /// What it says next, if somebody `hears`; what was sent gets out either way. Nothing is lost
    /// when waiting is given up.
    pub async fn next(&mut self, hears: bool) -> Heard {
        match self {
            Self::Pipes(lines, out) => loop {
                let was_full = out.is_full() || out.is_flooded();
                tokio::select! {
                    line = lines.next(), if hears => match line {
                        Ok(Line::Whole(line)) => return Heard::Frame(Frame::new(line)),
                        Ok(Line::TooLong(message)) => match message.instead("client") {
                            Instead::Read(frame) => return Heard::Frame(frame),
                            Instead::Refuse(frame) => out.answer(frame.into_bytes()),
                            Instead::Nothing => {}
                        },
                        Ok(Line::Endless) => return Heard::Endless,
                        Ok(Line::End) | Err(_) => return Heard::Gone,
                    },
                    written = out.flush(), if !out.is_empty() => {
                        if written.is_err() {
                            return Heard::Gone; // Nobody reads what it is told.
                        }
                        if was_full && !out.is_full() && !out.is_flooded() {
                            return Heard::Taken;
                        }
                    },
                    else => return pending().await,
                }
            },
            Self::Seat(seat) => {
                let (is_full, taken) = (seat.is_full(), seat.taken());
                tokio::select! {
                    frame = seat.next(hears) => frame.map_or(Heard::Gone, Heard::Frame),
                    () = taken, if is_full => Heard::Taken,
                }
            }
        }
    }

    /// Waits until everything that was sent is out.
    pub async fn flush(&mut self) {
        match self {
            Self::Pipes(_, out) => while !out.is_empty() && out.flush().await.is_ok() {},
            Self::Seat(_) => {} // Its streams go on without it.
        }
    }
}

async fn next_said(beside: &mut Option<Upstream>, hears: bool) -> Said {
    match beside {
        Some(beside) => beside.next(hears).await,
        None => pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
