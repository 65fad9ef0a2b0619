//! What is left of a request when its answer is ready.
//!
//! A server that closes while a client still sends resets the connection, and the client may
//! never see why it was refused. So the rest is read and thrown away, within bounds.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use bytes::Bytes;
use futures_util::StreamExt;
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Bytes that are thrown away before the connection is.
const MOST: usize = 16 * 1024 * 1024;
/// How long they may take.
const TIME: Duration = Duration::from_secs(5);

/// A body that is read to its end, by whoever wants it or else by nobody.
struct Whole(Body);

/// Sees to it that a request is read to its end.
pub fn read_whole(request: Request) -> Request {
    request.map(|body| Body::new(Whole(body)))
}

impl HttpBody for Whole {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        // Without a runtime the connection is gone as well.
        if !self.0.is_end_stream()
            && let Ok(runtime) = Handle::try_current()
        {
            let rest = mem::take(&mut self.0);
            runtime.spawn(timeout(TIME, throw_away(rest)));
        }
    }
}

async fn throw_away(rest: Body) {
    let mut chunks = rest.into_data_stream();
    let mut bytes = 0;
    while let Some(Ok(chunk)) = chunks.next().await {
        bytes += chunk.len();
        if bytes > MOST {
            return;
        }
    }
}
