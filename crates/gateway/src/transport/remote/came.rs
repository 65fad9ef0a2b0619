//! What came in a response that HTTP carried and nobody can use, in words.

use bytes::Bytes;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};

use crate::unseen::one_line;

/// The head of a response, and the beginning of its body.
pub struct Came {
    pub status: StatusCode,
    /// The media type, without parameters; empty if the response has none.
    kind: String,
    pub body: Bytes,
}

/// Why a request failed. Only the client gets the server's own words: a server may repeat what a person typed, which
/// must not be logged.
pub struct Cause {
    pub what: String,
    /// What the server says, with the punctuation before it.
    pub quote: String,
    /// What to try.
    pub hint: &'static str,
}

/// How many characters of a body the client gets.
const FIRST_WORDS: usize = 200;

/// How many bytes of a body are enough for them.
pub const ENOUGH: usize = 4 * FIRST_WORDS;

/// How long a media type may be to be shown.
const LONGEST_KIND: usize = 80;

pub const NOT_KNOWN: &str = "Whether it did what was asked is not known";

impl Came {
    /// The head of a response, with an empty body.
    pub fn new(response: &Response) -> Self {
        Self {
            status: response.status(),
            kind: media_type(response),
            body: Bytes::new(),
        }
    }

    pub fn with(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    pub fn is_json(&self) -> bool {
        self.kind == "application/json"
    }

    pub fn is_events(&self) -> bool {
        self.kind == "text/event-stream"
    }

    /// The status and the media type.
    pub fn head(&self) -> String {
        let status = self.status;
        match self.kind.as_str() {
            "" => format!("HTTP {status} without a content type"),
            kind if is_media_type(kind) => format!("HTTP {status} with {kind}"),
            _ => format!("HTTP {status} with an unreadable content type"),
        }
    }

    /// The first words of the body, with the punctuation before them.
    pub fn quote(&self) -> String {
        let beginning = &self.body[..self.body.len().min(ENOUGH + 1)];
        let words = String::from_utf8_lossy(beginning);
        match words.trim() {
            "" => ": the body is empty".to_owned(),
            words => format!(": {}", one_line(words, FIRST_WORDS)),
        }
    }

    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND | StatusCode::GONE => ADDRESS,
            StatusCode::METHOD_NOT_ALLOWED => {
                "It may only support the HTTP with SSE of 2024-11-05, which Midcall doesn't support"
            }
            StatusCode::TOO_MANY_REQUESTS => "Try again later",
            status if status.is_server_error() => "Try again, or look at the server's log",
            status if status.is_client_error() => "Check the address and the --header options",
            _ if self.kind == "text/html" => ADDRESS,
            _ => NOT_KNOWN,
        }
    }
}

const ADDRESS: &str = "Check the address: an MCP endpoint often ends in /mcp";

impl Cause {
    /// A cause in our own words only.
    pub fn new(what: impl Into<String>, hint: &'static str) -> Self {
        Self {
            what: what.into(),
            quote: String::new(),
            hint,
        }
    }

    pub fn for_log(&self) -> String {
        sentence(&self.what, "", self.hint)
    }

    pub fn for_client(&self) -> String {
        sentence(&self.what, &self.quote, self.hint)
    }
}

fn sentence(what: &str, quote: &str, hint: &str) -> String {
    let stop = if hint.is_empty() { "" } else { ". " };
    format!("{what}{quote}{stop}{hint}")
}

/// The media type of a response, without parameters.
fn media_type(response: &Response) -> String {
    let said = response.headers().get(CONTENT_TYPE);
    let said = said.and_then(|said| said.to_str().ok()).unwrap_or_default();
    let kind = said.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// True if it can be shown: two names and a slash.
fn is_media_type(kind: &str) -> bool {
    let is_name = |name: &str| {
        let is_sign = |byte| b"!#$&-^_.+".contains(&byte);
        !name.is_empty() && (name.bytes()).all(|it| it.is_ascii_alphanumeric() || is_sign(it))
    };
    let names = kind.split_once('/');
    kind.len() <= LONGEST_KIND && names.is_some_and(|(one, other)| is_name(one) && is_name(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(status: u16, kind: &str, body: &[u8]) -> Came {
        Came {
            status: StatusCode::from_u16(status).unwrap(),
            kind: kind.to_owned(),
            body: Bytes::copy_from_slice(body),
        }
    }

    #[test]
    fn a_head_shows_only_what_a_media_type_can_be() {
        for (kind, head) in [
            ("", "HTTP 200 OK without a content type"),
            ("text/html", "HTTP 200 OK with text/html"),
            (
                "application/problem+json",
                "HTTP 200 OK with application/problem+json",
            ),
            ("my password", "HTTP 200 OK with an unreadable content type"),
            ("a/b c", "HTTP 200 OK with an unreadable content type"),
        ] {
            assert_eq!(came(200, kind, b"").head(), head);
        }
    }

    #[test]
    fn a_quote_is_short_and_moves_no_cursor() {
        for (body, quote) in [
            (&b""[..], ": the body is empty"),
            (b" \r\n", ": the body is empty"),
            (b"\x1b[2J\nhello \xff", ": <U+001B>[2J hello \u{fffd}"),
        ] {
            assert_eq!(came(200, "", body).quote(), quote);
        }
        for text in ["x", "é", "🦀"] {
            let quote = came(200, "", text.repeat(10_000).as_bytes()).quote();
            assert_eq!(quote, format!(": {}…", text.repeat(FIRST_WORDS)));
        }
    }
}
