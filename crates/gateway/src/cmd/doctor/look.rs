//! What can be found out about a server without calling its tools.

use std::collections::HashSet;
use std::ffi::OsString;
use std::time::Duration;

use midcall_core::model::ToolHints;
use midcall_core::wire::{JsonObject, Modes, Revision, meta};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::peer::{Noise, Peer, Remains, Trouble};
use crate::times::DOCTOR_PROBE;

/// What was found out.
#[derive(Debug)]
pub struct Found {
    pub name: Option<String>,
    pub version: Option<String>,
    /// The revisions it says it speaks, in its own words, oldest first.
    pub revisions: Vec<String>,
    /// Whether it is opened by `initialize`.
    pub legacy: Option<bool>,
    /// Whether it knows `server/discover`; none if it did not say in time.
    pub modern: Option<bool>,
    pub capabilities: Vec<String>,
    pub tools: Vec<Tool>,
    pub asks: Asks,
    pub noise: Noise,
}

/// A tool, as the server describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub name: String,
    pub hints: ToolHints,
    pub has_output_schema: bool,
    /// Whether it is there for clients that can ask only.
    pub needs_asking: bool,
}

/// Whether it asks people, as far as that can be seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Some of its tools are there for clients that can ask only.
    Yes,
    /// No revision it speaks has questions.
    No,
    /// Its tools are the same for all clients, which tells nothing.
    NotSeen,
    /// Its tools could not be compared.
    NotKnown,
}

/// Why nothing was found out.
#[derive(Debug)]
pub struct Failure {
    pub trouble: Trouble,
    pub remains: Remains,
}

/// What one client is told.
struct Told {
    name: Option<String>,
    version: Option<String>,
    revisions: Vec<String>,
    capabilities: Vec<String>,
    tools: Option<Vec<Tool>>,
}

const NOTHING: Modes = Modes {
    form: false,
    url: false,
};
const BOTH: Modes = Modes {
    form: true,
    url: true,
};
/// The newest revision that is opened by `initialize`.
const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

/// Longer lists of tools are looked at so far.
const PAGES: usize = 100;
const TOOLS: usize = 10_000;

/// Looks at a server for so long.
pub async fn at(command: &[OsString], patience: Duration) -> Result<Found, Failure> {
    let start = Instant::now();
    let until = start + patience;
    let (first, remains) = legacy(command, BOTH, until).await;
    // Whatever it said: a server of the newer era alone may say no, or end.
    let probe = Instant::now() + DOCTOR_PROBE.get() + 5 * start.elapsed();
    let is_modern = modern(command, until.min(probe));
    match first {
        Ok(mut told) => {
            let again = legacy(command, NOTHING, until);
            let ((modern, _), (bare, _)) = tokio::join!(is_modern, again);
            let modern = match modern {
                Ok((modern, _)) => {
                    told.revisions.extend(modern.revisions);
                    Some(true)
                }
                Err(Trouble::Refused { .. } | Trouble::Ended(_) | Trouble::Unreadable) => {
                    Some(false)
                }
                Err(_) => None,
            };
            let bare = bare.ok().and_then(|bare| bare.tools);
            Ok(found(told, bare, Some(true), modern, remains.noise))
        }
        Err(trouble @ (Trouble::Refused { .. } | Trouble::Ended(_) | Trouble::Unreadable)) => {
            let is_legacy = matches!(trouble, Trouble::Refused { .. }).then_some(false);
            match is_modern.await {
                (Ok((told, bare)), remains) => {
                    Ok(found(told, bare, is_legacy, Some(true), remains.noise))
                }
                (Err(_), _) => Err(Failure { trouble, remains }),
            }
        }
        Err(trouble) => Err(Failure { trouble, remains }),
    }
}

fn found(
    told: Told,
    bare: Option<Vec<Tool>>,
    legacy: Option<bool>,
    modern: Option<bool>,
    noise: Noise,
) -> Found {
    let mut revisions = told.revisions;
    revisions.sort();
    revisions.dedup();
    let known = told.tools.is_some() && bare.is_some();
    let mut tools = told.tools.unwrap_or_default();
    let bare: HashSet<String> = (bare.into_iter().flatten()).map(|tool| tool.name).collect();
    for tool in &mut tools {
        tool.needs_asking = known && !bare.contains(&tool.name);
    }
    // A revision that is not known is a later one.
    let elicits = |revision: &String| revision.parse().is_ok_and(|r: Revision| !r.elicits());
    let asks = match known {
        _ if revisions.iter().all(elicits) => Asks::No,
        true if tools.iter().any(|tool| tool.needs_asking) => Asks::Yes,
        true => Asks::NotSeen,
        false => Asks::NotKnown,
    };
    Found {
        name: told.name,
        version: told.version,
        revisions,
        legacy,
        modern,
        capabilities: told.capabilities,
        tools,
        asks,
        noise,
    }
}

