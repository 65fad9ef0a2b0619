//! What applies to one question or call, with nothing left out.
//!
//! In: [`Setup::plan`](super::Setup::plan), the only function that makes one.
//! Not here: what a person wrote (`setting`, `policy`).

use std::time::Duration;

use super::{Confirm, Routes, Sampling, Secrets, Setting};

/// What applies to one question or call: the strictest of what the policy says about the tools
/// that it can belong to, and the flags where the policy says nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Who to ask, in order of preference.
    pub routes: Routes,
    /// How long a question waits that doesn't say so itself.
    pub patience: Duration,
    /// How long it waits at most, no matter what it says: the policy's patience, or [`LONGEST`].
    pub longest: Duration,
    /// Which calls need a person's approval.
    pub confirm: Confirm,
    /// What to do with a form that asks for a secret.
    pub secrets: Secrets,
    /// How many questions a server may ask in a minute; `u32::MAX` if there is no limit.
    pub asks_per_minute: u32,
    /// True if the model may confirm what destroys something.
    pub model_may_confirm: bool,
    /// What to do with a request to the client's model.
    pub sampling: Sampling,
    /// Unencrypted origins that links may lead to.
    pub links: Vec<String>,
}

/// The longest that any question waits, no matter what the server, the flags or the policy say.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Plan {
    /// The plan that a setting makes. `patience` is how long a question waits if neither the
    /// setting nor the question itself says so.
    pub(super) fn new(setting: Setting, patience: Duration) -> Self {
        Self {
            routes: setting.routes.unwrap_or_default(),
            patience: setting.patience.unwrap_or(patience),
            longest: setting.patience.unwrap_or(LONGEST).min(LONGEST),
            confirm: setting.confirm.unwrap_or_default(),
            secrets: setting.secrets.unwrap_or_default(),
            asks_per_minute: setting.asks_per_minute.unwrap_or(u32::MAX),
            model_may_confirm: setting.model_may_confirm.unwrap_or_default(),
            sampling: setting.sampling.unwrap_or_default(),
            links: setting.links.unwrap_or_default(),
        }
    }

    /// How long a question waits that wants to wait for `wanted`.
    pub fn wait(&self, wanted: Option<Duration>) -> Duration {
        wanted.unwrap_or(self.patience).min(self.longest)
    }
}
