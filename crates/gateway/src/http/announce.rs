//! `--announce FILE`: how other processes of this user find a running gateway. Gateways find each
//! other by the same kind of file (`peers`).
//!
//! The file holds keys, so only its owner can read it, it is never half written, and it goes
//! when the gateway does. It is written where nothing exists, or over a file that is empty or that
//! a gateway wrote before; anything else at that path stays. A symbolic link is refused, wherever
//! it leads: another process could change its target between the check and the write.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, OFlags, RenameFlags, flock, renameat_with};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::token::Token;

/// What the file says. No `Debug`: it holds keys.
#[derive(Deserialize, Serialize)]
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

/// An announcement on disk. When this is dropped, the file is removed, unless someone else has
/// replaced or changed it.
pub struct Announced {
    file: PathBuf,
    text: Vec<u8>,
    /// Locked for as long as the gateway lives.
    lock: File,
}

/// Why a gateway can't announce itself in a file.
#[derive(Debug, thiserror::Error)]
pub enum AnnounceError {
    #[error(
        "cannot write {0}: {1} is there, and Midcall would have to remove it. \
         Choose a path where nothing exists"
    )]
    Occupied(PathBuf, &'static str),
    #[error(
        "cannot write {0}: a file that Midcall didn't write is there. \
         Choose another path, or move that file away"
    )]
    Foreign(PathBuf),
    #[error("cannot write {0}: other programs keep changing what is there. Choose another path")]
    Contested(PathBuf),
    #[error("cannot write {0}")]
    Io(PathBuf, #[source] io::Error),
}

/// What a draft's name begins with, before it becomes an announcement.
pub const DRAFT: &str = ".midcall-draft-";

/// Bytes of a file that may be an announcement.
const MOST_BYTES: u64 = 8 * 1024;

/// How often writing is tried while others change what is at the path.
const TRIES: usize = 8;

/// What an announcement may be written over.
enum Target {
    Vacant,
    Replaceable(Metadata),
}

impl Announced {
    /// Writes the file in one step, where nothing exists or over one that may be replaced.
    pub fn write(file: &Path, announcement: &Announcement) -> Result<Self, AnnounceError> {
        Self::write_if(file, announcement, |_| true)
    }

    /// Writes the file in one step, only where nothing exists.
    pub fn write_new(file: &Path, announcement: &Announcement) -> Result<Self, AnnounceError> {
        Self::write_if(file, announcement, |target| {
            matches!(target, Target::Vacant)
        })
    }

    fn write_if(
        file: &Path,
        announcement: &Announcement,
        is_allowed: impl Fn(&Target) -> bool,
    ) -> Result<Self, AnnounceError> {
        let failed = |error| AnnounceError::Io(file.to_owned(), error);
        let mut text = serde_json::to_vec(announcement).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        // Before anything is written: most refusals leave no trace.
        let mut target = target(file)?;
        let draft = Draft::write(file, &text).map_err(failed)?;
        for _ in 0..TRIES {
            if !is_allowed(&target) {
                break;
            }
            if draft.becomes(file, &target).map_err(failed)? {
                return Ok(Self {
                    file: file.to_owned(),
                    text,
                    lock: draft.file.try_clone().map_err(failed)?,
                });
            }
            target = self::target(file)?;
        }
        Err(AnnounceError::Contested(file.to_owned()))
    }

    /// Whether the file at the path is still the one that was written, and still says the same.
    fn is_there(&self) -> bool {
        let (Ok(ours), Ok((_, text))) = (self.lock.metadata(), read(&self.file)) else {
            return false;
        };
        fs::symlink_metadata(&self.file).is_ok_and(|now| is_same(&now, &ours)) && text == self.text
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        if self.is_there() {
            let _ = fs::remove_file(&self.file);
        }
    }
}

