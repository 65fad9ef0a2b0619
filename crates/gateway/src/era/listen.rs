//! `subscriptions/listen`: how a modern server is asked for news.

use std::collections::BTreeSet;

use midcall_core::wire::JsonObject;
use serde_json::{Map, Value, json};

use crate::frame::{Frame, Id};

/// The one subscription of a legacy client: everything its server would have told it, and the
/// resources it asked for.
#[derive(Default)]
pub struct Listening {
    /// The request that is open.
    id: Option<Id>,
    lists: Map<String, Value>,
    resources: BTreeSet<String>,
    /// How long their names are together.
    bytes: usize,
}

/// How many resources may be followed, and how long their names may be together. Each change tells the server all.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 256 * 1024;

impl Listening {
    /// Asks for what the server says it can tell.
    pub fn start(&mut self, id: Id, discovered: &Value, meta: &JsonObject) -> Vec<Frame> {
        for (list, name) in [
            ("tools", "toolsListChanged"),
            ("prompts", "promptsListChanged"),
            ("resources", "resourcesListChanged"),
        ] {
            if discovered["capabilities"][list]["listChanged"] == true {
                self.lists.insert(name.to_owned(), true.into());
            }
        }
        match self.lists.is_empty() {
            true => Vec::new(),
            false => self.ask(id, meta),
        }
    }

    /// Follows a resource, or does not any more.
    pub fn resource(&mut self, id: Id, uri: &str, wants: bool, meta: &JsonObject) -> Vec<Frame> {
        let has_room = self.resources.len() < MOST && self.bytes + uri.len() <= MOST_BYTES;
        let changed = if wants {
            has_room && self.resources.insert(uri.to_owned())
        } else {
            self.resources.remove(uri)
        };
        match (changed, wants) {
            (true, true) => self.bytes += uri.len(),
            (true, false) => self.bytes -= uri.len(),
            _ => {}
        }
        match changed {
            true => self.ask(id, meta),
            false => Vec::new(),
        }
    }

    /// Whether a response is the end of it.
    pub fn is(&self, id: &Id) -> bool {
        self.id.as_ref() == Some(id)
    }

    /// The request that replaces the one before, which is taken back.
    fn ask(&mut self, id: Id, meta: &JsonObject) -> Vec<Frame> {
        let mut wanted = self.lists.clone();
        if !self.resources.is_empty() {
            let resources: Vec<&String> = self.resources.iter().collect();
            wanted.insert("resourceSubscriptions".to_owned(), json!(resources));
        }
        let params = json!({"notifications": wanted, "_meta": meta});
        let mut frames = vec![Frame::request(&id, "subscriptions/listen", &params)];
        let before = self.id.replace(id);
        frames.extend(before.map(|before| Frame::cancelled(&before)));
        frames
    }
}
