//! One JSON-RPC message as bytes.
//!
//! A frame is peeked, not parsed: its id, its method and the few members that decide where it
//! goes. What is no question goes on as it came, byte for byte. Where one member has to change,
//! it is cut out and another put in its place ([`Frame::with`]).
//!
//! Elsewhere: what a question says (`midcall_core::wire`), lines and streams (`transport`).

mod canonical;
mod id;
mod object;
mod scan;
mod skip;
mod splice;
mod stored;
mod wrong;

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use midcall_core::wire::{code, member, meta};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) use canonical::sorted;
pub use id::{Id, OwnIds};
pub(crate) use object::Object;
use scan::Scan;
pub use wrong::Wrong;
pub(crate) use wrong::{ANSWER, ERROR, LINKS, PARAMS, ROUND, repeats};
use wrong::{ENVELOPE, MOST_PARTS, Seen};

/// A line with one message, its end included.
#[derive(Clone, PartialEq)]
pub struct Frame(Bytes);

/// What a message is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind<'a> {
    /// It wants an answer.
    Request {
        /// What the answer will bear.
        id: Id,
        /// What is wanted.
        method: Cow<'a, str>,
    },
    /// It tells something.
    Notification {
        /// What it tells.
        method: Cow<'a, str>,
    },
    /// It answers a request.
    Response {
        /// Which one; none if the other side could not read that.
        id: Option<Id>,
    },
    /// Several messages in one, none of them a batch. They pass unopened.
    Batch,
    /// A message that nobody may pass on.
    Wrong {
        /// The id to answer by, if it has one.
        id: Option<Id>,
        /// What is wrong with it.
        why: Wrong,
        /// True if it answers something: then the one who asked has to hear of it.
        is_answer: bool,
    },
    /// A request that nobody can answer by its id. A server's is refused; a client's passes unopened where no call
    /// needs an approval.
    Odd,
}

/// The members that decide where a message goes, as JSON as it came.
#[derive(Clone, Default, PartialEq)]
pub struct Members<'a> {
    /// `params`, if it is an object.
    pub params: Option<&'a [u8]>,
    /// `params.name`: the tool or prompt.
    pub name: Option<&'a [u8]>,
    /// `params.requestId`: what is cancelled.
    pub request_id: Option<&'a [u8]>,
    /// `params.progressToken` of a notification, `params._meta.progressToken` of a request.
    pub progress_token: Option<&'a [u8]>,
    /// `params.progress`: how far it is.
    pub progress: Option<&'a [u8]>,
    /// `params._meta` of a request of the modern era: the revision it is in.
    pub revision: Option<&'a [u8]>,
    /// `params.requestState`.
    pub state: Option<&'a [u8]>,
    /// `jsonrpc`, whatever it is.
    pub version: Option<&'a [u8]>,
    /// `result`, whatever it is.
    pub result: Option<&'a [u8]>,
    /// `error`, whatever it is.
    pub error: Option<&'a [u8]>,
    /// `params._meta`, if it is an object.
    pub meta: Option<&'a [u8]>,
    /// `params.inputResponses`.
    pub responses: Option<&'a [u8]>,
    /// True if `params._meta` says how questions ended.
    pub tells_outcome: bool,
    /// True if `params` has a member twice, or in other letters, by which a call or a question is judged.
    pub is_ambiguous: bool,
}

impl Members<'_> {
    /// The code of an error, if it is one.
    pub fn error_code(&self) -> Option<i64> {
        #[derive(Deserialize)]
        struct RpcError {
            /// Some peers take `-32042.0` for `-32042`.
            code: f64,
        }
        let error = serde_json::from_slice::<RpcError>(self.error?).ok()?;
        let is_whole = error.code.fract() == 0.0 && error.code.abs() < f64::from(i32::MAX);
        is_whole.then_some(error.code as i64)
    }
}

impl Frame {
    /// A line as it came, with its end or without.
    ///
    /// Bytes that aren't UTF-8 become U+FFFD, as many readers take them: the message that is judged is the one that its
    /// receiver gets.
    pub fn new(line: Bytes) -> Self {
        match str::from_utf8(&line) {
            Ok(_) => Self(line),
            Err(_) => Self(String::from_utf8_lossy(&line).into_owned().into()),
        }
    }

    /// A message of our own.
    pub fn write(message: &impl Serialize) -> Self {
        let mut line = serde_json::to_vec(message).expect("our own messages can be written");
        line.push(b'\n');
        Self(line.into())
    }

    /// An error in answer to a request.
    pub fn error(id: Option<&Id>, code: i64, message: &str) -> Self {
        let id = id.map_or("null", Id::as_json);
        let error = json!({"code": code, "message": message});
        Self::line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
    }

    /// What counts as the answer in the place of one that nobody may pass on.
    pub fn refused_answer(id: &Id, why: Wrong) -> Self {
        let told = format!("midcall: the answer was refused: {why}");
        Self::error(Some(id), code::INTERNAL_ERROR, &told)
    }

