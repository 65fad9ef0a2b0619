//! Bodies: what is sent, so that it is known when it is gone, and what comes whole, with an end.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};
use reqwest::Response;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::target::chain;

/// Why what a server sends is of no use any more.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("the connection broke ({0})")]
    Cut(String),
    #[error("a message is longer than --max-message allows")]
    TooLong,
    #[error("it does not send events, though it says so")]
    Garbage,
}

/// How much waits to be sent.
#[derive(Clone, Default)]
pub struct Waiting(Arc<Amounts>);

#[derive(Default)]
struct Amounts {
    all: AtomicUsize,
    answers: AtomicUsize,
    less: Notify,
}

/// What waits.
#[derive(Clone, Copy, PartialEq)]
pub enum What {
    /// Something that the client says.
    Said,
    /// An answer to what the server asked.
    Answer,
}

impl Waiting {
    pub fn bytes(&self) -> usize {
        self.0.all.load(Ordering::Relaxed)
    }

    /// Of these, the answers to what the server asked.
    pub fn answers(&self) -> usize {
        self.0.answers.load(Ordering::Relaxed)
    }

    /// Done when it has become less since this was last waited for.
    pub async fn less(&self) {
        self.0.less.notified().await;
    }

    /// So much more, until it has left.
    pub fn add(&self, bytes: usize, what: What) -> Arc<Load> {
        let answers = if what == What::Answer { bytes } else { 0 };
        self.0.all.fetch_add(bytes, Ordering::Relaxed);
        self.0.answers.fetch_add(answers, Ordering::Relaxed);
        Arc::new(Load {
            waiting: self.0.clone(),
            bytes,
            answers,
            has_left: AtomicBool::new(false),
            sent: CancellationToken::new(),
        })
    }
}

/// A message's part in what waits.
pub struct Load {
    waiting: Arc<Amounts>,
    bytes: usize,
    answers: usize,
    has_left: AtomicBool,
    sent: CancellationToken,
}

impl Load {
    /// Done once the message has left, or never will.
    pub fn sent(&self) -> CancellationToken {
        self.sent.clone()
    }

    fn leave(&self) {
        if !self.has_left.swap(true, Ordering::Relaxed) {
            self.waiting.all.fetch_sub(self.bytes, Ordering::Relaxed);
            (self.waiting.answers).fetch_sub(self.answers, Ordering::Relaxed);
            self.waiting.less.notify_one();
            self.sent.cancel();
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A message on its way: one try to send it.
pub struct Parcel {
    pub bytes: Option<Bytes>,
    pub load: Arc<Load>,
}

impl Body for Parcel {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.bytes.take();
        self.load.leave();
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, Bytes::len) as u64)
    }
}

/// Reads a body that is one message.
pub async fn whole(mut response: Response, most: usize) -> Result<Bytes, Broken> {
    let said = response.content_length().unwrap_or(0);
    if said > most as u64 {
        return Err(Broken::TooLong);
    }
    let mut read = BytesMut::new();
    loop {
        let piece = response.chunk().await;
        let Some(piece) = piece.map_err(|error| Broken::Cut(chain(&error)))? else {
            return Ok(read.freeze());
        };
        read.extend_from_slice(&piece);
        if read.len() > most {
            return Err(Broken::TooLong);
        }
    }
}

/// How long the beginning of a body may take to come.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads a body until it ends, breaks, takes too long, or has at least `enough` bytes.
pub async fn beginning(mut response: Response, enough: usize) -> Bytes {
    let mut read = BytesMut::new();
    let reading = async {
        while read.len() < enough
            && let Ok(Some(piece)) = response.chunk().await
        {
            read.extend_from_slice(&piece);
        }
    };
    let _ = timeout(PATIENCE, reading).await; // What came so far has to do.
    read.freeze()
}
