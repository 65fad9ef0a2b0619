//! What a POST brings: which era it is of, and whether its headers say the same as its body.
//!
//! The body decides. A message whose `_meta` names a revision is a modern one, and its headers
//! have to repeat what they repeat in that era; everything else belongs to a session.

use axum::http::HeaderMap;
use midcall_core::wire::Revision;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fault::Fault;
use super::headers::{decoded, only};
use super::open_request::Purpose;
use crate::frame::{Frame, Id, Kind, Members};

pub const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// A message, by what is to be done with it.
#[derive(Debug)]
pub enum Message {
    Modern(Modern),
    /// A modern client tells something that nobody has to hear.
    Idle,
    /// The request that opens a session.
    Opening,
    /// A message with requests in it, in a session.
    Requests,
    /// A message of a session that wants no answer.
    Tells(Tells),
}

/// What a message does that wants no answer.
#[derive(Debug, PartialEq)]
pub enum Tells {
    /// It answers a request of the server.
    Answer(Id),
    /// It takes a request back.
    Cancel(Id),
    News,
}

/// A modern request that its headers agree with.
#[derive(Debug)]
pub struct Modern {
    /// What its client is and can do, written in one way.
    pub client: String,
    /// What an earlier one was told to come back with.
    pub state: Option<Value>,
    pub is_loud: bool,
    pub tool: Option<String>,
}

impl Modern {
    /// True if it brings what an earlier one was told to come back with.
    pub fn comes_back(&self) -> bool {
        self.state.is_some()
    }
}

/// The longest declaration of what a client can do.
const MOST_CAPABILITIES: usize = 64 * 1024;

/// What a request says of itself.
#[derive(Deserialize)]
struct Told<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Envelope<'a>,
    name: Option<Value>,
    uri: Option<Value>,
    #[serde(rename = "taskId")]
    task: Option<Value>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    info: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    level: Option<IgnoredAny>,
}

