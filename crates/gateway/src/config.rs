//! `midcall.toml`: what `midcall serve` serves.
//!
//! Whatever is not understood is refused with its place and the reason. Texts may hold
//! variables of the environment, as `${NAME}`. Elsewhere: one server of the file (`upstream`).

mod upstream;

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use midcall_core::catalog::Locale;
use serde::Deserialize;
use toml::Spanned;

use crate::cmd::serve::host::Hosted;
use crate::duration::Hold;
use crate::route::settings::{self, Wrong};
use crate::route::{Route, Routes};
use crate::transport::front::Bounds;
use upstream::Upstream;

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

/// How long a call waits unless somebody says otherwise: less than the minute after which many
/// clients give up.
pub const HOLD: Hold = Hold(Some(Duration::from_secs(45)));

/// How many sessions a server may have, how long nobody may use one, and the longest message.
pub const BOUNDS: Bounds = Bounds {
    sessions: 128,
    idle: Duration::from_secs(30 * 60),
    message: 64 * 1024 * 1024,
};

impl Config {
    /// Reads a file. Files that it names lie beside it.
    pub fn read(file: &Path, locale: Locale) -> Result<Self, ConfigError> {
        let unreadable = |error| ConfigError::Unreadable(file.to_owned(), error);
        let text = settings::text(file).map_err(unreadable)?;
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
    #[serde(default)]
    upstream: BTreeMap<Spanned<String>, Spanned<Upstream>>,
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
    let written: Written = settings::read_with(text, variable)?;
    understand(written, folder, locale)
        .map_err(|(place, reason)| Wrong::at(text, place.start, reason))
}

fn understand(written: Written, folder: &Path, locale: Locale) -> Result<Config, Misfit> {
    let listen = match &written.serve.listen {
        None => SocketAddr::from(([127, 0, 0, 1], 0)),
        Some(said) => said.get_ref().parse().map_err(|_| {
            let reason = "expected an address and a port, like 127.0.0.1:8642";
            (said.span(), reason.to_owned())
        })?,
    };
    if let Some(said) = written.serve.listen.filter(|_| !is_here(listen)) {
        let reason = "only 127.0.0.1 or [::1] with mode = \"local\": one person, on this machine";
        return misfit(said.span(), reason);
    }
    if let Some(store) = written
        .serve
        .store
        .filter(|store| store.get_ref() != "memory")
    {
        return misfit(store.span(), "only \"memory\" can be the store so far");
    }
    if let Some(mode) = written
        .identity
        .mode
        .filter(|mode| mode.get_ref() != "local")
    {
        let reason = "only \"local\" can be the mode so far: one person, on this machine";
        return misfit(mode.span(), reason);
    }
    let Identity {
        jwks,
        issuer,
        audience,
        trusted,
        ..
    } = written.identity;
    let others = [jwks, issuer, audience, written.serve.public_url];
    let others = others.into_iter().flatten().map(|other| other.span());
    if let Some(other) = others.chain(trusted.map(|it| it.span())).next() {
        let reason = "this has no meaning with mode = \"local\": one person, on this machine";
        return misfit(other, reason);
    }
    if written.upstream.is_empty() {
        return misfit(0..0, "there is no [upstream.NAME]: nothing to serve");
    }
    let mut upstreams: Vec<Hosted> = Vec::new();
    let mut opens = false;
    for (name, upstream) in written.upstream {
        let place = upstream.span();
        let one = upstream
            .into_inner()
            .hosted(&name, &place, folder, locale)?;
        if upstreams.iter().any(|other| other.path == one.path) {
            return misfit(place, format!("another upstream is at {}", one.path));
        }
        let is_page = |routes: &Routes| routes.has(Route::Page);
        opens |= is_page(&one.rules.routes) || one.rules.policy.routes().any(is_page);
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
        upstreams,
        desk,
        opens,
    })
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

    use super::*;
    use crate::era::bridge::ServerEra;
    use crate::session::{Confirm, OnUnavailable};
    use crate::transport::upstream::Place;

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
        let Place::Command(command) = &files.place else {
            panic!("it is a command");
        };
        assert_eq!(
            command,
            &["xyzzy", "--price", "5$", "$x"].map(OsString::from)
        );
        let rules = &files.rules;
        assert_eq!(
            (rules.hold, rules.patience),
            (None, Duration::from_secs(600))
        );
        assert_eq!(rules.confirm, Confirm::Destructive);
        assert_eq!(rules.on_unavailable, OnUnavailable::Error);
        assert_eq!(files.era, ServerEra::Legacy);
        assert!(rules.profile.is_some());
        assert_eq!(
            (files.bounds.sessions, files.bounds.message),
            (3, 1024 * 1024)
        );
        assert_eq!(files.bounds.idle, Duration::from_secs(120));
        assert_eq!(more.path, "/a/b");
        assert_eq!(more.rules.hold, HOLD.0);
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