    /// The answer to a message that nobody may pass on.
    pub fn refused(id: Option<&Id>, why: Wrong) -> Self {
        Self::error(id, code::INVALID_REQUEST, &format!("midcall: {why}"))
    }

    /// A result in answer to a request.
    pub fn result(id: &Id, result: &impl Serialize) -> Self {
        let result = serde_json::to_string(result).expect("our own results can be written");
        let id = id.as_json();
        Self::line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        ))
    }

    /// A result in answer to a request, given as JSON.
    pub(crate) fn raw_result(id: &Id, result: &str) -> Self {
        let id = id.as_json();
        Self::line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        ))
    }

    /// A request of our own.
    pub fn request(id: &Id, method: &str, params: &(impl Serialize + ?Sized)) -> Self {
        let params = serde_json::to_string(params).expect("our own params can be written");
        let (id, method) = (id.as_json(), json!(method));
        Self::line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#
        ))
    }

    /// Word that a request of our own need not be answered any more.
    pub fn cancelled(id: &Id) -> Self {
        let id = id.as_json();
        Self::line(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ))
    }

    /// The same message in memory of its own, to be kept.
    pub fn kept(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    fn line(message: &str) -> Self {
        Self(format!("{message}\n").into())
    }

    /// How long it is.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes, to be sent.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// The messages of a batch, each as a line of its own.
    pub fn parts(&self) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut scan = Scan::new(&self.0);
        let _ = scan.array(|part| parts.push(Self(self.0.slice_ref(part))));
        parts
    }

    /// What it is and where it goes; none if it is no JSON-RPC message.
    pub fn peek(&self) -> Option<(Kind<'_>, Members<'_>)> {
        let mut scan = Scan::new(&self.0);
        if scan.peek()? == b'[' {
            return Some((batch(scan)?, Members::default()));
        }
        let (mut id, mut method) = (None, None);
        let mut members = Members::default();
        let mut seen = Seen::new(&ENVELOPE);
        scan.object(|scan, name| {
            seen.see(name);
            match name {
                "id" => id = Some(scan.value()?),
                "method" => method = Some(scan.text()?),
                "params" => members.params(scan)?,
                "jsonrpc" => members.version = Some(scan.value()?),
                "result" => members.result = Some(scan.value()?),
                "error" => members.error = Some(scan.value()?),
                _ => {
                    scan.value()?;
                }
            }
            Some(())
        })?;
        if !scan.is_done() {
            return None;
        }
        let is_answer = members.result.is_some() || members.error.is_some();
        if let Some(name) = seen.twice {
            let kind = Kind::Wrong {
                id: id.and_then(Id::read),
                why: Wrong::Ambiguous(name),
                is_answer: is_answer && method.is_none(),
            };
            return Some((kind, Members::default()));
        }
        let says = |member: Option<&[u8]>| member.is_some_and(|json| json != b"null");
        if method.is_none() && says(members.result) && says(members.error) {
            let kind = Kind::Wrong {
                id: id.and_then(Id::read),
                why: Wrong::ResultAndError,
                is_answer: true,
            };
            return Some((kind, Members::default()));
        }
        let kind = match (method, id) {
            (Some(method), None) => Kind::Notification { method },
            (Some(method), Some(id)) => match Id::read(id) {
                Some(id) => Kind::Request { id, method },
                None => Kind::Odd,
            },
            (None, id) if is_answer => Kind::Response {
                id: id.and_then(Id::read),
            },
            (None, _) => return None,
        };
        Some((kind, members))
    }
}

/// What a batch is: a flat list of messages, or one that is refused.
fn batch(mut scan: Scan<'_>) -> Option<Kind<'static>> {
    let (mut parts, mut is_nested) = (0, false);
    scan.array(|part| {
        parts += 1;
        is_nested |= part.first() == Some(&b'[');
    })?;
    let wrong = |why| Kind::Wrong {
        id: None,
        why,
        is_answer: false,
    };
    scan.is_done().then_some(match () {
        () if parts == 0 => wrong(Wrong::EmptyBatch),
        () if is_nested => wrong(Wrong::NestedBatch),
        () if parts > MOST_PARTS => wrong(Wrong::LongBatch),
        () => Kind::Batch,
    })
}

/// How long it is, not what it says: it may be what a person typed.
impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes)", self.0.len())
    }
}

