//! Finds the configuration files of clients, and what their servers are like.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::client::{CLIENTS, Client};
use super::document::Document;
use super::entry::{Entry, Reason, Start};
use super::file::Source;
use super::record::{Kept, Records};
use super::trouble::Trouble;

/// A person's home folder, and the folders that programs keep their files in.
pub struct Home {
    folder: PathBuf,
    config: PathBuf,
    pub state: PathBuf,
    /// True for the home of the person who runs this, where the environment counts too.
    is_own: bool,
}

/// A client's file.
pub struct Found {
    pub client: &'static Client,
    pub path: PathBuf,
    pub content: Result<Content, Trouble>,
}

/// What is in a client's file.
pub struct Content {
    pub source: Source,
    pub document: Document,
    pub kept: Option<Kept>,
}

/// What `install` and `doctor` say about a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It can be wrapped.
    Open,
    /// It can be wrapped, but it may want a login, so only if a person picks it.
    MayWantLogin,
    /// It's wrapped, by `install` or by hand.
    Wrapped { by_us: bool, program: Program },
    /// Midcall leaves it alone.
    Alone(Reason),
}

/// The program in front of a wrapped server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// The one that runs now, or one that is found by its name.
    Right,
    /// Another one, which is there.
    Other,
    /// It isn't there any more.
    Gone,
}

impl Home {
    /// The given folder, or the user's own.
    pub fn new(given: Option<&Path>) -> anyhow::Result<Self> {
        let variable = |name| {
            env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let own = variable("HOME");
        let is_own = given.is_none();
        let folder = given.map(Path::to_owned).or(own);
        let folder = folder.context("there is no home folder: name one with --home")?;
        let folder = fs::canonicalize(&folder)
            .with_context(|| format!("there is no home folder {}", folder.display()))?;
        if !folder.is_dir() {
            bail!("{} is not a folder", folder.display());
        }
        let of = |name, usual: &str| match is_own {
            true => variable(name).unwrap_or_else(|| folder.join(usual)),
            false => folder.join(usual),
        };
        Ok(Self {
            config: of("XDG_CONFIG_HOME", ".config"),
            state: of("XDG_STATE_HOME", ".local/state"),
            is_own,
            folder,
        })
    }

    /// A path as people write it.
    pub fn show(&self, path: &Path) -> String {
        match path.strip_prefix(&self.folder) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    /// The files of some clients, in the clients' order. A file that two names lead to is there once.
    pub fn find(&self, clients: &[&'static Client], records: &Records) -> Vec<Found> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for client in clients {
            for path in self.files(client) {
                look(client, path, records, &mut seen, &mut found);
            }
        }
        for project in self.projects(&found, records) {
            for client in clients {
                for file in client.project {
                    look(client, project.join(file), records, &mut seen, &mut found);
                }
            }
        }
        found.sort_by_key(|one| {
            clients
                .iter()
                .position(|client| client.name == one.client.name)
        });
        found
    }

    /// Where a client's own files may be.
    fn files(&self, client: &Client) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for file in client.files {
            if let Some(rest) = file.strip_prefix("CFG/") {
                files.extend(expand(&self.config, rest));
                files.extend(expand(
                    &self.folder,
                    &format!("Library/Application Support/{rest}"),
                ));
            } else if let Some(rest) = file.strip_prefix(".config/") {
                files.extend(expand(&self.config, rest));
            } else {
                files.extend(expand(&self.folder, file));
            }
        }
        if let Some((name, file)) = client.variable.filter(|_| self.is_own) {
            files.extend(env::var_os(name).map(|folder| Path::new(&folder).join(file)));
        }
        files
    }

    /// The folders of projects: the current one, and those that Claude Code has settings for.
    fn projects(&self, found: &[Found], records: &Records) -> Vec<PathBuf> {
        let here = env::current_dir().ok();
        let mut projects: Vec<PathBuf> = here.into_iter().collect();
        let mut add = |found: &[Found]| {
            for one in found.iter().filter(|one| one.client.name == "claude-code") {
                if let Ok(content) = &one.content {
                    projects.extend(content.document.projects().map(PathBuf::from));
                }
            }
        };
        match found.iter().any(|one| one.client.name == "claude-code") {
            true => add(found),
            false => {
                let claude = CLIENTS.iter().filter(|one| one.name == "claude-code");
                let (mut seen, mut more) = (BTreeSet::new(), Vec::new());
                for client in claude {
                    for path in self.files(client) {
                        look(client, path, records, &mut seen, &mut more);
                    }
                }
                add(&more);
            }
        }
        // Another home's projects are those inside it: the current folder has nothing to do with it.
        projects
            .retain(|path| path.is_absolute() && (self.is_own || path.starts_with(&self.folder)));
        projects.sort();
        projects.dedup();
        projects
    }
}

/// Looks at a path, and notes what is there.
fn look(
    client: &'static Client,
    path: PathBuf,
    records: &Records,
    seen: &mut BTreeSet<PathBuf>,
    found: &mut Vec<Found>,
) {
    let source = match Source::read(&path) {
        Ok(None) => return,
        Ok(Some(source)) => Ok(source),
        Err(trouble) => Err(trouble),
    };
    let real = source.as_ref().map_or(&path, |source| &source.real);
    if !seen.insert(real.clone()) {
        return;
    }
    let read = |source: Source| {
        let document = Document::read(source.text()?, client)?;
        // A record that can't be read says nothing; what is to be changed is looked at again.
        let kept = records.find(&source.real).ok().flatten();
        Ok(Content {
            source,
            document,
            kept,
        })
    };
    found.push(Found {
        client,
        content: source.and_then(read),
        path,
    });
}

/// The paths that a pattern with `*` in the names of folders stands for.
fn expand(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_owned()];
    for part in pattern.split('/') {
        let Some((start, end)) = part.split_once('*') else {
            paths.iter_mut().for_each(|path| path.push(part));
            continue;
        };
        let mut next = Vec::new();
        for path in &paths {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.len() >= part.len() && name.starts_with(start) && name.ends_with(end) {
                    next.push(entry.path());
                }
            }
        }
        next.sort();
        paths = next;
    }
    paths
}

