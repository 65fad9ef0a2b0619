//! What became of a request that HTTP did not carry through, as its JSON-RPC answer.

use midcall_core::wire::code;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::events::line;
use super::target::Target;
use super::wire::Refusal;
use crate::frame::{Frame, Id, Kind};

/// What some servers say of a session that they do not know.
const SESSION_NOT_FOUND: i64 = -32001;

impl Refusal {
    /// The answer to a request that was refused: what the server said, if it did, else a
    /// sentence that somebody can act on.
    pub fn answer(&self, id: &Id, target: &Target) -> Frame {
        if !self.is_ours()
            && let Some(error) = self.error()
        {
            let id = id.as_json();
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
            return Frame::new(answer.into());
        }
        Frame::error(Some(id), code::INTERNAL_ERROR, &self.words(target))
    }

    /// Whether the words are ours, not the server's own.
    pub fn is_ours(&self) -> bool {
        self.wants_login() || self.error().is_none()
    }

    /// In words.
    pub fn words(&self, target: &Target) -> String {
        match self {
            Self::Unreached(why) => {
                let hint = match why.contains("certificate") {
                    true => ". If it is yours, --ca FILE says whom to trust",
                    false => "",
                };
                format!(
                    "the server at {} was not reached: {why}{hint}",
                    target.host()
                )
            }
            Self::HungUp(why) => format!(
                "the server hung up before it answered: {why}. Whether it did what was asked is \
                 not known"
            ),
            Self::Moved(to) => format!(
                "the server sends this request on to {to}, which is not followed: use that \
                 address if you trust it"
            ),
            Self::Status {
                status, challenge, ..
            } if self.wants_login() => login(*status, challenge.as_deref(), target),
            Self::Status { status, .. } if *status == StatusCode::NOT_FOUND => {
                "the server answered HTTP 404 Not Found: there is no MCP endpoint at this address"
                    .to_owned()
            }
            Self::Status { status, .. } if *status == StatusCode::METHOD_NOT_ALLOWED => format!(
                "the server answered HTTP {status}: it may speak the HTTP with SSE of 2024-11-05 \
                 only, which Midcall does not"
            ),
            Self::Status { status, .. } => format!("the server answered HTTP {status}"),
        }
    }

    /// The code of the JSON-RPC error, if there is one.
    pub fn code(&self) -> Option<i64> {
        #[derive(Deserialize)]
        struct RpcError {
            code: i64,
        }
        serde_json::from_str::<RpcError>(self.error()?)
            .ok()
            .map(|error| error.code)
    }

    /// Whether the server does not know the session that the request was for. Its revision says
    /// 404; the servers in the SDKs' own examples say 400 in words. An error that bears the
    /// request's own id answers it: what was asked may have been done.
    pub fn forgot_session(&self, request: Option<&Id>) -> bool {
        let is_answer = request.is_some_and(|request| self.answers(request));
        match self {
            Self::Status { status, .. } if *status == StatusCode::NOT_FOUND => match is_answer {
                true => self.code() == Some(SESSION_NOT_FOUND),
                false => self.code() != Some(code::METHOD_NOT_FOUND),
            },
            Self::Status { status, body, .. } if *status == StatusCode::BAD_REQUEST => {
                if is_answer {
                    return false;
                }
                let words = String::from_utf8_lossy(body).to_ascii_lowercase();
                words.contains("session") || words.contains("not initialized")
            }
            _ => false,
        }
    }

    /// Whether it is a JSON-RPC error that bears this id.
    fn answers(&self, request: &Id) -> bool {
        let Self::Status {
            body,
            is_json: true,
            ..
        } = self
        else {
            return false;
        };
        matches!(line(body.clone()).peek(), Some((Kind::Response { id: Some(id) }, _)) if id == *request)
    }

    /// Whether it may be different in a while.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreached(_) | Self::HungUp(_) => true,
            Self::Moved(_) => false,
            Self::Status { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
        }
    }

    fn wants_login(&self) -> bool {
        matches!(self, Self::Status { status, .. }
            if matches!(*status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN))
    }

    /// The JSON-RPC error in its body.
    fn error(&self) -> Option<&str> {
        #[derive(Deserialize)]
        struct Answer<'a> {
            #[serde(borrow)]
            error: &'a RawValue,
        }
        let Self::Status {
            body,
            is_json: true,
            ..
        } = self
        else {
            return None;
        };
        let kind = line(body.clone());
        let is_answer = matches!(kind.peek(), Some((Kind::Response { .. }, _)));
        let answer: Answer<'_> = serde_json::from_slice(body).ok()?;
        is_answer.then(|| answer.error.get())
    }
}

/// What is missing, as far as the server says so.
fn login(status: StatusCode, challenge: Option<&str>, target: &Target) -> String {
    let given = if target.gives("authorization") {
        "does not take the Authorization header that it was given"
    } else {
        "wants a login"
    };
    let mut words = format!("the server at {} {given} (HTTP {status})", target.host());
    if let Some(challenge) = challenge {
        words.push_str(&format!("; it says: {}", shown(challenge)));
    }
    words.push_str(". Give it one with --header 'Authorization: Bearer ${TOKEN}'");
    words
}

/// A server's words, as long as anybody reads, without what could move a cursor.
fn shown(words: &str) -> String {
    words
        .chars()
        .filter(|c| !c.is_control())
        .take(300)
        .collect()
}
