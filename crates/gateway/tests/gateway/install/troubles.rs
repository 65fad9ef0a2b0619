//! Files that can't be read or changed, and command lines that can't be understood.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::home::{Home, differing};

const SERVER: &str = r#"{"mcpServers": {"a": {"command": "x"}}}"#;

#[test]
fn a_file_with_trouble_is_told_and_the_others_are_changed() {
    let deep = "[".repeat(400);
    let text = |text: &str| text.as_bytes().to_vec();
    for (name, bytes, said) in [
        (
            "broken",
            text("{\"mcpServers\": {\"a\": "),
            "it can't be understood at line 1, column",
        ),
        (
            "two of them",
            text("{} {}"),
            "it can't be understood at line 1, column 4",
        ),
        (
            "no commas",
            text("{\"mcpServers\": {\"a\": {\"command\": \"hidden\" \"args\": []}}}"),
            "it can't be understood",
        ),
        ("deep", text(&deep), "it can't be understood"),
        ("not text", vec![b'{', 0xff, b'}'], "it isn't UTF-8 text"),
        (
            "UTF-16",
            "\u{feff}{}"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
            "it isn't UTF-8 text",
        ),
        (
            "twice",
            text(r#"{"mcpServers": {}, "mcpServers": {"a": {"command": "x"}}}"#),
            "it has mcpServers twice",
        ),
    ] {
        let home = Home::with(".codeium/windsurf/mcp_config.json", SERVER);
        home.write(".cursor/mcp.json", "");
        fs::write(home.path(".cursor/mcp.json"), &bytes).unwrap();
        let output = home.run(&["install", "--all", "--yes"]);
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {told}");
        let output = home.run(&["doctor"]);
        let listed = String::from_utf8(output.stdout).unwrap();
        assert!(
            listed.contains("Cursor  ~/.cursor/mcp.json\n") && listed.contains(said),
            "{name}: {listed}"
        );
        assert!(!listed.contains("hidden"), "{listed}");
        assert_eq!(
            fs::read(home.path(".cursor/mcp.json")).unwrap(),
            bytes,
            "{name}"
        );
        assert!(
            home.read(".codeium/windsurf/mcp_config.json")
                .contains("wrap"),
            "{name}"
        );
    }
}

#[test]
fn what_is_no_file_to_change_stays() {
    let home = Home::with(".lmstudio/mcp.json", SERVER);
    fs::create_dir_all(home.path(".cursor/mcp.json")).unwrap();
    fs::create_dir_all(home.path(".junie/mcp")).unwrap();
    symlink("nowhere", home.path(".junie/mcp/mcp.json")).unwrap();
    home.write(".kiro/settings/mcp.json", SERVER);
    fs::hard_link(
        home.path(".kiro/settings/mcp.json"),
        home.path("other name"),
    )
    .unwrap();
    let before = home.things();
    let output = home.run(&["install", "--all", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("~/.kiro/settings/mcp.json: it has other names (hard links)"),
        "{told}"
    );
    let after = home.things();
    let changed = differing(&before, &after);
    assert_eq!(changed, [home.path(".lmstudio/mcp.json")]);
    let told = String::from_utf8(home.run(&["doctor"]).stdout).unwrap();
    assert!(
        told.contains("Cursor  ~/.cursor/mcp.json\n  it isn't a file."),
        "{told}"
    );
    assert!(
        told.contains("JetBrains Junie  ~/.junie/mcp/mcp.json\n  it can't be read: "),
        "{told}"
    );
}

#[test]
fn links_and_modes_are_kept() {
    let home = Home::with("dotfiles/cursor.json", SERVER);
    home.mode("dotfiles/cursor.json", 0o640);
    fs::create_dir_all(home.path(".cursor")).unwrap();
    symlink("../dotfiles/cursor.json", home.path(".cursor/mcp.json")).unwrap();
    home.says(&["install", "--all", "--yes"]);
    assert!(home.path(".cursor/mcp.json").is_symlink());
    assert!(home.read("dotfiles/cursor.json").contains("wrap"));
    let mode = fs::metadata(home.path("dotfiles/cursor.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    for name in home.records() {
        let file = format!(".local/state/midcall/install/{name}");
        let mode = fs::metadata(home.path(&file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}: it may hold keys");
    }
    let folder = fs::metadata(home.path(".local/state/midcall/install")).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
}

/// A backup is a file that a person can copy back.
#[test]
fn the_backup_is_the_file_as_it_was() {
    let home = Home::with(".cursor/mcp.json", SERVER);
    home.says(&["install", "--all", "--yes"]);
    let backups: Vec<_> = home
        .records()
        .into_iter()
        .filter(|name| name.ends_with("-mcp.json"))
        .collect();
    assert_eq!(backups.len(), 1, "{backups:?}");
    assert_eq!(
        home.read(&format!(".local/state/midcall/install/{}", backups[0])),
        SERVER
    );
}

#[test]
fn a_record_that_is_lost_or_broken_loses_no_server() {
    let home = Home::with(".cursor/mcp.json", SERVER);
    home.says(&["install", "--all", "--yes"]);
    let records: Vec<_> = home.records();
    let record = records
        .iter()
        .find(|name| !name.ends_with("-mcp.json"))
        .unwrap();
    let record = format!(".local/state/midcall/install/{record}");
    home.write(&record, "{");
    let wrapped = home.read(".cursor/mcp.json");
    let output = home.run(&["uninstall", "--server", "a", "--yes"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("its backup can't be read or written"),
        "{told}"
    );
    assert_eq!(home.read(".cursor/mcp.json"), wrapped);

    fs::remove_dir_all(home.path(".local")).unwrap();
    home.says(&["uninstall", "--server", "a", "--yes"]);
    assert!(!home.read(".cursor/mcp.json").contains("wrap"));
}

/// A run was killed after it wrote the record and before it wrote the file.
#[test]
fn a_record_of_nothing_goes() {
    let home = Home::with(".cursor/mcp.json", SERVER);
    home.says(&["install", "--all", "--yes"]);
    assert_eq!(home.records().len(), 2);
    home.write(".cursor/mcp.json", SERVER);
    home.says(&["uninstall", "--all", "--yes"]);
    assert_eq!(home.records(), [] as [&str; 0]);
}

/// Claude Code holds a lock while it writes: we wait for it, and keep ours no longer than needed.
#[test]
fn claude_code_and_we_do_not_write_at_the_same_time() {
    let home = Home::with(".claude.json", SERVER);
    fs::create_dir(home.path(".claude.json.lock")).unwrap();
    let mut command = crate::program::midcall();
    command
        .args(["install", "--all", "--yes", "--home"])
        .arg(&home.0);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let draft = home.path("..claude.json.midcall-draft");
    while !draft.exists() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it has ended without a draft"
        );
    }
    assert_eq!(home.read(".claude.json"), SERVER);
    let theirs = SERVER.replace("{}", "{ }").replace("\"x\"", "\"y\"");
    home.write(".claude.json", &theirs);
    fs::remove_dir(home.path(".claude.json.lock")).unwrap();
    assert_eq!(
        child.wait().unwrap().code(),
        Some(1),
        "the file isn't what it was"
    );
    assert_eq!(home.read(".claude.json"), theirs);
    home.says(&["install", "--all", "--yes"]);
    assert!(home.read(".claude.json").contains("wrap") && !home.path(".claude.json.lock").exists());
}

#[test]
fn wrong_command_lines_say_what_is_right() {
    let home = Home::with(".cursor/mcp.json", SERVER);
    for (words, said) in [
        (
            &["install", "--client", "emacs"][..],
            "there is no client \"emacs\": choose from claude-desktop,",
        ),
        (
            &["install", "--server", "b"],
            "there is no server \"b\": choose from a",
        ),
        (
            &["install"],
            "Say which servers: --server NAME, --client NAME or --all",
        ),
        (
            &["install", "--all"],
            "Add --yes to change files without asking",
        ),
    ] {
        let output = home.run(words);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?} {told}");
        assert!(
            told.starts_with("midcall: ") && told.contains(said),
            "{told}"
        );
        assert_eq!(home.read(".cursor/mcp.json"), SERVER);
    }
    for words in [
        &["install", "--dry-run"][..],
        &["install", "--all", "--dry-run"],
        &["uninstall", "--all"],
    ] {
        home.says(words);
        assert_eq!(home.read(".cursor/mcp.json"), SERVER);
        assert_eq!(home.records(), [] as [&str; 0]);
    }
    let empty = Home::empty();
    let told = empty.says(&["install"]);
    assert!(
        told.starts_with("None of the clients that Midcall knows has a configuration file here:"),
        "{told}"
    );
    let told = String::from_utf8(home.run(&["install", "--help"]).stdout).unwrap();
    assert!(
        told.contains("midcall install --client cursor --server github"),
        "{told}"
    );
}

/// A project's file outside the home isn't touched when another home is named.
#[test]
fn another_home_has_nothing_to_do_with_this_folder() {
    let (home, project) = (Home::empty(), Home::with(".mcp.json", SERVER));
    let mut command = crate::program::midcall();
    command
        .args(["install", "--all", "--yes", "--home"])
        .arg(&home.0)
        .current_dir(&project.0);
    assert!(command.status().unwrap().success());
    assert_eq!(project.read(".mcp.json"), SERVER);
    // For one's own home, the folder one is in counts.
    let mut command = crate::program::midcall();
    command.env_remove("XDG_CONFIG_HOME").env("HOME", &home.0);
    command
        .args(["install", "--all", "--yes"])
        .current_dir(&project.0);
    assert!(command.status().unwrap().success());
    assert!(project.read(".mcp.json").contains("wrap"));
}
