//! Reading what a call brings, without ever repeating it in an error.

use std::time::Duration;

use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use midcall_core::Limits;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;
use tokio::time::timeout;

use super::refusal::Refusal;

/// A JSON body. No body at all is an empty object.
pub struct Body<T>(pub T);

/// The name in the path. What cannot be read is not there, like any other that is not.
pub struct Name(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(name)| Self(name))
            .map_err(|_| Refusal::NotFound)
    }
}

/// How long a client may take over a body.
const TIME: Duration = Duration::from_secs(30);

/// Bytes of a body: the largest content, and the object around it.
pub fn most_bytes() -> usize {
    Limits::default().content_bytes + 4 * 1024
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let is_json = is_json(request.headers());
        let reading = timeout(TIME, Bytes::from_request(request, state)).await;
        let bytes = reading.map_err(|_| Refusal::Incomplete)?.map_err(unread)?;
        if bytes.is_empty() {
            return read(b"{}").map(Self);
        }
        if !is_json {
            return Err(Refusal::MediaType);
        }
        read(&bytes).map(Self)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok()?.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn unread(rejection: BytesRejection) -> Refusal {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::TooLarge(most_bytes()),
        _ => Refusal::Incomplete,
    }
}

/// What serde says may quote the value it met, so only the position is told.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    // Serde would take an array for a struct, member by member.
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if !is_object && serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        return Err(Refusal::NotThisShape { line: 1, column: 1 });
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        match error.classify() {
            Category::Data => Refusal::NotThisShape { line, column },
            _ => Refusal::NotJson { line, column },
        }
    })
}