/// Opens it by `initialize`, as a client that can do these.
async fn legacy(
    command: &[OsString],
    modes: Modes,
    until: Instant,
) -> (Result<Told, Trouble>, Remains) {
    let mut peer = match Peer::start(command) {
        Ok(peer) => peer,
        Err(trouble) => return (Err(trouble), Remains::default()),
    };
    let mut told = async || {
        let params = json!({"protocolVersion": LEGACY, "capabilities": declared(modes, LEGACY),
            "clientInfo": us()});
        let result = peer.ask("initialize", &params, until).await?;
        let revision = result["protocolVersion"].as_str();
        let revision = revision.ok_or(Trouble::Unreadable)?;
        peer.tell("notifications/initialized");
        let mut told = Told::read(&result["serverInfo"], &result["capabilities"]);
        told.revisions = vec![revision.to_owned()];
        if told.has_tools() {
            told.tools = tools(&mut peer, &json!({}), until).await.ok();
        }
        Ok(told)
    };
    let told = told().await;
    (told, peer.end().await)
}

/// Meets it in the newer era: what clients are told that can ask, and the tools of those that
/// cannot.
async fn modern(
    command: &[OsString],
    until: Instant,
) -> (Result<(Told, Option<Vec<Tool>>), Trouble>, Remains) {
    let mut peer = match Peer::start(command) {
        Ok(peer) => peer,
        Err(trouble) => return (Err(trouble), Remains::default()),
    };
    let mut told = async || {
        let params = |modes| {
            json!({"_meta": {meta::PROTOCOL_VERSION: MODERN, meta::CLIENT_INFO: us(),
                meta::CLIENT_CAPABILITIES: declared(modes, MODERN)}})
        };
        let result = peer.ask("server/discover", &params(BOTH), until).await?;
        let versions = result["supportedVersions"].as_array();
        let versions = versions.ok_or(Trouble::Unreadable)?;
        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        let mut told = Told::read(info, &result["capabilities"]);
        let versions = versions.iter().filter_map(Value::as_str);
        told.revisions = versions.map(str::to_owned).collect();
        let mut bare = Some(Vec::new());
        if told.has_tools() {
            told.tools = tools(&mut peer, &params(BOTH), until).await.ok();
            bare = tools(&mut peer, &params(NOTHING), until).await.ok();
        }
        Ok((told, bare))
    };
    let told = told().await;
    (told, peer.end().await)
}

/// All tools, page by page.
async fn tools(peer: &mut Peer, params: &Value, until: Instant) -> Result<Vec<Tool>, Trouble> {
    let mut found = Vec::new();
    let mut params = params.clone();
    for _ in 0..PAGES {
        let page = peer.ask("tools/list", &params, until).await?;
        let listed = page["tools"].as_array().ok_or(Trouble::Unreadable)?;
        found.extend(listed.iter().filter_map(Value::as_object).map(Tool::read));
        found.truncate(TOOLS);
        match page["nextCursor"].as_str() {
            Some(cursor) => params["cursor"] = cursor.into(),
            None => break,
        }
    }
    Ok(found)
}

impl Told {
    fn read(info: &Value, capabilities: &Value) -> Self {
        let text = |name: &str| info[name].as_str().map(str::to_owned);
        let capabilities = capabilities.as_object().into_iter().flat_map(Map::keys);
        let mut capabilities: Vec<String> = capabilities.cloned().collect();
        capabilities.sort();
        Self {
            name: text("name"),
            version: text("version"),
            revisions: Vec::new(),
            capabilities,
            tools: Some(Vec::new()),
        }
    }

    fn has_tools(&self) -> bool {
        self.capabilities.iter().any(|name| name == "tools")
    }
}

impl Tool {
    fn read(tool: &Map<String, Value>) -> Self {
        let name = tool.get("name").and_then(Value::as_str);
        Self {
            name: name.unwrap_or_default().to_owned(),
            hints: ToolHints::read(tool),
            has_output_schema: tool.get("outputSchema").is_some_and(Value::is_object),
            needs_asking: false,
        }
    }
}

fn declared(modes: Modes, revision: Revision) -> JsonObject {
    let mut capabilities = JsonObject::new();
    modes.declare(&mut capabilities, revision);
    capabilities
}

/// As clients introduce themselves.
fn us() -> Value {
    json!({"name": "midcall-doctor", "version": env!("CARGO_PKG_VERSION")})
}
