//! What became of a request that HTTP did not carry through, as its JSON-RPC answer.

use midcall_core::wire::code;
use reqwest::StatusCode;
use serde::Deserialize;

use super::answer::is_readable;
use super::came::{Came, Cause, NOT_KNOWN};
use super::events::line;
use super::target::Target;
use super::wire::Refusal;
use crate::frame::{Frame, Id, Kind};
use crate::unseen::one_line;

/// What some servers say of a session that they do not know.
const SESSION_NOT_FOUND: i64 = -32001;

impl Refusal {
    /// The server's own answer to the request, if it gives one that clients can read. A request for a login is told in
    /// our words: the client can't log in by itself.
    pub fn answer(&self, id: &Id) -> Option<Frame> {
        let error = self.error().filter(|_| !self.wants_login())?;
        let id = id.as_json();
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
        Some(Frame::new(answer.into()))
    }

    /// In words.
    pub fn cause(&self, target: &Target) -> Cause {
        match self {
            Self::Unreached(why) => {
                let hint = match why.contains("certificate") {
                    true => "If it is yours, --ca FILE says whom to trust",
                    false => "",
                };
                let host = target.host();
                Cause::new(format!("the server at {host} was not reached: {why}"), hint)
            }
            Self::HungUp(why) => Cause::new(
                format!("the server hung up before it answered: {why}"),
                NOT_KNOWN,
            ),
            Self::Moved(to) => Cause::new(
                format!(
                    "the server sends this request on to {to}, which is not followed: use that \
                     address if you trust it"
                ),
                "",
            ),
            Self::Status { came, challenge } if self.wants_login() => {
                login(came, challenge.as_deref(), target)
            }
            Self::Status { came, .. } => Cause {
                what: format!("the server answered {}", came.head()),
                quote: came.quote(),
                hint: came.hint(),
            },
        }
    }

    /// The code of the JSON-RPC error, if there is one.
    pub fn code(&self) -> Option<i64> {
        #[derive(Deserialize)]
        struct RpcError {
            code: i64,
        }
        serde_json::from_str::<RpcError>(&self.error()?)
            .ok()
            .map(|error| error.code)
    }

    /// Whether the server does not know the session that the request was for. Its revision says
    /// 404; the servers in the SDKs' own examples say 400 in words. An error that bears the
    /// request's own id answers it: what was asked may have been done.
    pub fn forgot_session(&self, request: Option<&Id>) -> bool {
        let is_answer = request.is_some_and(|request| self.answers(request));
        match self {
            Self::Status { came, .. } if came.status == StatusCode::NOT_FOUND => match is_answer {
                true => self.code() == Some(SESSION_NOT_FOUND),
                false => self.code() != Some(code::METHOD_NOT_FOUND),
            },
            Self::Status { came, .. } if came.status == StatusCode::BAD_REQUEST => {
                if is_answer {
                    return false;
                }
                let words = String::from_utf8_lossy(&came.body).to_ascii_lowercase();
                words.contains("session") || words.contains("not initialized")
            }
            _ => false,
        }
    }

    /// Whether it is a response that bears this id.
    fn answers(&self, request: &Id) -> bool {
        let message = self.message();
        let kind = message.as_ref().and_then(Frame::peek).map(|(kind, _)| kind);
        matches!(kind, Some(Kind::Response { id: Some(id) }) if id == *request)
    }

    /// Whether it may be different in a while.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreached(_) | Self::HungUp(_) => true,
            Self::Moved(_) => false,
            Self::Status { came, .. } => {
                came.status.is_server_error() || came.status == StatusCode::TOO_MANY_REQUESTS
            }
        }
    }

    fn wants_login(&self) -> bool {
        matches!(self, Self::Status { came, .. }
            if matches!(came.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN))
    }

    /// The JSON-RPC error in its body. Whatever id it bears, it can only mean the request that was refused.
    fn error(&self) -> Option<String> {
        let message = self.message()?;
        let (kind, members) = message.peek()?;
        let is_error = matches!(kind, Kind::Response { .. }) && is_readable(&members);
        let error = members.error.filter(|_| is_error)?;
        String::from_utf8(error.to_vec()).ok()
    }

    /// Its body, if that says that it is JSON.
    fn message(&self) -> Option<Frame> {
        match self {
            Self::Status { came, .. } if came.is_json() => Some(line(came.body.clone())),
            _ => None,
        }
    }
}

/// What is missing, as far as the server says so.
fn login(came: &Came, challenge: Option<&str>, target: &Target) -> Cause {
    let given = if target.gives("authorization") {
        "does not take the Authorization header that it was given"
    } else {
        "wants a login"
    };
    let (host, status) = (target.host(), came.status);
    let quote = match challenge {
        Some(challenge) => format!("; it says: {}", one_line(challenge, 300)),
        None => came.quote(),
    };
    Cause {
        what: format!("the server at {host} {given} (HTTP {status})"),
        quote,
        hint: "Give it one with --header 'Authorization: Bearer ${TOKEN}'",
    }
}
