//! A server that is a process of ours, as one end of a session.
//!
//! A server that has to end is asked in three steps: its input is closed, then it gets SIGTERM, then SIGKILL. It is
//! gone once it has exited and its last output is read.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;

use super::Pipes;
use super::child::{self, Child, StartError};
use super::server::Received;
use crate::awake::{Patience, late};
use crate::frame::Frame;
use crate::times::{LAST_WORDS, SERVER_END, SERVER_KILL};

/// A server's process and its pipes.
pub struct Process {
    child: Child,
    pipes: Pipes,
    exit: Option<ExitStatus>,
    /// Why it should end soon, and how long it still has.
    ending: Option<(Ending, Patience)>,
    /// True if nobody heard it when it was last waited for.
    was_unheard: bool,
}

/// Why a server should end soon. Later ones are more urgent.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Ending {
    /// It closed one of its pipes.
    ClosedPipe,
    /// The client is gone.
    ClientGone,
    /// Midcall sent it a signal, because it took too long.
    Asked,
    /// Midcall got a signal, and passed it on.
    Told,
}

impl Process {
    /// Starts a server that sends messages of at most `most` bytes.
    pub fn start(command: &[OsString], most: usize) -> Result<Self, StartError> {
        let (child, output, input) = Child::start(command)?;
        Ok(Self {
            child,
            pipes: Pipes::new(output, input, most, "server"),
            exit: None,
            ending: None,
            was_unheard: false,
        })
    }

    /// Adds a message to the outbox. `is_own` marks a message that the server caused Midcall to write.
    pub fn send(&mut self, frame: Frame, is_own: bool) {
        self.pipes.send(frame, is_own);
    }

    /// Writes what the server takes at once.
    pub fn hurry(&mut self) {
        self.pipes.hurry();
    }

    /// True while enough messages wait for the server to read them.
    pub fn is_full(&self) -> bool {
        self.pipes.is_full()
    }

    /// True while the server causes more of Midcall's own messages than it reads.
    pub fn is_flooded(&self) -> bool {
        self.pipes.is_flooded()
    }

    /// The client is gone, so the server should end soon. If `closes` is true, its input is closed once it has all that
    /// was sent. Call this again until the server is gone.
    pub fn finish(&mut self, closes: bool) {
        self.ends(Ending::ClientGone, SERVER_END.get());
        if closes {
            self.pipes.finish();
        }
    }

    /// Passes a signal on to the server. The second one in a row kills it.
    pub fn signal(&mut self, signal: Signal) {
        let again = (self.ending.as_ref()).is_some_and(|(ending, _)| *ending >= Ending::Asked);
        self.child.signal(if again { Signal::KILL } else { signal });
        let patience = if self.exit.is_some() {
            &LAST_WORDS
        } else {
            &SERVER_KILL
        };
        self.ending = Some((Ending::Told, Patience::new(patience.get())));
    }

    /// Waits for the next message, which is read only if `hears` is true. Nothing is lost if the caller stops waiting.
    /// After `Gone`, the process may still have to exit: see [`Process::close`].
    pub async fn next(&mut self, hears: bool) -> Received {
        let is_told = matches!(self.ending, Some((Ending::Told, _)));
        let was_unheard = std::mem::replace(&mut self.was_unheard, !hears);
        if let Some((_, patience)) = &mut self.ending
            && was_unheard
            && self.exit.is_some()
            && !is_told
        {
            // It isn't the server's fault that its last output takes so long.
            *patience = Patience::new(LAST_WORDS.get());
        }
        if self.exit.is_some() && !self.pipes.is_readable() {
            return Received::Gone;
        }
        let counts = hears || is_told || self.exit.is_none();
        let patience = self.ending.as_mut().map(|(_, patience)| patience);
        tokio::select! {
            received = self.pipes.next(hears) => match received {
                Received::Gone => self.ends(Ending::ClosedPipe, LAST_WORDS.get()),
                Received::Endless => {
                    self.signal(Signal::KILL);
                    return Received::Endless;
                }
                received => return received,
            },
            status = self.child.end(), if self.exit.is_none() => self.exited(status),
            () = late(patience), if counts => return self.late(),
        }
        Received::Nothing
    }

    /// How the server ended, for people.
    pub fn how(&self) -> String {
        match self.exit {
            Some(exit) => child::how(exit),
            None if self.pipes.is_whole() => "was let go".to_owned(),
            None => "closed its pipes".to_owned(),
        }
    }

    /// Ends the server and what it started, and returns its exit status. What it still says is dropped.
    pub async fn close(&mut self) -> Option<ExitStatus> {
        while self.exit.is_none() {
            self.finish(true);
            self.next(true).await;
        }
        self.child.clear().await;
        self.exit
    }

    fn ends(&mut self, ending: Ending, patience: Duration) {
        (self.ending).get_or_insert_with(|| (ending, Patience::new(patience)));
    }

    fn exited(&mut self, status: io::Result<ExitStatus>) {
        let status = status.unwrap_or_else(|error| {
            tracing::error!("the server's exit status is unknown: {error}");
            ExitStatus::from_raw(1 << 8)
        });
        self.exit = Some(status);
        self.child.signal(Signal::TERM); // What it started ends with it.
        let ending = (self.ending).map_or(Ending::ClosedPipe, |(ending, _)| ending);
        self.ending = Some((ending, Patience::new(LAST_WORDS.get())));
    }

    /// The server took too long to end, or its last output did.
    fn late(&mut self) -> Received {
        let ending = match self.ending {
            Some((ending, _)) if self.exit.is_none() => ending,
            _ => return Received::Gone,
        };
        let firmly = ending >= Ending::Asked;
        (self.child).signal(if firmly { Signal::KILL } else { Signal::TERM });
        let asked = if firmly { ending } else { Ending::Asked };
        self.ending = Some((asked, Patience::new(SERVER_KILL.get())));
        match ending {
            Ending::ClosedPipe => Received::Gone, // It runs on, but is of no use any more.
            _ => Received::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    /// Nobody reads for much longer than last words may take. Time is paused: it passes by itself
    /// while nothing happens.
    async fn nobody_hears(process: &mut Process) {
        let says = async { while let Received::Nothing = process.next(false).await {} };
        let early = timeout(10 * LAST_WORDS.get(), says).await;
        assert!(early.is_err(), "nobody heard it, and it is not gone");
    }

    #[tokio::test(start_paused = true)]
    async fn its_last_words_wait_for_whoever_is_slow_to_hear_them() {
        let says = "echo one; echo two; printf three; exit 7";
        let command = ["sh", "-c", says].map(OsString::from);
        let mut process = Process::start(&command, 1_000).unwrap();
        while process.exit.is_none() {
            nobody_hears(&mut process).await;
        }
        nobody_hears(&mut process).await;
        for word in ["one", "two", "three"] {
            let frame = loop {
                match process.next(true).await {
                    Received::Frame(frame) => break frame,
                    Received::Nothing => {}
                    _ => panic!("it has said {word} too"),
                }
            };
            assert_eq!(frame.into_bytes().trim_ascii(), word.as_bytes());
            nobody_hears(&mut process).await;
        }
        while let Received::Nothing = process.next(true).await {}
        let how = process.how();
        assert!(how.contains('7'), "{how}");
        process.close().await;
    }
}
