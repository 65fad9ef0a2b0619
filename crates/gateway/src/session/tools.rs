//! The tools that Midcall adds to a server's.

use midcall_core::model::{ModelAnswer, WAIT_SECONDS};
use midcall_core::wire::{Mode, Modes};
use ring::digest;
use serde_json::Value;

use super::Session;
use crate::call::{Added, TellBy};
use crate::route::Route;

/// What a call of the tool that answers for a person says.
pub fn model_answer(params: Option<&[u8]>) -> ModelAnswer {
    let params = params.and_then(|params| serde_json::from_slice::<Value>(params).ok());
    let arguments = params.and_then(|mut params| match params["arguments"].take() {
        Value::Object(arguments) => Some(arguments),
        _ => None,
    });
    ModelAnswer::read(arguments.unwrap_or_default(), |arguments| {
        let written = serde_json::to_vec(arguments).unwrap_or_default();
        let digest = digest::digest(&digest::SHA256, &written);
        digest.as_ref().try_into().unwrap_or_default()
    })
}

impl Session {
    /// The tools that a client which can ask in these modes is shown besides the server's.
    pub(super) fn added_tools(&self, modes: Option<Modes>) -> Added {
        let leaves_forms = modes.is_some_and(|modes| self.setup.leaves_one(Mode::Form, modes));
        let send = leaves_forms && self.setup.may_ask(Route::Model);
        Added {
            await_: send || self.may_let_go(),
            send,
            wait: self.wait_seconds(),
            has_cache_hints: self.client.told == TellBy::Results,
        }
    }

    /// How long a call of one of them waits. A client that is let go early gives up early.
    pub(super) fn wait_seconds(&self) -> f64 {
        let hold = self.setup.hold.map(|hold| hold.as_secs_f64());
        hold.map_or(WAIT_SECONDS, |hold| hold.clamp(1.0, WAIT_SECONDS))
    }

    /// True if it matters what tools there are.
    pub(super) fn reads_tools(&self, modes: Option<Modes>) -> bool {
        self.added_tools(modes).await_
            || self.servers.first.facts.runs_tasks
            || self.setup.needs_hints()
            || self.setup.saves.is_some()
    }
}
