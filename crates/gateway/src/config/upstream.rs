//! `[upstream.NAME]`: one server of those that are served.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use midcall_core::Asker;
use midcall_core::catalog::Locale;
use serde::Deserialize;
use toml::Spanned;
use toml::de::DeString;

use super::machine::Machine;
use super::settings::Settings;
use super::{BOUNDS, Hosted};
use crate::duration::Span;
use crate::route::Mistakes;
use crate::route::document::{self, Document};
use crate::transport::front::Bounds;
use crate::transport::remote::{Target, TargetError};
use crate::transport::server::ServerAddress;

/// `[upstream.NAME]` as it is written: where the server is, its settings, and what only a server
/// with many clients has.
pub(super) struct Upstream<'a> {
    document: &'a Document<'a>,
    name: &'a Spanned<DeString<'a>>,
    server: Server,
    settings: Settings,
    sessions: Sessions,
}

/// Where the server is, and where its endpoint.
#[derive(Default, Deserialize)]
struct Server {
    path: Option<Spanned<String>>,
    command: Option<Spanned<Vec<String>>>,
    url: Option<Spanned<String>>,
    #[serde(default)]
    headers: BTreeMap<Spanned<String>, Spanned<String>>,
    ca: Option<Spanned<PathBuf>>,
}

/// How many sessions there may be, and how long an unused one is kept.
#[derive(Default, Deserialize)]
struct Sessions {
    sessions: Option<Spanned<usize>>,
    #[serde(default, deserialize_with = "document::parsed_option")]
    idle: Option<Span>,
}

impl<'a> Upstream<'a> {
    /// Reads the table of a server. What can't be used in it counts as left out.
    pub fn read(
        document: &'a Document<'a>,
        name: &'a Spanned<DeString<'a>>,
        mistakes: &mut Mistakes,
    ) -> Self {
        let path = ["upstream", name.get_ref()];
        let known = [
            document::keys::<Server>(),
            document::keys::<Settings>(),
            document::keys::<Sessions>(),
        ];
        document.knows(&path, &known.concat(), mistakes);
        if let Some((place, line)) = document.written(&["upstream", name.get_ref(), "command"]) {
            mistakes.add(
                place,
                format!(
                    "expected a list, one word per entry: command = {}",
                    list(line)
                ),
            );
        }
        Self {
            document,
            name,
            server: document.take(&path, mistakes),
            settings: document.take(&path, mistakes),
            sessions: document.take(&path, mistakes),
        }
    }

    /// Where the table is.
    pub fn place(&self) -> Range<usize> {
        self.document.place(&["upstream", self.name.get_ref()])
    }

    /// The server with everything needed to serve it, unless mistakes say why not. Files that it names lie in
    /// `folder`.
    pub fn hosted(
        &self,
        folder: &Path,
        locale: Locale,
        machine: &Machine,
        mistakes: &mut Mistakes,
    ) -> Option<Hosted> {
        let name = self.name.get_ref().to_string();
        let path = match &self.server.path {
            Some(path) => checked_path(path.get_ref(), path.span(), mistakes),
            None => checked_path(&format!("/{name}"), self.name.span(), mistakes),
        };
        let bounds = self.bounds(mistakes);
        let address = self.address(folder, machine, mistakes);
        let asker = match &address {
            Some(address) => address.asker(name.clone()),
            None => Asker::named(name.clone()),
        };
        let mut settings = self.settings.clone();
        let setup = loop {
            match settings.setup(folder, locale, asker.clone()) {
                Ok(setup) => break setup,
                Err(error) => {
                    let place = self.place_of(error.key());
                    settings.forget(&error);
                    let why = match self.document.holds_variable(&place) {
                        true => document::VARIABLE.to_owned(),
                        false => format!("{:#}", anyhow::Error::from(error)),
                    };
                    mistakes.add(place, why);
                }
            }
        };
        Some(Hosted {
            name,
            path: path?,
            address: address?,
            setup,
            era: self.settings.server_era,
            bounds,
        })
    }

    fn bounds(&self, mistakes: &mut Mistakes) -> Bounds {
        let sessions = match &self.sessions.sessions {
            Some(given) => {
                check_number(*given.get_ref(), 100_000, given.span(), mistakes);
                *given.get_ref()
            }
            None => BOUNDS.sessions,
        };
        let place = self.place_of("max_message");
        check_number(self.settings.max_message, 4_096, place, mistakes);
        Bounds {
            sessions,
            idle: self.sessions.idle.map_or(BOUNDS.idle, |time| time.0),
            message: self.settings.longest_message(),
        }
    }

