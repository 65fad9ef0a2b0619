//! News that a modern client follows, from a server that tells everybody everything.

use std::collections::{HashMap, HashSet};

use midcall_core::wire::{JsonObject, code};
use serde_json::{Value, json};

use super::Step;
use crate::frame::{Frame, Id, Members, OwnIds};

/// What a client follows, by the ids of its `subscriptions/listen`.
#[derive(Default)]
pub struct Following {
    open: HashMap<Id, JsonObject>,
    /// Which of them follow a resource.
    resources: HashMap<String, HashSet<Id>>,
}

/// How many it may have open, and how many resources it may follow.
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

impl Following {
    /// The client follows something from now on.
    pub fn start(
        &mut self,
        id: Id,
        params: &[u8],
        server: &Value,
        own_ids: &mut OwnIds,
        steps: &mut Vec<Step>,
    ) {
        let mut params: Value = serde_json::from_slice(params).unwrap_or_default();
        let refused = |why| Step::Out(Frame::error(Some(&id), code::INVALID_PARAMS, why));
        let Value::Object(mut wanted) = params["notifications"].take() else {
            let why = "midcall: `notifications` says what to listen for, and is not there";
            return steps.push(refused(why));
        };
        let uris = resources(&wanted).count();
        if self.open.len() >= MOST || self.resources.len() + uris > MOST_RESOURCES {
            return steps.push(refused("midcall: too many subscriptions are open"));
        }
        self.remove(&id);
        let can = |list: &str, what: &str| server["capabilities"][list][what] == true;
        wanted.retain(
            |name, _| match LISTS.iter().find(|(_, known, _)| known == name) {
                Some((_, _, list)) => can(list, "listChanged"),
                None => name == "resourceSubscriptions" && can("resources", "subscribe"),
            },
        );
        let ack = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": wanted, "_meta": {}}});
        let ack = Frame::write(&ack).with(&["params", "_meta", SUBSCRIPTION], id.as_json());
        steps.extend(ack.map(Step::Out));
        for uri in resources(&wanted) {
            let params = json!({"uri": uri});
            let frame = Frame::request(&own_ids.fresh(), "resources/subscribe", &params);
            steps.push(Step::In(frame));
            let followers = self.resources.entry(uri.to_owned()).or_default();
            followers.insert(id.clone());
        }
        self.open.insert(id, wanted);
    }

    /// The client does not follow it any more; `false` if it never did.
    pub fn stop(&mut self, id: &Id, own_ids: &mut OwnIds, steps: &mut Vec<Step>) -> bool {
        let Some(gone) = self.remove(id) else {
            return false;
        };
        for uri in gone {
            let params = json!({"uri": uri});
            let frame = Frame::request(&own_ids.fresh(), "resources/unsubscribe", &params);
            steps.push(Step::In(frame));
        }
        true
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
            whole
                .as_ref()?
                .with(&["params", "_meta", SUBSCRIPTION], id.as_json())
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
