//! Every way a call is refused: its status, and a body a stranger can act on.
//!
//! This is the only place that knows statuses of errors. Nothing here repeats what a request
//! brought.

use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use midcall_core::{Link, Problem, ValuesError};
use midcall_desk::{Closing, SettleError};
use midcall_store::StoreError;
use serde::Serialize;
use serde_json::{Value, json};

/// Why a call was refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("the body is not JSON (line {line}, column {column})")]
    NotJson { line: usize, column: usize },
    #[error("the body is JSON, but not the object this call takes (line {line}, column {column})")]
    NotThisShape { line: usize, column: usize },
    #[error("the content is not a JSON object (its line {line}, column {column})")]
    NotContent { line: usize, column: usize },
    #[error("the body ended before it was complete")]
    Incomplete,
    #[error("the query takes workspace, conversation and gateways (true or false), each once")]
    Query,
    #[error("a valid bearer or launch token is needed")]
    NoBearer,
    #[error("the Host header does not name this server")]
    ForeignHost,
    #[error("the Origin header must be this server's own page")]
    ForeignOrigin,
    #[error("only a page that a person launched may do this")]
    NotAPerson,
    /// Not there, or somebody else's: nobody can tell which.
    #[error("there is nothing here")]
    NotFound,
    #[error("this path does not take that method")]
    Method,
    #[error("the question is closed")]
    Closed(Closing),
    #[error("at most {0} bytes are taken")]
    TooLarge(usize),
    #[error("the body has to be application/json")]
    MediaType,
    #[error("{} value(s) do not fit the form; the question is still open", .0.len())]
    Unfit(Vec<Problem>),
    #[error("this link is not safe to open; the question is still open")]
    UnsafeLink(Box<Link>),
    #[error("the form of this question cannot be filled; it can be declined")]
    NoForm,
    #[error("too many calls with this bearer: wait a second")]
    TooOften,
    #[error("too many event streams are open")]
    TooManyStreams,
    #[error("too many requests without a bearer are being served: try again in a second")]
    TooManyStrangers,
    #[error("the questions cannot be reached right now")]
    Store,
    #[error("that gateway cannot be reached right now")]
    PeerLost,
}

#[derive(Serialize)]
struct Body {
    error: &'static str,
    message: String,
    #[serde(flatten)]
    closing: Option<Closing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<Value>,
}

impl Refusal {
    fn status(&self) -> (StatusCode, &'static str) {
        match self {
            Self::NotJson { .. }
            | Self::NotThisShape { .. }
            | Self::NotContent { .. }
            | Self::Incomplete
            | Self::Query => (StatusCode::BAD_REQUEST, "bad_request"),
            Self::NoBearer => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::ForeignHost | Self::ForeignOrigin | Self::NotAPerson => {
                (StatusCode::FORBIDDEN, "forbidden")
            }
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::Closed(_) => (StatusCode::CONFLICT, "closed"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Self::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json"),
            Self::Unfit(_) => (StatusCode::UNPROCESSABLE_ENTITY, "unfit"),
            Self::UnsafeLink(_) => (StatusCode::UNPROCESSABLE_ENTITY, "unsafe_link"),
            Self::NoForm => (StatusCode::UNPROCESSABLE_ENTITY, "no_form"),
            Self::TooOften => (StatusCode::TOO_MANY_REQUESTS, "too_often"),
            Self::TooManyStreams | Self::TooManyStrangers | Self::Store | Self::PeerLost => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
        }
    }

    fn problems(&self) -> Option<Value> {
        match self {
            Self::Unfit(problems) => Some(json!(problems)),
            Self::UnsafeLink(link) => {
                let reasons = link.verdict().reasons().iter();
                // The link is the whole of what was asked, so the path is empty.
                let problem = |reason: &midcall_core::link::Reason| json!({"path": "", "key": reason.key(), "params": reason.params()});
                Some(reasons.map(problem).collect())
            }
            _ => None,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, error) = self.status();
        let message = self.to_string();
        let problems = self.problems();
        let extra = match &self {
            Self::NoBearer => Some((WWW_AUTHENTICATE, "Bearer")),
            Self::TooOften
            | Self::TooManyStreams
            | Self::TooManyStrangers
            | Self::Store
            | Self::PeerLost => Some((RETRY_AFTER, "1")),
            _ => None,
        };
        let closing = match self {
            Self::Closed(closing) => Some(closing),
            _ => None,
        };
        let body = Body {
            error,
            message,
            closing,
            problems,
        };
        let mut response = (status, Json(body)).into_response();
        if let Some((name, value)) = extra {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        response
    }
}

impl From<SettleError> for Refusal {
    fn from(error: SettleError) -> Self {
        match error {
            SettleError::NotFound => Self::NotFound,
            SettleError::Closed(closing) => Self::Closed(closing),
            SettleError::Unfit(problems) => Self::Unfit(problems),
            SettleError::Refused(link) => Self::UnsafeLink(link),
            SettleError::Form(_) => Self::NoForm,
            SettleError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "a call could not be served");
        Self::Store
    }
}

impl From<ValuesError> for Refusal {
    fn from(error: ValuesError) -> Self {
        match error {
            ValuesError::TooLong { limit, .. } => Self::TooLarge(limit),
            ValuesError::NotAnObject { line, column } => Self::NotContent { line, column },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_gone_says_nothing_of_itself() {
        let error = StoreError::Unreachable("redis://xyzzy".to_owned());
        let refusal = Refusal::from(SettleError::from(error));
        assert!(!refusal.to_string().contains("xyzzy"));
        let response = refusal.into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[RETRY_AFTER], "1");
    }
}
