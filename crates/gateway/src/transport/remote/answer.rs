//! Which messages of a server answer a request, and which only pretend to.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;

use super::came::{Came, ENOUGH};
use crate::frame::{Frame, Id, Kind, Members};

/// What a response is to the requests that its stream was opened for. Other requests it can't answer: their answers
/// come on their own streams.
#[derive(Debug, PartialEq)]
pub enum Match {
    /// It answers this request.
    Answers(Id),
    /// It is meant for this request, but clients can't read it.
    Unreadable(Id),
}

/// What a message is to the `open` requests of its stream. None if it isn't a response to one of them.
pub fn match_of(kind: &Kind<'_>, members: &Members<'_>, open: &[Id]) -> Option<Match> {
    match kind {
        Kind::Response { id: Some(id) } if open.contains(id) => match is_readable(members) {
            true => Some(Match::Answers(id.clone())),
            false => Some(Match::Unreadable(id.clone())),
        },
        // A server that could not read the id of a request has no other way to say so.
        Kind::Response { id: None } if open.len() == 1 => {
            match is_readable(members) && members.error.is_some() {
                true => Some(Match::Answers(open[0].clone())),
                false => Some(Match::Unreadable(open[0].clone())),
            }
        }
        Kind::Wrong { id: Some(id), .. } if open.contains(id) => {
            Some(Match::Unreadable(id.clone()))
        }
        _ => None,
    }
}

/// The requests that a stream has to answer, and what came instead of answers.
pub struct Open {
    /// The requests that nothing was said to yet.
    ids: Vec<Id>,
    /// Whether what was said to one of the others can't be read by clients.
    is_unreadable: bool,
    /// The response, with the message that is worth quoting if this stream does not answer.
    pub came: Came,
}

impl Open {
    pub fn new(ids: &[Id], came: Came) -> Self {
        Self {
            ids: ids.to_vec(),
            is_unreadable: false,
            came,
        }
    }

    /// Whether all requests are answered.
    pub fn is_answered(&self) -> bool {
        self.is_over() && !self.is_unreadable
    }

    /// Whether something was said to all requests.
    pub fn is_over(&self) -> bool {
        self.ids.is_empty()
    }

    /// Hears a message. `false` if it isn't one.
    pub fn hear(&mut self, message: &Frame) -> bool {
        let kind = message.peek().map(|(kind, _)| kind);
        if matches!(kind, Some(Kind::Request { .. } | Kind::Notification { .. })) {
            return true; // It answers nothing, and doesn't pretend to.
        }
        let matches = matches_of(message, &self.ids);
        let is_unreadable = matches
            .iter()
            .any(|found| matches!(found, Match::Unreadable(_)));
        let is_strange = matches.is_empty() && self.came.body.is_empty();
        if is_unreadable || is_strange {
            let bytes = message.clone().into_bytes();
            self.came.body = Bytes::copy_from_slice(&bytes[..bytes.len().min(ENOUGH)]);
        }
        self.is_unreadable |= is_unreadable;
        for Match::Answers(id) | Match::Unreadable(id) in matches {
            self.ids.retain(|it| *it != id);
        }
        kind.is_some()
    }
}

/// What a message, or each message of a batch, is to the `open` requests of its stream.
fn matches_of(message: &Frame, open: &[Id]) -> Vec<Match> {
    match message.peek() {
        Some((Kind::Batch, _)) => {
            let parts = message.parts();
            let matches = parts.iter().filter_map(|part| {
                let (kind, members) = part.peek()?;
                match_of(&kind, &members, open)
            });
            matches.collect()
        }
        Some((kind, members)) => match_of(&kind, &members, open).into_iter().collect(),
        None => Vec::new(),
    }
}

/// True if the SDKs' clients take the response, and don't drop it and wait for another one: JSON-RPC 2.0, with either
/// an object as the result or an error with an integer as its code and a text as its message.
pub fn is_readable(response: &Members<'_>) -> bool {
    #[derive(Deserialize)]
    struct RpcError<'a> {
        #[serde(rename = "code")]
        _code: i64,
        #[serde(rename = "message", borrow)]
        _message: Cow<'a, str>,
    }
    let has_version = response.version == Some(br#""2.0""#);
    has_version
        && match (response.result, response.error) {
            (Some(result), None) => result.starts_with(b"{"),
            (None, Some(error)) => {
                error.starts_with(b"{") && serde_json::from_slice::<RpcError<'_>>(error).is_ok()
            }
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_clients_can_read_answers_and_only_on_its_own_stream() {
        let id = |json: &str| Id::read(json.as_bytes()).unwrap();
        let answers = || vec![Match::Answers(id("1"))];
        let unreadable = || vec![Match::Unreadable(id("1"))];
        for (message, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, answers()),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":1}}"#,
                answers(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}"#,
                answers(),
            ),
            (
                r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"\u00e9"}}"#,
                answers(),
            ),
            (
                r#"[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":1,"result":{}}]"#,
                answers(),
            ),
            (r#"{"id":1,"result":{}}"#, unreadable()),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, unreadable()),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, unreadable()),
            (r#"{"jsonrpc":"2.0","id":1,"result":"x"}"#, unreadable()),
            (r#"{"jsonrpc":"2.0","result":{}}"#, unreadable()),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
                unreadable(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"Result":{}}"#,
                unreadable(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":"not_found"}"#,
                unreadable(),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, unreadable()),
            (r#"{"jsonrpc":"2.0","id":1,"error":[1,"x"]}"#, unreadable()),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}"#,
                unreadable(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
                unreadable(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E1","message":"x"}}"#,
                unreadable(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}"#,
                unreadable(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":["x"]}}"#,
                unreadable(),
            ),
            (r#"{"error":"not_found"}"#, unreadable()),
            (r#"{"jsonrpc":"2.0","id":2,"result":{}}"#, vec![]),
            (r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, vec![]),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, vec![]),
            (r#"{"jsonrpc":"2.0","id":1}"#, vec![]),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}"#, vec![]),
            ("[]", vec![]),
            ("<html>", vec![]),
        ] {
            let message = Frame::new(message.into());
            assert_eq!(matches_of(&message, &[id("1")]), expected, "{message:?}");
        }
        let nobodys = Frame::new(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into());
        assert_eq!(matches_of(&nobodys, &[]), []);
    }
}
