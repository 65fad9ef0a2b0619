//! Streamable HTTP, as a server speaks it: one endpoint for clients of both eras.
//!
//! A POST is read (`message`), and taken to the session it belongs to (`endpoint`), where the
//! session's task hears it (`inbox`). What comes back is put on the stream it belongs to
//! (`streams`, `stream`), and read from there by the response (`reply`). Whatever is refused is
//! refused by `fault`.
//!
//! In: [`routes`]. Out: [`Inbox`]s, which [`Endpoint`] gives to whoever attends to them.

mod endpoint;
mod fault;
mod headers;
mod inbox;
mod message;
mod open_request;
mod params;
mod person;
mod reading;
mod reply;
#[cfg(test)]
mod stories;
mod stream;
mod streams;
mod words;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use midcall_core::Scope;
use midcall_core::wire::Revision;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use crate::call::{Name, NameUse};
use crate::frame::{Frame, Id, Kind};
use crate::http::{Whence, principal};
use crate::times::{JSON, JSON_MODERN};
use fault::Fault;
use headers::{Accepts, only};
use message::{Message, Modern, legacy_revision, purpose};
use open_request::Purpose;
use person::Found;
use reply::{Manner, read_event_id};
use streams::{BY_GET, OpenError};

use endpoint::locked;
pub use endpoint::{Attend, Bounds, Endpoint};
pub use inbox::{ClientEvent, Inbox};
use reading::Reading;

const SESSION: &str = "mcp-session-id";

/// How long a client may take over a message.
const BODY_TIME: Duration = Duration::from_secs(30);

/// An endpoint at its path.
pub fn routes<S: Clone + Send + Sync + 'static>(path: &str, endpoint: Arc<Endpoint>) -> Router<S> {
    Router::new().route(
        path,
        any(async move |request: Request| {
            let (parts, body) = request.into_parts();
            let answered = answer(&endpoint, parts, body).await;
            answered.unwrap_or_else(|(id, fault)| fault.respond(id.as_ref()))
        }),
    )
}

/// What is wrong, and with which request.
type Wrong = (Option<Id>, Fault);

async fn answer(endpoint: &Arc<Endpoint>, parts: Parts, body: Body) -> Result<Response, Wrong> {
    let (whom, parts) = resolve(parts).await.map_err(unnamed)?;
    match parts.method {
        Method::POST => post(endpoint, &whom, &parts.headers, body).await,
        Method::GET => get(endpoint, &whom, &parts.headers).map_err(unnamed),
        Method::DELETE => delete(endpoint, &whom, &parts.headers).map_err(unnamed),
        _ => Err(unnamed(Fault::Method)),
    }
}

/// Tenancy request it is. In local mode everybody who gets here is the one who started us; pages
/// of others do not get here.
async fn resolve(mut parts: Parts) -> Result<(Scope, Parts), Fault> {
    let whence = Whence::from_request_parts(&mut parts, &()).await;
    match whence.is_ok_and(|whence| whence.is_ours) {
        true => Ok((principal(), parts)),
        false => Err(Fault::ForeignOrigin),
    }
}

fn unnamed(fault: Fault) -> Wrong {
    (None, fault)
}

