//! `[upstream.NAME]`: one server of those that are served.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use midcall_core::catalog::Locale;
use serde::Deserialize;
use toml::Spanned;

use super::settings::Settings;
use super::{BOUNDS, Hosted, Misfit, misfit};
use crate::duration::Span;
use crate::route::document::{self, Document, Wrong};
use crate::transport::front::Bounds;
use crate::transport::remote::Target;
use crate::transport::server::ServerAddress;

/// `[upstream.NAME]` as it is written: where the server is, its settings, and what only a server
/// with many clients has.
pub(super) struct Upstream<'a> {
    document: &'a Document<'a>,
    name: &'a Spanned<String>,
    server: Server,
    settings: Settings,
    sessions: Sessions,
}

/// Where the server is, and where its endpoint.
#[derive(Deserialize)]
#[serde(expecting = "struct Upstream")] // People get to see it, and know of no `Server`.
struct Server {
    path: Option<Spanned<String>>,
    command: Option<Spanned<Vec<String>>>,
    url: Option<Spanned<String>>,
    #[serde(default)]
    headers: BTreeMap<Spanned<String>, Spanned<String>>,
    ca: Option<Spanned<PathBuf>>,
}

/// How many sessions there may be, and how long an unused one is kept.
#[derive(Deserialize)]
struct Sessions {
    sessions: Option<Spanned<usize>>,
    #[serde(default, deserialize_with = "document::parsed_option")]
    idle: Option<Span>,
}

impl<'a> Upstream<'a> {
    /// Reads the table of a server.
    pub fn read(document: &'a Document<'a>, name: &'a Spanned<String>) -> Result<Self, Wrong> {
        let path = ["upstream", name.get_ref()];
        let known = [
            document::keys::<Server>(),
            document::keys::<Settings>(),
            document::keys::<Sessions>(),
        ];
        document.knows(&path, &known.concat())?;
        Ok(Self {
            document,
            name,
            server: document.read_at(&path)?,
            settings: document.read_at(&path)?,
            sessions: document.read_at(&path)?,
        })
    }

    /// Where the table is.
    pub fn place(&self) -> Range<usize> {
        self.document.place(&["upstream", self.name.get_ref()])
    }

    /// The server with everything needed to serve it. Files that it names lie in `folder`.
    pub fn hosted(&self, folder: &Path, locale: Locale) -> Result<Hosted, Misfit> {
        let name = self.name.get_ref().clone();
        let path = match &self.server.path {
            Some(path) => checked_path(path.get_ref(), path.span())?,
            None => checked_path(&format!("/{name}"), self.name.span())?,
        };
        let address = self.server.address(&self.place(), folder)?;
        let setup = self
            .settings
            .setup(folder, locale, address.asker(name.clone()));
        let setup = setup.map_err(|error| {
            let place = self.place_of(error.key());
            (place, format!("{:#}", anyhow::Error::from(error)))
        })?;
        Ok(Hosted {
            name,
            path,
            address,
            setup,
            era: self.settings.server_era,
            bounds: self.bounds()?,
        })
    }

    fn bounds(&self) -> Result<Bounds, Misfit> {
        let sessions = match &self.sessions.sessions {
            Some(given) => checked_number(*given.get_ref(), 100_000, given.span())?,
            None => BOUNDS.sessions,
        };
        let place = self.place_of("max_message");
        checked_number(self.settings.max_message, 4_096, place)?;
        Ok(Bounds {
            sessions,
            idle: self.sessions.idle.map_or(BOUNDS.idle, |time| time.0),
            message: self.settings.longest_message(),
        })
    }

    /// Where one of the keys has its value.
    fn place_of(&self, key: &str) -> Range<usize> {
        let path = ["upstream", self.name.get_ref(), key];
        self.document.place(&path)
    }
}

impl Server {
    fn address(&self, whole: &Range<usize>, folder: &Path) -> Result<ServerAddress, Misfit> {
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
                Ok(ServerAddress::Command(words.collect()))
            }
            (None, Some(url)) => {
                let headers = self.headers.iter();
                let headers =
                    headers.map(|(name, value)| (name.get_ref().clone(), value.get_ref().clone()));
                let ca = self.ca.as_ref().map(|ca| folder.join(ca.get_ref()));
                let target = Target::of(url.get_ref(), headers.collect(), ca.as_deref());
                target
                    .map(ServerAddress::Url)
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

fn checked_number(number: usize, most: usize, place: Range<usize>) -> Result<usize, Misfit> {
    if (1..=most).contains(&number) {
        Ok(number)
    } else {
        misfit(place, format!("expected 1 to {most}"))
    }
}

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
