//! Mistakes on the command line and in `midcall.toml` are told at the start, with what to do instead.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::program::midcall;

/// What a command line says on standard error. It is refused, and nothing is printed for scripts.
fn refused(args: &[&str]) -> String {
    let mut command = midcall();
    command.args(args);
    refusal(&mut command)
}

fn refusal(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{command:?}\n{told}");
    assert_eq!(text(&output.stdout), "", "{command:?}");
    told
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_owned()).unwrap()
}

/// A folder with a `midcall.toml`, which goes with this value.
struct Folder(PathBuf);

impl Folder {
    fn with(file: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("midcall-mistakes-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("midcall.toml"), file).unwrap();
        Self(folder)
    }

    /// `midcall serve` with that file.
    fn serve(&self, flags: &[&str]) -> Command {
        let mut command = midcall();
        command.current_dir(&self.0).args(["serve", "--no-open"]);
        command.args(flags).env("XDG_RUNTIME_DIR", &self.0);
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_server_without_dashes_before_it_is_told_the_line_to_write() {
    for (args, line) in [
        (
            &["wrap", "npx", "-y", "foo"][..],
            "midcall wrap -- npx -y foo",
        ),
        (
            &["wrap", "--timeout", "10m", "npx", "-y", "a b", "it's"],
            r"midcall wrap --timeout 10m -- npx -y 'a b' 'it'\''s'",
        ),
        (
            &["wrap", "--client-profile", "goose", "goose", "--ask"],
            "midcall wrap --client-profile goose -- goose --ask",
        ),
        (
            &["wrap", "npx", "foo", "--", "--port", "1"],
            "midcall wrap -- npx foo -- --port 1",
        ),
        (
            &["doctor", "--json", "node", "server.js"],
            "midcall doctor --json -- node server.js",
        ),
        (
            &["sh", "-c", "echo $HOME"],
            "midcall wrap -- sh -c 'echo $HOME'",
        ),
    ] {
        let told = refused(args);
        assert!(told.contains(&format!("\n  {line}\n")), "{told}");
        assert!(told.starts_with("midcall: "), "{told}");
    }
    let told = refused(&["wrap", "npx", "-y", "foo"]);
    assert!(
        told.contains(
            "\n  \"command\": \"midcall\", \"args\": [\"wrap\", \"--\", \"npx\", \"-y\", \"foo\"]\n"
        ),
        "{told}"
    );
    let told = refused(&["wrap", "--locale", "pt-BR", "npx", "foo"]);
    assert!(told.contains("Ponha -- antes do comando"), "{told}");
    // Where no dashes are missing, they aren't suggested.
    for args in [
        &["warp", "--", "npx"][..],
        &["wrap", "--tmeout", "1m", "--", "npx"],
        &["wrap", "-y", "npx"],
        &["nothing-of-this-name"],
    ] {
        let told = refused(args);
        assert!(!told.contains("-- npx"), "{told}");
    }
    let told = refused(&["wrap", "--tmeout", "1m", "--", "npx"]);
    assert!(
        told.contains("a similar argument exists: '--timeout'"),
        "{told}"
    );
}

#[test]
fn an_address_that_other_computers_reach_is_refused_with_one_to_use() {
    const WHY: &str = "Other computers can reach";
    for (address, why, instead) in [
        ("0.0.0.0", WHY, "127.0.0.1:0"),
        ("0.0.0.0:8642", WHY, "127.0.0.1:8642"),
        ("192.0.2.1:80", WHY, "127.0.0.1:80"),
        ("[::]:8642", WHY, "[::1]:8642"),
        ("::", WHY, "[::1]:0"),
        ("127.0.0.2:80", "only 127.0.0.1 and [::1]", "127.0.0.1:80"),
        ("localhost:8642", "an address and a port", "127.0.0.1:8642"),
        ("8642", "an address and a port", "127.0.0.1:8642"),
        (":8642", "an address and a port", "127.0.0.1:8642"),
        ("127.0.0.1", "an address and a port", "127.0.0.1:0"),
        ("[::1]", "an address and a port", "[::1]:0"),
        ("here", "an address and a port", "127.0.0.1:0"),
    ] {
        for args in [
            &["wrap", "--page-addr", address, "--", "true"][..],
            &["wrap", "--listen", address, "--", "true"],
            &["demo", "--page-addr", address],
        ] {
            let told = refused(args);
            let expected = [args[1], address, why, instead];
            for part in if args[0] == "demo" {
                &expected[1..]
            } else {
                &expected[..]
            } {
                assert!(told.contains(part), "{part} is missing: {told}");
            }
        }
    }
    let mut command = midcall();
    command.args(["wrap", "--locale", "pt-BR", "--", "true"]);
    let told = refusal(command.env("MIDCALL_PAGE_ADDR", "0.0.0.0:1"));
    assert!(told.contains("Outros computadores"), "{told}");
}

#[test]
fn an_unknown_locale_is_told_which_there_are() {
    let folder = Folder::with("[upstream.a]\ncommand = [\"true\"]\n");
    for (locale, meant) in [
        ("fr", None),
        ("ptbr", Some("pt-BR")),
        ("englsh", Some("en-US")),
        ("de-DE,fr;q=0.5", None),
    ] {
        for args in [
            &["wrap", "--locale", locale, "--", "true"][..],
            &["open", "--locale", locale],
            &["status", "--locale", locale],
            &["demo", "--locale", locale],
            &["doctor", "--locale", locale, "--", "true"],
            &["lint", "--locale", locale, "-"],
        ] {
            let told = refused(args);
            assert!(told.contains("en-US") && told.contains("pt-BR"), "{told}");
            let tip = meant.map(|meant| format!("Did you mean {meant}?"));
            assert_eq!(told.contains("Did you mean"), tip.is_some(), "{told}");
            assert!(tip.is_none_or(|tip| told.contains(&tip)), "{told}");
        }
        let told = refusal(&mut folder.serve(&["--check", "--locale", locale]));
        assert!(told.contains("en-US") && told.contains("pt-BR"), "{told}");
    }
    for known in [
        "pt_BR.UTF-8",
        "pt-PT",
        "en",
        "fr,pt;q=0.5",
        "C.UTF-8",
        "POSIX",
        "",
    ] {
        let told = folder.serve(&["--check", "--locale", known]).output();
        assert!(told.unwrap().status.success(), "{known:?}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let folder = Folder::with(&format!(
        r#"[serv]
[serve]
listen = "{address}"
stor = "memory"

[upstream.files]
command = "npx -y 'a b'"
confirm = "destructiv"
time_out = "5m"

[upstream.mail]
command = ["no-such-program-here", "x"]
ask = "client,pag"
hold = "5w"
client_profile = "gose"

[upstream.web]
command = ["true", "${{NOT_SET_HERE}}"]
sessions = 0
"#
    ));
    let expected = [
        "line 1, column 2: unknown key `serv`. Did you mean `serve`?",
        &format!("line 3, column 10: cannot listen on {address}: another program uses this port"),
        "line 4, column 1: unknown key `stor`. Did you mean `store`?",
        r#"line 7, column 11: expected a list, one word per entry: command = ["npx", "-y", "a b"]"#,
        "line 8, column 11: unknown value `destructiv`. Did you mean `destructive`?",
        "line 9, column 1: unknown key `time_out`. Did you mean `timeout`?",
        "line 12, column 11: there is no program \"no-such-program-here\" in the",
        "line 13, column 7: there is no route \"pag\": choose from client, page, api and model. Did you mean `page`?",
        "line 14, column 8: expected never, or a duration like 500ms, 45s, 5m, 2h or 1d",
        "line 15, column 18: there is no client profile \"gose\"",
        "line 18, column 20: the environment variable \"NOT_SET_HERE\" is not set",
        "line 19, column 12: expected 1 to 100000",
    ];
    for flags in [&["--check"][..], &[]] {
        let told = refusal(&mut folder.serve(flags));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "midcall: midcall.toml has 12 mistakes:", "{told}");
        assert_eq!(lines.len(), 1 + expected.len(), "{told}");
        for (line, expected) in lines[1..].iter().zip(expected) {
            let expected = format!("  midcall.toml, {expected}");
            assert!(line.starts_with(&expected), "{expected}\n{told}");
        }
        assert!(lines[10].ends_with("Did you mean `goose`?"), "{told}");
    }

    let one = Folder::with("[upstream.a]\ncommand = [\"true\"]\nsession = 3\n");
    assert_eq!(
        refusal(&mut one.serve(&["--check"])),
        "midcall: midcall.toml, line 3, column 1: unknown key `session`. Did you mean `sessions`?\n"
    );
    let program = Folder::with("[upstream.a]\ncommand = [\"\"]\n");
    assert!(refusal(&mut program.serve(&[])).contains("there is no file \"\""));
    // What can't be read as TOML is told at every place where that is so.
    let two = Folder::with(
        "[upstream.a]\ncommand = npx\n[upstream.b]\ncommand = [\"x\"\nask = \"page\"\n",
    );
    let told = refusal(&mut two.serve(&["--check"]));
    assert!(
        told.contains("line 2, column 11: text is written in quotes: \"npx\"")
            && told.contains("line 5"),
        "{told}"
    );
}

#[test]
fn what_a_variable_holds_is_in_no_list_of_mistakes() {
    let folder = Folder::with(
        "[upstream.a]\ncommand = \"${SECRET}\"\nask = \"${SECRET}\"\nclient_profile = \"${SECRET}\"\n[upstream.b]\ncommand = [\"${SECRET}\"]\n[upstream.c]\nurl = \"${SECRET}\"\n",
    );
    let mut serve = folder.serve(&["--check"]);
    let told = refusal(serve.env("SECRET", "xyzzy-plugh"));
    assert!(told.contains("5 mistakes"), "{told}");
    assert!(!told.contains("plugh"), "{told}");
}

#[test]
fn what_serve_serves_is_a_table_once_it_is_ready() {
    let folder = Folder::with(
        "[upstream.files]\ncommand = [\"/bin/sh\", \"--token=xyzzy\"]\n[upstream.web]\npath = \"/deep/path\"\nurl = \"https://example.com/mcp?key=xyzzy\"\n",
    );
    let mut child = folder
        .serve(&[])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = String::new();
    let mut errors = child.stderr.take().unwrap();
    while !told.contains("Ctrl+C") {
        let mut some = [0; 4096];
        let read = errors.read(&mut some).unwrap();
        assert!(read > 0, "{told}");
        told += &text(&some[..read]);
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let lines = text(&output.stdout);
    let (first, second) = lines.trim().split_once('\n').unwrap();
    let origin = first.strip_prefix("files ").unwrap();
    let origin = origin.strip_suffix("/files").unwrap();
    assert_eq!(second, format!("web {origin}/deep/path"));

    let row = |name: &str| {
        let row = told
            .lines()
            .find(|line| line.trim_start().starts_with(name));
        let row = row.unwrap_or_else(|| panic!("{name} is missing: {told}"));
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("/files"), format!("/files files (sh) {origin}/files"));
    assert_eq!(
        row("/deep/path"),
        format!("/deep/path web (example.com) {origin}/deep/path")
    );
    assert!(row("Page").contains(origin), "{told}");
    assert!(!told.contains("xyzzy"), "{told}");
}

#[test]
fn a_program_that_is_not_there_is_told_with_where_it_was_looked_for() {
    let mut command = midcall();
    command.args(["wrap", "--no-open", "--", "no-such-program-here", "x"]);
    command.stdin(Stdio::null());
    let output = command
        .env("PATH", "/nowhere/a:/nowhere/b:/nowhere/c:/nowhere/d")
        .output()
        .unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(127), "{told}");
    assert!(
        told.contains("there is no program \"no-such-program-here\" in the 4 folders of the PATH that Midcall was started with: /nowhere/a, /nowhere/b, …"),
        "{told}"
    );
    assert!(!told.contains("/nowhere/c"), "{told}");
    let folder = Folder::with("#!/nowhere/interpreter\n");
    let file = folder.0.join("midcall.toml");
    let wrap = |program: &Path| {
        let mut command = midcall();
        command.args(["wrap", "--no-open", "--"]).arg(program);
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (status, told) = wrap(Path::new("/nowhere/server"));
    assert_eq!(status, Some(127), "{told}");
    assert!(
        told.contains("there is no file \"/nowhere/server\""),
        "{told}"
    );
    let (status, told) = wrap(&file);
    assert_eq!(status, Some(126), "{told}");
    assert!(told.contains("may not be executed"), "{told}");
    let chmod = Command::new("chmod").arg("755").arg(&file).status();
    assert!(chmod.unwrap().success());
    let (status, told) = wrap(&file);
    assert_eq!(status, Some(127), "{told}");
    assert!(told.contains("the interpreter in its first line"), "{told}");
}

#[test]
fn lint_refuses_what_is_no_form_and_lists_the_revisions_it_knows() {
    let folder = Folder::with("");
    let lint = |args: &[&str], file: &str| {
        fs::write(folder.0.join("form.json"), file).unwrap();
        let mut command = midcall();
        command
            .current_dir(&folder.0)
            .arg("lint")
            .args(args)
            .arg("form.json");
        command
    };
    for file in [
        "{}",
        r#"{"name": "a-package", "version": "1.0.0", "scripts": {"test": "x"}}"#,
        r#"{"name": "book", "inputSchema": {"type": "object", "properties": {}}}"#,
        r#"{"action": "accept", "content": {"day": "Monday"}}"#,
        r#"{"message": "?", "requestedSchema": {}}"#,
        r#"{"message": "?", "requestedSchema": {"day": {"type": "string"}}}"#,
    ] {
        let told = refusal(&mut lint(&[], file));
        assert!(told.contains("form.json: not a form"), "{file}: {told}");
    }
    for file in [
        r#"{"type": "object", "properties": {}}"#,
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {}}}}"##,
        r#"{"properties": {}}"#,
    ] {
        let status = lint(&[], file).output().unwrap().status.code();
        assert!(matches!(status, Some(0 | 1)), "{file}: {status:?}");
    }
    let told = refusal(&mut lint(&["--revision", "2025-06-19"], "{}"));
    for part in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(told.contains("Did you mean 2025-06-18?"), "{told}");
    assert!(
        !told.contains("2024-11-05"),
        "nothing is asked in that one: {told}"
    );
}

