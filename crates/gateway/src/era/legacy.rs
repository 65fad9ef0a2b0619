//! `initialize`: what the client says of itself, and what the server is told instead.
//!
//! The server is told that the client can do whatever some route can, in the newest revision of
//! this era, and the client hears the revision that it asked for. Everything else in the two
//! messages stays as it is.

use midcall_core::Asker;
use midcall_core::wire::{JsonObject, Modes, Revision};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::frame::Frame;

/// The newest revision in which a leg is opened by `initialize`.
const NEWEST: Revision = Revision::V2025_11_25;

/// What a client says of itself.
#[derive(Clone, Debug)]
pub struct Client {
    /// The revision it asked for.
    pub revision: Revision,
    /// What it can ask by itself.
    pub modes: Modes,
}

/// What a server says of itself.
#[derive(Clone, Debug)]
pub struct Server {
    pub revision: Revision,
    /// How people are told of it.
    pub asker: Asker,
    /// Whether calls of tools can be tasks.
    pub runs_tasks: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams<'a> {
    protocol_version: String,
    #[serde(borrow)]
    capabilities: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult {
    protocol_version: String,
    #[serde(default)]
    server_info: Info,
    #[serde(default)]
    capabilities: Value,
}

#[derive(Default, Deserialize)]
struct Info {
    #[serde(default)]
    name: String,
    title: Option<String>,
    version: Option<String>,
}

/// Reads a client's `initialize` and gives what the server is sent instead. `added` is what
/// other routes can do.
pub fn offer(frame: &Frame, params: &[u8], added: Modes) -> Option<(Client, Option<Frame>)> {
    let params: InitializeParams<'_> = serde_json::from_slice(params).ok()?;
    let mut capabilities: JsonObject = serde_json::from_str(params.capabilities.get()).ok()?;
    // An unknown revision is a later one than ours: its server will say what it knows.
    let revision = params.protocol_version.parse().unwrap_or(NEWEST);
    let client = Client {
        revision,
        modes: sayable(Modes::read(&capabilities), revision),
    };
    if added == Modes::default() {
        return Some((client, None));
    }
    let offered = revision.max(NEWEST);
    added.declare(&mut capabilities, offered);
    let capabilities = serde_json::to_string(&capabilities).ok()?;
    let mut edited = frame.with(&["params", "capabilities"], &capabilities)?;
    if offered > revision {
        edited = edited.with(&["params", "protocolVersion"], &format!("\"{offered}\""))?;
    }
    Some((client, Some(edited)))
}

/// Reads a server's answer to it, and gives what the client is sent instead if that differs.
pub fn agree(frame: &Frame, result: &[u8], client: &mut Client) -> Option<(Server, Option<Frame>)> {
    let result: InitializeResult = serde_json::from_slice(result).ok()?;
    let revision = result.protocol_version.parse().unwrap_or(NEWEST);
    let info = result.server_info;
    let server = Server {
        revision,
        asker: Asker {
            version: info.version,
            ..Asker::named(info.title.unwrap_or(info.name))
        },
        runs_tasks: (result.capabilities.pointer("/tasks/requests/tools/call")).is_some(),
    };
    if revision <= client.revision {
        client.revision = revision;
        return Some((server, None));
    }
    let asked_for = format!("\"{}\"", client.revision);
    let edited = frame.with(&["result", "protocolVersion"], &asked_for)?;
    Some((server, Some(edited)))
}

/// A mode that a revision has no words for cannot be asked in it.
fn sayable(modes: Modes, revision: Revision) -> Modes {
    let known = Modes::sayable(revision);
    Modes {
        form: modes.form && known.form,
        url: modes.url && known.url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const BOTH: Modes = Modes {
        form: true,
        url: true,
    };

    fn request(version: &str, capabilities: Value) -> Frame {
        Frame::write(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
            {"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}, "more": [1]}}),
        )
    }

    fn offered(version: &str, capabilities: Value) -> (Client, Value) {
        let frame = request(version, capabilities);
        let (_, members) = frame.peek().unwrap();
        let (client, edited) = offer(&frame, members.params.unwrap(), BOTH).unwrap();
        let bytes = edited.unwrap().into_bytes();
        (client, serde_json::from_slice(&bytes).unwrap())
    }

    #[test]
    fn the_server_is_told_what_all_routes_can_do() {
        for (version, capabilities, modes, told) in [
            (
                "2025-06-18",
                json!({}),
                (false, false),
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            (
                "2025-06-18",
                json!({"elicitation": {}}),
                (true, false),
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            (
                "2025-11-25",
                json!({"roots": {}, "elicitation": {"form": {}}}),
                (true, false),
                json!({"roots": {}, "elicitation": {"form": {}, "url": {}}}),
            ),
            (
                "2025-11-25",
                json!({"elicitation": {"form": {}, "url": {}}}),
                (true, true),
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            (
                "2024-11-05",
                json!({"elicitation": {}}),
                (false, false),
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            (
                "2029-01-01",
                json!({}),
                (false, false),
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
        ] {
            let (client, message) = offered(version, capabilities);
            assert_eq!((client.modes.form, client.modes.url), modes, "{version}");
            assert_eq!(message["params"]["capabilities"], told, "{version}");
            assert_eq!(message["params"]["more"], json!([1]));
            let upstream = if version > "2025-11-25" {
                version
            } else {
                "2025-11-25"
            };
            assert_eq!(message["params"]["protocolVersion"], upstream);
        }
    }

    #[test]
    fn the_client_hears_no_later_revision_than_it_asked_for() {
        for (asked, answered, heard, revision) in [
            ("2025-06-18", "2025-11-25", "2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25", "2025-11-25", "2025-11-25"),
            ("2025-11-25", "2025-06-18", "2025-06-18", "2025-06-18"),
        ] {
            let (mut client, _) = offered(asked, json!({}));
            let frame = Frame::write(&json!({"id": 0, "result": {"protocolVersion": answered,
                "serverInfo": {"name": "books", "title": "Book shop", "version": "2"}, "capabilities": {}}}));
            let (_, members) = frame.peek().unwrap();
            let (server, edited) = agree(&frame, members.result.unwrap(), &mut client).unwrap();
            let told: Value =
                serde_json::from_slice(&edited.unwrap_or(frame.clone()).into_bytes()).unwrap();
            assert_eq!(told["result"]["protocolVersion"], heard);
            assert_eq!(client.revision.as_str(), revision);
            assert_eq!(server.revision.as_str(), answered);
            assert_eq!(server.asker.server, "Book shop");
        }
    }
}
