//! The loop that holds the pipes: it does what the session says.
//!
//! One task reads both sides, and writes at once what the other side takes. A side is read only
//! while the other takes what came before, so a slow reader slows the writer down, as it would
//! without us, and both directions go on independently.

use std::ffi::OsString;
use std::future::pending;
use std::io;
use std::process::ExitStatus;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, sleep_until};

use crate::awake::Patience;
use crate::era::bridge::Bridge;
use crate::frame::Frame;
use crate::printer::Printer;
use crate::route::{Page, Room};
use crate::session::{Act, Event};
use crate::times::{LAST_WORDS, SERVER_END, SERVER_KILL};
use crate::transport::child::{self, Child};
use crate::transport::process::Process;
use crate::transport::upstream::Said;
use crate::transport::{Instead, Line, Lines, Outbox};

/// Both pipes, and what happens between them. An end that is closed is not there any more.
pub struct Relay {
    pub bridge: Bridge,
    pub client: Option<Lines>,
    pub to_client: Option<Outbox>,
    pub server: Option<Lines>,
    pub to_server: Option<Outbox>,
    pub child: Child,
    /// How the server is started.
    pub command: Vec<OsString>,
    /// The longest message that is taken, in bytes.
    pub most: usize,
    /// The server in another era, if it was needed.
    pub beside: Option<Process>,
    pub page: Page,
    pub room: Room,
    pub news: UnboundedReceiver<Event>,
    pub events: UnboundedSender<Event>,
    pub signals: Signals,
    /// Where people see what is no message.
    pub errors: Printer,
}

/// What happens.
enum Happening {
    /// Something for the session.
    Session(Event),
    /// The client has said everything, or nobody reads what it is told.
    ClientEnd,
    /// The server has said everything.
    ServerEnd,
    /// Midcall refused a message: who sent it, and the error that the sender gets.
    Refused(Sender, Frame),
    /// A message may never end.
    Endless(Sender),
    /// Some of what waited has got out.
    Written,
    /// The server takes nothing any more.
    ServerDeaf,
    /// The server's process ended.
    Exit(ExitStatus),
    /// We are told to end.
    Signal(Signal),
    /// The server has had long enough to end by itself.
    Late,
}

/// Who sent a message.
#[derive(Clone, Copy)]
enum Sender {
    Client,
    Server,
}

/// How a server that should end is asked to, one after the other.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// Its input was closed.
    ByClosing,
    /// It was told to end.
    BySignal,
}

impl Relay {
    /// Relays until the server has ended. The exit code is its own.
    pub async fn run(mut self) -> anyhow::Result<u8> {
        let mut asked: Option<(Asked, Patience)> = None;
        let mut exit: Option<(ExitStatus, Patience)> = None;
        let mut is_told = false; // by a signal, to end
        let mut is_over = false; // the session knows of no server any more
        let mut acts = Vec::new();
        loop {
            consume_budget().await; // A flood on one side must not keep everything else waiting.
            if let Some((status, patience)) = &mut exit {
                if !is_told && self.to_client.as_ref().is_some_and(Outbox::is_full) {
                    *patience = Patience::new(LAST_WORDS.get()); // It is the client who takes its time.
                }
                if self.server.is_none() || patience.is_over() {
                    let status = *status;
                    return self.finish(status, is_told).await;
                }
            }
            let patience = exit.map(|(_, patience)| patience);
            let patience = patience.or(asked.map(|(_, patience)| patience));
            let late = patience.map(|patience| patience.part_ends());
            let event = match self.next(late, exit.is_some()).await? {
                Happening::Session(event) => Some(event),
                Happening::ClientEnd => {
                    asked.get_or_insert((Asked::ByClosing, Patience::new(SERVER_END.get())));
                    Some(Event::ClientGone)
                }
                // It is going, or it is of no use any more.
                Happening::ServerEnd => {
                    self.server = None;
                    asked.get_or_insert((Asked::ByClosing, Patience::new(LAST_WORDS.get())));
                    None
                }
                Happening::Refused(sender, error) => {
                    match sender {
                        Sender::Client => push(&mut self.to_client, error, false),
                        Sender::Server => push(&mut self.to_server, error, false),
                    }
                    None
                }
                Happening::Endless(sender) => {
                    self.server = None;
                    self.child.signal(Signal::KILL);
                    let who = match sender {
                        Sender::Client => "the client",
                        Sender::Server => "it",
                    };
                    let how = format!("was ended: {who} sent a message without end");
                    tracing::error!("the server {how}");
                    is_over = true;
                    Some(Event::ServerGone(how))
                }
                Happening::Written => None,
                Happening::ServerDeaf => {
                    self.to_server = None;
                    asked.get_or_insert((Asked::ByClosing, Patience::new(LAST_WORDS.get())));
                    None
                }
                // It would not be asked what it speaks: it can only be a legacy one.
                Happening::Exit(_)
                    if !is_told && !is_over && self.bridge.is_probing() && self.restart().await =>
                {
                    self.bridge.restarted(Instant::now(), &mut acts);
                    self.act(&mut acts, (false, false)).await;
                    // A client that is gone waits for nothing more than what it has asked.
                    asked = (self.client.is_none())
                        .then(|| (Asked::ByClosing, Patience::new(SERVER_END.get())));
                    None
                }
                Happening::Exit(status) => {
                    self.child.signal(Signal::TERM); // What it started ends with it.
                    exit = Some((status, Patience::new(LAST_WORDS.get())));
                    None
                }
                Happening::Signal(signal) => {
                    is_told = true;
                    // Whoever sends a signal twice does not want to wait.
                    let again = matches!(asked, Some((Asked::BySignal, _)));
                    self.child.signal(if again { Signal::KILL } else { signal });
                    asked = Some((Asked::BySignal, Patience::new(SERVER_KILL.get())));
                    None
                }
                // It has ended; how long its last words may take is seen to above.
                Happening::Late if exit.is_some() => None,
                Happening::Late if !has_had_time(&mut asked) => None,
                Happening::Late => {
                    let firmly = matches!(asked, Some((Asked::BySignal, _)));
                    self.child
                        .signal(if firmly { Signal::KILL } else { Signal::TERM });
                    asked = Some((Asked::BySignal, Patience::new(SERVER_KILL.get())));
                    let is_useless = self.server.is_none() || self.to_server.is_none();
                    is_over |= is_useless && self.client.is_some();
                    (is_useless && self.client.is_some())
                        .then(|| Event::ServerGone("closed its pipes".to_owned()))
                }
            };
            if let Some(event) = event {
                self.tell(event, &mut acts).await;
            }
            // Once the client has hung up, and the server has everything it said.
            let has_all = self.to_server.as_ref().is_some_and(Outbox::is_empty);
            if self.client.is_none()
                && has_all
                && !self.bridge.holds()
                && let Some(out) = self.to_server.take()
            {
                out.close().await;
            }
        }
    }

