//! The loop that holds the pipes: it does what the session says.
//!
//! One task reads both sides, and writes at once what the other side takes. A side is read only
//! while the other takes what came before, so a slow reader slows the writer down, as it would
//! without us, and both directions go on independently.

use std::future::pending;
use std::io::{self, Write};
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until, timeout};

use crate::frame::Frame;
use crate::route::Page;
use crate::session::{Act, Event, Session};
use crate::transport::child::{self, Child};
use crate::transport::{Line, Lines, Outbox};

/// Both pipes, and what happens between them. An end that is closed is not there any more.
pub struct Relay {
    pub session: Session,
    pub client: Option<Lines>,
    pub to_client: Option<Outbox>,
    pub server: Option<Lines>,
    pub to_server: Option<Outbox>,
    pub child: Child,
    pub page: Page,
    pub news: UnboundedReceiver<Event>,
}

/// What happens.
enum Happening {
    /// Something for the session.
    Session(Event),
    /// The client has said everything, or nobody reads what it is told.
    ClientEnd,
    /// The server has said everything.
    ServerEnd,
    /// A message is longer than is allowed.
    TooLong(&'static str),
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

/// How a server that should end is asked to, one after the other.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// Its input was closed.
    ByClosing,
    /// It was told to end.
    BySignal,
}

/// How long a server may take to end once it is asked to.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a server's last words may take once it has ended: what it started may still hold
/// its output.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Relay {
    /// Relays until the server has ended. The exit code is its own.
    pub async fn run(mut self) -> anyhow::Result<u8> {
        let mut signals = Signals::new()?;
        let mut asked: Option<(Asked, Instant)> = None;
        let mut exit: Option<(ExitStatus, Instant)> = None;
        let mut acts = Vec::new();
        loop {
            match exit {
                Some((status, _)) if self.server.is_none() => return self.finish(status).await,
                Some((status, until)) if until <= Instant::now() => {
                    return self.finish(status).await;
                }
                _ => {}
            }
            let late = exit.map(|(_, at)| at).or(asked.map(|(_, at)| at));
            let event = match self.next(&mut signals, late, exit.is_some()).await? {
                Happening::Session(event) => Some(event),
                Happening::ClientEnd => {
                    asked.get_or_insert((Asked::ByClosing, Instant::now() + PATIENCE));
                    Some(Event::ClientGone)
                }
                Happening::ServerEnd => {
                    self.server = None;
                    None
                }
                Happening::TooLong(who) => {
                    self.server = None;
                    self.child.signal(Signal::KILL);
                    let limit =
                        format!("was ended: {who} sent a message longer than --max-message");
                    Some(Event::ServerGone(limit))
                }
                Happening::Written => None,
                Happening::ServerDeaf => {
                    self.to_server = None;
                    None
                }
                Happening::Exit(status) => {
                    exit = Some((status, Instant::now() + LAST_WORDS));
                    None
                }
                Happening::Signal(signal) => {
                    // Whoever sends a signal twice does not want to wait.
                    let again = matches!(asked, Some((Asked::BySignal, _)));
                    self.child.signal(if again { Signal::KILL } else { signal });
                    asked = Some((Asked::BySignal, Instant::now() + PATIENCE));
                    None
                }
                Happening::Late => {
                    let firmly = matches!(asked, Some((Asked::BySignal, _)));
                    self.child
                        .signal(if firmly { Signal::KILL } else { Signal::TERM });
                    asked = Some((Asked::BySignal, Instant::now() + PATIENCE));
                    None
                }
            };
            if let Some(event) = event {
                self.tell(event, &mut acts).await;
            }
            // Once the client has hung up, and the server has everything it said.
            let has_all = self.to_server.as_ref().is_some_and(Outbox::is_empty);
            if self.client.is_none()
                && has_all
                && let Some(out) = self.to_server.take()
            {
                out.close();
            }
        }
    }

    /// Waits for what happens next. `late` is when the server has had long enough.
    async fn next(
        &mut self,
        signals: &mut Signals,
        late: Option<Instant>,
        exited: bool,
    ) -> anyhow::Result<Happening> {
        let server_listens = self.to_server.as_ref().is_none_or(|out| !out.is_full());
        let client_listens = self.to_client.as_ref().is_none_or(|out| !out.is_full());
        let wakes_at = self.session.wakes_at();
        Ok(tokio::select! {
            line = next_line(&mut self.client), if server_listens => match line {
                Ok(Line::Whole(line)) => Happening::Session(Event::Client(Frame::new(line))),
                Ok(Line::TooLong) => Happening::TooLong("the client"),
                Ok(Line::End) | Err(_) => {
                    self.client = None;
                    Happening::ClientEnd
                }
            },
            line = next_line(&mut self.server), if client_listens => match line {
                Ok(Line::Whole(line)) => Happening::Session(Event::Server(Frame::new(line))),
                Ok(Line::TooLong) => Happening::TooLong("it"),
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
            Some(event) = self.news.recv() => Happening::Session(event),
            () = until(wakes_at) => Happening::Session(Event::Woke),
            status = self.child.end(), if !exited => Happening::Exit(status?),
            signal = signals.next() => Happening::Signal(signal),
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
        if let Event::Ended(turn, _) = &event {
            self.page.forget(*turn);
        }
        self.session.on(Instant::now(), event, acts);
        for act in acts.drain(..) {
            match act {
                Act::ToClient(frame) => push(&mut self.to_client, frame),
                Act::ToServer(frame) => push(&mut self.to_server, frame),
                Act::Ask(turn, elicitation) => self.page.ask(turn, &elicitation).await,
                Act::Withdraw(turn, why) => self.page.withdraw(turn, why).await,
                Act::Complete(turn, by) => self.page.complete(turn, by).await,
                Act::Noise(frame) => noise(&frame.into_bytes()),
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
    async fn finish(mut self, status: ExitStatus) -> anyhow::Result<u8> {
        let how = child::how(status);
        tracing::info!("the server {how}");
        self.tell(Event::ServerGone(how), &mut Vec::new()).await;
        let last_words = async {
            while self.to_client.as_ref().is_some_and(|out| !out.is_empty())
                && flush(&mut self.to_client).await.is_ok()
            {}
        };
        let _ = timeout(PATIENCE, last_words).await;
        if let Some(out) = self.to_client.take() {
            out.close();
        }
        // What the server started and left behind.
        self.child.signal(Signal::TERM);
        self.page.close().await;
        Ok(child::code(status))
    }
}

/// The next line of an end that is open.
async fn next_line(lines: &mut Option<Lines>) -> io::Result<Line> {
    match lines {
        Some(lines) => lines.next().await,
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

fn push(out: &mut Option<Outbox>, frame: Frame) {
    if let Some(out) = out {
        out.push(frame.into_bytes());
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// The server wrote something to its output that is no message: people see it where they see
/// its errors.
fn noise(line: &[u8]) {
    tracing::debug!(
        bytes = line.len(),
        "the server wrote a line that is no message"
    );
    let mut errors = io::stderr().lock();
    let _ = errors.write_all(line);
    if !line.ends_with(b"\n") {
        let _ = errors.write_all(b"\n");
    }
}

/// The signals that are passed on.
struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            hang_up: unix::signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.hang_up.recv() => Signal::HUP,
        }
    }
}
