//! News of one era in the words of the other: subscriptions.

use std::collections::{BTreeSet, HashMap, HashSet};

use midcall_core::wire::{JsonObject, code};
use serde_json::{Map, Value, json};

use crate::frame::{Frame, Id, Members, OwnIds};

/// What a modern client follows at a legacy server, by the ids of its `subscriptions/listen`.
#[derive(Default)]
pub struct Follows {
    open: HashMap<Id, JsonObject>,
    /// Which of them follow a resource.
    resources: HashMap<String, HashSet<Id>>,
}

/// What the two sides are told.
#[derive(Default)]
pub struct Told {
    pub client: Vec<Frame>,
    pub server: Vec<Frame>,
}

/// How many subscriptions a client may have open, and how many resources it may follow.
const MOST: usize = 1_000;
const MOST_RESOURCES: usize = 5_000;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Kinds of news, what they are called in a subscription, and which capability has them.
const LISTS: [(&str, &str, &str); 3] = [
    (
        "notifications/tools/list_changed",
        "toolsListChanged",
        "tools",
    ),
    (
        "notifications/prompts/list_changed",
        "promptsListChanged",
        "prompts",
    ),
    (
        "notifications/resources/list_changed",
        "resourcesListChanged",
        "resources",
    ),
];

impl Follows {
    /// The client follows something from now on. `capabilities`: the server's.
    pub fn start(
        &mut self,
        id: Id,
        params: &[u8],
        capabilities: &Value,
        own_ids: &mut OwnIds,
    ) -> Told {
        let mut told = Told::default();
        let mut params: Value = serde_json::from_slice(params).unwrap_or_default();
        let refused = |why| Frame::error(Some(&id), code::INVALID_PARAMS, why);
        let Value::Object(mut wanted) = params["notifications"].take() else {
            let why = "midcall: `notifications` says what to listen for, and is not there";
            told.client.push(refused(why));
            return told;
        };
        let uris = resources(&wanted).count();
        if self.open.len() >= MOST || self.resources.len() + uris > MOST_RESOURCES {
            told.client
                .push(refused("midcall: too many subscriptions are open"));
            return told;
        }
        self.remove(&id);
        let can = |list: &str, what: &str| capabilities[list][what] == true;
        wanted.retain(
            |name, _| match LISTS.iter().find(|(_, known, _)| known == name) {
                Some((_, _, list)) => can(list, "listChanged"),
                None => name == "resourceSubscriptions" && can("resources", "subscribe"),
            },
        );
        let ack = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": wanted, "_meta": {}}});
        let ack = Frame::write(&ack).with(&["params", "_meta", SUBSCRIPTION], id.as_json());
        told.client.extend(ack);
        for uri in resources(&wanted) {
            let params = json!({"uri": uri});
            told.server.push(Frame::request(
                &own_ids.fresh(),
                "resources/subscribe",
                &params,
            ));
            let followers = self.resources.entry(uri.to_owned()).or_default();
            followers.insert(id.clone());
        }
        self.open.insert(id, wanted);
        told
    }

    /// The client doesn't follow it any more: what the server is told. None if it never did.
    pub fn stop(&mut self, id: &Id, own_ids: &mut OwnIds) -> Option<Vec<Frame>> {
        let gone = self.remove(id)?;
        let unsubscribe = |uri: String| {
            let params = json!({"uri": uri});
            Frame::request(&own_ids.fresh(), "resources/unsubscribe", &params)
        };
        Some(gone.into_iter().map(unsubscribe).collect())
    }

    /// Removes a subscription and returns the resources that no other subscription follows.
    fn remove(&mut self, id: &Id) -> Option<Vec<String>> {
        let wanted = self.open.remove(id)?;
        let mut gone = Vec::new();
        for uri in resources(&wanted) {
            if let Some(followers) = self.resources.get_mut(uri) {
                followers.remove(id);
                if followers.is_empty() {
                    self.resources.remove(uri);
                    gone.push(uri.to_owned());
                }
            }
        }
        Some(gone)
    }

    /// News as those who follow them hear them; none if nobody can follow such news.
    pub fn news(&self, method: &str, frame: &Frame, members: &Members<'_>) -> Option<Vec<Frame>> {
        let params = members
            .params
            .and_then(|json| serde_json::from_slice::<Value>(json).ok());
        let list = LISTS.iter().find(|(known, _, _)| *known == method);
        let followers: Vec<&Id> = match list {
            Some((_, name, _)) => {
                let follows = |wanted: &JsonObject| wanted.get(*name) == Some(&Value::Bool(true));
                let open = self.open.iter().filter(|(_, wanted)| follows(wanted));
                open.map(|(id, _)| id).collect()
            }
            None if method == "notifications/resources/updated" => {
                let uri = params.as_ref()?["uri"].as_str();
                let followers = uri.and_then(|uri| self.resources.get(uri));
                followers.into_iter().flatten().collect()
            }
            None => return None,
        };
        let whole = match &params {
            Some(params) if params["_meta"].is_object() => Some(frame.clone()),
            Some(params) if params.is_object() => frame.with(&["params", "_meta"], "{}"),
            _ => frame.with(&["params"], "{\"_meta\":{}}"),
        };
        let told = followers.into_iter().filter_map(|id| {
            let whole = whole.as_ref()?;
            whole.with(&["params", "_meta", SUBSCRIPTION], id.as_json())
        });
        Some(told.collect())
    }
}

fn resources(wanted: &JsonObject) -> impl Iterator<Item = &str> {
    let list = wanted
        .get("resourceSubscriptions")
        .and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// The one subscription of a legacy client at a modern server: everything that its own server would have told it, and
/// the resources that it asked for.
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
const MOST_LISTENED: usize = 10_000;
const MOST_BYTES: usize = 256 * 1024;

impl Listening {
    /// Asks for what the server says it can tell.
    pub fn start(&mut self, id: Id, capabilities: &Value, meta: &JsonObject) -> Vec<Frame> {
        for (_, name, list) in LISTS {
            if capabilities[list]["listChanged"] == true {
                self.lists.insert(name.to_owned(), true.into());
            }
        }
        match self.lists.is_empty() {
            true => Vec::new(),
            false => self.ask(id, meta),
        }
    }

    /// Follows a resource, or doesn't any more.
    pub fn resource(&mut self, id: Id, uri: &str, wants: bool, meta: &JsonObject) -> Vec<Frame> {
        let has_room = self.resources.len() < MOST_LISTENED && self.bytes + uri.len() <= MOST_BYTES;
        let changed = match wants {
            true => has_room && self.resources.insert(uri.to_owned()),
            false => self.resources.remove(uri),
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

    /// True if a response is the end of it.
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
