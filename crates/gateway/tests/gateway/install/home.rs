//! A home folder with the fixtures, and what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::program::midcall;

/// No path.
pub const NONE: [PathBuf; 0] = [];

/// A home folder that goes when the test does.
pub struct Home(pub PathBuf);

/// What lies at a path: the bytes with the mode, or where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub enum Thing {
    File(Vec<u8>, u32),
    Link(PathBuf),
}

impl Home {
    /// An empty one.
    pub fn empty() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("midcall-install-{}-{count}", std::process::id());
        let folder = fs::canonicalize(std::env::temp_dir()).unwrap().join(name);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    /// One with the files of every client.
    pub fn full() -> Self {
        let home = Self::empty();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clients/home");
        copy(&fixtures, &home.0, &home.0);
        home.mode(".claude.json", 0o600);
        home.mode(".lmstudio/mcp.json", 0o444);
        home
    }

    /// One with a single file.
    pub fn with(file: &str, text: &str) -> Self {
        let home = Self::empty();
        home.write(file, text);
        home
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn mode(&self, file: &str, mode: u32) {
        fs::set_permissions(self.path(file), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Runs `midcall` on this home.
    pub fn run(&self, words: &[&str]) -> Output {
        let mut command = midcall();
        command.args(words).arg("--home").arg(&self.0);
        command.current_dir(&self.0).output().unwrap()
    }

    /// The same, and it says what it did on standard output only.
    pub fn says(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// All files but Midcall's own.
    pub fn things(&self) -> BTreeMap<PathBuf, Thing> {
        let mut things = BTreeMap::new();
        collect(&self.0, &mut things);
        things.retain(|path, _| !path.starts_with(self.path(".local/state/midcall/install")));
        things
    }

    /// Midcall's own files, by name.
    pub fn records(&self) -> Vec<String> {
        let folder = self.path(".local/state/midcall/install");
        let entries = fs::read_dir(folder).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "lock").collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Copies a folder. `@HOME@` in a file becomes the path of the home folder.
fn copy(from: &Path, to: &Path, home: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_symlink() {
            symlink(fs::read_link(from).unwrap(), to).unwrap();
        } else if from.is_dir() {
            copy(&from, &to, home);
        } else {
            let text = fs::read_to_string(from).unwrap();
            fs::write(to, text.replace("@HOME@", home.to_str().unwrap())).unwrap();
        }
    }
}

/// The paths at which two homes differ.
pub fn differing(one: &BTreeMap<PathBuf, Thing>, other: &BTreeMap<PathBuf, Thing>) -> Vec<PathBuf> {
    let paths: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let differing = paths
        .into_iter()
        .filter(|path| one.get(*path) != other.get(*path));
    differing.cloned().collect()
}

fn collect(folder: &Path, things: &mut BTreeMap<PathBuf, Thing>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        if found.is_symlink() {
            let leads = fs::read_link(&path).unwrap();
            things.insert(path, Thing::Link(leads));
        } else if found.is_dir() {
            collect(&path, things);
        } else {
            let bytes = fs::read(&path).unwrap();
            things.insert(path, Thing::File(bytes, found.permissions().mode()));
        }
    }
}
