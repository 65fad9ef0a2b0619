//! The server's process.
//!
//! It has a process group of its own, so that what it starts ends with it, and a Ctrl-C in the
//! terminal reaches it once, through us. Its environment, folder and standard error are ours.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Command;
use tokio::time::sleep;

use super::pipe::{Reading, Writing};
use crate::program;

/// A running server.
pub struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No such program.
    #[error("the server was not started: {}", program::missing(.0))]
    NotFound(OsString),
    /// It must not be run.
    #[error("the server was not started: {0:?} may not be executed")]
    NotAllowed(OsString),
    /// Something else.
    #[error("the server was not started: {0:?}")]
    Io(OsString, #[source] io::Error),
}

impl Child {
    /// Starts a command: its own end, its output, its input.
    pub fn start(command: &[OsString]) -> Result<(Self, Reading, Writing), StartError> {
        let (child, output, input, _) = Self::spawn(command, Stdio::inherit())?;
        Ok((child, output, input))
    }

    /// The same, and its standard error is not ours but read by us.
    pub fn overheard(
        command: &[OsString],
    ) -> Result<(Self, Reading, Writing, Reading), StartError> {
        let (child, output, input, errors) = Self::spawn(command, Stdio::piped())?;
        Ok((child, output, input, errors.expect("it was piped")))
    }

    fn spawn(
        command: &[OsString],
        errors: Stdio,
    ) -> Result<(Self, Reading, Writing, Option<Reading>), StartError> {
        let (program, arguments) = command.split_first().expect("clap wants a command");
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => StartError::NotFound(program.clone()),
            io::ErrorKind::PermissionDenied => StartError::NotAllowed(program.clone()),
            _ => StartError::Io(program.clone(), error),
        };
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let group = process.id().and_then(|id| Pid::from_raw(id as i32));
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let input = input.expect("it was piped").into_owned_fd();
        let output = output.expect("it was piped").into_owned_fd();
        let input = input.and_then(Writing::new).map_err(failed)?;
        let output = output.and_then(Reading::new).map_err(failed)?;
        let errors = process.stderr.take().map(|errors| errors.into_owned_fd());
        let errors = errors.map(|errors| errors.and_then(Reading::new).map_err(failed));
        let errors = errors.transpose()?;
        Ok((Self { process, group }, output, input, errors))
    }

    /// Waits for its end.
    pub async fn end(&mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Ends what it started and left behind, first kindly.
    pub async fn clear(&self) {
        self.signal(Signal::TERM);
        for _ in 0..20 {
            let left = self
                .group
                .is_some_and(|group| test_kill_process_group(group).is_ok());
            if !left {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
        self.signal(Signal::KILL);
    }

    /// Sends a signal to it and to what it started.
    pub fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may be gone already.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Whatever happens to us, nothing of it is left behind.
impl Drop for Child {
    fn drop(&mut self) {
        if self.process.id().is_some() {
            self.signal(Signal::KILL);
        }
    }
}

/// What a shell would say of an exit: the status, or 128 and the signal.
pub fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// How it ended, for people.
pub fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "ended".to_owned(),
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