impl Message {
    /// Reads a message; its id, if there is one, is told with what is wrong.
    pub fn read(frame: &Frame, headers: &HeaderMap) -> Result<Self, (Option<Id>, Fault)> {
        let names_modern = headers
            .get_all(VERSION)
            .iter()
            .any(|it| it.as_bytes().trim_ascii() == MODERN.as_bytes());
        let is_json = || serde_json::from_slice::<IgnoredAny>(&frame.clone().into_bytes()).is_ok();
        let unreadable = || match is_json() {
            true => (None, Fault::NotAMessage),
            false => (None, Fault::NotText),
        };
        let (kind, members) = frame.peek().ok_or_else(unreadable)?;
        let invalid = |why| Err((None, Fault::Invalid(why)));
        match kind {
            Kind::Request { id, method } => {
                let read = request(&id, &method, &members, headers, names_modern);
                read.map_err(|fault| (Some(id), fault))
            }
            Kind::Notification { .. } if names_modern || members.revision.is_some() => {
                Ok(Self::Idle)
            }
            Kind::Notification { method } => {
                let cancels = members.request_id.and_then(Id::read);
                let cancels = cancels.filter(|_| method == "notifications/cancelled");
                Ok(Self::Tells(cancels.map_or(Tells::News, Tells::Cancel)))
            }
            Kind::Response { .. } if names_modern => {
                invalid("clients of this revision are not asked by requests, and answer none")
            }
            Kind::Response { id } => Ok(Self::Tells(id.map_or(Tells::News, Tells::Answer))),
            Kind::Batch => {
                let parts = frame.parts();
                let peeked: Option<Vec<_>> = parts.iter().map(Frame::peek).collect();
                let peeked = peeked.ok_or((None, Fault::NotAMessage))?;
                let is_modern = |(_, members): &(Kind<'_>, Members<'_>)| members.revision.is_some();
                if names_modern || peeked.iter().any(is_modern) {
                    return invalid("no batch is taken in this revision");
                }
                let is_request = |(kind, _): &(Kind<'_>, _)| matches!(kind, Kind::Request { .. });
                Ok(match peeked.iter().any(is_request) {
                    true => Self::Requests,
                    false => Self::Tells(Tells::News),
                })
            }
            Kind::Odd => invalid("the id of the request is none"),
            Kind::Wrong { id, why, .. } => Err((id, Fault::Wrong(why))),
        }
    }
}

const MODERN: &str = "2026-07-28";

fn request(
    id: &Id,
    method: &str,
    members: &Members<'_>,
    headers: &HeaderMap,
    names_modern: bool,
) -> Result<Message, Fault> {
    let Some(revision) = members.revision else {
        return match method {
            "initialize" if names_modern => Err(Fault::Mismatch(
                "initialize belongs to earlier revisions than MCP-Protocol-Version names"
                    .to_owned(),
            )),
            _ if names_modern => Err(Fault::Envelope(
                "params._meta has to carry io.modelcontextprotocol/protocolVersion and \
                 io.modelcontextprotocol/clientCapabilities in this revision",
            )),
            "initialize" => Ok(Message::Opening),
            _ => Ok(Message::Requests),
        };
    };
    if method == "initialize" {
        return Err(Fault::NoSuchMethod);
    }
    let revision: Value = serde_json::from_slice(revision).unwrap_or_default();
    agree(headers, VERSION, revision.as_str(), "MCP-Protocol-Version")?;
    agree(headers, METHOD, Some(method), "Mcp-Method")?;
    if let Some(said) = crate::leg::client::modern::refused_revision(id, members) {
        return Err(Fault::Said(said));
    }
    for (header, shown) in [(VERSION, "MCP-Protocol-Version"), (METHOD, "Mcp-Method")] {
        if !headers.contains_key(header) {
            return Err(Fault::Mismatch(format!("the header {shown} is missing")));
        }
    }
    const UNREADABLE: Fault = Fault::Envelope("the params of this request cannot be read");
    let told: Told<'_> =
        serde_json::from_slice(members.params.ok_or(UNREADABLE)?).map_err(|_| UNREADABLE)?;
    let name = match method {
        "tools/call" | "prompts/get" => &told.name,
        "resources/read" => &told.uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => &told.task,
        _ => &None,
    };
    if let Some(name) = name.as_ref().and_then(Value::as_str) {
        if !headers.contains_key(NAME) {
            return Err(Fault::Mismatch("the header Mcp-Name is missing".to_owned()));
        }
        agree(headers, NAME, Some(name), "Mcp-Name")?;
    }
    Ok(Message::Modern(Modern {
        client: client(told.meta.info, told.meta.capabilities)?,
        state: (members.state).and_then(|json| serde_json::from_slice(json).ok()),
        is_loud: told.meta.level.is_some(),
        tool: (method == "tools/call")
            .then(|| told.name.as_ref()?.as_str().map(str::to_owned))
            .flatten(),
    }))
}

/// Holds a header, if it is there, against what the body says.
fn agree(headers: &HeaderMap, name: &str, body: Option<&str>, shown: &str) -> Result<(), Fault> {
    if !headers.contains_key(name) {
        return Ok(());
    }
    let said = only(headers, name).and_then(decoded);
    let said = said.ok_or_else(|| Fault::Mismatch(format!("the header {shown} cannot be read")))?;
    match body == Some(&*said) {
        true => Ok(()),
        false => Err(Fault::Mismatch(format!(
            "the header {shown} and the body say different things"
        ))),
    }
}

/// What a client is and can do, its members in one order. Clients that only can do the same do
/// not share a server: a question would reach whichever of them has called first.
fn client(info: Option<&RawValue>, said: Option<&RawValue>) -> Result<String, Fault> {
    let said = said
        .map(RawValue::get)
        .filter(|said| said.len() <= MOST_CAPABILITIES);
    let said: Option<Value> = said.and_then(|said| serde_json::from_str(said).ok());
    let said = said.filter(Value::is_object).ok_or(Fault::Envelope(
        "params._meta has to carry io.modelcontextprotocol/clientCapabilities, an object",
    ))?;
    let info = info.filter(|info| info.get().len() <= MOST_CAPABILITIES);
    let info: Option<Value> = info.and_then(|info| serde_json::from_str(info.get()).ok());
    let client = json!([
        crate::frame::sorted(&info.unwrap_or_default()),
        crate::frame::sorted(&said)
    ]);
    Ok(client.to_string())
}

/// Whether a header names a revision that sessions are led in. Those who do not say so are taken
/// at the word of their opening.
pub fn legacy_revision(headers: &HeaderMap) -> Result<Option<Revision>, Fault> {
    if !headers.contains_key(VERSION) {
        return Ok(None);
    }
    let said = only(headers, VERSION).ok_or(Fault::UnknownRevision)?;
    if OLDER.contains(&said) {
        return Ok(None);
    }
    match said.parse() {
        Ok(Revision::V2026_07_28) | Err(_) => Err(Fault::UnknownRevision),
        Ok(revision) => Ok(Some(revision)),
    }
}

/// Revisions that knew nothing of elicitation.
const OLDER: [&str; 2] = ["2025-03-26", "2024-11-05"];

/// What a request is for.
pub fn purpose(method: &str, is_loud: bool, takes_events: bool) -> Purpose {
    let asks = matches!(
        method,
        "tools/call" | "prompts/get" | "resources/read" | "tasks/result"
    );
    Purpose {
        asks: asks && takes_events,
        loud: is_loud && takes_events,
        opens: method == "initialize",
        lists_tools: method == "tools/list",
        listens: method == "subscriptions/listen",
        is_guest: false,
        is_modern: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &Value, headers: &[(&'static str, &str)]) -> Result<Message, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let read = Message::read(&Frame::write(message), &map);
        read.map_err(|(_, fault)| match fault {
            Fault::Mismatch(_) => "-32020".to_owned(),
            Fault::Said(_) => "-32022".to_owned(),
            Fault::Envelope(_) => "-32602".to_owned(),
            Fault::Invalid(_) | Fault::NotAMessage => "-32600".to_owned(),
            other => format!("{other:?}"),
        })
    }

    fn modern(method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {"b": {}, "a": {}},
        });
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    }

    const V: (&str, &str) = (VERSION, MODERN);

    #[test]
    fn headers_of_a_modern_request_repeat_its_body() {
        let call = modern("tools/call", json!({"name": "book ü"}));
        let read_ = modern("resources/read", json!({"uri": "file:///a"}));
        let list = modern("tools/list", json!({}));
        let mut future = modern("tools/list", json!({}));
        future["params"]["_meta"][midcall_core::wire::meta::PROTOCOL_VERSION] = json!("2099-01-01");
        let mut bare = modern("tools/list", json!({}));
        bare["params"]["_meta"][midcall_core::wire::meta::CLIENT_CAPABILITIES] = json!([]);
        let named = (NAME, "=?base64?Ym9vayDDvA==?=");
        let m = |method| (METHOD, method);
        for (message, headers, wrong) in [
            (&list, &[V, m("tools/list")][..], None),
            (&list, &[V, m(" tools/list ")], None),
            (&list, &[m("tools/list")], Some("-32020")),
            (&list, &[V], Some("-32020")),
            (&list, &[V, V, m("tools/list")], Some("-32020")),
            (
                &list,
                &[V, m("tools/list"), m("tools/call")],
                Some("-32020"),
            ),
            (&list, &[V, m("Tools/list")], Some("-32020")),
            (
                &list,
                &[(VERSION, "2025-11-25"), m("tools/list")],
                Some("-32020"),
            ),
            (&call, &[V, m("tools/call"), named], None),
            (&call, &[V, m("tools/call")], Some("-32020")),
            (&call, &[V, m("tools/call"), (NAME, "book")], Some("-32020")),
            (
                &call,
                &[V, m("tools/call"), (NAME, "=?base64?Ym9?=")],
                Some("-32020"),
            ),
            (&call, &[V, m("tools/call"), named, named], Some("-32020")),
            (&read_, &[V, m("resources/read"), (NAME, "file:///a")], None),
            (
                &read_,
                &[V, m("resources/read"), (NAME, "file:///b")],
                Some("-32020"),
            ),
            (
                &future,
                &[(VERSION, "2099-01-01"), m("tools/list")],
                Some("-32022"),
            ),
            (&future, &[(VERSION, "2099-01-01")], Some("-32022")),
            (&bare, &[V, m("tools/list")], Some("-32602")),
        ] {
            let found = read(message, headers);
            assert_eq!(found.err().as_deref(), wrong, "{message} {headers:?}");
        }
        let Ok(Message::Modern(found)) = read(&call, &[V, m("tools/call"), named]) else {
            panic!("it is a modern one");
        };
        assert_eq!(found.client, r#"[null,{"a":{},"b":{}}]"#);
        assert_eq!(found.tool.as_deref(), Some("book ü"));
    }

    #[test]
    fn the_body_decides_which_era_a_message_is_of() {
        let initialize = json!({"id": 1, "method": "initialize", "params": {}});
        let ping = json!({"id": 1, "method": "ping"});
        let told = json!({"method": "notifications/initialized"});
        let answer = json!({"id": 1, "result": {}});
        let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": 7}});
        let mixed = json!([ping, modern("tools/list", json!({}))]);
        for (message, headers, expected) in [
            (&initialize, &[][..], "Opening"),
            (&initialize, &[V], "-32020"),
            (&ping, &[], "Requests"),
            (&ping, &[(VERSION, "2025-11-25")], "Requests"),
            (&ping, &[V], "-32602"),
            (&told, &[], "Tells(News)"),
            (&told, &[V], "Idle"),
            (&cancel, &[], "Tells(Cancel(7))"),
            (&answer, &[], "Tells(Answer(1))"),
            (&answer, &[V], "-32600"),
            (&json!([ping, told]), &[], "Requests"),
            (&json!([told, answer]), &[], "Tells(News)"),
            (&json!([]), &[], "Wrong(EmptyBatch)"),
            (&json!([ping]), &[V], "-32600"),
            (&json!([1]), &[], "-32600"),
            (&mixed, &[], "-32600"),
            (&json!({"id": null, "method": "ping"}), &[], "-32600"),
            (&json!({"hello": 1}), &[], "-32600"),
            (&json!("text"), &[], "-32600"),
        ] {
            let found = match read(message, headers) {
                Ok(message) => format!("{message:?}"),
                Err(wrong) => wrong,
            };
            assert_eq!(found, expected, "{message} {headers:?}");
        }
    }

    #[test]
    fn sessions_are_led_in_the_revisions_that_have_them() {
        for (said, fits) in [
            (&[][..], true),
            (&["2024-11-05"], true),
            (&["2025-03-26"], true),
            (&["2025-06-18"], true),
            (&["2025-11-25"], true),
            (&["2026-07-28"], false),
            (&["2099-01-01"], false),
            (&["2025-11-25", "2025-11-25"], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in said {
                headers.append(VERSION, value.parse().unwrap());
            }
            assert_eq!(legacy_revision(&headers).is_ok(), fits, "{said:?}");
        }
    }
}
