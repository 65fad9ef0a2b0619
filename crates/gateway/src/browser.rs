//! Opening a browser where there is one.

use std::env;
use std::future::pending;
use std::process::{Command, Stdio};

use tokio::sync::oneshot;

/// Asks the person's browser to show an address. Where there is none, nothing happens: whoever
/// calls this has told the address in another way too.
pub fn open(address: &str) -> Option<Asked> {
    let tried = commands(address).into_iter().find_map(|mut command| {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()
    });
    let mut child = tried?;
    let (tell, ended) = oneshot::channel();
    // Waited for elsewhere, so that neither it nor its remains are in the way.
    std::thread::spawn(move || {
        let status = child.wait();
        let _ = tell.send(status.is_ok_and(|status| status.success())); // Few want to know.
    });
    Some(Asked { ended })
}

/// A command that was started to show an address.
pub struct Asked {
    ended: oneshot::Receiver<bool>,
}

impl Asked {
    /// Waits until it says that it could not. One that ends well, or goes on, never does.
    pub async fn failed(self) {
        if !matches!(self.ended.await, Ok(false)) {
            pending().await
        }
    }
}

/// What could open it, best first: the person's `BROWSER`, else the system's own way.
fn commands(address: &str) -> Vec<Command> {
    if let Ok(wanted) = env::var("BROWSER") {
        return wanted
            .split(':')
            .filter_map(|line| command(line, address))
            .collect();
    }
    let system = if cfg!(target_os = "macos") {
        "open"
    } else if env::var_os("DISPLAY").is_some() || env::var_os("WAYLAND_DISPLAY").is_some() {
        "xdg-open"
    } else {
        // Without a screen it would start a browser in this terminal.
        return Vec::new();
    };
    command(system, address).into_iter().collect()
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
}