/// Runs a command with both outputs on a terminal, and returns what that shows.
fn on_terminal(command: &mut Command) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let side = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap());
    let side = side.unwrap();
    command.env("TERM", "xterm-256color").stdin(Stdio::null());
    command.stdout(side.try_clone().unwrap()).stderr(side);
    let mut child = command.spawn().unwrap();
    // The command holds its sides of the terminal, too.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut shown = Vec::new();
    // A terminal that every process has closed is an error to read on Linux, and an end elsewhere.
    let _ = fs::File::from(terminal).read_to_end(&mut shown);
    child.wait().unwrap();
    text(&shown)
}

#[test]
fn a_terminal_gets_color_unless_the_person_wants_none() {
    let folder = Folder::with("[upstream.a]\ncommand = [\"true\"]\nsession = 3\n");
    fs::write(
        folder.0.join("form.json"),
        r#"{"properties": {"a": {"type": "string"}}}"#,
    )
    .unwrap();
    let commands: [&[&str]; 5] = [
        &["wrap", "--help"],
        &["wrap", "npx"],
        &["serve", "--check"],
        &["lint", "form.json"],
        &["status"],
    ];
    for args in commands {
        let command = || {
            let mut command = midcall();
            command
                .args(args)
                .current_dir(&folder.0)
                .env("XDG_RUNTIME_DIR", &folder.0);
            command
        };
        let colored = on_terminal(&mut command());
        let is_plain_anyway = args == ["status"]; // nothing runs
        assert_eq!(
            colored.contains("\u{1b}["),
            !is_plain_anyway,
            "{args:?} {colored:?}"
        );
        let plain = on_terminal(command().env("NO_COLOR", "1"));
        assert!(!plain.contains('\u{1b}'), "{args:?} {plain:?}");
        let dumb = on_terminal(command().env("NO_COLOR", "1").env("TERM", "dumb"));
        assert!(!dumb.contains('\u{1b}'), "{args:?} {dumb:?}");
        let piped = command().output().unwrap();
        let piped = text(&piped.stdout) + &text(&piped.stderr);
        assert!(!piped.contains('\u{1b}'), "{args:?} {piped:?}");
        assert_eq!(plain.replace("\r\n", "\n"), piped, "{args:?}");
    }
}

#[test]
fn every_help_has_examples_and_groups_of_flags() {
    for command in ["wrap", "serve", "open", "status", "demo", "lint", "doctor"] {
        let output = midcall().args([command, "--help"]).output().unwrap();
        let help = text(&output.stdout);
        assert!(
            help.contains(&format!("\nExamples:\n  midcall {command}")),
            "{help}"
        );
    }
    let output = midcall().args(["wrap", "--help"]).output().unwrap();
    let help = text(&output.stdout);
    for group in ["Questions:", "Approvals:", "Page:", "Server:", "Output:"] {
        assert!(
            help.contains(&format!("\n{group}\n")),
            "{group} is missing: {help}"
        );
    }
    let output = midcall().arg("--help").output().unwrap();
    let help = text(&output.stdout);
    assert!(help.contains("\nExamples:\n  midcall wrap -- "), "{help}");
    assert!(
        !help.contains("desk "),
        "hidden commands stay hidden: {help}"
    );
}
