//! `midcall wrap` around servers that end badly: nothing hangs, nothing is left behind.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::program::midcall;

/// A wrapped shell command. Real time: pipes and signals have no other. But the server may take as long to end as it
/// wants, because the machine may be busy.
fn wrap(server: &str) -> Child {
    wrap_in("server_end=60m,server_kill=60m", server)
}

/// A wrapped shell command, with other times than usual.
fn wrap_in(times: &str, server: &str) -> Child {
    midcall()
        .env("MIDCALL_TEST_TIMES", times)
        .args(["wrap", "--no-open", "--", "sh", "-c", server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until `is_so` returns true; fails after five minutes.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(300), "never: {what}");
        sleep(Duration::from_millis(10));
    }
}

fn end(mut child: Child) -> ExitStatus {
    let mut status = None;
    until("it ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

/// Waits until a pipe that the test doesn't read holds at least `bytes`.
fn fills(pipe: impl AsFd, bytes: u64) {
    until("the pipe fills", || {
        rustix::io::ioctl_fionread(&pipe).unwrap() >= bytes
    });
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

/// Reads the server's first message and returns the number in it.
fn number(output: &mut ChildStdout) -> u32 {
    let mut first = [0; 64];
    let read = output.read(&mut first).unwrap();
    let said = String::from_utf8_lossy(&first[..read]);
    let digits: String = said.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn what_a_server_started_ends_with_it() {
    let mut child = wrap(
        "(trap '' TERM INT HUP; exec sleep 300) </dev/null >/dev/null 2>&1 &
        echo \"{\\\"method\\\":\\\"$!\\\"}\"; exec cat",
    );
    let left = number(child.stdout.as_mut().unwrap());
    assert!(runs(left));
    drop(child.stdin.take());
    assert_eq!(end(child).code(), Some(0));
    assert!(!runs(left), "it was left behind");
}

#[test]
fn a_server_that_closes_its_output_is_told_of_and_ended() {
    let mut child = wrap_in(
        "server_end=60m,server_kill=60m,last_words=0ms",
        "exec >&-; exec sleep 300",
    );
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
    fills(child.stderr.as_ref().unwrap(), 32 * 1024);
    assert!(kill("-TERM", child.id()));
    assert_eq!(end(child).code(), Some(143));
}

#[test]
fn a_terminal_obeys_nothing_that_a_server_prints_among_its_messages() {
    let server = r#"printf '\033[2J\033]0;title\007gone\tback\r\n'; printf 'first\302\2332J\n';
        printf '%05000d\n' 0; echo own >&2"#;
    let mut child = wrap(server);
    let mut told = String::new();
    let mut errors = child.stderr.take().unwrap();
    errors.read_to_string(&mut told).unwrap();
    assert_eq!(end(child).code(), Some(0));
    let lines: Vec<&str> = told.lines().collect();
    let long = format!("{}… (904 more bytes)", "0".repeat(4_096));
    for line in [
        "<U+001B>[2J<U+001B>]0;title<U+0007>gone\tback",
        "first<U+009B>2J",
        &long,
        "own",
    ] {
        assert!(lines.contains(&line), "{line} is missing in {told:?}");
    }
}

#[test]
fn what_a_server_said_last_reaches_a_client_that_reads_slowly() {
    // As many as are taken before it ends, so that it is long gone when they are read, and more.
    for (lines, ends_before) in [(1_650, true), (3_000, false)] {
        let file = Starts::new(&format!("last-{lines}"));
        let server = format!(
            "i=0; while [ $i -lt {lines} ]; do i=$((i+1));
            printf '{{\"method\":\"%0200d\"}}\\n' $i; done; echo >>'{}'",
            file.0.display()
        );
        let mut child = wrap_in("last_words=50ms", &server);
        fills(child.stdout.as_ref().unwrap(), 32 * 1024);
        if ends_before {
            until("the server has said everything", || file.count() == 1);
        }
        let mut told = String::new();
        let mut output = child.stdout.take().unwrap();
        output.read_to_string(&mut told).unwrap();
        assert_eq!(told.lines().count(), lines);
        assert!(told.ends_with(&format!("{lines}\"}}\n")));
        assert_eq!(end(child).code(), Some(0));
    }
}

/// What a modern client begins with, while nobody knows what the server speaks.
const MODERN: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\
    \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
    \"io.modelcontextprotocol/clientCapabilities\":{}}}}\n";

/// A file in which a server counts its starts.
struct Starts(PathBuf);

impl Starts {
    fn new(name: &str) -> Self {
        let file = env::temp_dir().join(format!("midcall-starts-{name}-{}", std::process::id()));
        fs::write(&file, "").unwrap();
        Self(file)
    }

    /// A server that does this, the first time and later.
    fn server(&self, first: &str, later: &str) -> String {
        let file = self.0.display();
        format!("echo >>'{file}'; if [ $(wc -l <'{file}') = 1 ]; then {first}; else {later}; fi")
    }

    fn count(&self) -> usize {
        fs::read_to_string(&self.0).unwrap().lines().count()
    }
}

impl Drop for Starts {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_server_that_a_signal_ended_while_it_was_asked_what_it_is_is_not_started_again() {
    let starts = Starts::new("signal");
    let asked = "read probe; echo '{\"method\":\"asked\"}'; exec sleep 300";
    let mut child = wrap(&starts.server(asked, "exec sleep 300"));
    child.stdin.as_mut().unwrap().write_all(MODERN).unwrap();
    let mut told = [0; 64];
    let read = child.stdout.as_mut().unwrap().read(&mut told).unwrap();
    assert!(String::from_utf8_lossy(&told[..read]).contains("asked"));
    assert!(kill("-TERM", child.id()));
    assert_eq!(end(child).code(), Some(143));
    assert_eq!(starts.count(), 1);
}

#[test]
fn a_client_that_hangs_up_while_the_server_is_asked_what_it_is_hears_what_it_asked() {
    // Legacy servers end at that question, or keep quiet until they are ended.
    let quiet = "read probe; echo \"{\\\"method\\\":\\\"$$\\\"}\"; exec sleep 300";
    for (name, first) in [("ends", "read probe"), ("quiet", quiet)] {
        let starts = Starts::new(name);
        let legacy = r#"read -r open; id=$(echo "$open" | sed 's/.*"id":\("[^"]*"\).*/\1/');
            echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}";
            read initialized; read list; echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}'; exec cat"#;
        let mut child = wrap(&starts.server(first, legacy));
        child.stdin.take().unwrap().write_all(MODERN).unwrap();
        let mut told = String::new();
        let mut output = child.stdout.take().unwrap();
        if name == "quiet" {
            assert!(kill("-TERM", number(&mut output)));
        }
        output.read_to_string(&mut told).unwrap();
        assert!(
            told.contains("\"id\":1") && told.contains("\"tools\":[]"),
            "{told}"
        );
        assert_eq!(end(child).code(), Some(0));
        assert_eq!(starts.count(), 2);
    }
}
