//! Configuration files on disk: read whole, replaced in one step.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::trouble::Trouble;

/// A file as it was read.
pub struct Source {
    /// Where a client looks for it.
    pub path: PathBuf,
    /// Where it really is, behind symbolic links.
    pub real: PathBuf,
    /// Its bytes, to notice that another program writes it.
    bytes: Vec<u8>,
    found: Metadata,
}

/// Some editors write this in front of UTF-8.
const MARK: &str = "\u{feff}";

/// No configuration is longer. Claude Code's holds more than settings, and grows to several MB.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl Source {
    /// Reads a file. `None` if nothing is there.
    pub fn read(path: &Path) -> Result<Option<Self>, Trouble> {
        match fs::symlink_metadata(path) {
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(Trouble::NotReadable(error)),
            Ok(_) => {}
        }
        let real = fs::canonicalize(path).map_err(Trouble::NotReadable)?;
        let found = fs::metadata(&real).map_err(Trouble::NotReadable)?;
        if !found.is_file() {
            return Err(Trouble::NotAFile);
        }
        let mut bytes = Vec::new();
        let file = File::open(&real).map_err(Trouble::NotReadable)?;
        let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(Trouble::NotReadable)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(Trouble::TooLong);
        }
        Ok(Some(Self {
            path: path.to_owned(),
            real,
            bytes,
            found,
        }))
    }

    /// The text without a byte order mark.
    pub fn text(&self) -> Result<String, Trouble> {
        let text = std::str::from_utf8(&self.bytes).map_err(|_| Trouble::NotText)?;
        Ok(text.strip_prefix(MARK).unwrap_or(text).to_owned())
    }

    /// All bytes as they were read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of the file with another text.
    pub fn with(&self, text: &str) -> Vec<u8> {
        let mark = match self.bytes.starts_with(MARK.as_bytes()) {
            true => MARK,
            false => "",
        };
        [mark.as_bytes(), text.as_bytes()].concat()
    }

    /// Fails if the file shouldn't be replaced, before anything is written.
    pub fn check(&self) -> Result<(), Trouble> {
        if self.found.permissions().readonly() {
            return Err(Trouble::ReadOnly);
        }
        if self.found.nlink() > 1 {
            return Err(Trouble::HardLinks);
        }
        Ok(())
    }

    /// Replaces the file: whoever reads it gets the old bytes or the new ones. Fails if another program has written
    /// it since it was read.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), Trouble> {
        self.check()?;
        let draft = draft(&self.real);
        let written = self.write(&draft, bytes).and_then(|()| {
            let _lock = Lock::of(&self.real)?;
            let now = Self::read(&self.path)?;
            let is_same = now.is_some_and(|now| {
                let id = |found: &Metadata| (found.dev(), found.ino());
                now.bytes == self.bytes
                    && now.real == self.real
                    && id(&now.found) == id(&self.found)
            });
            if !is_same {
                return Err(Trouble::Changed);
            }
            fs::rename(&draft, &self.real).map_err(Trouble::NotWritten)
        });
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written?;
        sync_folder(&self.real).map_err(Trouble::NotWritten)
    }

    /// Writes a draft beside the file, with its owner and mode.
    fn write(&self, draft: &Path, bytes: &[u8]) -> Result<(), Trouble> {
        let write = || -> io::Result<()> {
            clear(draft)?;
            let mut options = OpenOptions::new();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(draft)?;
            let made = file.metadata()?;
            if (made.uid(), made.gid()) != (self.found.uid(), self.found.gid()) {
                fchown(&file, Some(self.found.uid()), Some(self.found.gid()))?;
            }
            file.set_permissions(self.found.permissions())?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        write().map_err(Trouble::NotWritten)
    }
}

/// True if a run that was killed left something beside a file.
pub fn is_littered(real: &Path) -> bool {
    fs::symlink_metadata(draft(real)).is_ok()
}

/// Removes what a run that was killed left beside a file. Only one run at a time gets here.
pub fn tidy(real: &Path) {
    let _ = clear(&draft(real));
    Lock::clear(real);
}

/// Writes a file of our own in one step.
pub fn write_own(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft(path);
    clear(&draft)?;
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    sync_folder(path)
}

/// True if an error says that nothing is at a path.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn clear(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if is_absent(&error) => Ok(()),
        result => result,
    }
}

/// A draft's name tells what it's for, and is always the same, so the next run finds it.
fn draft(path: &Path) -> PathBuf {
    beside(path, ".", ".midcall-draft")
}

fn beside(path: &Path, before: &str, after: &str) -> PathBuf {
    let mut name = OsString::from(before);
    name.push(path.file_name().unwrap_or_default());
    name.push(after);
    path.with_file_name(name)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// The lock that Claude Code takes while it writes its file: a folder beside it. It reads the file again under the
/// lock, so with it neither side writes over the other.
struct Lock(Option<PathBuf>);

/// Claude Code takes a lock of this age for one whose holder has ended.
const STALE: Duration = Duration::from_secs(10);

/// How often we look whether a lock is gone. Claude Code holds it for milliseconds.
const LOOK: Duration = Duration::from_millis(20);

impl Lock {
    fn of(real: &Path) -> Result<Self, Trouble> {
        if real.file_name().is_none_or(|name| name != ".claude.json") {
            return Ok(Self(None));
        }
        let path = beside(real, "", ".lock");
        let begun = Instant::now();
        loop {
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(Some(path))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if begun.elapsed() > 2 * STALE {
                        return Err(Trouble::Changed);
                    }
                    Self::clear(real);
                    std::thread::sleep(LOOK);
                }
                Err(error) => return Err(Trouble::NotWritten(error)),
            }
        }
    }

    /// Removes a lock whose holder has ended.
    fn clear(real: &Path) {
        if real.file_name().is_none_or(|name| name != ".claude.json") {
            return;
        }
        let path = beside(real, "", ".lock");
        let changed = fs::symlink_metadata(&path).and_then(|found| found.modified());
        if changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > STALE)) {
            let _ = fs::remove_dir(&path);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_dir(path);
        }
    }
}
