//! Installs that are killed at any moment.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Stdio;

use super::home::{Home, NONE, Thing, differing};

/// 100 runs, each killed at another moment: a file is as before or as after, and whole.
#[test]
fn a_killed_run_leaves_the_old_file_or_the_new_one() {
    let home = Home::full();
    home.mode(".lmstudio/mcp.json", 0o644);
    fs::remove_file(home.path(".config/Code/User/profiles/-4f2a/mcp.json")).unwrap();
    let old = home.things();
    home.says(&["install", "--all", "--yes"]);
    let new = home.things();
    home.says(&["uninstall", "--all", "--yes"]);
    assert_eq!(differing(&home.things(), &old), NONE);

    let files: Vec<PathBuf> = differing(&old, &new);
    let mut mixed = 0;
    for nth in 0..100 {
        let word = ["install", "uninstall"][nth / 3 % 2];
        let mut command = crate::program::midcall();
        command
            .args([word, "--all", "--yes", "--home"])
            .arg(&home.0);
        let before = versions(&files);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        // Another file is the last one each time, and how far the run gets with the next one is left to chance.
        while child.try_wait().unwrap().is_none() {
            let now = versions(&files);
            let count = before
                .iter()
                .zip(&now)
                .filter(|(one, other)| one != other)
                .count();
            if count >= nth * 7 % files.len() {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = home.things();
        let mut news = 0;
        for (path, thing) in &old {
            let Some(found) = now.get(path) else {
                panic!("{} is gone", path.display());
            };
            assert!(
                found == thing || *found == new[path],
                "{} is half of one",
                path.display()
            );
            news += usize::from(found != thing);
        }
        mixed += usize::from(news > 0 && news < files.len());
        // What is there besides is a draft or a lock, for the next run to remove.
        let more = now.iter().filter(|(path, _)| !old.contains_key(*path));
        for (path, thing) in more {
            assert!(
                path.to_string_lossy().ends_with(".midcall-draft"),
                "{}",
                path.display()
            );
            assert!(matches!(thing, Thing::File(..)));
        }
    }
    assert!(
        mixed > 20,
        "only {mixed} runs of 100 were killed between two files"
    );

    home.says(&["install", "--all", "--yes"]);
    assert_eq!(
        differing(&home.things(), &new),
        NONE,
        "nothing is left of runs that were killed"
    );
    home.says(&["uninstall", "--all", "--yes"]);
    assert_eq!(differing(&home.things(), &old), NONE);
    assert_eq!(home.records(), [] as [&str; 0]);
}

/// What tells one version of a file from the next.
fn versions(files: &[PathBuf]) -> Vec<u64> {
    files
        .iter()
        .map(|file| fs::metadata(file).unwrap().ino())
        .collect()
}

/// Two at a time wait for each other, and what one has shown isn't written over what the other did.
#[test]
fn runs_at_the_same_time_lose_nothing() {
    let home = Home::full();
    home.mode(".lmstudio/mcp.json", 0o644);
    fs::remove_file(home.path(".config/Code/User/profiles/-4f2a/mcp.json")).unwrap();
    let old = home.things();
    for _ in 0..5 {
        let runs = ["install", "install", "uninstall", "install"].map(|word| {
            let mut command = crate::program::midcall();
            command
                .args([word, "--all", "--yes", "--home"])
                .arg(&home.0);
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        });
        for mut run in runs {
            assert!(run.wait().unwrap().code().is_some_and(|code| code < 2));
        }
    }
    home.run(&["uninstall", "--all", "--yes"]);
    assert_eq!(differing(&home.things(), &old), NONE);
}
