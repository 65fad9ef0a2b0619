//! The folder in which the gateways of one person find each other: a file each.
//!
//! What lies there opens doors, so the folder is its owner's alone; one that anybody else could
//! have made or can look into is refused. A gateway holds a lock on its file for as long as it
//! lives: the system lets go of it however the process ends, and no number that is used again
//! can look like life. Whoever finds a file without its gateway takes it away, and holds that
//! file's lock meanwhile. A gateway writes its own file only where nothing exists. So a file that is
//! being taken away can't be replaced, and no file of a living gateway is ever removed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, iter};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;
use serde::Deserialize;
use tokio::time::sleep;

use super::super::announce::{AnnounceError, Announced, Announcement, DRAFT};
use super::Peer;
use crate::awake::within;

/// A folder that is this user's alone.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Somebody else made it, or can look into it.
    #[error(
        "{0} cannot be used: it has to be a folder of yours that nobody else can open (mode 0700)"
    )]
    NotOurs(PathBuf),
    /// The system says no.
    #[error("cannot use {0}")]
    Io(PathBuf, #[source] io::Error),
}

/// The right to decide, for all gateways, whether a browser is opened. It ends when dropped.
pub struct Turn {
    _lock: Option<File>,
}

/// Gateways that are looked at.
const MOST: usize = 64;
/// Names in the folder that are looked at: more is no folder of ours.
const MOST_NAMES: usize = 1_024;
/// Bytes of a file.
const MOST_BYTES: u64 = 4 * 1024;
/// How old a draft has to be before it counts as left behind.
const DRAFT_AGE: Duration = Duration::from_secs(60);
/// How long others may take over their turn.
const TURN: Duration = Duration::from_secs(3);
/// How often it is looked whether they have.
const LOOK: Duration = Duration::from_millis(5);

/// What is read of a file.
#[derive(Deserialize)]
struct Told {
    pid: u32,
    page: String,
    peer: String,
}

impl Folder {
    /// The folder of whoever runs this process, made if it is not there.
    pub fn of_this_user() -> Result<Self, FolderError> {
        Self::at(place())
    }

    fn at(path: PathBuf) -> Result<Self, FolderError> {
        let made = DirBuilder::new().mode(0o700).create(&path);
        if let Err(error) = made
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(FolderError::Io(path, error));
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if is_private(&found, geteuid().as_raw()) => Ok(Self { path }),
            Ok(_) => Err(FolderError::NotOurs(path)),
            Err(error) => Err(FolderError::Io(path, error)),
        }
    }

    /// Puts a gateway's file there, as long as the result lives. A file that an earlier process
    /// with the same number left is removed first.
    pub fn announce(&self, announcement: &Announcement) -> Result<Announced, AnnounceError> {
        let file = self.path.join(format!("{}.json", announcement.pid));
        look(&file);
        Announced::write_new(&file, announcement)
    }

    /// Removes what gateways left that were killed.
    pub fn sweep(&self) {
        for path in self.files() {
            if is_a_gateways(&path) {
                look(&path);
            } else if is_a_draft(&path)
                && let Ok(file) = private().open(&path)
            {
                take_away(&path, &file);
            }
        }
    }

    /// The gateways that live, the eldest first. What others left behind is taken away.
    pub fn living(&self) -> Vec<Peer> {
        let mut found: Vec<(SystemTime, Peer)> = self
            .files()
            .filter(|path| is_a_gateways(path))
            .filter_map(|path| look(&path))
            .collect();
        found.sort_by(|(one, a), (other, b)| (one, &a.page).cmp(&(other, &b.page)));
        found.truncate(MOST);
        found.into_iter().map(|(_, peer)| peer).collect()
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let names = fs::read_dir(&self.path).into_iter().flatten();
        let names = names.take(MOST_NAMES).filter_map(Result::ok);
        names.map(|entry| entry.path())
    }

    /// Waits for the right to decide. Whoever holds it for too long is not waited for.
    pub async fn turn(&self) -> Turn {
        let path = self.path.join("turn");
        let lock = private().create(true).truncate(false).open(path).ok();
        if let Some(lock) = &lock {
            let _ = within(TURN, ours(lock)).await;
        }
        Turn { _lock: lock }
    }
}

