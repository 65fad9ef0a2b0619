//! The response to a POST or a GET: JSON if the answer comes first and soon, else events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream::unfold;
use midcall_core::wire::code;
use tokio::time::timeout;

use super::headers::Accepts;
use super::open_request::Nth;
use super::reading::Reading;
use super::stream::Event;
use crate::awake::within;
use crate::frame::Frame;
use crate::times::KEEP_ALIVE;

/// How a client wants its answer.
#[derive(Clone, Copy)]
pub struct Manner {
    pub accepts: Accepts,
    /// Whether it may come back to a stream that was cut.
    pub resumes: bool,
    /// Whether it is told where to come back to before anything else.
    pub primed: bool,
    /// How long the answer may take to be sent by itself.
    pub soon: Duration,
    /// Whether errors are told by the status, too.
    pub statuses: bool,
    /// Whether more than one answer comes.
    pub is_batch: bool,
}

/// Answers a message that wants answers.
pub async fn answer(mut reading: Reading, manner: Manner) -> Response {
    if manner.is_batch || !manner.accepts.json {
        return events(reading, None, manner);
    }
    let first = loop {
        let first = match manner.accepts.events {
            true => match within(manner.soon, reading.next()).await {
                Ok(first) => first,
                Err(_) => break None,
            },
            false => reading.next().await,
        };
        match first {
            Some(event) if event.is_answer => {
                reading.done();
                return json(&event, manner.statuses);
            }
            Some(event) if manner.accepts.events => break Some(event),
            Some(_) => {} // It does not take events.
            None => break None,
        }
    };
    events(reading, first, manner)
}

fn json(event: &Event, statuses: bool) -> Response {
    let status = match statuses {
        true => status(&event.data),
        false => StatusCode::OK,
    };
    let kind = [(CONTENT_TYPE, "application/json")];
    (status, kind, event.data.clone()).into_response()
}

/// The status of an answer in the modern era.
fn status(answer: &Bytes) -> StatusCode {
    let frame = Frame::new(answer.clone());
    match frame.peek().and_then(|(_, members)| members.error_code()) {
        Some(code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION,
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Events until there are no more.
pub fn events(reading: Reading, first: Option<Event>, manner: Manner) -> Response {
    let nth = manner.resumes.then_some(reading.nth);
    let mut start = BytesMut::new();
    if let Some(nth) = nth.filter(|_| manner.primed) {
        start.put(&*format!("id: {}\ndata:\n\n", event_id(nth, 0)).into_bytes());
    }
    if let Some(first) = first {
        write(&mut start, nth, &first);
    }
    let start = (!start.is_empty()).then(|| start.freeze());
    let chunks = unfold((reading, start), move |(mut reading, start)| async move {
        let chunk = match start {
            Some(start) => start,
            None => match timeout(KEEP_ALIVE.get(), reading.next()).await {
                Ok(Some(event)) => {
                    let mut chunk = BytesMut::with_capacity(event.data.len() + 64);
                    write(&mut chunk, nth, &event);
                    chunk.freeze()
                }
                Ok(None) => return None,
                Err(_) => Bytes::from_static(b":\n\n"),
            },
        };
        Some((Ok::<_, Infallible>(chunk), (reading, None)))
    });
    let mut response = Body::from_stream(chunks).into_response();
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(CONTENT_TYPE, kind);
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    headers.insert(unbuffered, HeaderValue::from_static("no"));
    response
}

fn write(to: &mut BytesMut, nth: Option<Nth>, event: &Event) {
    if let Some(nth) = nth {
        to.put(&*format!("id: {}\n", event_id(nth, event.nth)).into_bytes());
    }
    to.put_slice(b"event: message\ndata: ");
    to.put_slice(&event.data);
    to.put_slice(b"\n\n");
}

/// An event's name: its stream, and its place there.
fn event_id(stream: Nth, event: u64) -> String {
    format!("{stream}-{event}")
}

/// What an event's name says.
pub fn read_event_id(id: &str) -> Option<(Nth, u64)> {
    let (stream, event) = id.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}
