//! Who was given which link, until somebody says that what it led to is done.

use std::collections::VecDeque;
use std::sync::PoisonError;

use midcall_core::wire::{ElicitationCompleteParams, Revision};
use rmcp::model::{CustomNotification, ServerNotification};
use rmcp::{Peer, RoleServer};
use serde_json::Value;

use crate::asks::Asks;

/// The ids of links, and whose clients have them. The oldest first.
pub(crate) type Links = VecDeque<(String, Peer<RoleServer>)>;

/// How many are remembered.
const MOST: usize = 1_024;

impl Asks {
    /// Tells the client that what a link led to is done, by the id that stood in the link. `true`
    /// if that client is there and its revision has a word for it; others learn it by calling
    /// again.
    ///
    /// ```
    /// # async fn callback(asks: midcall_server::Asks, state: String) {
    /// // In the handler of the address that the sign-in comes back to:
    /// asks.complete(&state).await;
    /// # }
    /// ```
    pub async fn complete(&self, id: &str) -> bool {
        let peer = {
            let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
            let found = links.iter().position(|(known, _)| known == id);
            found.and_then(|at| links.remove(at))
        };
        let Some((id, peer)) = peer else {
            return false;
        };
        let done = ElicitationCompleteParams {
            elicitation_id: id,
            rest: Default::default(),
        };
        let Ok(params) = done.write(Revision::V2025_11_25) else {
            return false;
        };
        let method = ElicitationCompleteParams::METHOD;
        let told = CustomNotification::new(method, Some(Value::Object(params)));
        let told = ServerNotification::CustomNotification(told);
        peer.send_notification(told).await.is_ok()
    }

    /// Remembers who was given a link.
    pub(crate) fn linked(&self, id: &str, peer: Peer<RoleServer>) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() == MOST {
            links.pop_front();
        }
        links.push_back((id.to_owned(), peer));
    }
}
