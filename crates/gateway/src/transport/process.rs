//! A server that is a process of ours, as one end of a session.

use std::ffi::OsString;
use std::future::pending;
use std::io;
use std::process::ExitStatus;

use tokio::time::sleep_until;

use super::child::{self, Child, StartError};
use super::upstream::Said;
use super::{Instead, Line, Lines, Outbox};
use crate::awake::{Patience, within};
use crate::frame::Frame;
use crate::times::{LAST_WORDS, SERVER_END};

/// Its pipes. It is gone once it has ended and its last words are read.
pub struct Process {
    child: Child,
    lines: Option<Lines>,
    out: Option<Outbox>,
    exit: Option<ExitStatus>,
    /// When it counts as gone, whatever it may still say.
    late: Option<Patience>,
    /// Whether nobody heard it when it was last waited for.
    was_unheard: bool,
}

impl Process {
    pub fn start(command: &[OsString], most: usize) -> Result<Self, StartError> {
        let (child, output, input) = Child::start(command)?;
        Ok(Self {
            child,
            lines: Some(Lines::new(output, most)),
            out: Some(Outbox::new(input)),
            exit: None,
            late: None,
            was_unheard: false,
        })
    }

    /// Sends a line: the client's, or one of our own.
    pub fn send(&mut self, frame: Frame, is_own: bool) {
        if let Some(out) = &mut self.out {
            out.add(frame.into_bytes(), is_own);
            let _ = out.hurry(); // An error is seen when it is waited for.
        }
    }

    /// Whether it has enough to read.
    pub fn is_full(&self) -> bool {
        self.out.as_ref().is_some_and(Outbox::is_full)
    }

    /// Whether it causes more of our answers than it reads.
    pub fn is_flooded(&self) -> bool {
        self.out.as_ref().is_some_and(Outbox::is_flooded)
    }

    /// It gets nothing more once it has what was sent.
    pub async fn finish(&mut self) {
        if self.out.as_ref().is_some_and(Outbox::is_empty)
            && let Some(out) = self.out.take()
        {
            out.close().await;
        }
    }

    /// What it says next. It is not read where nobody `hears`. Nothing is lost when waiting is
    /// given up.
    pub async fn next(&mut self, hears: bool) -> Said {
        // It is not its fault that its last words take so long.
        if std::mem::replace(&mut self.was_unheard, !hears) && self.late.is_some() {
            self.late = Some(Patience::new(LAST_WORDS.get()));
        }
        loop {
            let was_full = self.is_full() || self.is_flooded();
            tokio::select! {
                line = next_line(&mut self.lines), if hears => match line {
                    Ok(Line::Whole(line)) => return Said::Frame(Frame::new(line)),
                    Ok(Line::TooLong(message)) => match message.instead("server") {
                        Instead::Read(frame) => return Said::Frame(frame),
                        Instead::Refuse(frame) => self.send(frame, true),
                        Instead::Nothing => {}
                    },
                    Ok(Line::Endless) => {
                        let how = "was ended: it sent a message longer than is taken";
                        return Said::Gone(how.to_owned());
                    }
                    Ok(Line::End) | Err(_) => {
                        self.lines = None;
                        self.is_going();
                    }
                },
                written = flush(&mut self.out) => {
                    if written.is_err() {
                        self.out = None;
                        self.is_going();
                    }
                    if was_full && !self.is_full() && !self.is_flooded() {
                        return Said::Taken;
                    }
                },
                status = self.child.end(), if self.exit.is_none() => {
                    self.exit = status.ok();
                    self.is_going();
                },
                () = until(self.late), if hears => {
                    if self.late.as_mut().is_none_or(Patience::is_over) {
                        return self.gone();
                    }
                },
            }
            if self.exit.is_some() && self.lines.is_none() {
                return self.gone();
            }
        }
    }

    fn is_going(&mut self) {
        self.late.get_or_insert(Patience::new(LAST_WORDS.get()));
    }

    fn gone(&self) -> Said {
        Said::Gone(self.exit.map_or("closed its pipes".to_owned(), child::how))
    }

    /// Ends it: its input is closed, then it is told to, then it is made to.
    pub async fn close(mut self) {
        drop((self.lines.take(), self.out.take()));
        if self.exit.is_none() {
            let _ = within(SERVER_END.get(), self.child.end()).await;
        }
        self.child.clear().await;
    }
}

async fn next_line(lines: &mut Option<Lines>) -> io::Result<Line> {
    match lines {
        Some(lines) => lines.next().await,
        None => pending().await,
    }
}

async fn flush(out: &mut Option<Outbox>) -> io::Result<()> {
    match out {
        Some(out) if !out.is_empty() => out.flush().await,
        _ => pending().await,
    }
}

async fn until(late: Option<Patience>) {
    match late {
        Some(patience) => sleep_until(patience.part_ends()).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    /// Nobody reads for much longer than last words may take. Time is paused: it passes by itself
    /// while nothing happens.
    async fn nobody_hears(process: &mut Process) {
        let early = timeout(10 * LAST_WORDS.get(), process.next(false)).await;
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
            let Said::Frame(frame) = process.next(true).await else {
                panic!("it has said {word} too");
            };
            assert_eq!(frame.into_bytes().trim_ascii(), word.as_bytes());
            nobody_hears(&mut process).await;
        }
        let Said::Gone(how) = process.next(true).await else {
            panic!("it has said everything");
        };
        assert!(how.contains('7'), "{how}");
        process.close().await;
    }
}