/// Waits until a lock is ours.
async fn ours(lock: &File) {
    while flock(lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        sleep(LOOK).await;
    }
}

/// The session's own folder, else one in the system's place for what is temporary.
///
/// Many clients hand their servers no more of their environment than `HOME` and `PATH`, so the
/// place that the session's folder usually has counts as well.
fn place() -> PathBuf {
    let user = geteuid().as_raw();
    let named = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    named
        .into_iter()
        .chain(iter::once(format!("/run/user/{user}").into()))
        .find(|path| {
            path.is_absolute() && fs::metadata(path).is_ok_and(|found| found.uid() == user)
        })
        .map_or_else(
            || env::temp_dir().join(format!("midcall-{user}")),
            |session| session.join("midcall"),
        )
}

/// Whether something is a folder that nobody but this user can use. A link to one is none.
fn is_private(found: &fs::Metadata, user: u32) -> bool {
    found.is_dir() && found.uid() == user && found.mode() & 0o777 == 0o700
}

/// Whether a name is that of a gateway's file: the number of its process.
fn is_a_gateways(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let number = name.and_then(|name| name.strip_suffix(".json"));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The gateway of a file, if it lives, and since when.
fn look(path: &Path) -> Option<(SystemTime, Peer)> {
    let mut file = private().open(path).ok()?;
    let found = file.metadata().ok().filter(fs::Metadata::is_file)?;
    // Shared, so that two who look at the same time don't take each other for the gateway.
    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        take_away(path, &file);
        return None;
    }
    let mut text = Vec::new();
    (&mut file).take(MOST_BYTES).read_to_end(&mut text).ok()?;
    let Told { pid, page, peer } = serde_json::from_slice(&text).ok()?;
    Some((found.modified().ok()?, Peer::new(pid, page, peer)?))
}

/// Removes a file whose process is gone. One that is locked, or isn't at its path any more, stays.
fn take_away(path: &Path, file: &File) {
    let is_ours = flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
    let found = file.metadata().ok().filter(|_| is_ours);
    // Someone else may have removed it before it was locked, and a living gateway's may be there now.
    let is_there = |found: fs::Metadata| {
        let now = fs::symlink_metadata(path);
        now.is_ok_and(|now| (now.dev(), now.ino()) == (found.dev(), found.ino()))
    };
    if found.is_some_and(is_there) {
        let _ = fs::remove_file(path);
    }
}

/// Whether a file was being written by a gateway that was then killed. One that was written lately may
/// not be locked yet.
fn is_a_draft(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let modified = fs::symlink_metadata(path).and_then(|found| found.modified());
    let age = modified.ok().and_then(|at| at.elapsed().ok());
    name.is_some_and(|name| name.starts_with(DRAFT)) && age.is_some_and(|age| age > DRAFT_AGE)
}

