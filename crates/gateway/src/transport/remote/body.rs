//! Bodies: what is sent, so that it is known when it is gone, and what comes whole, with an end.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};
use reqwest::Response;
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
pub struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// So much more, until it has left.
    pub fn add(&self, bytes: usize) -> Arc<Load> {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Arc::new(Load {
            waiting: self.0.clone(),
            bytes,
            has_left: AtomicBool::new(false),
            sent: CancellationToken::new(),
        })
    }
}

/// A message's part in what waits.
pub struct Load {
    waiting: Arc<AtomicUsize>,
    bytes: usize,
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
            self.waiting.fetch_sub(self.bytes, Ordering::Relaxed);
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
