//! Finding out what a server speaks.

use midcall_core::wire::{Era, Revision, code, meta};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::back::Back;
use super::bridge::{Bridge, ServerEra};
use super::front::Front;
use crate::frame::{Frame, Id, Kind, Members};
use crate::session::{Act, Event};
use crate::times::PROBE;

/// What is known of the server.
pub enum Leg {
    /// Nothing.
    Unknown,
    /// It is being opened as a legacy one: by this request.
    Opening(Id, Frame),
    /// It is being asked whether it is a modern one.
    Probing(Probe),
    /// It speaks this era.
    Known(Era),
}

pub struct Probe {
    pub id: Id,
    pub until: Instant,
    /// What it was to be opened by as a legacy one, and the error that this led to.
    pub failed: Option<(Frame, Frame)>,
}

impl Bridge {
    /// The session says something to the server: what it opens it by is kept, for as long as the
    /// server may turn out to be a modern one.
    pub(super) fn opens(&mut self, frame: &Frame) {
        let is_opening = self.front.as_ref().is_some_and(Front::is_opening);
        if self.initialize.is_some() && !is_opening {
            return;
        }
        if let Some((Kind::Request { id, method }, _)) = frame.peek()
            && method == "initialize"
        {
            self.initialize.get_or_insert_with(|| frame.kept());
            if self.back.is_none() && self.said == ServerEra::Auto {
                self.server = Leg::Opening(id, frame.kept());
            }
        }
    }

    /// Asks the server whether it is a modern one.
    pub(super) fn probe(
        &mut self,
        now: Instant,
        failed: Option<(Frame, Frame)>,
        acts: &mut Vec<Act>,
    ) {
        // It may not have answered that yet.
        let id = self.late.take().unwrap_or_else(|| {
            let id = self.own_ids.fresh();
            acts.push(Act::ToServer(discover(&id)));
            id
        });
        self.server = Leg::Probing(Probe {
            id,
            until: now + PROBE.get(),
            failed,
        });
    }

    /// It is known what the server speaks: what it said of itself, if it is a modern one.
    pub(super) fn probed(&mut self, now: Instant, found: Option<Value>, acts: &mut Vec<Act>) {
        let known = Leg::Known(if found.is_some() {
            Era::Modern
        } else {
            Era::Legacy
        });
        let Leg::Probing(probe) = std::mem::replace(&mut self.server, known) else {
            return;
        };
        tracing::info!(
            modern = found.is_some(),
            "it is known what the server speaks"
        );
        let listens = self.front.is_none();
        self.back = found.map(|found| Back::new(found, listens));
        if let Some((request, error)) = probe.failed {
            match &mut self.back {
                Some(back) => {
                    let mut steps = Vec::new();
                    back.session_says(request, &mut steps);
                    self.back_steps(now, steps, acts);
                }
                None => self.tell(now, Event::Server(error), acts),
            }
        }
        for frame in std::mem::take(&mut self.held) {
            self.pass(now, frame, acts);
        }
    }

    /// A server that was taken for a legacy one says that it is modern.
    pub(super) fn is_modern_after_all(
        &mut self,
        now: Instant,
        found: Option<Value>,
        acts: &mut Vec<Act>,
    ) {
        let Some(found) = found else { return };
        let mut back = Back::new(found, self.front.is_none());
        self.server = Leg::Known(Era::Modern);
        // What opened it in vain opens it now.
        let mut steps = Vec::new();
        if let Some(initialize) = self.initialize.clone() {
            back.session_says(initialize, &mut steps);
        }
        self.back = Some(back);
        self.back_steps(now, steps, acts);
    }
}

/// Asks a server whether it is a modern one.
pub fn discover(id: &Id) -> Frame {
    let params = json!({"_meta": {
        meta::PROTOCOL_VERSION: Revision::V2026_07_28, meta::CLIENT_CAPABILITIES: {},
        meta::CLIENT_INFO: {"name": "midcall", "version": env!("CARGO_PKG_VERSION")}
    }});
    Frame::request(id, "server/discover", &params)
}

/// What a modern server says of itself; none if it is none.
pub fn discovered(members: &Members<'_>) -> Option<Value> {
    if let Some(error) = members.error {
        let error: Value = serde_json::from_slice(error).ok()?;
        // Errors that no other era has.
        let is_modern = match error["code"].as_i64()? {
            code::MISSING_CLIENT_CAPABILITY | code::HEADER_MISMATCH => true,
            code::UNSUPPORTED_VERSION => speaks(&error["data"]["supported"]),
            _ => false,
        };
        return is_modern.then(|| json!({"capabilities": {}}));
    }
    let result: Value = serde_json::from_slice(members.result?).ok()?;
    speaks(&result["supportedVersions"]).then_some(result)
}

/// Whether the modern revision is among these.
fn speaks(versions: &Value) -> bool {
    let is_modern = |version: &Value| version == Revision::V2026_07_28.as_str();
    versions
        .as_array()
        .is_some_and(|versions| versions.iter().any(is_modern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_only_one_era_has_tells_which_one_it_is() {
        for (error, is_modern) in [
            (json!({"code": -32601}), false),
            (json!({"code": -32600}), false),
            (json!({"code": -32021}), true),
            (json!({"code": -32020}), true),
            (
                json!({"code": -32022, "data": {"supported": ["2026-07-28"]}}),
                true,
            ),
            (
                json!({"code": -32022, "data": {"supported": ["2099-01-01"]}}),
                false,
            ),
            (json!({"code": "-32021"}), false),
        ] {
            let frame = Frame::write(&json!({"id": 1, "error": error}));
            let (_, members) = frame.peek().unwrap();
            assert_eq!(discovered(&members).is_some(), is_modern, "{error}");
        }
    }
}