/// How files are opened here: no link is followed, and none that blocks is waited for.
fn private() -> OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options.custom_flags(i32::try_from(flags.bits()).expect("flags fit"));
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use tokio::time::Instant;

    /// A place for a folder, which goes with this value.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let name = format!("midcall-folder-{}-{name}", std::process::id());
            let place = env::temp_dir().join(name);
            fs::create_dir(&place).unwrap();
            Self(place)
        }

        fn folder(&self) -> Folder {
            Folder::at(self.0.join("midcall")).unwrap()
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn announcement(pid: u32, page: &str) -> Announcement {
        Announcement {
            pid,
            page: page.to_owned(),
            launch: String::new(),
            api: String::new(),
            bearer: String::new(),
            peer: Some("key".to_owned()),
        }
    }

    fn pages(folder: &Folder) -> Vec<String> {
        let living = folder.living().into_iter();
        living.map(|peer| peer.page).collect()
    }

    #[test]
    fn a_folder_that_is_not_this_users_alone_is_refused() {
        let place = Place::new("refused");
        let path = place.0.join("midcall");
        assert!(Folder::at(path.clone()).is_ok(), "it is made");
        assert!(Folder::at(path.clone()).is_ok(), "it is used again");
        let found = fs::symlink_metadata(&path).unwrap();
        let user = geteuid().as_raw();
        assert!(is_private(&found, user));
        assert!(!is_private(&found, user + 1), "somebody else's");

        for mode in [0o755, 0o710, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refused = Folder::at(path.clone());
            assert!(matches!(refused, Err(FolderError::NotOurs(_))), "{mode:o}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let link = place.0.join("link");
        symlink(&path, &link).unwrap();
        assert!(matches!(Folder::at(link), Err(FolderError::NotOurs(_))));
        let file = place.0.join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(Folder::at(file), Err(FolderError::NotOurs(_))));
        let nowhere = place.0.join("no/where");
        assert!(matches!(Folder::at(nowhere), Err(FolderError::Io(..))));
    }

    #[test]
    fn who_lives_is_found_and_what_the_dead_left_is_taken_away() {
        let place = Place::new("living");
        let folder = place.folder();
        let first = folder.announce(&announcement(11, "http://127.0.0.1:11"));
        let second = folder.announce(&announcement(12, "http://[::1]:12"));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(pages(&folder).len(), 2);
        drop(second);
        assert_eq!(pages(&folder), ["http://127.0.0.1:11"]);

        let dead = folder.path.join("13.json");
        let left = announcement(13, "http://127.0.0.1:13");
        fs::write(&dead, serde_json::to_vec(&left).unwrap()).unwrap();
        let other = folder.path.join("notes.json");
        fs::write(&other, "mine").unwrap();
        assert_eq!(pages(&folder), ["http://127.0.0.1:11"]);
        assert!(!dead.exists() && other.exists());
        drop(first);
        assert!(pages(&folder).is_empty());
    }

    #[test]
    fn nothing_but_gateways_on_this_machine_is_listened_to() {
        let place = Place::new("strange");
        let folder = place.folder();
        let mut held = Vec::new();
        for (pid, page) in [
            "http://192.0.2.1:80",
            "http://127.0.0.2:80",
            "http://localhost:80",
            "https://127.0.0.1:80",
            "http://127.0.0.1:80/path",
            "http://127.0.0.1",
            "",
        ]
        .iter()
        .enumerate()
        {
            let pid = u32::try_from(pid).unwrap();
            held.push(folder.announce(&announcement(pid, page)).unwrap());
        }
        let long = format!("http://127.0.0.1:1{}", " ".repeat(10_000));
        held.push(folder.announce(&announcement(98, &long)).unwrap());
        let mut keyed = announcement(99, "http://127.0.0.1:99");
        keyed.peer = Some("a\nkey: b".to_owned());
        held.push(folder.announce(&keyed).unwrap());
        symlink("/dev/zero", folder.path.join("100.json")).unwrap();
        assert!(pages(&folder).is_empty());

        for pid in 1_000..1_100 {
            let page = format!("http://127.0.0.1:{pid}");
            held.push(folder.announce(&announcement(pid, &page)).unwrap());
        }
        assert_eq!(pages(&folder).len(), MOST);
    }

    #[tokio::test(start_paused = true)]
    async fn one_decides_at_a_time_and_nobody_waits_for_ever() {
        let place = Place::new("turn");
        let folder = place.folder();
        let first = folder.turn().await;
        let start = Instant::now();
        folder.turn().await;
        assert!(start.elapsed() >= TURN);
        drop(first);
        let start = Instant::now();
        folder.turn().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}