impl<'a> Members<'a> {
    fn params(&mut self, scan: &mut Scan<'a>) -> Option<()> {
        if scan.peek()? != b'{' {
            return scan.value().map(drop);
        }
        let start = scan.at();
        let mut seen = Seen::new(&PARAMS);
        scan.object(|scan, name| {
            seen.see(name);
            match name {
                "name" => self.name = Some(scan.value()?),
                "requestId" => self.request_id = Some(scan.value()?),
                "progressToken" => self.progress_token = Some(scan.value()?),
                "progress" => self.progress = Some(scan.value()?),
                member::INPUT_RESPONSES => self.responses = Some(scan.value()?),
                member::REQUEST_STATE => self.state = Some(scan.value()?),
                "_meta" if scan.peek()? == b'{' => {
                    let start = scan.at();
                    scan.object(|scan, name| {
                        let value = scan.value()?;
                        match name {
                            "progressToken" => self.progress_token = Some(value),
                            meta::PROTOCOL_VERSION => self.revision = Some(value),
                            meta::OUTCOME => self.tells_outcome = true,
                            _ => {}
                        }
                        Some(())
                    })?;
                    self.meta = Some(scan.since(start));
                }
                _ => {
                    scan.value()?;
                }
            }
            Some(())
        })?;
        self.params = Some(scan.since(start));
        self.is_ambiguous = seen.twice.is_some();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(line: &str) -> Frame {
        Frame::new(Bytes::copy_from_slice(line.as_bytes()))
    }

    fn id(json: &str) -> Id {
        Id::read(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_message_tells_what_it_is() {
        let request = |id_: &str, method: &'static str| Kind::Request {
            id: id(id_),
            method: method.into(),
        };
        let wrong = |id_: Option<&str>, why| Kind::Wrong {
            id: id_.map(id),
            why,
            is_answer: false,
        };
        for (line, kind) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
                request("1", "ping"),
            ),
            (
                r#" { "method" : "a\/b" , "id" : "x" , "params" : [1] } "#,
                request("\"x\"", "a/b"),
            ),
            (
                r#"{"method":"n","params":{}}"#,
                Kind::Notification { method: "n".into() },
            ),
            (
                r#"{"id":1,"result":{"method":"not one"}}"#,
                Kind::Response { id: Some(id("1")) },
            ),
            (
                r#"{"error":{"code":1},"id":null}"#,
                Kind::Response { id: None },
            ),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Kind::Batch),
            (r#"{"id":null,"method":"n"}"#, Kind::Odd),
            (r#"{"id":[],"method":"n","\ud800":1}"#, Kind::Odd),
            // Of two members of one name, some readers take the first and some the last.
            (
                r#"{"id":1,"method":"a","id":2,"method":"b"}"#,
                wrong(Some("2"), Wrong::Ambiguous("method")),
            ),
            (
                r#"{"id":1,"method":"ping","Method":"tools/call"}"#,
                wrong(Some("1"), Wrong::Ambiguous("method")),
            ),
            (
                r#"[{"method":"a"},[{"method":"b"}]]"#,
                wrong(None, Wrong::NestedBatch),
            ),
        ] {
            assert_eq!(frame(line).peek().expect(line).0, kind, "{line}");
        }
    }

    #[test]
    fn a_batch_has_an_end() {
        let batch =
            |parts: usize| frame(&format!("[{}]", vec![r#"{"method":"n"}"#; parts].join(",")));
        assert_eq!(batch(MOST_PARTS).peek().unwrap().0, Kind::Batch);
        let why = Wrong::LongBatch;
        assert_eq!(
            batch(MOST_PARTS + 1).peek().unwrap().0,
            Kind::Wrong {
                id: None,
                why,
                is_answer: false
            }
        );
    }

    #[test]
    fn what_is_judged_by_cannot_be_there_twice() {
        for (params, is_ambiguous) in [
            (r#"{"name":"a","arguments":{}}"#, false),
            (r#"{"name":"a","name":"b"}"#, true),
            (r#"{"name":"a","Arguments":{}}"#, true),
            (r#"{"data":1,"data":2}"#, false),
        ] {
            let line = frame(&format!(r#"{{"method":"m","params":{params}}}"#));
            assert_eq!(
                line.peek().unwrap().1.is_ambiguous,
                is_ambiguous,
                "{params}"
            );
        }
    }

    #[test]
    fn what_is_no_message_is_seen() {
        for line in [
            "",
            "  ",
            "starting on port 8080",
            "{debug} starting",
            "{",
            r#"{"id":1"#,
            r#"{"id":1,"method":"a"} trailing"#,
            r#"{"id":1,"method":7}"#,
            r#"{"id":1,"method":"unfinished"#,
            r#"{"level":30,"msg":"listening"}"#,
            r#"{"method" "a"}"#,
            r#"{"method":"a",}"#,
            r#"{"method":"a","x":nonsense}"#,
            "[1,2",
            "\"text\"",
            "\\",
            r#"{"a\"#,
        ] {
            assert!(frame(line).peek().is_none(), "{line}");
        }
    }

    #[test]
    fn the_members_that_matter_are_found_where_they_belong() {
        let line = r#"{"id":1,"method":"tools/call","params":{"arguments":{"name":"no","_meta":{"progressToken":0}},
            "name":"book","_meta":{"x":{"progressToken":1},"progressToken":"p"}}}"#;
        let frame = frame(line);
        let (_, members) = frame.peek().unwrap();
        assert_eq!(members.name, Some(&b"\"book\""[..]));
        assert_eq!(members.progress_token, Some(&b"\"p\""[..]));
        let params = members.params.unwrap();
        assert!(params.starts_with(b"{\"arguments\"") && params.ends_with(b"\"p\"}}"));
    }
}
