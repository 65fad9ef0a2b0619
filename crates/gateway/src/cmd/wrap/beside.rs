//! A second process of the server, spoken to in another era than the first.

use std::ffi::OsString;
use std::future::pending;
use std::io;

use crate::frame::Frame;
use crate::session::Event;
use crate::transport::child::{Child, StartError};
use crate::transport::{Line, Lines, Outbox};

/// Its pipes. It ends with the first one, and when it ends by itself it is gone.
pub struct Beside {
    child: Child,
    lines: Lines,
    out: Outbox,
}

impl Beside {
    pub fn start(command: &[OsString], most: usize) -> Result<Self, StartError> {
        let (child, output, input) = Child::start(command)?;
        Ok(Self {
            child,
            lines: Lines::new(output, most),
            out: Outbox::new(input),
        })
    }

    pub fn send(&mut self, frame: Frame) {
        self.out.answer(frame.into_bytes());
        let _ = self.out.hurry(); // An error is seen when it is waited for.
    }

    /// Whether it has enough to read.
    pub fn is_full(&self) -> bool {
        self.out.is_full()
    }

    /// What happens next in it, if it is there.
    pub async fn next(beside: &mut Option<Self>) -> Option<Event> {
        let Some(beside) = beside else {
            return pending().await;
        };
        tokio::select! {
            line = beside.lines.next() => Some(match line {
                Ok(Line::Whole(line)) => Event::Beside(Frame::new(line)),
                Ok(Line::TooLong | Line::End) | Err(_) => Event::BesideGone,
            }),
            written = flush(&mut beside.out) => match written {
                Ok(()) => None,
                Err(_) => Some(Event::BesideGone),
            },
        }
    }

    pub async fn end(self) {
        drop((self.lines, self.out)); // Its input is closed.
        self.child.clear().await;
    }
}

async fn flush(out: &mut Outbox) -> io::Result<()> {
    if out.is_empty() {
        return pending().await;
    }
    out.flush().await
}
