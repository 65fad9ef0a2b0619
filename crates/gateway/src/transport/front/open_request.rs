//! A request of a client, from when it comes until it is answered.

use tokio_util::sync::DropGuard;

use crate::frame::{Frame, Id, Kind};

/// A stream's number. They are numbered as they are opened.
pub type Nth = u64;

/// A request that is not answered.
pub struct OpenRequest {
    pub stream: Nth,
    pub purpose: Purpose,
    /// Its id and token as the client wrote them, where the session knows them by others.
    pub id: Option<Box<str>>,
    pub token: Option<Box<str>>,
    /// The token that the session knows.
    pub followed_by: Option<Box<[u8]>>,
    /// Another session answers it: dropped, it is taken back there.
    pub elsewhere: Option<DropGuard>,
}

/// What a request is for, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purpose {
    /// Whether something may be asked while it is open, and its stream can bring that.
    pub asks: bool,
    /// Whether what happens meanwhile is told.
    pub loud: bool,
    /// Whether it opens a session.
    pub opens: bool,
    pub lists_tools: bool,
    pub listens: bool,
    /// Whether it came with a name that was given here. Then it is let in after the client has left.
    pub is_guest: bool,
    /// Whether it has to be answered in words of the modern era, whichever era this session is of.
    pub is_modern: bool,
}

impl OpenRequest {
    /// The requests of a message, by the ids they have.
    pub fn verbatim(
        nth: Nth,
        frame: &Frame,
        purpose: &impl Fn(&str) -> Purpose,
    ) -> Vec<(Id, Self)> {
        let request = |part: Frame| {
            let (Kind::Request { id, method }, members) = part.peek()? else {
                return None;
            };
            let call = Self {
                stream: nth,
                purpose: purpose(&method),
                id: None,
                token: None,
                followed_by: members.progress_token.map(Into::into),
                elsewhere: None,
            };
            Some((id, call))
        };
        parts(frame).into_iter().filter_map(request).collect()
    }

    /// A request by an id and a token of ours.
    pub fn renamed(
        nth: Nth,
        ours: Id,
        frame: &Frame,
        purpose: &impl Fn(&str) -> Purpose,
    ) -> (Frame, Vec<(Id, Self)>) {
        let Some((Kind::Request { id, method }, members)) = frame.peek() else {
            return (frame.clone(), Vec::new());
        };
        let token = members
            .progress_token
            .and_then(|token| str::from_utf8(token).ok());
        let call = Self {
            stream: nth,
            purpose: purpose(&method),
            id: Some(id.as_json().into()),
            token: token.map(Into::into),
            followed_by: token.map(|_| ours.as_json().as_bytes().into()),
            elsewhere: None,
        };
        let mut told = frame.with(&["id"], ours.as_json());
        if token.is_some() {
            let path = ["params", "_meta", "progressToken"];
            told = told.and_then(|told| told.with(&path, ours.as_json()));
        }
        (told.unwrap_or_else(|| frame.clone()), vec![(ours, call)])
    }
}

/// The messages of a message.
fn parts(frame: &Frame) -> Vec<Frame> {
    match frame.peek() {
        Some((Kind::Batch, _)) => frame.parts(),
        _ => vec![frame.clone()],
    }
}
