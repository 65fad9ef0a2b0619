//! Every way a message is refused before a session hears it: its status, and a JSON-RPC error.

use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use midcall_core::wire::code;
use serde_json::{Value, json};

use super::streams::OpenError;
use crate::frame::{Frame, Id, Wrong};

/// Why a message is refused.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("the body is not a JSON-RPC message")]
    NotAMessage,
    #[error("the body is not JSON text")]
    NotText,
    #[error("the body has to be application/json")]
    MediaType,
    #[error("the body ended before it was complete, or took too long")]
    Incomplete,
    #[error("at most {0} bytes are taken")]
    TooLarge(usize),
    #[error("the client has to accept {0}")]
    NotAcceptable(&'static str),
    #[error("the header Mcp-Session-Id is missing, or there twice")]
    NoSession,
    /// It ended, never was, or is somebody else's: nobody can tell which.
    #[error("there is no such session: open a new one with initialize")]
    UnknownSession,
    #[error("this revision has no such method")]
    NoSuchMethod,
    #[error("an event stream of this session is open")]
    StreamOpen,
    #[error("Last-Event-ID names no event that is kept")]
    UnknownEvent,
    #[error("this endpoint does not take that method in this revision")]
    Method,
    #[error("the revision in MCP-Protocol-Version is not spoken here")]
    UnknownRevision,
    #[error("{0}")]
    Mismatch(String),
    #[error("{0}")]
    Envelope(&'static str),
    #[error("{0}")]
    Invalid(&'static str),
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("a request with this id is open")]
    IdInUse,
    #[error("too much is open here: try again later")]
    TooMany,
    #[error("{0}")]
    Gone(String),
    #[error("the gateway is ending: try again later")]
    Ending,
    #[error("pages of other origins may not do this")]
    ForeignOrigin,
    /// Entry already in the words of the protocol.
    #[error("the revision of the message is not spoken here")]
    Said(Frame),
}

/// What the SDKs say of a session that they do not know.
const SESSION_NOT_FOUND: i64 = -32001;

impl Fault {
    fn status(&self) -> (StatusCode, i64) {
        match self {
            Self::NotText => (StatusCode::BAD_REQUEST, code::PARSE_ERROR),
            Self::NotAMessage
            | Self::Incomplete
            | Self::NoSession
            | Self::UnknownEvent
            | Self::UnknownRevision
            | Self::Invalid(_)
            | Self::Wrong(_)
            | Self::IdInUse => (StatusCode::BAD_REQUEST, code::INVALID_REQUEST),
            Self::Envelope(_) => (StatusCode::BAD_REQUEST, code::INVALID_PARAMS),
            Self::Mismatch(_) => (StatusCode::BAD_REQUEST, code::HEADER_MISMATCH),
            Self::Said(_) => (StatusCode::BAD_REQUEST, code::UNSUPPORTED_VERSION),
            Self::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, code::INVALID_REQUEST),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, code::INVALID_REQUEST),
            Self::NotAcceptable(_) => (StatusCode::NOT_ACCEPTABLE, code::INVALID_REQUEST),
            Self::UnknownSession => (StatusCode::NOT_FOUND, SESSION_NOT_FOUND),
            Self::NoSuchMethod => (StatusCode::NOT_FOUND, code::METHOD_NOT_FOUND),
            Self::StreamOpen => (StatusCode::CONFLICT, code::INVALID_REQUEST),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, code::INVALID_REQUEST),
            Self::ForeignOrigin => (StatusCode::FORBIDDEN, code::INVALID_REQUEST),
            Self::TooMany | Self::Ending => (StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL_ERROR),
            Self::Gone(_) => (StatusCode::BAD_GATEWAY, code::INTERNAL_ERROR),
        }
    }

    /// The response, to the request of an id if there is one.
    pub fn respond(self, id: Option<&Id>) -> Response {
        let (status, code) = self.status();
        let body = match &self {
            Self::Said(frame) => frame.clone(),
            _ => {
                let error = json!({"code": code, "message": format!("midcall: {self}")});
                let frame =
                    Frame::write(&json!({"jsonrpc": "2.0", "id": Value::Null, "error": error}));
                let id = id.map_or("null", Id::as_json);
                frame.with(&["id"], id).unwrap_or(frame)
            }
        };
        let kind = [(CONTENT_TYPE, "application/json")];
        let mut response = (status, kind, body.into_bytes()).into_response();
        let headers = response.headers_mut();
        match &self {
            Self::TooMany | Self::Ending => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::Method => {
                headers.insert(ALLOW, HeaderValue::from_static("POST"));
            }
            _ => {}
        }
        response
    }
}

impl From<OpenError> for Fault {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::IdInUse => Self::IdInUse,
            OpenError::TooMany => Self::TooMany,
            OpenError::Closed(why) => Self::Gone(why),
        }
    }
}
