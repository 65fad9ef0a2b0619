//! Words that belong to one room.

use std::fs;
use std::path::{Path, PathBuf};

use midcall_core::wire::member;

use crate::arrows::{sources, without_tests};

/// The members in which MCP carries questions and answers.
const MEMBERS: [&str; 7] = [
    member::ELICITATION_ID,
    member::ELICITATIONS,
    member::INPUT_REQUESTS,
    member::INPUT_RESPONSES,
    member::REQUESTED_SCHEMA,
    member::REQUEST_STATE,
    member::RESULT_TYPE,
];

/// Where peers are played that say whatever they like: a server of the demo, and the clients of the testing kit.
const PLAYED: [&str; 2] = ["gateway/src/cmd/demo/server", "server/src/testing"];

/// What a member is called, and in which revision, is for one room to know.
#[test]
fn only_core_wire_spells_the_members_of_questions() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let rooms = ["gateway", "desk", "server", "store"].map(|name| crates.join(name).join("src"));
    let is_played =
        |file: &PathBuf| (PLAYED.iter()).any(|played| file.starts_with(crates.join(played)));
    let mut spelled = Vec::new();
    for file in rooms
        .iter()
        .flat_map(|room| files(room))
        .filter(|file| !is_played(file))
    {
        let text = without_tests(&file);
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let is_spelled =
            |line: &&str| (MEMBERS.iter()).any(|member| line.contains(&format!("\"{member}\"")));
        spelled.extend(
            code.filter(is_spelled)
                .map(|line| format!("{}: {}", file.display(), line.trim())),
        );
    }
    assert!(
        spelled.is_empty(),
        "use `midcall_core::wire::member`:\n{}",
        spelled.join("\n")
    );
}

/// A call says how its client is told, and a server whether it has rounds: the era itself is for `leg` to know.
#[test]
fn sessions_and_calls_know_no_era() {
    for file in ["call", "session"].into_iter().flat_map(sources) {
        let text = without_tests(&file);
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        assert!(
            !words.any(|word| word == "Era"),
            "{} names `Era`: ask `has_rounds` or `TellBy`",
            file.display()
        );
    }
}

/// The files of a folder, but for tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        let is_test = path.ends_with("stories")
            || path.ends_with("stories.rs")
            || path.ends_with("tests.rs")
            || path.ends_with("world.rs");
        match path.is_dir() {
            _ if is_test => {}
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.retain(|file| file.extension().is_some_and(|kind| kind == "rs"));
    found
}
