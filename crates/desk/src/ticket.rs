//! A question that waits, in the hands of whoever asked it.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use crate::inner::Errand;
use crate::outcome::{Outcome, Unavailable};

/// The name of a ticket: 128 random bits, so that nobody guesses one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TicketId([u8; 16]);

/// An open question: a future of its outcome. Dropping it takes the question back; if a person
/// has answered by then, the answer counts as lost.
#[must_use = "a ticket that is dropped takes its question back"]
pub struct Ticket {
    id: TicketId,
    user: Arc<str>,
    outcome: oneshot::Receiver<Outcome>,
    done: bool,
    errands: mpsc::UnboundedSender<Errand>,
}

impl TicketId {
    pub(crate) fn random() -> Self {
        /// Randomness costs by the call more than by the byte.
        const AT_ONCE: usize = 32;
        thread_local!(static FRESH: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) });
        FRESH.with_borrow_mut(|fresh| {
            if fresh.is_empty() {
                let mut bytes = [0; 16 * AT_ONCE];
                getrandom::fill(&mut bytes).expect("the system has randomness");
                fresh.extend(bytes.as_chunks().0);
            }
            Self(fresh.pop().expect("it was filled above"))
        })
    }
}

impl Ticket {
    pub(crate) fn new(
        id: TicketId,
        (user, outcome): (Arc<str>, oneshot::Receiver<Outcome>),
        errands: mpsc::UnboundedSender<Errand>,
    ) -> Self {
        Self {
            id,
            user,
            outcome,
            done: false,
            errands,
        }
    }

    /// Its name.
    pub fn id(&self) -> TicketId {
        self.id
    }
}

impl Future for Ticket {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let outcome = std::task::ready!(Pin::new(&mut self.outcome).poll(context));
        self.done = true;
        // The desk itself is gone, and with it the way to a person.
        let lost = Outcome::Unavailable(Unavailable::StoreLost);
        Poll::Ready(outcome.unwrap_or(lost))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let outcome = match self.outcome.try_recv() {
            // Another process has taken the ticket over.
            Err(TryRecvError::Closed) => return,
            Err(TryRecvError::Empty) => {
                self.outcome.close(); // What comes from now on, the desk keeps.
                self.outcome.try_recv()
            }
            outcome => outcome,
        };
        let errand = match outcome {
            Ok(Outcome::Answered(..)) => Errand::Untaken(self.user.clone(), self.id),
            _ => Errand::Dropped(self.id),
        };
        // Without a desk there is nothing to take back.
        let _ = self.errands.send(errand);
    }
}

/// An id that the caller chose for [`Desk::ask_as`](crate::Desk::ask_as), so that it can ask the same question again. The
/// bytes must be impossible to guess.
impl From<[u8; 16]> for TicketId {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 22];
        let written = BASE64_URL_SAFE_NO_PAD.encode_slice(self.0, &mut text);
        let length = written.map_err(|_| fmt::Error)?;
        f.write_str(str::from_utf8(&text[..length]).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Not the name of any ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the name of a ticket")]
pub struct NoTicketId;

impl FromStr for TicketId {
    type Err = NoTicketId;

    fn from_str(text: &str) -> Result<Self, NoTicketId> {
        let mut bytes = [0; 18];
        let read = BASE64_URL_SAFE_NO_PAD.decode_slice(text, &mut bytes);
        match read {
            Ok(16) => Ok(Self(bytes[..16].try_into().map_err(|_| NoTicketId)?)),
            _ => Err(NoTicketId),
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({})", self.id)
    }
}
