//! The events of a response, with an end to how long one may be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::Response;
use sse_stream::SseByteStream;

use super::body::Broken;
use super::target::chain;
use crate::frame::Frame;

/// What a server sends as events.
pub struct Events {
    stream: BoxStream<'static, Result<sse_stream::Sse, sse_stream::Error>>,
    /// How much came since the last whole event.
    since: Arc<AtomicUsize>,
}

/// One of them.
pub struct Event {
    /// Where to go on from, if the stream breaks after it.
    pub id: Option<String>,
    /// How long to wait before going on.
    pub retry: Option<Duration>,
    /// The message, if it has one.
    pub message: Option<Frame>,
}

/// How much an event may hold beside its message.
const BESIDE: usize = 4 * 1024;

impl Events {
    /// Events with messages of at most so many bytes.
    pub fn new(response: Response, most: usize) -> Self {
        let since = Arc::new(AtomicUsize::new(0));
        let counted = since.clone();
        let pieces = stream::try_unfold(response, move |mut response| {
            let counted = counted.clone();
            async move {
                let piece = response.chunk().await;
                let Some(piece) = piece.map_err(|error| Broken::Cut(chain(&error)))? else {
                    return Ok(None);
                };
                // What stood in the same piece before it counts too, so a piece is let go.
                let before = counted.fetch_add(piece.len(), Ordering::Relaxed);
                if before > most + BESIDE {
                    return Err(Broken::TooLong);
                }
                Ok(Some((piece, response)))
            }
        });
        Self {
            stream: SseByteStream::new(Box::pin(pieces)).boxed(),
            since,
        }
    }

    /// The next event; none at the end of the stream.
    pub async fn next(&mut self) -> Result<Option<Event>, Broken> {
        let event = match self.stream.next().await {
            None => return Ok(None),
            Some(Ok(event)) => event,
            Some(Err(sse_stream::Error::Body(error))) => {
                return Err(match error.downcast::<Broken>() {
                    Ok(broken) => *broken,
                    Err(error) => Broken::Cut(error.to_string()),
                });
            }
            Some(Err(_)) => return Err(Broken::Garbage),
        };
        self.since.store(0, Ordering::Relaxed);
        let is_message = (event.event.as_deref()).is_none_or(|kind| kind == "message");
        let data = event.data.filter(|data| is_message && !data.is_empty());
        Ok(Some(Event {
            id: event.id.filter(|id| !id.is_empty()),
            retry: event.retry.map(Duration::from_millis),
            message: data.map(|data| line(data.into())),
        }))
    }
}

/// A message as one line. In JSON, ends of lines only ever stand where a space may.
pub fn line(message: Bytes) -> Frame {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    if !message.iter().any(is_end) {
        return Frame::new(message);
    }
    let flat = |byte: &u8| if is_end(byte) { b' ' } else { *byte };
    Frame::new(message.iter().map(flat).collect::<Vec<u8>>().into())
}
