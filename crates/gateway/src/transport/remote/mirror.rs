//! What a modern request says in its headers, so that others on the way need not read it.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use midcall_core::wire::Revision;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;

use super::tools::Tools;
use crate::frame::Members;

/// The headers of a request.
pub fn headers(method: &str, members: &Members<'_>, tools: &Tools) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let version = members
        .revision
        .and_then(|it| serde_json::from_slice(it).ok());
    let version: Cow<'_, str> = version.unwrap_or(Revision::V2026_07_28.as_str().into());
    put(&mut headers, "mcp-protocol-version", &version);
    put(&mut headers, "mcp-method", method);
    let params = || {
        let params = members.params.map(serde_json::from_slice::<Params>);
        params.and_then(Result::ok).unwrap_or_default()
    };
    let name = match method {
        "tools/call" | "prompts/get" => params().name,
        "resources/read" => params().uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => params().task,
        _ => None,
    };
    if let Some(name) = &name {
        put(&mut headers, "mcp-name", name);
    }
    let marked = (method == "tools/call").then(|| tools.marked(name.as_deref()?));
    for mark in marked.flatten().into_iter().flatten() {
        let arguments = params().arguments;
        let value = (mark.path.iter()).try_fold(&arguments, |at, name| at.get(name));
        if let Some(text) = value.and_then(as_text) {
            let name = format!("mcp-param-{}", mark.name.to_ascii_lowercase());
            put(&mut headers, &name, &text);
        }
    }
    headers
}

#[derive(Default, Deserialize)]
struct Params {
    name: Option<String>,
    uri: Option<String>,
    #[serde(rename = "taskId")]
    task: Option<String>,
    #[serde(default)]
    arguments: Value,
}

/// A value as a header says it; none for what no header says.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Number(number) => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() <= SAFE => {
                Some(format!("{whole:.0}"))
            }
            Some(whole) if whole.fract() == 0.0 => None,
            _ => Some(number.to_string()),
        },
        _ => None,
    }
}

/// The largest whole number that every peer can tell from the next.
const SAFE: f64 = 9_007_199_254_740_991.0;

fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::try_from(name);
    let value = HeaderValue::try_from(encoded(value).as_ref());
    if let (Ok(name), Ok(mut value)) = (name, value) {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
}

/// What a header can hold as it is stays so; the rest is wrapped.
fn encoded(value: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
    let looks_wrapped = value.starts_with("=?base64?") && value.ends_with("?=");
    let is_safe = !value.is_empty()
        && value.bytes().all(is_plain)
        && value.trim_matches([' ', '\t']) == value
        && !looks_wrapped;
    if is_safe {
        value.into()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(value)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_holds_any_value() {
        for (value, said) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("", "=?base64??="),
        ] {
            assert_eq!(encoded(value), said);
        }
    }

    #[test]
    fn values_are_written_as_every_peer_writes_them() {
        for (value, said) in [
            ("42", Some("42")),
            ("-7", Some("-7")),
            ("42.0", Some("42")),
            ("9007199254740991", Some("9007199254740991")),
            ("9007199254740993", None),
            ("true", Some("true")),
            ("null", None),
            ("[1]", None),
        ] {
            let value = serde_json::from_str(value).unwrap();
            assert_eq!(as_text(&value).as_deref(), said);
        }
    }
}