    /// Where one of the keys has its value.
    fn place_of(&self, key: &str) -> Range<usize> {
        let path = ["upstream", self.name.get_ref(), key];
        self.document.place(&path)
    }

    fn has(&self, key: &str) -> bool {
        let path = ["upstream", self.name.get_ref(), key];
        self.document.has(&path)
    }

    fn address(
        &self,
        folder: &Path,
        machine: &Machine,
        mistakes: &mut Mistakes,
    ) -> Option<ServerAddress> {
        match (self.has("command"), self.has("url")) {
            (true, true) => {
                mistakes.add(
                    self.place_of("url"),
                    "there is a command already: choose one",
                );
                None
            }
            (false, false) => {
                mistakes.add_to_table(&self.place(), "it needs a command or a url");
                None
            }
            (true, false) => self.command(machine, mistakes),
            (false, true) => self.target(folder, mistakes),
        }
    }

    fn command(&self, machine: &Machine, mistakes: &mut Mistakes) -> Option<ServerAddress> {
        let headers = self.server.headers.keys().map(Spanned::span);
        for place in headers.chain(self.server.ca.as_ref().map(Spanned::span)) {
            mistakes.add(place, "this goes with a url, not with a command");
        }
        let command = self.server.command.as_ref()?;
        let Some(program) = command.get_ref().first() else {
            mistakes.add(command.span(), "expected a program and its arguments");
            return None;
        };
        if let Some(why) = (machine.lacks)(OsStr::new(program)) {
            let is_secret = self.document.holds_variable(&command.span());
            let why = if is_secret {
                "there is no such program".to_owned()
            } else {
                why
            };
            mistakes.add(command.span(), why);
        }
        let words = command.get_ref().iter().map(OsString::from);
        Some(ServerAddress::Command(words.collect()))
    }

    fn target(&self, folder: &Path, mistakes: &mut Mistakes) -> Option<ServerAddress> {
        let url = self.server.url.as_ref()?;
        let headers = self.server.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.get_ref().clone(), value.get_ref().clone()));
        let ca = self.server.ca.as_ref().map(|ca| folder.join(ca.get_ref()));
        let target = Target::of(url.get_ref(), headers.collect(), ca.as_deref());
        target
            .map_err(|why| {
                let quotes_it = matches!(why, TargetError::Url(_));
                let why = match quotes_it && self.document.holds_variable(&url.span()) {
                    true => document::VARIABLE.to_owned(),
                    false => why.to_string(),
                };
                mistakes.add(url.span(), why);
            })
            .ok()
            .map(ServerAddress::Url)
    }
}

/// The list that a person should write instead of a command line.
fn list(line: &str) -> String {
    let words = words(line).into_iter();
    let words: Vec<String> = words
        .map(|word| serde_json::Value::from(word).to_string())
        .collect();
    format!("[{}]", words.join(", "))
}

/// The words of a command line as a shell reads it, as far as quotes go.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quote = None;
    let mut is_word = false;
    for letter in line.chars() {
        let is_end = quote.is_none() && letter.is_whitespace();
        if is_end {
            is_word = false;
            continue;
        }
        if !is_word {
            words.push(String::new());
            is_word = true;
        }
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => words.last_mut().expect("a word has begun").push(letter),
        }
    }
    words
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

fn check_number(number: usize, most: usize, place: Range<usize>, mistakes: &mut Mistakes) {
    if !(1..=most).contains(&number) {
        mistakes.add(place, format!("expected 1 to {most}"));
    }
}

fn checked_path(path: &str, place: Range<usize>, mistakes: &mut Mistakes) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut parts = path.strip_prefix('/').unwrap_or_default().split('/');
    let is_part =
        |part: &str| !part.is_empty() && part != "." && part != ".." && part.bytes().all(is_plain);
    if !parts.all(is_part) {
        let reason = "expected a path like /files: letters, digits and -._~ between slashes";
        mistakes.add(place, reason);
        return None;
    }
    let is_ours = |ours: &str| path == ours || path.starts_with(&format!("{ours}/"));
    if let Some(ours) = OURS.into_iter().find(|ours| is_ours(ours)) {
        mistakes.add(
            place,
            format!("{ours} is the gateway's own: choose another path"),
        );
        return None;
    }
    Some(path.to_owned())
}
