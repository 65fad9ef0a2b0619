//! `midcall.toml`: what `midcall serve` serves.
//!
//! Whatever is not understood is refused with its place and the reason. Texts may hold
//! variables of the environment, as `${NAME}`.
//!
//! Not here: one server of the file (`upstream`), its settings, which are flags of
//! `midcall wrap` as well (`settings`).

mod hosted;
pub mod settings;
mod upstream;

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};

use midcall_core::catalog::Locale;
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use crate::route::Route;
use crate::route::document::{self, Document, Wrong};
use upstream::Upstream;

pub use hosted::{BOUNDS, Hosted};

/// What is served.
pub struct Config {
    pub listen: SocketAddr,
    pub upstreams: Vec<Hosted>,
    /// How much may wait at the desk.
    pub desk: midcall_desk::Rules,
    /// Whether somebody is asked on the page.
    pub opens: bool,
}

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no such file, or it is no text.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// It says something that is not understood.
    #[error("{}, {wrong}", file.display())]
    Wrong { file: PathBuf, wrong: Wrong },
}

impl Config {
    /// Reads a file. Files that it names lie beside it.
    pub fn read(file: &Path, locale: Locale) -> Result<Self, ConfigError> {
        let unreadable = |error| ConfigError::Unreadable(file.to_owned(), error);
        let text = document::text(file).map_err(unreadable)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let variable = |name: &str| env::var(name).ok();
        read(&text, folder, locale, variable).map_err(|wrong| ConfigError::Wrong {
            file: file.to_owned(),
            wrong,
        })
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    serve: Serve,
    #[serde(default)]
    identity: Identity,
    /// Read one by one: several structs read the same table.
    #[serde(default)]
    upstream: BTreeMap<Spanned<String>, IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Serve {
    listen: Option<Spanned<String>>,
    store: Option<Spanned<String>>,
    public_url: Option<Spanned<String>>,
    asks_per_minute: Option<u32>,
    open_questions: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Identity {
    mode: Option<Spanned<String>>,
    jwks: Option<Spanned<String>>,
    issuer: Option<Spanned<String>>,
    audience: Option<Spanned<String>>,
    trusted: Option<Spanned<toml::Value>>,
}

/// What is wrong, and where.
type Misfit = (Range<usize>, String);

fn misfit<T>(place: Range<usize>, reason: impl Into<String>) -> Result<T, Misfit> {
    Err((place, reason.into()))
}

fn read(
    text: &str,
    folder: &Path,
    locale: Locale,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Config, Wrong> {
    let document = Document::parse(text, variable)?;
    let written: Written = document.read()?;
    let upstreams: Result<Vec<_>, Wrong> = (written.upstream.keys())
        .map(|name| Upstream::read(&document, name))
        .collect();
    understand(&written, &upstreams?, folder, locale)
        .map_err(|(place, reason)| Wrong::at(text, place.start, reason))
}

fn understand(
    written: &Written,
    servers: &[Upstream<'_>],
    folder: &Path,
    locale: Locale,
) -> Result<Config, Misfit> {
    let listen = written.serve.address()?;
    written.refuse_what_is_not_built()?;
    if servers.is_empty() {
        return misfit(0..0, "there is no [upstream.NAME]: nothing to serve");
    }
    let mut upstreams: Vec<Hosted> = Vec::new();
    for server in servers {
        let one = server.hosted(folder, locale)?;
        if upstreams.iter().any(|other| other.path == one.path) {
            let reason = format!("another upstream is at {}", one.path);
            return misfit(server.place(), reason);
        }
        upstreams.push(one);
    }
    let mut desk = midcall_desk::Rules::default();
    desk.asks_per_minute = (written.serve.asks_per_minute).unwrap_or(desk.asks_per_minute);
    if let Some(most) = written.serve.open_questions {
        desk.open_per_user = most;
        desk.open_per_server = most;
        desk.open_per_conversation = most;
    }
    Ok(Config {
        listen,
        opens: upstreams.iter().any(|one| one.setup.may_ask(Route::Page)),
        upstreams,
        desk,
    })
}

impl Serve {
    /// Where clients and the page find the gateway.
    fn address(&self) -> Result<SocketAddr, Misfit> {
        let Some(written) = &self.listen else {
            return Ok(SocketAddr::from(([127, 0, 0, 1], 0)));
        };
        let listen = written.get_ref().parse().map_err(|_| {
            let reason = "expected an address and a port, like 127.0.0.1:8642";
            (written.span(), reason.to_owned())
        })?;
        if !is_here(listen) {
            let reason =
                "only 127.0.0.1 or [::1] with mode = \"local\": one person, on this machine";
            return misfit(written.span(), reason);
        }
        Ok(listen)
    }
}

impl Written {
    /// Refuses what a file may say one day, and what has no meaning until then.
    fn refuse_what_is_not_built(&self) -> Result<(), Misfit> {
        let other = |value: &Option<Spanned<String>>, only: &str| {
            let value = value.as_ref().filter(|value| value.get_ref() != only);
            value.map(Spanned::span)
        };
        if let Some(store) = other(&self.serve.store, "memory") {
            return misfit(store, "only \"memory\" can be the store so far");
        }
        if let Some(mode) = other(&self.identity.mode, "local") {
            let reason = "only \"local\" can be the mode so far: one person, on this machine";
            return misfit(mode, reason);
        }
        let identity = &self.identity;
        let texts = [
            &identity.jwks,
            &identity.issuer,
            &identity.audience,
            &self.serve.public_url,
        ];
        let texts = texts.into_iter().flatten().map(Spanned::span);
        let mut places = texts.chain(identity.trusted.as_ref().map(Spanned::span));
        if let Some(place) = places.next() {
            let reason = "this has no meaning with mode = \"local\": one person, on this machine";
            return misfit(place, reason);
        }
        Ok(())
    }
}

/// Whether only this machine gets there.
fn is_here(listen: SocketAddr) -> bool {
    let here = [
        IpAddr::from(Ipv4Addr::LOCALHOST),
        Ipv6Addr::LOCALHOST.into(),
    ];
    here.contains(&listen.ip())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::time::Duration;

    use super::*;
    use crate::route::{Confirm, OnUnavailable, ServerEra};
    use crate::transport::server::ServerAddress;

    fn config(text: &str) -> Result<Config, String> {
        let variable = |name: &str| (name == "PROGRAM").then(|| "xyzzy".to_owned());
        let read = read(text, Path::new("no/such"), Locale::default(), variable);
        read.map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn a_file_says_what_is_served() {
        let config = config(
            r#"
            [serve]
            listen = "[::1]:8642"
            store = "memory"
            asks_per_minute = 7
            open_questions = 9

            [identity]
            mode = "local"

            [upstream.files]
            command = ["${PROGRAM}", "--price", "5$$", "$x"]
            ask = "client"
            hold = "never"
            timeout = "10m"
            confirm = "destructive"
            on_unavailable = "error"
            server_era = "legacy"
            client_profile = "codex"
            sessions = 3
            idle = "2m"
            max_message = 1

            [upstream.more]
            path = "/a/b"
            command = ["x"]
            ask = "page"
            "#,
        );
        let config = config.unwrap();
        assert_eq!(config.listen, "[::1]:8642".parse().unwrap());
        assert_eq!((config.desk.asks_per_minute, config.opens), (7, true));
        assert_eq!(config.desk.open_per_server, 9);
        let [files, more] = &config.upstreams[..] else {
            panic!("there are two");
        };
        assert_eq!((&*files.name, &*files.path), ("files", "/files"));
        let ServerAddress::Command(command) = &files.address else {
            panic!("it is a command");
        };
        assert_eq!(
            command,
            &["xyzzy", "--price", "5$", "$x"].map(OsString::from)
        );
        let rules = &files.setup;
        assert_eq!(
            (rules.hold, rules.patience()),
            (None, Duration::from_secs(600))
        );
        assert_eq!(rules.flags.confirm, Some(Confirm::Destructive));
        assert_eq!(rules.on_unavailable, OnUnavailable::Error);
        assert_eq!(files.era, ServerEra::Legacy);
        assert!(rules.profile.is_some());
        assert_eq!(
            (files.bounds.sessions, files.bounds.message),
            (3, 1024 * 1024)
        );
        assert_eq!(files.bounds.idle, Duration::from_secs(120));
        assert_eq!(more.path, "/a/b");
        assert_eq!(more.setup.hold, settings::HOLD.0);
    }

    #[test]
    fn a_wrong_file_is_refused_with_place_and_reason() {
        const ONE: &str = "[upstream.a]\ncommand = [\"x\"]\n";
        for (text, expected) in [
            (
                "",
                "line 1, column 1: there is no [upstream.NAME]: nothing to serve",
            ),
            (
                "[upstream.a]\npath = \"/a\"",
                "line 1, column 1: it needs a command or a url",
            ),
            (
                "[upstream.a]\ncommand = \"npx x\"",
                "line 2, column 11: invalid type: string \"npx x\", expected a sequence",
            ),
            (
                "[upstream.a]\ncommand = []",
                "line 2, column 11: expected a program and its arguments",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\nheaders = {a = \"b\"}",
                "line 3, column 12: this goes with a url, not with a command",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\nurl = \"http://x\"",
                "line 3, column 7: there is a command already: choose one",
            ),
            (
                "[upstream.a]\ncommand = [\"${NOBODY}\"]",
                "line 2, column 12: the environment variable \"NOBODY\" is not set",
            ),
            (
                "[upstream.a]\ncommand = [\"${NOBODY\"]",
                "line 2, column 12: a variable is written ${NAME}, and this one has no end",
            ),
            (
                "[upstream.a]\ncommand = \"${PROGRAM}\"",
                "line 2, column 11: what the variable holds does not fit here",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\nask = \"${PROGRAM}\"",
                "line 3, column 7: what the variable holds does not fit here",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\nhold = \"long\"",
                "line 3, column 8: expected never, or a duration like 500ms, 45s, 5m, 2h or 1d",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\nsessions = 0",
                "line 3, column 12: expected 1 to 100000",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\nserver_era = \"old\"",
                "line 3, column 14: unknown variant `old`, expected one of `auto`, `legacy`, `modern`",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\npath = \"/healthz\"",
                "line 3, column 8: /healthz is the gateway's own: choose another path",
            ),
            (
                "[upstream.assets]\ncommand = [\"x\"]",
                "line 1, column 11: /assets is the gateway's own: choose another path",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\npath = \"/{x}\"",
                "line 3, column 8: expected a path like /files: letters, digits and -._~ between slashes",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\n[upstream.b]\ncommand = [\"x\"]\npath = \"/a\"",
                "line 3, column 1: another upstream is at /a",
            ),
            (
                "[upstream.a]\ncommand = [\"x\"]\npolicy = \"p.toml\"",
                "line 3, column 10: cannot read the policy no/such/p.toml: No such file or directory (os error 2)",
            ),
        ] {
            assert_eq!(config(text).err().as_deref(), Some(expected), "{text}");
        }
        for (text, expected) in [
            (
                "[serve]\nlisten = \"here\"",
                "line 2, column 10: expected an address and a port, like 127.0.0.1:8642",
            ),
            (
                "[serve]\nlisten = \"0.0.0.0:1\"",
                "line 2, column 10: only 127.0.0.1 or [::1] with mode = \"local\": one person, on this machine",
            ),
            (
                "[serve]\nstore = \"a.db\"",
                "line 2, column 9: only \"memory\" can be the store so far",
            ),
            (
                "[identity]\nmode = \"jwt\"",
                "line 2, column 8: only \"local\" can be the mode so far: one person, on this machine",
            ),
            (
                "[identity]\nissuer = \"me\"",
                "line 2, column 10: this has no meaning with mode = \"local\": one person, on this machine",
            ),
            (
                "[serve]\npublic_url = \"https://example.org\"",
                "line 2, column 14: this has no meaning with mode = \"local\": one person, on this machine",
            ),
            (
                "[server]\nlisten = \"x\"",
                "line 1, column 2: unknown field `server`, expected one of `serve`, `identity`, `upstream`",
            ),
        ] {
            let text = format!("{text}\n{ONE}");
            assert_eq!(config(&text).err().as_deref(), Some(expected), "{text}");
        }
        let error = Config::read(Path::new("no/such.toml"), Locale::default()).err();
        assert_eq!(error.unwrap().to_string(), "cannot read no/such.toml");
    }
}
