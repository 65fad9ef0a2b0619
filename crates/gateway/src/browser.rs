//! Opening a browser where there is one.
//!
//! Command lines are read by every user of a machine, and the address holds a key. So the browser
//! is handed the path of a file that only its owner can read, which leads on to the address.

use std::env;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::http::LAUNCH;
use crate::token::Token;

/// A browser that was asked to show an address. What it was handed goes with this value, or
/// earlier, when the address has lapsed.
pub struct Opened {
    folder: PathBuf,
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Asks the person's browser to show an address. Where there is none, nothing happens: whoever
/// calls this has told the address in another way too.
pub fn open(address: &str) -> Option<Opened> {
    let wanted = wanted();
    if wanted.is_empty() {
        return None;
    }
    let (opened, file) = [
        env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from),
        Some(env::temp_dir()),
    ]
    .into_iter()
    .flatten()
    .find_map(|parent| lead(&parent, address).ok())?;
    let file = url(&file);
    let mut child = wanted.iter().find_map(|line| {
        command(line, &file)?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()
    })?;
    // Waited for elsewhere, so that neither it nor its remains are in the way.
    thread::spawn(move || child.wait());
    let folder = opened.folder.clone();
    thread::spawn(move || {
        thread::sleep(LAUNCH);
        drop(Opened { folder });
    });
    Some(opened)
}

/// Writes a page that leads to an address, for this user only.
fn lead(parent: &Path, address: &str) -> io::Result<(Opened, PathBuf)> {
    let folder = parent.join(format!("midcall-{}", Token::random().reveal()));
    DirBuilder::new().mode(0o700).create(&folder)?;
    let file = folder.join("open.html");
    let opened = Opened { folder };
    let (shown, _) = address.split_once('#').unwrap_or((address, ""));
    let page = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Midcall</title>\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n\
         <a href=\"{address}\">{shown}</a>\n"
    );
    let mut options = OpenOptions::new();
    let mut open = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&file)?;
    open.write_all(page.as_bytes())?;
    Ok((opened, file))
}

/// A path as a `file:` URL.
fn url(path: &Path) -> String {
    let mut url = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => url.push(char::from(*byte)),
            byte => url += &format!("%{byte:02X}"),
        }
    }
    url
}

/// What could open it, best first: the person's `BROWSER`, else the system's own way.
fn wanted() -> Vec<String> {
    if let Ok(wanted) = env::var("BROWSER") {
        return wanted.split(':').map(str::to_owned).collect();
    }
    if cfg!(target_os = "macos") {
        vec!["open".to_owned()]
    } else if env::var_os("DISPLAY").is_some() || env::var_os("WAYLAND_DISPLAY").is_some() {
        vec!["xdg-open".to_owned()]
    } else {
        // Without a screen it would start a browser in this terminal.
        Vec::new()
    }
}

/// A command line of `BROWSER`: `%s` is the address, which else comes last.
fn command(line: &str, address: &str) -> Option<Command> {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next()?);
    let mut told = false;
    for word in words {
        told |= word.contains("%s");
        command.arg(word.replace("%s", address));
    }
    if !told {
        command.arg(address);
    }
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_goes_where_browser_wants_it() {
        for (line, expected) in [
            ("firefox", vec!["firefox", "http://x"]),
            ("env x=%s lynx", vec!["env", "x=http://x", "lynx"]),
            (" links -g  %s ", vec!["links", "-g", "http://x"]),
        ] {
            let command = command(line, "http://x").unwrap();
            let mut words = vec![command.get_program()];
            words.extend(command.get_args());
            assert_eq!(words, expected, "{line:?}");
        }
        assert!(command("  ", "http://x").is_none());
    }

    #[test]
    fn the_page_that_leads_on_is_its_owners_alone_and_goes() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (opened, file) = lead(&env::temp_dir(), "http://127.0.0.1:1/#key").unwrap();
        let folder = opened.folder.clone();
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        let page = fs::read_to_string(&file).unwrap();
        assert!(page.contains("url=http://127.0.0.1:1/#key\""), "{page}");
        assert!(page.contains(">http://127.0.0.1:1/<"), "{page}");
        drop(opened);
        assert!(!folder.exists());
    }

    #[test]
    fn a_path_is_told_as_a_url() {
        assert_eq!(
            url(Path::new("/run/user/1/a-b.html")),
            "file:///run/user/1/a-b.html"
        );
        assert_eq!(url(Path::new("/a b/#é%")), "file:///a%20b/%23%C3%A9%25");
    }
}
