//! The loop that holds the pipes: it does what the session says.
//!
//! One task reads both sides, and writes at once what the other side takes. A side is read only
//! while the other takes what came before, so a slow reader slows the writer down, as it would
//! without us, and both directions go on independently.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use crate::frame::Frame;
use crate::route::Page;
use crate::session::{Act, Event, Session};
use crate::transport::child::{self, Child};
use crate::transport::{Line, Lines, Outbox};

/// Both pipes, and what happens between them.
pub struct Relay {
    pub session: Session,
    pub client: Lines,
    pub to_client: Outbox,
    pub server: Lines,
    /// None once the server's input is closed.
    pub to_server: Option<Outbox>,
    pub child: Child,
    pub page: Page,
    pub news: UnboundedReceiver<Event>,
}

/// How a server that should end is asked to, one after the other.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    /// Its input is closed.
    Closed,
    /// It was told to end.
    Terminated,
    /// It was ended.
    Killed,
}

/// How long each of those may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a server's last words may take once it has ended: what it started may still hold
/// its output.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Relay {
    /// Relays until the server has ended. The exit code is its own.
    pub async fn run(mut self) -> anyhow::Result<u8> {
        let mut signals = Signals::new()?;
        let mut acts = Vec::new();
        let mut client_open = true;
        let mut server_open = true;
        let mut client_gone = false;
        let mut ending: Option<(Ending, Instant)> = None;
        let mut ended: Option<(ExitStatus, Instant)> = None;
        loop {
            if let Some((status, until)) = ended
                && (!server_open || Instant::now() >= until)
            {
                return self.finish(status, client_gone).await;
            }
            let waiting = self.to_server.as_ref().is_some_and(|out| !out.is_empty());
            let room = self.to_server.as_ref().is_some_and(|out| !out.is_full());
            let wakes_at = self.session.wakes_at();
            let event = tokio::select! {
                line = self.client.next(), if client_open && room => match line {
                    Ok(Line::Whole(line)) => Some(Event::Client(Frame::new(line))),
                    Ok(Line::TooLong) => anyhow::bail!("the client sent a longer message than --max-message allows"),
                    Ok(Line::End) | Err(_) => {
                        client_open = false;
                        Some(Event::ClientGone)
                    }
                },
                line = self.server.next(), if server_open && !self.to_client.is_full() => match line {
                    Ok(Line::Whole(line)) => Some(Event::Server(Frame::new(line))),
                    Ok(Line::TooLong) => {
                        let told = "sent a longer message than --max-message allows".to_owned();
                        self.child.signal(Signal::KILL);
                        server_open = false;
                        Some(Event::ServerGone(told))
                    }
                    Ok(Line::End) | Err(_) => {
                        server_open = false;
                        None
                    }
                },
                written = self.to_client.flush(), if !self.to_client.is_empty() => {
                    client_gone |= written.is_err();
                    written.is_err().then_some(Event::ClientGone)
                }
                written = flush(&mut self.to_server), if waiting => {
                    if written.is_err() {
                        self.close_input();
                    }
                    None
                }
                Some(event) = self.news.recv() => Some(event),
                () = sleep_until(wakes_at.unwrap_or_else(Instant::now)), if wakes_at.is_some() => Some(Event::Woke),
                status = self.child.end(), if ended.is_none() => {
                    ended = Some((status?, Instant::now() + LAST_WORDS));
                    None
                }
                signal = signals.next() => {
                    // Whoever sends a signal twice does not want to wait.
                    let again = matches!(ending, Some((Ending::Terminated | Ending::Killed, _)));
                    self.child.signal(if again { Signal::KILL } else { signal });
                    ending = Some((Ending::Terminated, Instant::now() + PATIENCE));
                    None
                }
                () = until(ending.map(|(_, at)| at)), if ending.is_some() => {
                    ending = Some(self.press(ending.map_or(Ending::Closed, |(how, _)| how)));
                    None
                }
                () = until(ended.map(|(_, at)| at)), if ended.is_some() => None,
            };
            let Some(event) = event else { continue };
            let hangs_up = matches!(event, Event::ClientGone);
            if let Event::Ended(id, _) = &event {
                self.page.forget(id);
            }
            self.session.on(Instant::now(), event, &mut acts);
            for act in acts.drain(..) {
                match act {
                    Act::ToClient(frame) => self.to_client.push(frame.into_bytes()),
                    Act::ToServer(frame) => {
                        if let Some(out) = &mut self.to_server {
                            out.push(frame.into_bytes());
                        }
                    }
                    Act::Ask(id, elicitation) => self.page.ask(id, &elicitation).await,
                    Act::Withdraw(id, why) => self.page.withdraw(&id, why).await,
                    Act::Complete(id) => self.page.complete(&id).await,
                    Act::Noise(frame) => noise(&frame.into_bytes()),
                }
            }
            client_gone |= self.to_client.hurry().is_err();
            if let Some(out) = &mut self.to_server
                && out.hurry().is_err()
            {
                self.close_input();
            }
            if hangs_up || client_gone {
                client_open = false;
                if self.to_server.as_ref().is_none_or(Outbox::is_empty) || client_gone {
                    self.close_input();
                }
                ending.get_or_insert((Ending::Closed, Instant::now() + PATIENCE));
            }
        }
    }

    /// Asks a server that should have ended more firmly.
    fn press(&mut self, how: Ending) -> (Ending, Instant) {
        let (signal, next) = match how {
            Ending::Closed => (Signal::TERM, Ending::Terminated),
            Ending::Terminated | Ending::Killed => (Signal::KILL, Ending::Killed),
        };
        self.close_input();
        self.child.signal(signal);
        (next, Instant::now() + PATIENCE)
    }

    fn close_input(&mut self) {
        if let Some(out) = self.to_server.take() {
            out.close();
        }
    }

    /// Tells the client what became of its calls, and ends.
    async fn finish(mut self, status: ExitStatus, client_gone: bool) -> anyhow::Result<u8> {
        let mut acts = Vec::new();
        let how = child::how(status);
        tracing::info!("the server {how}");
        self.session
            .on(Instant::now(), Event::ServerGone(how), &mut acts);
        for act in acts {
            match act {
                Act::ToClient(frame) => self.to_client.push(frame.into_bytes()),
                Act::Withdraw(id, why) => self.page.withdraw(&id, why).await,
                _ => {}
            }
        }
        if !client_gone {
            let last = async {
                while !self.to_client.is_empty() && self.to_client.flush().await.is_ok() {}
            };
            let _ = tokio::time::timeout(PATIENCE, last).await;
        }
        // What the server started and left behind.
        self.child.signal(Signal::TERM);
        self.to_client.close();
        self.page.close().await;
        Ok(child::code(status))
    }
}

async fn flush(out: &mut Option<Outbox>) -> io::Result<()> {
    match out {
        Some(out) => out.flush().await,
        None => Ok(()),
    }
}

async fn until(at: Option<Instant>) {
    sleep_until(at.unwrap_or_else(Instant::now)).await;
}

/// The server wrote something to its output that is no message: people see it where they see
/// its errors.
fn noise(line: &[u8]) {
    use std::io::Write;
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