impl Content {
    /// What there is to say about a server.
    pub fn state(&self, entry: &Entry<'_>, program: &Path) -> State {
        match &entry.start {
            Start::Other(reason) => State::Alone(*reason),
            Start::Wrapped { program: named, .. } => State::Wrapped {
                by_us: self.is_ours(&entry.path),
                program: Program::new(Path::new(named), program),
            },
            start if start.may_want_login() => State::MayWantLogin,
            _ => State::Open,
        }
    }

    /// True if `install` has wrapped this server.
    fn is_ours(&self, path: &[String]) -> bool {
        let kept = self.kept.as_ref();
        kept.is_some_and(|kept| kept.record.entries.iter().any(|one| one == path))
    }
}

impl Program {
    fn new(named: &Path, program: &Path) -> Self {
        if named == program || !named.is_absolute() {
            return Self::Right;
        }
        let is_there =
            |found: fs::Metadata| found.is_file() && found.permissions().mode() & 0o111 != 0;
        match fs::metadata(named).is_ok_and(is_there) {
            true => Self::Other,
            false => Self::Gone,
        }
    }
}

impl State {
    /// True if `install` names the program that runs now instead of the one that is named.
    pub fn is_repaired(self) -> bool {
        match self {
            Self::Wrapped { by_us, program } => {
                program == Program::Gone || by_us && program == Program::Other
            }
            _ => false,
        }
    }
}

/// The path of the program that runs now, by which clients can start it later. A package manager's link is better
/// than the file it leads to, which has another path in the next version.
pub fn program() -> anyhow::Result<PathBuf> {
    let running = env::current_exe().context("the path of this program isn't known")?;
    let real = fs::canonicalize(&running)
        .with_context(|| format!("this program isn't at {} any more", running.display()))?;
    let on_path = env::var_os("PATH").unwrap_or_default();
    let linked = env::split_paths(&on_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("midcall"))
        .find(|path| fs::canonicalize(path).is_ok_and(|path| path == real));
    let program = linked.unwrap_or(real);
    if program.to_str().is_none() {
        bail!(
            "the path {} isn't UTF-8, so no client can start it",
            program.display()
        );
    }
    Ok(program)
}