async fn post(
    endpoint: &Arc<Endpoint>,
    whom: &Scope,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Wrong> {
    let accepts = Accepts::read(headers);
    if !accepts.json && !accepts.events {
        let kinds = "application/json and text/event-stream";
        return Err(unnamed(Fault::NotAcceptable(kinds)));
    }
    if !is_json(headers) {
        return Err(unnamed(Fault::MediaType));
    }
    let frame = read(endpoint, body).await.map_err(unnamed)?;
    match Message::read(&frame, headers)? {
        Message::Modern(modern) => {
            let id = request_id(&frame);
            let call = call_modern(endpoint, whom, headers, &frame, modern, accepts);
            call.await.map_err(|fault| (id, fault))
        }
        Message::Idle => Ok(StatusCode::ACCEPTED.into_response()),
        Message::Opening => {
            let id = request_id(&frame);
            let opening = open(endpoint, whom, &frame, accepts).await;
            opening.map_err(|fault| (id, fault))
        }
        Message::Requests => {
            let id = request_id(&frame);
            let call = call(endpoint, whom, headers, &frame, accepts).await;
            call.map_err(|fault| (id, fault))
        }
        Message::Tells(what) => {
            legacy_revision(headers).map_err(unnamed)?;
            let clients = session(endpoint, whom, headers).map_err(unnamed)?;
            clients.tell(frame, &what).await;
            Ok(StatusCode::ACCEPTED.into_response())
        }
    }
}

/// A request of a client that has no session.
async fn call_modern(
    endpoint: &Arc<Endpoint>,
    whom: &Scope,
    headers: &HeaderMap,
    frame: &Frame,
    modern: Modern,
    accepts: Accepts,
) -> Result<Response, Fault> {
    let person = endpoint.person(whom);
    if let Some(tool) = &modern.tool {
        let params = locked(&person.params);
        if params.has(tool)
            && let Some(wrong) = params.mismatch(tool, &arguments(frame), headers)
        {
            return Err(Fault::Mismatch(wrong));
        }
    }
    let purpose = |method: &str| purpose(method, modern.is_loud, accepts.events);
    // What it declares and who it says it is may have changed: the state alone says whose call it is.
    let name = modern
        .state
        .as_ref()
        .and_then(Value::as_str)
        .and_then(Name::of_ours);
    let found = name.map(|name| person.find(name, NameUse::State));
    let retried = |method: &str| Purpose {
        is_guest: true,
        ..purpose(method)
    };
    let reading = match (found, person.host(frame)) {
        (Some(Found::Here(clients)), _) => unless_closed(clients.call(frame, retried).await)?,
        (_, Some(host)) => unless_closed(host.call_as_guest(frame, true).await)?,
        (Some(Found::Nowhere) | None, None) => None,
    };
    let reading = match reading {
        Some(reading) => reading,
        None => {
            // What may bring an answer is let in to the end.
            if !modern.comes_back() {
                endpoint.takes_new()?;
            }
            let clients = endpoint.shared(whom, modern.client)?;
            clients.call(frame, purpose).await?
        }
    };
    let manner = Manner {
        accepts,
        resumes: false,
        primed: false,
        soon: JSON_MODERN.get(),
        statuses: true,
        is_batch: false,
    };
    Ok(reply::answer(reading, manner).await)
}

/// Opens a session. One whose opening nobody waits for is ended: nobody knows its id.
async fn open(
    endpoint: &Arc<Endpoint>,
    whom: &Scope,
    frame: &Frame,
    accepts: Accepts,
) -> Result<Response, Fault> {
    let (id, clients) = endpoint.open(whom)?;
    let unknown = Unknown(Some(clients.clone()));
    let purpose = |method: &str| purpose(method, false, accepts.events);
    let reading = clients.call(frame, purpose).await?;
    let mut response = reply::answer(reading, Manner::legacy(accepts)).await;
    unknown.known();
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(SESSION, id);
    }
    Ok(response)
}

/// A request in a session.
async fn call(
    endpoint: &Arc<Endpoint>,
    whom: &Scope,
    headers: &HeaderMap,
    frame: &Frame,
    accepts: Accepts,
) -> Result<Response, Fault> {
    let revision = legacy_revision(headers)?;
    let clients = session(endpoint, whom, headers)?;
    let is_batch = matches!(frame.peek(), Some((Kind::Batch, _)));
    if is_batch && !accepts.events {
        return Err(Fault::NotAcceptable("text/event-stream for a batch"));
    }
    // The session is open: another opening that fails does it no harm.
    let purpose = |method: &str| Purpose {
        opens: false,
        ..purpose(method, false, accepts.events)
    };
    let visits = match endpoint.person(whom).host(frame) {
        Some(host) if !Arc::ptr_eq(&host, &clients) => {
            unless_closed(clients.call_at(&host, frame, purpose).await)?
        }
        Some(_) => None,
        None => {
            endpoint.takes_new()?;
            None
        }
    };
    let reading = match visits {
        Some(reading) => reading,
        None => clients.call(frame, purpose).await?,
    };
    let manner = Manner {
        primed: is_primed(revision),
        is_batch,
        ..Manner::legacy(accepts)
    };
    Ok(reply::answer(reading, manner).await)
}

/// What a session does with a request that came with a name it gave out; none if the session is over by now.
fn unless_closed(reading: Result<Reading, OpenError>) -> Result<Option<Reading>, OpenError> {
    match reading {
        Err(OpenError::Closed(_)) => Ok(None),
        reading => reading.map(Some),
    }
}

