//! `[upstream.NAME]`: one server of those that are served.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use midcall_core::Limits;
use midcall_core::catalog::Locale;
use serde::Deserialize;
use toml::Spanned;

use super::{BOUNDS, HOLD, Misfit, misfit};
use crate::cmd::serve::host::Hosted;
use crate::duration::{self, Hold};
use crate::era::bridge::ServerEra;
use crate::route::settings;
use crate::route::{Policy, Profile, Routes};
use crate::session::{Confirm, OnUnavailable, Rules};
use crate::transport::front::Bounds;
use crate::transport::remote::Target;
use crate::transport::upstream::Place;

/// As it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Upstream {
    path: Option<Spanned<String>>,
    command: Option<Spanned<Vec<String>>>,
    url: Option<Spanned<String>>,
    #[serde(default)]
    headers: BTreeMap<Spanned<String>, Spanned<String>>,
    ca: Option<Spanned<PathBuf>>,
    #[serde(default, deserialize_with = "settings::worded")]
    ask: Option<Routes>,
    #[serde(default, deserialize_with = "settings::worded")]
    hold: Option<Hold>,
    #[serde(default, deserialize_with = "settings::worded")]
    timeout: Option<Span>,
    client_profile: Option<Spanned<String>>,
    policy: Option<Spanned<PathBuf>>,
    confirm: Option<Confirm>,
    on_unavailable: Option<OnUnavailable>,
    server_era: Option<ServerEra>,
    max_message: Option<Spanned<usize>>,
    sessions: Option<Spanned<usize>>,
    #[serde(default, deserialize_with = "settings::worded")]
    idle: Option<Span>,
}

struct Span(Duration);

impl FromStr for Span {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        duration::read(text).map(Self)
    }
}

/// How long a question waits unless somebody says otherwise.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

impl Upstream {
    /// What is hosted, with what is left out filled in.
    pub fn hosted(
        self,
        name: &Spanned<String>,
        whole: &Range<usize>,
        folder: &Path,
        locale: Locale,
    ) -> Result<Hosted, Misfit> {
        let path = match &self.path {
            Some(path) => checked_path(path.get_ref(), path.span())?,
            None => checked_path(&format!("/{}", name.get_ref()), name.span())?,
        };
        let place = self.place(whole, folder)?;
        let profile = match &self.client_profile {
            None => None,
            Some(named) => {
                let wrong = |error| (named.span(), format!("{error:#}"));
                let found = Profile::named(named.get_ref()).map_err(anyhow::Error::from);
                Some(found.map_err(wrong)?)
            }
        };
        let policy = match &self.policy {
            None => Policy::default(),
            Some(file) => {
                let wrong = |error| (file.span(), format!("{error:#}"));
                let read = Policy::read(&folder.join(file.get_ref()));
                read.map_err(anyhow::Error::from).map_err(wrong)?
            }
        };
        let known = profile.as_ref().and_then(|profile| profile.hold);
        let most = |given: &Option<Spanned<usize>>, default: usize, limit: usize| match given {
            None => Ok(default),
            Some(given) if (1..=limit).contains(given.get_ref()) => Ok(*given.get_ref()),
            Some(given) => misfit(given.span(), format!("expected 1 to {limit}")),
        };
        let rules = Rules {
            routes: self.ask.clone().unwrap_or_default(),
            limits: Limits::default(),
            locale,
            hold: self.hold.or(known).unwrap_or(HOLD).0,
            policy,
            profile,
            patience: self.timeout.as_ref().map_or(PATIENCE, |time| time.0),
            confirm: self.confirm.unwrap_or_default(),
            on_unavailable: self.on_unavailable.unwrap_or_default(),
            asker: place.asker(name.get_ref().clone()),
        };
        const MB: usize = 1024 * 1024;
        Ok(Hosted {
            name: name.get_ref().clone(),
            path,
            place,
            rules,
            era: self.server_era.unwrap_or_default(),
            bounds: Bounds {
                sessions: most(&self.sessions, BOUNDS.sessions, 100_000)?,
                idle: self.idle.as_ref().map_or(BOUNDS.idle, |time| time.0),
                message: most(&self.max_message, BOUNDS.message / MB, 4_096)? * MB,
            },
        })
    }

    fn place(&self, whole: &Range<usize>, folder: &Path) -> Result<Place, Misfit> {
        match (&self.command, &self.url) {
            (Some(_), Some(url)) => misfit(url.span(), "there is a command already: choose one"),
            (None, None) => misfit(whole.clone(), "it needs a command or a url"),
            (Some(command), None) => {
                let header = self.headers.first_key_value();
                let ca = self.ca.as_ref().map(Spanned::span);
                if let Some(place) = header.map(|(header, _)| header.span()).or(ca) {
                    return misfit(place, "this goes with a url, not with a command");
                }
                if command.get_ref().is_empty() {
                    return misfit(command.span(), "expected a program and its arguments");
                }
                let words = command.get_ref().iter().map(OsString::from);
                Ok(Place::Command(words.collect()))
            }
            (None, Some(url)) => {
                let headers = self.headers.iter();
                let headers =
                    headers.map(|(name, value)| (name.get_ref().clone(), value.get_ref().clone()));
                let ca = self.ca.as_ref().map(|ca| folder.join(ca.get_ref()));
                let target = Target::of(url.get_ref(), headers.collect(), ca.as_deref());
                target
                    .map(Place::Url)
                    .or_else(|why| misfit(url.span(), why.to_string()))
            }
        }
    }
}

/// Paths that are ours.
const OURS: [&str; 7] = [
    "/assets",
    "/elicitation",
    "/healthz",
    "/launch",
    "/openapi.json",
    "/peers",
    "/readyz",
];

fn checked_path(path: &str, place: Range<usize>) -> Result<String, Misfit> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut parts = path.strip_prefix('/').unwrap_or_default().split('/');
    let is_part =
        |part: &str| !part.is_empty() && part != "." && part != ".." && part.bytes().all(is_plain);
    if !parts.all(is_part) {
        let reason = "expected a path like /files: letters, digits and -._~ between slashes";
        return misfit(place, reason);
    }
    let is_ours = |ours: &str| path == ours || path.starts_with(&format!("{ours}/"));
    match OURS.into_iter().find(|ours| is_ours(ours)) {
        Some(ours) => misfit(
            place,
            format!("{ours} is the gateway's own: choose another path"),
        ),
        None => Ok(path.to_owned()),
    }
}
