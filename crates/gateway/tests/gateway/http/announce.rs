//! `--announce FILE`: where the file may be written, and what is removed at exit.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::desk::PATIENCE;
use crate::program::midcall;

/// A folder for the files of one test, removed with this value.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("midcall-announce-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("announce.json")
    }

    /// The names in the folder, without the one where gateways find each other.
    fn names(&self) -> Vec<String> {
        let entries = self.0.read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "midcall").collect()
    }

    fn start(&self, file: &Path) -> Child {
        let mut command = tokio::process::Command::from(midcall());
        command
            .args(["desk", "--announce"])
            .arg(file)
            .env("XDG_RUNTIME_DIR", &self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command.spawn().unwrap()
    }

    /// Starts a gateway that has to refuse the file, and gives what it says.
    async fn refused(&self, file: &Path) -> String {
        let mut gateway = self.start(file);
        let input = gateway.stdin.take(); // Open until it ends: only the file may end it.
        let output = timeout(PATIENCE, gateway.wait_with_output()).await;
        let Output { status, stderr, .. } = output.expect("the gateway refuses").unwrap();
        drop(input);
        let said = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(2), "{said}");
        assert!(said.contains(file.to_str().unwrap()), "{said}");
        let joined = self.0.join("midcall");
        assert!(!joined.exists() || joined.read_dir().unwrap().count() == 0);
        said
    }

    /// Starts a gateway that has to write the file, and gives it with the file's content.
    async fn announced(&self, file: &Path) -> (Child, Value) {
        let gateway = self.start(file);
        let pid = gateway.id().unwrap();
        let wrote = timeout(PATIENCE, async {
            loop {
                let text = fs::read(file).unwrap_or_default();
                let told: Value = serde_json::from_slice(&text).unwrap_or_default();
                if told["pid"] == pid {
                    return told;
                }
                sleep(Duration::from_millis(5)).await;
            }
        });
        (gateway, wrote.await.expect("the gateway announces itself"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn end(mut gateway: Child) {
    let pid = gateway.id().unwrap().to_string();
    let sent = Command::new("kill").args(["-s", "TERM", &pid]).status();
    assert!(sent.unwrap().success());
    let end = timeout(PATIENCE, gateway.wait()).await;
    assert!(end.expect("the gateway ends").unwrap().success());
}

fn is_run(program: &str, arguments: &[&str], path: &Path) -> bool {
    let run = Command::new(program)
        .arg(path)
        .args(arguments)
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

#[tokio::test]
async fn a_fifo_stays_and_the_gateway_says_what_to_do() {
    let place = Place::new();
    let file = place.file();
    assert!(is_run("mkfifo", &[], &file));
    let said = place.refused(&file).await;
    assert!(said.contains("a FIFO is there"), "{said}");
    assert!(said.contains("Choose a path"), "{said}");
    let kind = fs::symlink_metadata(&file).unwrap().file_type();
    assert!(kind.is_fifo());
    assert_eq!(place.names(), ["announce.json"]);
}

#[tokio::test]
async fn a_device_stays() {
    let place = Place::new();
    let made = place.file();
    let file = match is_run("mknod", &["c", "1", "3"], &made) {
        true => made,
        false => PathBuf::from("/dev/full"), // Only root makes devices.
    };
    let said = place.refused(&file).await;
    assert!(said.contains("a device is there"), "{said}");
    let kind = fs::symlink_metadata(&file).unwrap().file_type();
    assert!(kind.is_char_device());
}

#[tokio::test]
async fn a_folder_stays() {
    let place = Place::new();
    let file = place.file();
    fs::create_dir(&file).unwrap();
    let said = place.refused(&file).await;
    assert!(said.contains("a folder is there"), "{said}");
    assert_eq!(place.names(), ["announce.json"]);
}

#[tokio::test]
async fn files_that_midcall_did_not_write_stay() {
    let place = Place::new();
    let file = place.file();
    for content in [
        "a person's notes",
        "{}",
        r#"{"pid":1,"page":"p","launch":"l","api":"a"}"#,
        r#"["pid","page","launch","api","bearer"]"#,
        " ",
    ] {
        fs::write(&file, content).unwrap();
        let said = place.refused(&file).await;
        assert!(said.contains("a file that Midcall didn't write"), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
        assert_eq!(place.names(), ["announce.json"]);
    }
}

#[tokio::test]
async fn a_link_is_not_followed_wherever_it_leads() {
    let place = Place::new();
    let (file, elsewhere) = (place.file(), place.0.join("elsewhere"));
    symlink(&elsewhere, &file).unwrap();
    for content in [None, Some(""), Some("a person's notes")] {
        if let Some(content) = content {
            fs::write(&elsewhere, content).unwrap();
        }
        let said = place.refused(&file).await;
        assert!(said.contains("a symbolic link is there"), "{said}");
        assert_eq!(fs::read_link(&file).unwrap(), elsewhere);
        assert_eq!(fs::read_to_string(&elsewhere).ok().as_deref(), content);
    }
}

#[tokio::test]
async fn an_empty_file_is_replaced_by_one_for_its_owner_only() {
    let place = Place::new();
    let file = place.file();
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let (gateway, _) = place.announced(&file).await;
    let found = fs::symlink_metadata(&file).unwrap();
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    assert_eq!(place.names(), ["announce.json"], "the draft is gone");
    end(gateway).await;
    assert!(place.names().is_empty());
}

#[tokio::test]
async fn the_file_of_a_killed_gateway_is_replaced() {
    let place = Place::new();
    let file = place.file();
    let (mut killed, left) = place.announced(&file).await;
    killed.kill().await.unwrap();
    assert!(file.exists());
    let (gateway, told) = place.announced(&file).await;
    assert_ne!(told["bearer"], left["bearer"]);
    assert_eq!(place.names(), ["announce.json"]);
    end(gateway).await;
    assert!(place.names().is_empty());
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_told() {
    let place = Place::new();
    let nowhere = place.0.join("no/where.json");
    let said = place.refused(&nowhere).await;
    assert!(said.contains("No such file or directory"), "{said}");

    let locked = place.0.join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write anywhere but here.
    let file = match fs::write(locked.join("probe"), "") {
        Ok(()) => PathBuf::from("/proc/self/announce.json"),
        Err(_) => locked.join("announce.json"),
    };
    let said = place.refused(&file).await;
    assert!(said.contains("cannot write"), "{said}");
}

#[tokio::test]
async fn at_exit_only_the_gateways_own_file_is_removed() {
    let place = Place::new();
    let file = place.file();
    let stays = async |change: &dyn Fn(&str)| {
        let (gateway, _) = place.announced(&file).await;
        let before = fs::read_to_string(&file).unwrap();
        change(&before);
        let now = fs::read(&file).unwrap();
        end(gateway).await;
        assert_eq!(fs::read(&file).unwrap(), now, "it stays");
        fs::remove_file(&file).unwrap();
    };
    let other = place.0.join("other");
    // Another file in its place, even if it says the same.
    stays(&|before| {
        fs::write(&other, before).unwrap();
        fs::rename(&other, &file).unwrap();
    })
    .await;
    // The same file, written again by someone else.
    stays(&|_| fs::write(&file, "a person's notes").unwrap()).await;
    stays(&|before| fs::write(&file, before.replace("bearer\":\"", "bearer\":\"x")).unwrap()).await;
    // A link to a copy.
    stays(&|before| {
        fs::write(&other, before).unwrap();
        fs::remove_file(&file).unwrap();
        symlink(&other, &file).unwrap();
    })
    .await;
}
