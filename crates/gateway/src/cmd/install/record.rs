//! What `install` did to each file, and how the file was before.
//!
//! Below the user's home, `.local/state/midcall/install` (or `midcall/install` in `$XDG_STATE_HOME`) has for each file
//! a backup and a record. The backup `ID-DIGEST-NAME` holds the bytes as they were, where `ID` stands for the file's
//! path, so a person can copy it back. The record `ID.json` names it. Backups hold the keys that clients keep in their
//! configuration, so only their owner can read the folder.
//!
//! A run writes the backup, the record and then the file. Each step is whole or hasn't happened, so a run that ends
//! in between leaves a file and a record of it that fit together.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::document::Path as Names;
use super::file::write_own;

/// The folder of all records.
pub struct Records {
    folder: PathBuf,
}

/// What was done to one file.
#[derive(Deserialize, Serialize)]
pub struct Record {
    /// Where the file is.
    pub file: PathBuf,
    /// The name of the backup in the folder.
    backup: String,
    /// Digests of the bytes that stand for the backup plus the entries: before and after the last change.
    written: Vec<String>,
    /// The entries that `install` wrapped.
    pub entries: Vec<Names>,
}

/// A record with the bytes of its backup.
pub struct Kept {
    pub record: Record,
    pub before: Vec<u8>,
}

/// As long as this lives, no other `install` or `uninstall` of this user changes anything.
pub struct Turn {
    _lock: File,
}

impl Kept {
    /// True if the file is as the last run left it.
    pub fn is_untouched(&self, bytes: &[u8]) -> bool {
        self.record.written.contains(&hex(bytes))
    }
}

impl Records {
    pub fn new(state: &Path) -> Self {
        Self {
            folder: state.join("midcall/install"),
        }
    }

    /// The folder, to tell people where backups are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until no other run changes anything.
    pub fn turn(&self) -> io::Result<Turn> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let mut options = File::options();
        let lock = options.write(true).create(true).truncate(false).mode(0o600);
        let lock = lock.open(self.folder.join("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(Turn { _lock: lock })
    }

    /// What was done to a file, if anything was.
    pub fn find(&self, real: &Path) -> io::Result<Option<Kept>> {
        let path = self.folder.join(format!("{}.json", id(real)));
        let text = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let record: Record = serde_json::from_slice(&text)?;
        let is_name = Path::new(&record.backup).file_name() == Some(record.backup.as_ref());
        if record.file != real || !is_name {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let before = fs::read(self.folder.join(&record.backup))?;
        Ok(Some(Kept { record, before }))
    }

    /// Keeps how a file was, before it becomes something else.
    pub fn keep(
        &self,
        real: &Path,
        before: &[u8],
        written: [&[u8]; 2],
        entries: Vec<Names>,
    ) -> io::Result<()> {
        let id = id(real);
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let backup = format!("{id}-{}-{name}", &hex(before)[..16]);
        write_own(&self.folder.join(&backup), before)?;
        let record = Record {
            file: real.to_owned(),
            backup,
            written: written.map(hex).to_vec(),
            entries,
        };
        let mut text = serde_json::to_vec_pretty(&record)?;
        text.push(b'\n');
        write_own(&self.folder.join(format!("{id}.json")), &text)?;
        self.sweep(&id, Some(&record.backup))
    }

    /// Forgets a file that is as it was before.
    pub fn forget(&self, real: &Path) -> io::Result<()> {
        let id = id(real);
        match fs::remove_file(self.folder.join(format!("{id}.json"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => result?,
        }
        self.sweep(&id, None)
    }

    /// Removes the backups of a file that no record names.
    fn sweep(&self, id: &str, kept: Option<&str>) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            let plain = name.trim_start_matches('.');
            let is_ours =
                plain.starts_with(&format!("{id}-")) || plain != name && plain.starts_with(id);
            if is_ours && kept != Some(&*name) {
                fs::remove_file(self.folder.join(&*name))?;
            }
        }
        Ok(())
    }
}

/// A name for a path that fits into a file name.
fn id(real: &Path) -> String {
    let mut id = hex(real.as_os_str().as_encoded_bytes());
    id.truncate(16);
    id
}

fn hex(bytes: &[u8]) -> String {
    let digest = digest(&SHA256, bytes);
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