/// What is at a path, if an announcement may be written there.
fn target(path: &Path) -> Result<Target, AnnounceError> {
    let occupied = |what| AnnounceError::Occupied(path.to_owned(), what);
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(occupied(name(found.file_type()))),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Target::Vacant),
        Err(error) => return Err(AnnounceError::Io(path.to_owned(), error)),
    }
    let foreign = || AnnounceError::Foreign(path.to_owned());
    // What can't be read can't be ours.
    let (found, text) = read(path).map_err(|_| foreign())?;
    let is_ours = serde_json::from_slice::<Announcement>(&text).is_ok();
    if text.is_empty() || is_ours && text.starts_with(b"{") {
        return Ok(Target::Replaceable(found));
    }
    Err(foreign())
}

/// Names a kind of thing that isn't a regular file.
fn name(kind: FileType) -> &'static str {
    if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// Reads a regular file that may be an announcement. It follows no link and waits for no FIFO.
fn read(path: &Path) -> io::Result<(Metadata, Vec<u8>)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok((found, text))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// A file that is about to become an announcement, beside its place. Dropping this removes it.
struct Draft {
    path: PathBuf,
    file: File,
}

impl Draft {
    /// Writes a new file with a name of its own, so nothing that exists is touched.
    fn write(beside: &Path, text: &[u8]) -> io::Result<Self> {
        let mut name = Token::random().reveal().to_owned();
        name.truncate(16);
        let path = beside.with_file_name(format!("{DRAFT}{name}"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path)?;
        let mut draft = Self { path, file };
        // Some file systems have no locks. Where gateways look for each other there are some.
        let _ = flock(&draft.file, FlockOperation::NonBlockingLockExclusive);
        draft.file.write_all(text)?;
        draft.file.sync_all()?;
        Ok(draft)
    }

    /// Puts the file at a path. False if that has changed since it was looked at.
    fn becomes(&self, path: &Path, target: &Target) -> io::Result<bool> {
        match target {
            // A link is made only where nothing exists, unlike a rename.
            Target::Vacant => match fs::hard_link(&self.path, path) {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                Err(_) => self.moves_to(path),
            },
            Target::Replaceable(found) => {
                let is_it = |now: Metadata| {
                    is_same(&now, found)
                        && now.len() == found.len()
                        && now.modified().ok() == found.modified().ok()
                };
                if !fs::symlink_metadata(path).is_ok_and(is_it) {
                    return Ok(false);
                }
                fs::rename(&self.path, path).map(|()| true)
            }
        }
    }

    /// The same for a path where nothing exists, on file systems without hard links.
    fn moves_to(&self, path: &Path) -> io::Result<bool> {
        match renameat_with(CWD, &self.path, CWD, path, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

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
    fn a_second_gateway_takes_the_file_over_and_the_first_leaves_it_alone() {
        let folder = std::env::temp_dir().join(format!("midcall-announced-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("a.json");
        let first = Announced::write(&file, &announcement(1)).unwrap();
        let mode = fs::symlink_metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(matches!(
            Announced::write_new(&file, &announcement(2)),
            Err(AnnounceError::Contested(_))
        ));

        let second = Announced::write(&file, &announcement(2)).unwrap();
        drop(first);
        assert!(file.exists());
        drop(second);
        assert_eq!(folder.read_dir().unwrap().count(), 0);
        fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn what_appears_at_the_path_meanwhile_stays() {
        let folder = std::env::temp_dir().join(format!("midcall-drafted-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("a.json");
        let draft = Draft::write(&file, b"ours").unwrap();
        let vacant = target(&file).unwrap();
        fs::write(&file, "").unwrap();
        let empty = target(&file).unwrap();
        assert!(!draft.becomes(&file, &vacant).unwrap());
        fs::write(&file, "theirs").unwrap();
        assert!(!draft.becomes(&file, &empty).unwrap());
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
        fs::remove_file(&file).unwrap();
        assert!(draft.becomes(&file, &vacant).unwrap());
        drop(draft);
        assert_eq!(fs::read(&file).unwrap(), b"ours");
        fs::remove_dir_all(&folder).unwrap();
    }
}
