//! Every client's files, installed and uninstalled.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use super::home::{Home, NONE, differing};
use crate::program::without_settings;

/// The program that the tests run, as `install` writes it.
fn program() -> String {
    let path = std::fs::canonicalize(env!("CARGO_BIN_EXE_midcall")).unwrap();
    path.into_os_string().into_string().unwrap()
}

#[test]
fn every_client_is_wrapped_and_then_is_as_it_was() {
    let home = Home::full();
    let before = home.things();

    let output = home.run(&["install", "--all", "--yes"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(
        told.contains("~/.lmstudio/mcp.json: it is read-only."),
        "{told}"
    );
    let after = home.things();
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    let changed = differing(&before, &after);
    assert_eq!(
        changed.len(),
        23,
        "all but the broken, the read-only and the empty one"
    );

    // Twice is once.
    let again = home.run(&["install", "--all", "--yes"]);
    let told = String::from_utf8(again.stdout).unwrap();
    assert!(
        !told.contains("Changed ") && told.contains("read-only  npx read-only-mcp"),
        "{told}"
    );
    assert_eq!(differing(&home.things(), &after), NONE);

    let output = home.run(&["uninstall", "--all", "--yes"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (output.status.code(), &*told),
        (Some(1), ""),
        "the broken file is listed"
    );
    assert_eq!(differing(&home.things(), &before), NONE);
    assert_eq!(home.records(), [] as [&str; 0]);
}

/// The diff of all files is what a person would have written.
#[test]
fn entries_are_written_in_the_words_of_each_client() {
    let home = Home::full();
    home.run(&["install", "--all", "--yes"]);
    let json = |file: &str| -> Value { serde_json::from_str(&home.read(file)).unwrap() };
    let midcall = program();

    let desktop = json(".config/Claude/claude_desktop_config.json");
    assert_eq!(
        desktop["mcpServers"]["no arguments"],
        json!({"command": midcall, "args": ["wrap", "--", "/usr/local/bin/weather-mcp"],
            "env": {"API_KEY": "hidden-desktop-key"}})
    );
    let code = json(".claude.json");
    let project = code["projects"]
        .as_object()
        .unwrap()
        .values()
        .next()
        .unwrap();
    assert_eq!(
        project["mcpServers"]["database"]["args"],
        json!([
            "wrap",
            "--",
            "uvx",
            "postgres-mcp",
            "postgresql://ana:hidden-password@localhost/shop"
        ])
    );
    let profile = json(".claude-work/.claude.json");
    assert_eq!(
        profile["mcpServers"]["tickets"],
        json!({"type": "stdio", "command": midcall, "args": ["wrap", "--url", "https://tickets.example.com/mcp"],
            "env": {"MIDCALL_HEADER": "Authorization: Bearer hidden-ticket-token\nX-Team: shop"}})
    );
    for (name, kind) in [
        ("tickets, old", "sse"),
        ("login", "http"),
        ("oauth", "http"),
    ] {
        assert_eq!(
            profile["mcpServers"][name]["type"], kind,
            "left alone: {name}"
        );
    }
    let gemini = json(".gemini/settings.json");
    assert_eq!(
        gemini["mcpServers"]["sse"]["url"],
        "https://sse.example.com/mcp"
    );
    assert_eq!(
        gemini["mcpServers"]["http"]["env"]["MIDCALL_HEADER"],
        "X-Key: $HTTP_KEY"
    );
    let copilot = json(".copilot/mcp-config.json");
    assert_eq!(copilot["mcpServers"]["http"]["type"], "local");
    assert_eq!(
        copilot["mcpServers"]["http"]["tools"],
        json!(["one", "two"])
    );
    let amp = json(".config/amp/settings.json");
    assert_eq!(amp["amp.mcpServers"]["playwright"]["command"], midcall);
    assert_eq!(amp["amp"]["mcpServers"]["not this"]["command"], "not-this");

    let opencode = home.read(".config/opencode/opencode.jsonc");
    let words =
        format!(r#""command": ["{midcall}", "wrap", "--", "bun", "x", "local-mcp"], // all words"#);
    assert!(opencode.contains(&words), "{opencode}");
    assert!(opencode.contains(
        r#""environment": { "MIDCALL_HEADER": "Authorization: Bearer {env:REMOTE_KEY}" }"#
    ));
    let code = home.read(".config/Code/User/mcp.json");
    assert!(
        code.contains(
            r#""env": { "SEARCH_KEY": "${input:key}", "HOME_PAGE": "${env:HOME_PAGE}" },"#
        )
    );
    assert!(code.contains(r#""env": { "MIDCALL_HEADER": "Authorization: Bearer ${input:key}" },"#));
    let zed = home.read(".config/zed/settings.json");
    assert!(zed.contains(&format!(r#""path": "{midcall}","#)), "{zed}");

    let codex: toml::Table = home.read(".codex/config.toml").parse().unwrap();
    let codex = &codex["mcp_servers"];
    let args = |name: &str| {
        codex[name]["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(args("docs"), ["wrap", "--", "npx", "-y", "docs-mcp"]);
    assert_eq!(
        args("with.dots and spaces"),
        ["wrap", "--", "C:\\tools\\server"]
    );
    assert_eq!(args("dotted"), ["wrap", "--", "dotted-mcp"]);
    assert_eq!(
        codex["remote_table"]["env"]["MIDCALL_HEADER"].as_str(),
        Some("X-Key: hidden-table-key\nX-Team: shop")
    );
    assert!(
        home.read(".codex/config.toml")
            .split("\r\n")
            .all(|line| !line.contains('\n'))
    );

    let goose = home.read(".config/goose/config.yaml");
    for part in [
        "    - \"wrap\"\n    - \"--\"\n    - npx\n    - -y\n    - '@modelcontextprotocol/server-memory'\n",
        "    args: [\"wrap\", \"--\", plain-mcp]\n",
        "    args: [\"wrap\", \"--\", \"nothing-mcp\"]\n",
        "    envs: {MIDCALL_HEADER: \"Authorization: Bearer hidden-goose-token\"}\n",
        "    type: \"stdio\"\n    cmd: \"",
    ] {
        assert!(goose.contains(part), "{part} in {goose}");
    }
}

#[test]
fn only_what_was_picked_is_changed() {
    let home = Home::full();
    let before = home.things();
    home.says(&["install", "--client", "codex", "--server", "docs", "--yes"]);
    let after = home.things();
    let changed = differing(&before, &after);
    assert_eq!(changed, [home.path(".codex/config.toml")]);
    assert_eq!(
        home.read(".codex/config.toml").matches("\"wrap\"").count(),
        1
    );

    // Another one later: the backup is still the file without Midcall.
    home.says(&[
        "install", "--client", "codex", "--server", "inline", "--yes",
    ]);
    assert_eq!(
        home.read(".codex/config.toml").matches("\"wrap\"").count(),
        2
    );
    home.says(&[
        "uninstall",
        "--client",
        "codex",
        "--server",
        "docs",
        "--yes",
    ]);
    assert_eq!(
        home.read(".codex/config.toml").matches("\"wrap\"").count(),
        1
    );
    home.says(&["uninstall", "--client", "codex", "--yes"]);
    assert_eq!(differing(&home.things(), &before), NONE);
}

/// The client (or a person) changes its file after `install`: only the entries are changed back.
#[test]
fn what_others_changed_meanwhile_stays() {
    for (file, old, new) in [
        (
            ".config/Code/User/mcp.json",
            "// trailing comma",
            "// a comma, trailing",
        ),
        (
            ".claude-work/.claude.json",
            "\"tickets, old\"",
            "\"tickets, older\"",
        ),
        (
            ".codex/config.toml",
            "model = \"o9\"\r\n",
            "model = \"o10\"\r\n\r\n",
        ),
        (
            ".config/goose/config.yaml",
            "claude-opus-5",
            "claude-opus-6",
        ),
        (
            ".config/opencode/opencode.jsonc",
            "\"enabled\": true",
            "\"enabled\": false",
        ),
        (".continue/config.yaml", "version: 1.0.0", "version: 1.0.1"),
        (".qwen/settings.json", "\n", ""),
    ] {
        let home = Home::full();
        let original = home.read(file);
        home.run(&["install", "--all", "--yes"]);
        let wrapped = home.read(file);
        assert!(wrapped.contains(old) && wrapped.contains("wrap"), "{file}");
        home.write(file, &wrapped.replacen(old, new, 1));
        home.run(&["uninstall", "--all", "--yes"]);
        let now = home.read(file);
        assert!(
            !now.contains("wrap") && !now.contains("MIDCALL"),
            "{file}: {now}"
        );
        let expected = original.replacen(old, new, 1);
        assert_eq!(
            meaning(file, &now),
            meaning(file, &expected),
            "{file}: {now}"
        );
        assert_eq!(
            home.records()
                .iter()
                .filter(|name| name.ends_with(".json"))
                .count(),
            0,
            "{file}"
        );
    }
}

/// What a file says, whatever its formatting: JSON and TOML are read, and of YAML the words are compared.
fn meaning(file: &str, text: &str) -> Value {
    if file.ends_with("toml") {
        let table: toml::Table = text.parse().unwrap();
        return serde_json::to_value(table).unwrap();
    }
    if file.ends_with("yaml") {
        let plain: String = text.chars().filter(|c| !"'\"".contains(*c)).collect();
        return json!(plain.split_whitespace().collect::<Vec<_>>());
    }
    let options = jsonc_parser::ParseOptions::default();
    let value = jsonc_parser::parse_to_serde_value::<Value>(text, &options);
    value.unwrap()
}

#[test]
fn a_client_that_formats_its_file_anew_is_unwrapped_too() {
    let home = Home::full();
    let original: Value = serde_json::from_str(&home.read(".claude-work/.claude.json")).unwrap();
    home.run(&["install", "--all", "--yes"]);
    let mut wrapped: Value = serde_json::from_str(&home.read(".claude-work/.claude.json")).unwrap();
    wrapped["numStartups"] = json!(42);
    home.write(
        ".claude-work/.claude.json",
        &serde_json::to_string(&wrapped).unwrap(),
    );
    home.run(&["uninstall", "--client", "claude-code", "--yes"]);
    let mut now: Value = serde_json::from_str(&home.read(".claude-work/.claude.json")).unwrap();
    assert_eq!(
        now.as_object_mut().unwrap().remove("numStartups"),
        Some(json!(42))
    );
    assert_eq!(now, original);
}

#[test]
fn one_that_may_want_a_login_is_wrapped_only_by_name() {
    let home = Home::full();
    home.run(&[
        "install",
        "--client",
        "claude-code",
        "--server",
        "login",
        "--yes",
    ]);
    let profile: Value = serde_json::from_str(&home.read(".claude-work/.claude.json")).unwrap();
    assert_eq!(profile["mcpServers"]["login"]["args"][1], "--url");
    // One with OAuth isn't, and that's said.
    let told = home.says(&[
        "install",
        "--server",
        "oauth",
        "--client",
        "claude-code",
        "--yes",
    ]);
    assert!(
        told.contains("oauth  left alone: your client logs in to it by OAuth"),
        "{told}"
    );
}

#[test]
fn one_wrapped_by_hand_is_unwrapped_only_by_name() {
    let home = Home::full();
    home.run(&["uninstall", "--all", "--yes"]);
    let file = ".config/Claude/claude_desktop_config.json";
    assert!(
        home.read(file)
            .contains(r#""args": ["wrap", "--ask", "page", "--", "npx", "-y", "some-server"]"#)
    );
    home.says(&[
        "uninstall",
        "--client",
        "claude-desktop",
        "--server",
        "by hand",
        "--yes",
    ]);
    let read: Value = serde_json::from_str(&home.read(file)).unwrap();
    assert_eq!(
        read["mcpServers"]["by hand"],
        json!({"command": "npx", "args": ["-y", "some-server"]})
    );
}

#[test]
fn a_program_that_moved_is_named_anew() {
    let home = Home::with(
        ".cursor/mcp.json",
        r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#,
    );
    let original = home.things();
    let elsewhere = home.path("midcall");
    std::fs::copy(program(), &elsewhere).unwrap();
    let mut first = Command::new(&elsewhere);
    without_settings(&mut first);
    let args = ["install", "--server", "a", "--yes", "--home"];
    assert!(first.args(args).arg(&home.0).status().unwrap().success());
    assert!(
        home.read(".cursor/mcp.json")
            .contains(elsewhere.to_str().unwrap())
    );
    std::fs::remove_file(&elsewhere).unwrap();

    let told = home.run(&["doctor"]);
    assert_eq!(told.status.code(), Some(1));
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("a  x (can't start: there is no "), "{told}");
    // Nothing has to be picked for that.
    home.says(&["install", "--yes"]);
    let read: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    assert_eq!(
        read["mcpServers"]["a"],
        json!({"command": program(), "args": ["wrap", "--", "x"]})
    );
    assert_eq!(read["mcpServers"]["b"], json!({"command": "y"}));
    assert_eq!(home.run(&["doctor"]).status.code(), Some(0));
    home.says(&["uninstall", "--all", "--yes"]);
    assert_eq!(differing(&home.things(), &original), NONE);
}

#[test]
fn doctor_lists_everything_for_people_and_for_scripts() {
    let home = Home::full();
    home.run(&["install", "--client", "gemini", "--yes"]);
    let output = home.run(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1), "a file is broken");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = report["files"].as_array().unwrap();
    let clients: BTreeSet<_> = files
        .iter()
        .map(|file| file["client"].as_str().unwrap())
        .collect();
    assert_eq!(clients.len(), 20, "every client: {clients:?}");
    let file = |client: &str| files.iter().find(|file| file["client"] == client).unwrap();
    let states: Vec<_> = file("gemini")["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["wrapped", "wrapped", "left_alone", "left_alone"]);
    let broken = files
        .iter()
        .find(|file| file.get("error").is_some())
        .unwrap();
    assert!(
        broken["error"]
            .as_str()
            .unwrap()
            .starts_with("it can't be understood at line 3"),
        "{broken}"
    );
    let told = String::from_utf8(home.run(&["doctor"]).stdout).unwrap();
    assert!(
        told.contains("3 of 58 servers ask through Midcall."),
        "{told}"
    );
}

#[test]
fn nothing_secret_is_printed() {
    let home = Home::full();
    for words in [
        &["doctor"][..],
        &["doctor", "--json"],
        &["install", "--dry-run"],
        &["install", "--all", "--yes"],
        &["install", "--locale", "pt", "--all"],
        &["uninstall", "--all", "--yes"],
    ] {
        let output = home.run(words);
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8(told).unwrap();
        assert!(
            !told.contains("hidden") && told.len() > 100,
            "{words:?}: {told}"
        );
    }
}