    /// Waits for what happens next. `late` is when the server has had long enough.
    async fn next(&mut self, late: Option<Instant>, exited: bool) -> anyhow::Result<Happening> {
        let is_full = |out: &Option<Outbox>| out.as_ref().is_some_and(Outbox::is_full);
        let is_flooded = |out: &Option<Outbox>| out.as_ref().is_some_and(Outbox::is_flooded);
        let beside_is_full = self.beside.as_ref().is_some_and(Process::is_full);
        let hears_client =
            !is_full(&self.to_server) && !is_flooded(&self.to_client) && !beside_is_full;
        let hears_server = !is_full(&self.to_client) && !is_flooded(&self.to_server);
        let wakes_at = self.bridge.wakes_at();
        Ok(tokio::select! {
            line = next_line(&mut self.client), if hears_client => match line {
                Ok(Line::Whole(line)) => Happening::Session(Event::Client(Frame::new(line))),
                Ok(Line::TooLong(message)) => match message.instead("client") {
                    Instead::Read(frame) => Happening::Session(Event::Client(frame)),
                    Instead::Refuse(error) => Happening::Refused(Sender::Client, error),
                    Instead::Nothing => Happening::Written,
                },
                Ok(Line::Endless) => Happening::Endless(Sender::Client),
                Ok(Line::End) | Err(_) => {
                    self.client = None;
                    Happening::ClientEnd
                }
            },
            line = next_line(&mut self.server), if hears_server => match line {
                Ok(Line::Whole(line)) => Happening::Session(Event::Server(Frame::new(line))),
                Ok(Line::TooLong(message)) => match message.instead("server") {
                    Instead::Read(frame) => Happening::Session(Event::Server(frame)),
                    Instead::Refuse(error) => Happening::Refused(Sender::Server, error),
                    Instead::Nothing => Happening::Written,
                },
                Ok(Line::Endless) => Happening::Endless(Sender::Server),
                Ok(Line::End) | Err(_) => Happening::ServerEnd,
            },
            written = flush(&mut self.to_client) => match written {
                Ok(()) => Happening::Written,
                Err(_) => self.client_deaf(),
            },
            written = flush(&mut self.to_server) => match written {
                Ok(()) => Happening::Written,
                Err(_) => Happening::ServerDeaf,
            },
            said = next_said(&mut self.beside, hears_server) => match said {
                Said::Frame(frame) => Happening::Session(Event::Beside(frame)),
                Said::Gone(_) => Happening::Session(Event::BesideGone),
                Said::Taken => Happening::Written,
            },
            Some(event) = self.news.recv() => Happening::Session(event),
            () = until(wakes_at) => Happening::Session(Event::Woke),
            status = self.child.end(), if !exited => Happening::Exit(status?),
            signal = self.signals.next() => Happening::Signal(signal),
            () = until(late) => Happening::Late,
        })
    }

    /// Nobody reads what the client is told: whatever it says is not heard either.
    fn client_deaf(&mut self) -> Happening {
        self.to_client = None;
        self.client = None;
        Happening::ClientEnd
    }

