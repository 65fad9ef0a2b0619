//! What the headers of a POST say about its message.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Where values that no header can hold are written in base64.
const BEFORE: &str = "=?base64?";
const AFTER: &str = "?=";

/// The value of a header that is there exactly once. White space around it does not count.
pub fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok().map(str::trim_ascii)
}

/// What a value means; none if it cannot be read.
pub fn decoded(value: &str) -> Option<String> {
    let inner = value
        .strip_prefix(BEFORE)
        .and_then(|it| it.strip_suffix(AFTER));
    match inner {
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// Which kinds of response a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepts {
    pub json: bool,
    pub events: bool,
}

impl Accepts {
    /// A client that does not say takes everything.
    pub fn read(headers: &HeaderMap) -> Self {
        let mut said = headers.get_all("accept").iter().peekable();
        let mut accepts = Self {
            json: said.peek().is_none(),
            events: said.peek().is_none(),
        };
        let kinds = said.filter_map(|value| value.to_str().ok());
        for kind in kinds.flat_map(|value| value.split(',')) {
            let mut parts = kind.split(';').map(str::trim_ascii);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let is_refused = parts.any(|part| {
                let quality = part
                    .strip_prefix("q=")
                    .and_then(|it| it.parse::<f32>().ok());
                quality == Some(0.0)
            });
            if is_refused {
                continue;
            }
            accepts.json |= matches!(&*kind, "*/*" | "application/*" | "application/json");
            accepts.events |= matches!(&*kind, "*/*" | "text/*" | "text/event-stream");
        }
        accepts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_say_what_they_take() {
        for (said, json, events) in [
            (&[][..], true, true),
            (&["*/*"], true, true),
            (&["application/json, text/event-stream"], true, true),
            (&["application/json", "Text/Event-Stream;q=0.5"], true, true),
            (&["application/json"], true, false),
            (&["text/event-stream"], false, true),
            (&["text/html"], false, false),
            (&["text/event-stream;q=0, application/json"], true, false),
            (&[""], false, false),
        ] {
            let mut headers = HeaderMap::new();
            for value in said {
                headers.append("accept", value.parse().unwrap());
            }
            assert_eq!(
                Accepts::read(&headers),
                Accepts { json, events },
                "{said:?}"
            );
        }
    }

    #[test]
    fn values_are_read_as_they_are_meant() {
        for (value, meant) in [
            ("plain", Some("plain")),
            ("=?base64?w7w=?=", Some("ü")),
            ("=?base64?w7w?=", None),
            ("=?base64?/w==?=", None),
            ("=?base64?w7w=", Some("=?base64?w7w=")),
        ] {
            assert_eq!(decoded(value).as_deref(), meant, "{value}");
        }
    }
}
