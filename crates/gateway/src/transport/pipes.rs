//! Two pipes to one peer: the lines it writes, and the lines it reads.

use std::future::pending;
use std::io;

use super::server::Received;
use super::{Instead, Line, Lines, Outbox, Reading, Writing};
use crate::frame::Frame;

/// An end of a session on two pipes. A pipe that is closed is dropped.
pub struct Pipes {
    lines: Option<Lines>,
    out: Option<Outbox>,
    /// What the peer is called in errors: "client" or "server".
    peer: &'static str,
}

impl Pipes {
    /// Takes messages of at most `most` bytes.
    pub fn new(from: Reading, to: Writing, most: usize, peer: &'static str) -> Self {
        Self {
            lines: Some(Lines::new(from, most)),
            out: Some(Outbox::new(to)),
            peer,
        }
    }

    /// Adds a message to the outbox. `is_own` marks a message that the peer caused Midcall to write.
    pub fn send(&mut self, frame: Frame, is_own: bool) {
        if let Some(out) = &mut self.out {
            out.add(frame.into_bytes(), is_own);
        }
    }

    /// Writes what the peer takes at once.
    pub fn hurry(&mut self) {
        if let Some(out) = &mut self.out {
            let _ = out.hurry(); // `next` waits for the rest, and sees the error.
        }
    }

    /// True while enough messages wait for the peer to read them.
    pub fn is_full(&self) -> bool {
        self.out.as_ref().is_some_and(Outbox::is_full)
    }

    /// True while the peer causes more of Midcall's own messages than it reads.
    pub fn is_flooded(&self) -> bool {
        self.out.as_ref().is_some_and(Outbox::is_flooded)
    }

    /// True until the peer has closed its output.
    pub fn is_readable(&self) -> bool {
        self.lines.is_some()
    }

    /// True while both pipes are open.
    pub fn is_whole(&self) -> bool {
        self.lines.is_some() && self.out.is_some()
    }

    /// Waits for the next message, which is read only if `hears` is true. What was sent gets out either way. Nothing is
    /// lost if the caller stops waiting. `Gone` means that one of the two pipes was closed.
    pub async fn next(&mut self, hears: bool) -> Received {
        tokio::select! {
            line = next_line(&mut self.lines), if hears => match line {
                Ok(Line::Whole(line)) => Received::Frame(Frame::new(line)),
                Ok(Line::TooLong(message)) => match message.instead(self.peer) {
                    Instead::Read(frame) => Received::Frame(frame),
                    Instead::Refuse(error) => {
                        self.send(error, true);
                        Received::Nothing
                    }
                    Instead::Nothing => Received::Nothing,
                },
                Ok(Line::Endless) => {
                    self.lines = None;
                    Received::Endless
                }
                Ok(Line::End) | Err(_) => {
                    self.lines = None;
                    Received::Gone
                }
            },
            written = flush(&mut self.out) => match written {
                Ok(()) => Received::Nothing,
                Err(_) => {
                    self.out = None;
                    Received::Gone
                }
            },
        }
    }

    /// Closes the peer's input once the peer has all that was sent.
    pub fn finish(&mut self) {
        self.out.take_if(|out| out.is_empty());
    }

    /// Closes the peer's input once the peer has all that was sent, and waits for that.
    pub async fn close(&mut self) {
        while let Some(out) = &mut self.out {
            if out.is_empty() || out.flush().await.is_err() {
                break;
            }
        }
        if let Some(out) = self.out.take() {
            out.close().await;
        }
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