/// The stream for what belongs to no request, or the rest of one that was cut.
fn get(endpoint: &Endpoint, whom: &Scope, headers: &HeaderMap) -> Result<Response, Fault> {
    let revision = of_a_session(headers)?;
    let accepts = Accepts::read(headers);
    if !accepts.events {
        return Err(Fault::NotAcceptable("text/event-stream"));
    }
    let clients = session(endpoint, whom, headers)?;
    let manner = Manner::legacy(accepts);
    let Some(last) = headers.get("last-event-id") else {
        let reading = clients.read(BY_GET).ok_or(Fault::StreamOpen)?;
        let primed = is_primed(revision);
        return Ok(reply::events(reading, None, Manner { primed, ..manner }));
    };
    let last = last.to_str().ok().and_then(read_event_id);
    let (stream, event) = last.ok_or(Fault::UnknownEvent)?;
    let reading = clients
        .read_after(stream, event)
        .ok_or(Fault::UnknownEvent)?;
    Ok(reply::events(reading, None, manner))
}

/// Ends a session.
fn delete(endpoint: &Endpoint, whom: &Scope, headers: &HeaderMap) -> Result<Response, Fault> {
    of_a_session(headers)?;
    session(endpoint, whom, headers)?.leave();
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Only clients with sessions send anything but POST.
fn of_a_session(headers: &HeaderMap) -> Result<Option<Revision>, Fault> {
    match only(headers, message::VERSION) {
        Some(said) if said == Revision::V2026_07_28.as_str() => Err(Fault::Method),
        _ => legacy_revision(headers),
    }
}

fn session(
    endpoint: &Endpoint,
    whom: &Scope,
    headers: &HeaderMap,
) -> Result<Arc<inbox::Clients>, Fault> {
    let id = only(headers, SESSION).ok_or(Fault::NoSession)?;
    endpoint.session(whom, id)
}

impl Manner {
    fn legacy(accepts: Accepts) -> Self {
        Self {
            accepts,
            resumes: true,
            primed: false,
            soon: JSON.get(),
            statuses: false,
            is_batch: false,
        }
    }
}

/// Clients of earlier revisions do not take events without a message.
fn is_primed(revision: Option<Revision>) -> bool {
    revision == Some(Revision::V2025_11_25)
}

/// A session that nobody knows yet.
struct Unknown(Option<Arc<inbox::Clients>>);

impl Unknown {
    fn known(mut self) {
        self.0 = None;
    }
}

impl Drop for Unknown {
    fn drop(&mut self) {
        if let Some(clients) = &self.0 {
            clients.leave();
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim_ascii();
    kind.eq_ignore_ascii_case("application/json")
}

/// The message of a body, on one line.
async fn read(endpoint: &Endpoint, body: Body) -> Result<Frame, Fault> {
    let reading = timeout(BODY_TIME, read_bytes(endpoint, body)).await;
    let bytes = reading.map_err(|_| Fault::Incomplete)??;
    str::from_utf8(&bytes).map_err(|_| Fault::NotText)?;
    Ok(Frame::new(words::flat(&Frame::new(bytes))))
}

async fn read_bytes(endpoint: &Endpoint, body: Body) -> Result<Bytes, Fault> {
    let most = endpoint.bounds.message;
    let mut chunks = body.into_data_stream();
    let mut bytes = BytesMut::new();
    let mut room = endpoint.room_for(0)?;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Fault::Incomplete)?;
        if bytes.len() + chunk.len() > most {
            return Err(Fault::TooLarge(most));
        }
        room.merge(endpoint.room_for(chunk.len())?);
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

fn request_id(frame: &Frame) -> Option<Id> {
    match frame.peek() {
        Some((Kind::Request { id, .. }, _)) => Some(id),
        _ => None,
    }
}

fn arguments(frame: &Frame) -> Value {
    #[derive(Deserialize)]
    struct Params {
        #[serde(default)]
        arguments: Value,
    }
    let params = frame.peek().and_then(|(_, members)| members.params);
    let params = params.and_then(|params| serde_json::from_slice::<Params>(params).ok());
    params.map(|params| params.arguments).unwrap_or_default()
}
