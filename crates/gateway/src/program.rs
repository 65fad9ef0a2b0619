//! Where a server's program is, found as the system finds it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Why a program can't be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A path that leads nowhere.
    File(PathBuf),
    /// A name that is in none of these folders.
    OnPath(OsString, Vec<PathBuf>),
    /// A file that this user may not execute.
    NotExecutable(PathBuf),
}

/// The file of a program: a path, or a name that is looked for in the folders of `PATH`.
pub fn find(program: &OsStr) -> Result<PathBuf, Missing> {
    let path = Path::new(program);
    if program.is_empty() || program.as_bytes().contains(&b'/') {
        return match may_execute(path) {
            Some(true) => Ok(path.to_owned()),
            Some(false) => Err(Missing::NotExecutable(path.to_owned())),
            None => Err(Missing::File(path.to_owned())),
        };
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut looked = Vec::new();
    let mut refused = None;
    for folder in env::split_paths(&folders) {
        if looked.contains(&folder) {
            continue;
        }
        let file = folder.join(path);
        match may_execute(&file) {
            Some(true) => return Ok(file),
            Some(false) => refused = refused.or(Some(file)),
            None => {}
        }
        looked.push(folder);
    }
    Err(match refused {
        Some(file) => Missing::NotExecutable(file),
        None => Missing::OnPath(program.to_owned(), looked),
    })
}

/// Why the system says that there is no such program.
pub fn missing(program: &OsStr) -> String {
    match find(program) {
        Err(missing) => missing.to_string(),
        Ok(file) => format!(
            "the interpreter in its first line ({} begins with #!) is not there",
            file.display()
        ),
    }
}

/// Whether a file may be executed; none if there is no such file.
fn may_execute(file: &Path) -> Option<bool> {
    let found = file.metadata().ok()?;
    Some(found.is_file() && access(file, Access::EXEC_OK).is_ok())
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// A whole `PATH` is long, and says much about a computer.
        const SHOWN: usize = 2;
        match self {
            Self::File(path) => write!(f, "there is no file {path:?}"),
            Self::NotExecutable(path) => write!(f, "{path:?} may not be executed"),
            Self::OnPath(program, folders) => {
                let more = (folders.len() > SHOWN).then(|| "…".to_owned());
                let shown = folders.iter().take(SHOWN);
                let shown = shown.map(|folder| folder.display().to_string());
                let shown: Vec<String> = shown.chain(more).collect();
                let count = match folders.len() {
                    0 => return write!(f, "there is no program {program:?}: PATH is empty"),
                    1 => "only folder".to_owned(),
                    count => format!("{count} folders"),
                };
                write!(
                    f,
                    "there is no program {program:?} in the {count} of the PATH that Midcall was \
                     started with: {}",
                    shown.join(", ")
                )
            }
        }
    }
}