    /// Tells the session what happened, and does what it says.
    async fn tell(&mut self, event: Event, acts: &mut Vec<Act>) {
        match &event {
            Event::Ended(turn, _) => self.page.forget(*turn),
            Event::BesideGone => {
                if let Some(beside) = self.beside.take() {
                    beside.close().await;
                }
            }
            _ => {}
        }
        let passes_on = (
            matches!(event, Event::Server(_)),
            matches!(event, Event::Client(_)),
        );
        self.bridge.on(Instant::now(), event, acts);
        self.act(acts, passes_on).await;
    }

    /// Starts the server a second time, to speak another era with it.
    fn start_beside(&mut self) {
        match Process::start(&self.command, self.most) {
            Ok(beside) => self.beside = Some(beside),
            Err(error) => {
                tracing::error!("the server cannot be started a second time: {error:#}");
                let _ = self.events.send(Event::BesideGone);
            }
        }
    }

    /// Starts the server once more; `false` if that is not possible.
    async fn restart(&mut self) -> bool {
        self.child.clear().await;
        let Ok((child, output, input)) = Child::start(&self.command) else {
            return false;
        };
        self.child = child;
        self.server = Some(Lines::new(output, self.most));
        self.to_server = Some(Outbox::new(input));
        true
    }

    /// Does what the session says. What one side said is passed on to the other as fast as that
    /// takes it (`passes_on`: to the client, to the server).
    async fn act(&mut self, acts: &mut Vec<Act>, passes_on: (bool, bool)) {
        for act in acts.drain(..) {
            match act {
                Act::ToClient(frame) => push(&mut self.to_client, frame, passes_on.0),
                Act::ToServer(frame) => push(&mut self.to_server, frame, passes_on.1),
                Act::Ask(turn, elicitation) => self.page.ask(turn, &elicitation).await,
                Act::Withdraw(turn, why) => self.page.withdraw(turn, why).await,
                Act::Complete(turn, by) => self.page.complete(turn, by).await,
                // People see it where they see the server's errors.
                Act::StartBeside => self.start_beside(),
                Act::ToBeside(frame) => {
                    if let Some(beside) = &mut self.beside {
                        beside.send(frame, true);
                    }
                }
                // The bridge has seen to it.
                Act::Elsewhere(..) => {}
                Act::Noise(frame) => drop(self.errors.noise(&frame.into_bytes())),
            }
        }
        // What cannot get out at once is waited for, and there an error is seen to.
        for out in [&mut self.to_client, &mut self.to_server]
            .into_iter()
            .flatten()
        {
            let _ = out.hurry();
        }
    }

    /// Tells the client what became of its calls, and ends.
    async fn finish(mut self, status: ExitStatus, is_told: bool) -> anyhow::Result<u8> {
        let how = child::how(status);
        tracing::info!("the server {how}");
        self.tell(Event::ServerGone(how), &mut Vec::new()).await;
        // A pipe would keep it for as long as somebody may read it, and so do we.
        let last_words = async {
            while (self.to_client.as_ref()).is_some_and(|out| !out.is_empty())
                && flush(&mut self.to_client).await.is_ok()
            {}
            if let Some(out) = self.to_client.take() {
                out.close().await;
            }
        };
        let long_enough = is_told.then(|| Instant::now() + LAST_WORDS.get());
        tokio::select! {
            () = last_words => {}
            () = until(long_enough) => {}
            _ = self.signals.next() => {}
        }
        self.child.clear().await;
        if let Some(beside) = self.beside.take() {
            beside.close().await;
        }
        self.room.close().await;
        Ok(child::code(status))
    }
}

/// Whether the server has had the time to do what it was asked to.
fn has_had_time(asked: &mut Option<(Asked, Patience)>) -> bool {
    let patience = asked.as_mut().map(|(_, patience)| patience);
    patience.is_none_or(Patience::is_over)
}

/// The next line of an end that is open.
async fn next_line(lines: &mut Option<Lines>) -> io::Result<Line> {
    match lines {
        Some(lines) => lines.next().await,
        None => pending().await,
    }
}

/// What the second process says next, if there is one.
async fn next_said(beside: &mut Option<Process>, hears: bool) -> Said {
    match beside {
        Some(beside) => beside.next(hears).await,
        None => pending().await,
    }
}

/// Writes some of what waits, if anything does.
async fn flush(out: &mut Option<Outbox>) -> io::Result<()> {
    match out {
        Some(out) if !out.is_empty() => out.flush().await,
        _ => pending().await,
    }
}

fn push(out: &mut Option<Outbox>, frame: Frame, passes_on: bool) {
    match out {
        Some(out) if passes_on => out.push(frame.into_bytes()),
        Some(out) => out.answer(frame.into_bytes()),
        None => {}
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// The signals that are passed on.
pub struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
}

impl Signals {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            hang_up: unix::signal(SignalKind::hangup())?,
        })
    }

    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.hang_up.recv() => Signal::HUP,
        }
    }
}
