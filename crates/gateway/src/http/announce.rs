//! `--announce FILE`: how other processes of this user find a running gateway. The same lies where
//! gateways find each other (`peers`).
//!
//! The file holds keys, so only its owner can read it, it is never half written, and it goes
//! when the gateway does.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::Serialize;

/// What the file says. No `Debug`: it holds keys.
#[derive(Serialize)]
pub struct Announcement {
    pub pid: u32,
    pub page: String,
    pub launch: String,
    pub api: String,
    pub bearer: String,
    /// The key for other gateways of this user. Scripts need none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
}

/// An announcement on disk, taken away when this is dropped.
pub struct Announced {
    file: PathBuf,
    text: Vec<u8>,
    /// Locked for as long as the gateway lives.
    _lock: File,
}

impl Announced {
    /// Writes the file, or replaces one that is there, in one step.
    pub fn write(file: &Path, announcement: &Announcement) -> io::Result<Self> {
        let mut text = serde_json::to_vec(announcement)?;
        text.push(b'\n');
        let name = file.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut draft_name = name.to_owned();
        draft_name.push(format!(".{}", announcement.pid));
        let draft = file.with_file_name(draft_name);
        let written = write_new(&draft, &text).and_then(|written| {
            fs::rename(&draft, file)?;
            Ok(written)
        });
        let written = written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
        Ok(Self {
            file: file.to_owned(),
            text,
            _lock: written,
        })
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // Another gateway may have put its own in this place meanwhile.
        if fs::read(&self.file).is_ok_and(|now| now == self.text) {
            let _ = fs::remove_file(&self.file);
        }
    }
}

/// Only a new file is written: one that lies there could be a link, or be read by others.
fn write_new(path: &Path, text: &[u8]) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    // Some file systems have no locks. Where gateways look for each other there are some.
    let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
    file.write_all(text)?;
    file.sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn announcement(pid: u32) -> Announcement {
        Announcement {
            pid,
            page: String::new(),
            launch: String::new(),
            api: String::new(),
            bearer: String::new(),
            peer: None,
        }
    }

    #[test]
    fn it_follows_no_link_and_leaves_what_another_gateway_put_there() {
        let folder = std::env::temp_dir().join(format!("midcall-announce-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let (file, elsewhere) = (folder.join("a.json"), folder.join("elsewhere"));
        fs::write(&elsewhere, "mine").unwrap();
        symlink(&elsewhere, &file).unwrap();
        symlink(&elsewhere, folder.join("a.json.1")).unwrap();

        let first = Announced::write(&file, &announcement(1)).unwrap();
        assert_eq!(fs::read(&elsewhere).unwrap(), b"mine");
        let kind = fs::symlink_metadata(&file).unwrap();
        assert!(kind.is_file());
        assert_eq!(kind.permissions().mode() & 0o777, 0o600);

        let second = Announced::write(&file, &announcement(2)).unwrap();
        drop(first);
        assert!(file.exists());
        drop(second);
        assert!(!file.exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
