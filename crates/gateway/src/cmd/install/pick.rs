//! Which servers a person means: by flags, or by numbers in a terminal.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::bail;
use midcall_core::catalog::Locale;

use super::client::{CLIENTS, Client};
use super::scan::Found;
use crate::flag;
use crate::unseen::one_line;

/// The flags that `install` and `uninstall` share.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The home folder to look in, instead of yours
    #[arg(long, env = "MIDCALL_HOME", value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Only this client (may be given several times): claude-desktop, claude-code, vscode, cursor, codex, ...
    #[arg(
        long,
        env = "MIDCALL_CLIENT",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub client: Vec<String>,
    /// The server of this name (may be given several times)
    #[arg(
        long,
        env = "MIDCALL_SERVER",
        value_name = "NAME",
        value_delimiter = '\n'
    )]
    pub server: Vec<String>,
    /// All servers that can be changed without asking you for more
    #[arg(long, env = "MIDCALL_ALL", value_parser = clap::builder::BoolishValueParser::new())]
    pub all: bool,
    /// Say what would be done, and change nothing
    #[arg(long, env = "MIDCALL_DRY_RUN", value_parser = clap::builder::BoolishValueParser::new())]
    pub dry_run: bool,
    /// Don't ask before files are changed
    #[arg(long, env = "MIDCALL_YES", value_parser = clap::builder::BoolishValueParser::new())]
    pub yes: bool,
    /// The language of the texts: en-US or pt-BR
    #[arg(
        long,
        env = "MIDCALL_LOCALE",
        value_name = "TAG",
        default_value = "en-US",
        value_parser = flag::locale
    )]
    pub locale: Locale,
}

/// A server, by its file and the names that lead to it there.
pub type Pick = (usize, Vec<String>);

impl Flags {
    /// The clients that are meant: those that were named, or all.
    pub fn clients(&self) -> anyhow::Result<Vec<&'static Client>> {
        for name in &self.client {
            if !CLIENTS.iter().any(|client| client.name == name) {
                let names: Vec<_> = CLIENTS.iter().map(|client| client.name).collect();
                bail!(
                    "there is no client {name:?}: choose from {}",
                    names.join(", ")
                );
            }
        }
        let is_meant = |client: &&Client| {
            self.client.is_empty() || self.client.iter().any(|name| name == client.name)
        };
        Ok(CLIENTS.iter().filter(is_meant).collect())
    }

    /// True if the flags say which servers are meant. A client alone means all of its servers only if nobody is to be
    /// asked.
    pub fn is_picked(&self) -> bool {
        let has_client = !self.client.is_empty() && (self.yes || self.dry_run);
        self.all || !self.server.is_empty() || has_client
    }

    /// True if a server of this name is meant.
    pub fn means(&self, name: &str) -> bool {
        self.server.is_empty() || self.names(name)
    }

    /// True if this server was named.
    pub fn names(&self, name: &str) -> bool {
        self.server.iter().any(|server| server == name)
    }

    /// Fails if a server was named that isn't there.
    pub fn check_names(&self, found: &[Found]) -> anyhow::Result<()> {
        let contents = found.iter().filter_map(|one| one.content.as_ref().ok());
        let entries = contents.flat_map(|content| content.document.entries());
        let mut known: Vec<String> = entries
            .filter_map(|entry| entry.path.last().cloned())
            .collect();
        known.sort();
        known.dedup();
        match self.server.iter().find(|name| !known.contains(name)) {
            Some(name) if known.is_empty() => {
                bail!("there is no server {name:?}: no client here has any")
            }
            Some(name) => bail!("there is no server {name:?}: choose from {}", shown(&known)),
            None => Ok(()),
        }
    }

    /// True if there is a person to ask.
    pub fn can_ask() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }
}

/// Asks for numbers from 1 to `count` until the answer can be understood. Nothing typed is nothing picked, and `all` is
/// what "all" means.
pub fn numbers(question: &str, again: &str, count: usize, all: &[usize]) -> io::Result<Vec<usize>> {
    let mut words = question;
    loop {
        let Some(line) = line(words)? else {
            return Ok(Vec::new());
        };
        if let Some(numbers) = parse(&line, count, all) {
            return Ok(numbers);
        }
        words = again;
    }
}

/// Asks for a yes. Anything else is a no.
pub fn agrees(question: &str, yes: &str) -> io::Result<bool> {
    let line = line(question)?.unwrap_or_default().to_lowercase();
    Ok(!line.is_empty() && [yes, "yes", "y", "sim"].contains(&line.as_str()))
}

/// The numbers in a line; `None` if it has anything else.
fn parse(line: &str, count: usize, all: &[usize]) -> Option<Vec<usize>> {
    if ["all", "todos", "*"].contains(&line.to_lowercase().as_str()) {
        return Some(all.to_vec());
    }
    let words = line.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    let numbers = words.map(|word| {
        word.parse()
            .ok()
            .filter(|number| (1..=count).contains(number))
    });
    numbers.collect()
}

/// A line that a person types; `None` at the end of the input.
fn line(question: &str) -> io::Result<Option<String>> {
    let mut out = io::stderr();
    write!(out, "{question} ")?;
    out.flush()?;
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line)? {
        0 => {
            writeln!(out)?;
            Ok(None)
        }
        _ => Ok(Some(line.trim().to_owned())),
    }
}

/// Names from files of others, with nothing in them that a terminal would obey.
fn shown(names: &[String]) -> String {
    let names = names.iter().map(|name| one_line(name, 40));
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_understood_and_nothing_else_is() {
        for (line, expected) in [
            ("", Some(vec![])),
            ("2", Some(vec![2])),
            ("1, 3", Some(vec![1, 3])),
            ("all", Some(vec![1, 2])),
            ("4", None),
            ("0", None),
            ("1 x", None),
            ("-1", None),
        ] {
            assert_eq!(parse(line, 3, &[1, 2]), expected, "{line}");
        }
    }
}
