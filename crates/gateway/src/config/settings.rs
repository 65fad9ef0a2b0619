//! The settings of one server: flags of `midcall wrap`, keys of an `[upstream.NAME]`.
//!
//! They are declared once, here, so that both have the same names, values and defaults.
//!
//! Not here: what the settings mean for a session (`route::setup`), where the server is
//! (`upstream`, `cmd::wrap`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::{Asker, Limits};
use serde::Deserialize;

use crate::duration::{Hold, Span};
use crate::principal::principal;
use crate::route::document;
use crate::route::{
    Choices, Confirm, OnUnavailable, PATIENCE, Policy, PolicyError, Profile, ProfileError, Routes,
    ServerEra, Setting, Setup,
};

/// The settings of one server, with defaults for those that a person left out.
#[derive(Clone, Debug, clap::Args, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Who to ask, in order of preference: client, page, api, model
    #[arg(
        long,
        env = "MIDCALL_ASK",
        value_name = "ROUTES",
        default_value_t,
        help_heading = "Questions"
    )]
    #[serde(deserialize_with = "document::parsed")]
    pub ask: Routes,
    /// How long a call stays open while a person thinks, before the client is told to collect the
    /// result later; or never [default: 45s, or what the client's profile says]
    #[arg(
        long,
        env = "MIDCALL_HOLD",
        value_name = "TIME",
        help_heading = "Questions"
    )]
    #[serde(deserialize_with = "document::parsed_option")]
    pub hold: Option<Hold>,
    /// How long a question waits, such as 45s, 5m, 2h or 1d
    #[arg(
        long,
        env = "MIDCALL_TIMEOUT",
        value_name = "TIME",
        default_value_t = Span(PATIENCE),
        help_heading = "Questions"
    )]
    #[serde(deserialize_with = "document::parsed")]
    pub timeout: Span,
    /// The client, if it is known not to show some questions: codex, goose, vscode, …
    #[arg(
        long,
        env = "MIDCALL_CLIENT_PROFILE",
        value_name = "NAME",
        help_heading = "Questions"
    )]
    pub client_profile: Option<String>,
    /// Settings for some servers, tools and modes only
    #[arg(
        long,
        env = "MIDCALL_POLICY",
        value_name = "FILE",
        help_heading = "Approvals"
    )]
    pub policy: Option<PathBuf>,
    /// Tool calls that need approval
    #[arg(
        long,
        env = "MIDCALL_CONFIRM",
        value_name = "WHICH",
        value_enum,
        default_value_t,
        help_heading = "Approvals"
    )]
    pub confirm: Confirm,
    /// What the server gets if nobody can be asked
    #[arg(
        long,
        env = "MIDCALL_ON_UNAVAILABLE",
        value_name = "WHAT",
        value_enum,
        default_value_t,
        help_heading = "Questions"
    )]
    pub on_unavailable: OnUnavailable,
    /// The protocol era of the server, if detecting it fails
    #[arg(
        long,
        env = "MIDCALL_SERVER_ERA",
        value_name = "ERA",
        value_enum,
        default_value_t,
        help_heading = "Server"
    )]
    pub server_era: ServerEra,
    /// The longest message to accept, in megabytes
    #[arg(
        long,
        env = "MIDCALL_MAX_MESSAGE",
        value_name = "MB",
        default_value_t = MAX_MESSAGE,
        help_heading = "Server"
    )]
    pub max_message: usize,
}

/// Why a setting that names something can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

/// How long a call waits if neither the settings nor the client's profile say so: less than the
/// minute after which many clients give up.
pub const HOLD: Hold = Hold(Some(Duration::from_secs(45)));

/// The longest message, in megabytes, unless the settings say otherwise.
pub const MAX_MESSAGE: usize = 64;

/// The bytes of a megabyte.
pub const MB: usize = 1024 * 1024;

impl Default for Settings {
    fn default() -> Self {
        Self {
            ask: Routes::default(),
            hold: None,
            timeout: Span(PATIENCE),
            client_profile: None,
            policy: None,
            confirm: Confirm::default(),
            on_unavailable: OnUnavailable::default(),
            server_era: ServerEra::default(),
            max_message: MAX_MESSAGE,
        }
    }
}

impl Settings {
    /// How sessions with a server are set up. Reads the files that the settings name; a relative
    /// path is relative to `folder`.
    pub fn setup(
        &self,
        folder: &Path,
        locale: Locale,
        asker: Asker,
    ) -> Result<Setup, SettingsError> {
        let profile = self.client_profile.as_deref().map(Profile::named);
        let profile = profile.transpose()?;
        let policy = match &self.policy {
            Some(file) => Policy::read(&folder.join(file))?,
            None => Policy::default(),
        };
        let known = profile.as_ref().and_then(|profile| profile.hold);
        Ok(Setup::new(Choices {
            flags: Setting {
                routes: Some(self.ask.clone()),
                patience: Some(self.timeout.0),
                confirm: Some(self.confirm),
                ..Setting::default()
            },
            policy,
            profile,
            limits: Limits::default(),
            locale,
            hold: self.hold.or(known).unwrap_or(HOLD).0,
            on_unavailable: self.on_unavailable,
            asker,
            scope: principal(),
            saves: None,
        }))
    }

    /// Leaves out the setting that an error is about.
    pub fn forget(&mut self, error: &SettingsError) {
        match error {
            SettingsError::Profile(_) => self.client_profile = None,
            SettingsError::Policy(_) => self.policy = None,
        }
    }

    /// The longest message that is taken, in bytes.
    pub fn longest_message(&self) -> usize {
        self.max_message.saturating_mul(MB)
    }
}

impl SettingsError {
    /// The setting that is to blame, as it is called in a file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Profile(_) => "client_profile",
            Self::Policy(_) => "policy",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cmd {
        #[command(flatten)]
        settings: Settings,
    }

    #[test]
    fn flags_and_files_have_the_same_defaults() {
        let settings = Cmd::parse_from(["wrap"]).settings;
        let file: Settings = document::read("").unwrap();
        assert_eq!(format!("{settings:?}"), format!("{file:?}"));
        assert_eq!(
            format!("{settings:?}"),
            format!("{:?}", Settings::default())
        );
    }
}
