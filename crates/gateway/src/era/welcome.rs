//! How a session is opened for a modern client, which opens none by itself.

use midcall_core::wire::{Revision, meta};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Step;
use super::front::Front;
use super::words::{SERVER_INFO, supported};
use crate::frame::{Frame, Id, Kind, Members};

/// Whether the session is open.
pub enum Opening {
    NotYet,
    /// The request that opens it, and what the client said meanwhile.
    Under(Id, Vec<Frame>),
    Done,
}

impl Front {
    /// The request that opens the session for the client.
    pub(super) fn open(&mut self, mut told: Value) -> Frame {
        let id = self.own_ids.fresh();
        self.capabilities = told[meta::CLIENT_CAPABILITIES].take();
        let mut info = told[meta::CLIENT_INFO].take();
        if !info.is_object() {
            info = json!({"name": "client", "version": "0"});
        }
        let params = json!({"protocolVersion": Revision::V2025_11_25, "capabilities": self.legacy_capabilities(),
            "clientInfo": info});
        let frame = Frame::request(&id, "initialize", &params);
        self.opening = Opening::Under(id, Vec::new());
        frame
    }

    /// What the client can, in words of the other era.
    fn legacy_capabilities(&self) -> Value {
        let mut capabilities = self.capabilities.clone();
        match capabilities.as_object_mut() {
            Some(members) => drop(members.shift_remove("extensions")),
            None => capabilities = json!({}),
        }
        capabilities
    }

    /// The session is open, or will never be.
    pub(super) fn opened(&mut self, now: Instant, members: &Members<'_>, steps: &mut Vec<Step>) {
        let Opening::Under(_, waiting) = std::mem::replace(&mut self.opening, Opening::Done) else {
            return;
        };
        let Some(result) = members.result else {
            self.opening = Opening::NotYet;
            let error = members.error.unwrap_or(b"{}");
            let error: Value = serde_json::from_slice(error).unwrap_or_default();
            let failed = Frame::write(&json!({"jsonrpc": "2.0", "error": error}));
            for frame in waiting {
                if let Some((Kind::Request { id, .. }, _)) = frame.peek() {
                    steps.extend(failed.with(&["id"], id.as_json()).map(Step::Out));
                }
            }
            return;
        };
        self.server = serde_json::from_slice(result).unwrap_or_default();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        steps.push(Step::In(Frame::write(&initialized)));
        for frame in waiting {
            self.client_says(now, frame, steps);
        }
    }

    /// What `server/discover` would have said.
    pub(super) fn discovered(&self) -> Value {
        let mut told = json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": supported(), "capabilities": self.server["capabilities"],
            "_meta": {SERVER_INFO: self.server["serverInfo"]}
        });
        if let Some(capabilities) = told["capabilities"].as_object_mut() {
            capabilities.shift_remove("tasks");
        }
        if let Some(instructions) = self.server.get("instructions") {
            told["instructions"] = instructions.clone();
        }
        told
    }
}
