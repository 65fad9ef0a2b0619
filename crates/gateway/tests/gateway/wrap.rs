//! `midcall wrap` around servers that end badly: nothing hangs, nothing is left behind.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A wrapped shell command. Real time: pipes and signals have no other.
fn wrap(server: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_midcall"))
        .args(["wrap", "--no-open", "--", "sh", "-c", server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the end, but not for ever.
fn end(mut child: Child) -> ExitStatus {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("it does not end");
}

fn kill(signal: &str, pid: u32) -> bool {
    let mut command = Command::new("kill");
    command
        .args([signal, &pid.to_string()])
        .stderr(Stdio::null());
    command.status().unwrap().success()
}

/// Whether a process is there and more than a name that nobody has taken off the list yet.
fn runs(pid: u32) -> bool {
    let state = Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output();
    let state = String::from_utf8(state.unwrap().stdout).unwrap();
    !state.trim().is_empty() && !state.starts_with('Z')
}

#[test]
fn what_a_server_started_ends_with_it() {
    let mut child = wrap(
        "(trap '' TERM INT HUP; exec sleep 300) </dev/null >/dev/null 2>&1 &
        echo \"{\\\"method\\\":\\\"$!\\\"}\"; exec cat",
    );
    let mut first = [0; 64];
    let read = child.stdout.as_mut().unwrap().read(&mut first).unwrap();
    let digits = String::from_utf8_lossy(&first[..read]);
    let left = digits
        .chars()
        .filter(char::is_ascii_digit)
        .collect::<String>();
    let left: u32 = left.parse().unwrap();
    assert!(runs(left));
    drop(child.stdin.take());
    assert_eq!(end(child).code(), Some(0));
    assert!(!runs(left), "it was left behind");
}

#[test]
fn a_server_that_closes_its_output_is_told_of_and_ended() {
    let mut child = wrap("exec >&-; exec sleep 300");
    let call = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    child.stdin.as_mut().unwrap().write_all(call).unwrap();
    let mut told = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut told)
        .unwrap();
    assert!(
        told.contains("\"id\":1") && told.contains("closed its pipes"),
        "{told}"
    );
    assert_eq!(end(child).code(), Some(143));
}

#[test]
fn a_standard_error_that_nobody_reads_keeps_nobody() {
    let child = wrap("exec yes noise");
    sleep(Duration::from_secs(1));
    assert!(kill("-TERM", child.id()));
    assert_eq!(end(child).code(), Some(143));
}

#[test]
fn what_a_server_said_last_reaches_a_client_that_reads_slowly() {
    // As many as are taken before it ends, so that it is long gone when they are read, and more.
    for lines in [1_650, 3_000] {
        let mut child = wrap(&format!(
            "i=0; while [ $i -lt {lines} ]; do i=$((i+1));
            printf '{{\"method\":\"%0200d\"}}\\n' $i; done"
        ));
        sleep(Duration::from_secs(5));
        let mut told = String::new();
        let mut output = child.stdout.take().unwrap();
        output.read_to_string(&mut told).unwrap();
        assert_eq!(told.lines().count(), lines);
        assert!(told.ends_with(&format!("{lines}\"}}\n")));
        assert_eq!(end(child).code(), Some(0));
    }
}
