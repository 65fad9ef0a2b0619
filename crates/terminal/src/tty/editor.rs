//! A text in the person's own editor.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;

use tokio::process::Command;

/// Bytes that are read back: as much as an answer may have.
const MOST: u64 = 1024 * 1024;

/// Lets the person edit a text in a file that only they can read. Returns what they left in it; nothing if their editor
/// failed, or left something else than text. The file is removed in any case.
pub(crate) async fn edit(editor: &OsStr, text: &str, ending: &str, tty: File) -> Option<String> {
    // Mode 0600 from its first moment.
    let mut file = tempfile::Builder::new()
        .prefix("midcall-")
        .suffix(ending)
        .tempfile()
        .ok()?;
    file.write_all(text.as_bytes()).ok()?;
    file.flush().ok()?;
    let mut line = editor.to_owned();
    line.push(" \"$1\""); // `EDITOR` may have arguments
    let status = Command::new("sh")
        .arg("-c")
        .arg(line)
        .arg("sh")
        .arg(file.path())
        .stdin(Stdio::from(tty.try_clone().ok()?))
        .stdout(Stdio::from(tty.try_clone().ok()?))
        .stderr(Stdio::from(tty))
        .kill_on_drop(true)
        .status();
    if !status.await.ok()?.success() || fs::metadata(file.path()).ok()?.len() > MOST {
        return None;
    }
    fs::read_to_string(file.path()).ok() // by its name: editors replace files
}
