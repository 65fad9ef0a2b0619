//! Words to the client that its calls go on while a person thinks.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{Act, Session};
use crate::frame::Frame;

/// How often. Many clients give up after a minute, some after half of one.
const EVERY: Duration = Duration::from_secs(10);

impl Session {
    pub(super) fn keep_alive(&mut self, now: Instant, acts: &mut Vec<Act>) {
        if !self.calls.are_followed() || !self.somebody_thinks() {
            self.keep_alive = None;
            return;
        }
        if self.keep_alive.is_some_and(|at| at > now) {
            return;
        }
        self.keep_alive = Some(now + EVERY);
        let server = self.server.asker.server.as_str();
        let words =
            (self.rules.locale).say("mcp.elicitation.wait.person", &[("server", server.into())]);
        for (token, progress) in self.calls.move_on() {
            let Ok(token) = str::from_utf8(token) else {
                continue;
            };
            let told = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": null, "progress": progress, "message": words}});
            let told = Frame::write(&told).with(&["params", "progressToken"], token);
            acts.extend(told.map(Act::ToClient));
        }
    }
}
