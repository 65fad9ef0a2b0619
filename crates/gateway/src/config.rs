//! `midcall.toml`: what `midcall serve` serves.
//!
//! Whatever is not understood is refused with its place and the reason. Texts may hold
//! variables of the environment, as `${NAME}`.
//!
//! Not here: one server of the file (`upstream`), its settings, which are flags of
//! `midcall wrap` as well (`settings`).

mod hosted;
mod machine;
pub mod settings;
mod upstream;
mod written;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use midcall_core::catalog::Locale;

use crate::route::document::{self, Document, Wrong};
use crate::route::{Mistakes, Route};
use machine::Machine;
use upstream::Upstream;
use written::Written;

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
    /// It has mistakes: all of them, so that one look at the file is enough.
    #[error("{}", Listed(file, mistakes))]
    Wrong { file: PathBuf, mistakes: Vec<Wrong> },
}

/// The mistakes of a file: one by itself, or a list with a line for each.
struct Listed<'a>(&'a Path, &'a [Wrong]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.0.display();
        if let [wrong] = self.1 {
            return write!(f, "{file}, {wrong}");
        }
        write!(f, "{file} has {} mistakes:", self.1.len())?;
        for wrong in self.1 {
            write!(f, "\n  {file}, {wrong}")?;
        }
        Ok(())
    }
}

impl Config {
    /// Reads a file. Files that it names lie beside it.
    pub fn read(file: &Path, locale: Locale) -> Result<Self, ConfigError> {
        let unreadable = |error| ConfigError::Unreadable(file.to_owned(), error);
        let text = document::text(file).map_err(unreadable)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        read(&text, folder, locale, &machine::THIS).map_err(|mistakes| ConfigError::Wrong {
            file: file.to_owned(),
            mistakes,
        })
    }
}

/// What a text says, or everything that is wrong with it.
fn read(
    text: &str,
    folder: &Path,
    locale: Locale,
    machine: &Machine,
) -> Result<Config, Vec<Wrong>> {
    let mut mistakes = Mistakes::default();
    let config = Document::parse(text, machine.variable, &mut mistakes)
        .map(|document| understand(&document, folder, locale, machine, &mut mistakes));
    let mistakes = mistakes.of(text);
    config.filter(|_| mistakes.is_empty()).ok_or(mistakes)
}

/// What a file says as far as it has no mistakes.
fn understand(
    document: &Document<'_>,
    folder: &Path,
    locale: Locale,
    machine: &Machine,
    mistakes: &mut Mistakes,
) -> Config {
    document.knows(&[], &["serve", "identity", "upstream"], mistakes);
    let written = Written::read(document, mistakes);
    let listen = written.listen(machine, mistakes);
    let mut upstreams: Vec<Hosted> = Vec::new();
    for name in document.names(&["upstream"]) {
        let server = Upstream::read(document, name, mistakes);
        let Some(one) = server.hosted(folder, locale, machine, mistakes) else {
            continue;
        };
        if upstreams.iter().any(|other| other.path == one.path) {
            let reason = format!("another upstream is at {}", one.path);
            mistakes.add_to_table(&server.place(), reason);
        }
        upstreams.push(one);
    }
    if document.names(&["upstream"]).next().is_none() {
        mistakes.add(0..0, "there is no [upstream.NAME]: nothing to serve");
    }
    Config {
        listen,
        opens: upstreams.iter().any(|one| one.setup.may_ask(Route::Page)),
        upstreams,
        desk: written.desk(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::time::Duration;

    use super::*;
    use crate::route::{Confirm, OnUnavailable, ServerEra};
    use crate::transport::server::ServerAddress;

    fn config(text: &str) -> Result<Config, String> {
        let machine = Machine {
            variable: |name| (name == "PROGRAM").then(|| "xyzzy".to_owned()),
            lacks: |_| None,
            listens: |_| Ok(()),
        };
        let read = read(text, Path::new("no/such"), Locale::default(), &machine);
        read.map_err(|mistakes| {
            let told = mistakes.iter().map(Wrong::to_string);
            told.collect::<Vec<_>>().join("\n")
        })
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
                "line 2, column 11: expected a list, one word per entry: command = [\"npx\", \"x\"]",
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
                "line 3, column 14: unknown value `old`. Choose from: auto, legacy, modern",
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
                "line 2, column 10: only 127.0.0.1 or [::1] with mode = \"local\": one person, on this machine. Write \"127.0.0.1:1\"",
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
                "line 1, column 2: unknown key `server`. Did you mean `serve`?",
            ),
        ] {
            let text = format!("{text}\n{ONE}");
            assert_eq!(config(&text).err().as_deref(), Some(expected), "{text}");
        }
        let error = Config::read(Path::new("no/such.toml"), Locale::default()).err();
        assert_eq!(error.unwrap().to_string(), "cannot read no/such.toml");
    }
}
