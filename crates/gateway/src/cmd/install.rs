//! `midcall install`: puts Midcall in front of the servers that clients start.
//!
//! A client's file is read into a tree that knows where each value stands (`tree`), the text is edited there
//! (`edit`, `rewrite`), and read again before it's written (`document`). `record` keeps how it was.
//!
//! Claude Code has commands of its own for this. They can't replace an entry in one step, they show its keys to other
//! users in the arguments, and they write the whole file anew. So its file is edited too, under the lock that Claude
//! Code takes (`file`).

mod apply;
mod client;
mod document;
mod edit;
mod entry;
mod file;
mod list;
mod pick;
mod place;
mod record;
mod rewrite;
mod scan;
#[cfg(test)]
mod stories;
mod tree;
mod trouble;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::bail;

use crate::cmd::paper::print;
use crate::unseen::one_line;
pub use apply::Hand;
use apply::Job;
pub use client::CLIENTS;
use entry::Start;
pub use list::{List, readable, word};
use pick::agrees;
pub use pick::{Flags, Pick, numbers};
pub use place::Place;
pub use record::Records;
pub use scan::{Found, Home, Program, State, program};

/// Put Midcall in front of the servers that your clients start
///
/// Finds the configuration files of your MCP clients, shows the servers in them, and puts `midcall wrap --` in front of
/// those you pick. Comments and formatting stay as they are, and each file is backed up first. `midcall uninstall` takes
/// it back. Run it again after you have moved midcall: it puts the new path in.
///
/// Exits with 0 if it's done or there is nothing to do, 1 if a file couldn't be read or changed (all others are), 2 if
/// the command line is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall install                                    shows your servers and asks which
  midcall install --dry-run                          what would be done to all of them
  midcall install --all --yes                        all of them, without asking
  midcall install --client cursor --server github    one server of one client
  midcall install --home /mnt/home/ana --all --yes   in another home folder

Clients: claude-desktop, claude-code, vscode, cursor, codex, goose, windsurf, zed, gemini, opencode, lm-studio,
junie, copilot, continue, cline, qwen, amp, kiro, amazon-q, warp.

Backups are in ~/.local/state/midcall/install (or in midcall/install in $XDG_STATE_HOME).")]
pub struct Cmd {
    #[command(flatten)]
    flags: Flags,
}

pub fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let flags = cmd.flags;
    let place = Place::new(&flags)?;
    let found = &place.found;
    let mut list = List::new(flags.locale, &place.home, &place.program);
    if found.is_empty() {
        list.nothing();
        print(&list.paper.text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let so_far = ExitCode::from(u8::from(place.is_broken()));
    let is_asking = !flags.is_picked() && !flags.yes && !flags.dry_run;
    let picks = match is_asking {
        true => ask(&mut list, found)?,
        false => flagged(&flags, found, &list),
    };
    let jobs = jobs(found, picks, &list);
    if jobs.is_empty() {
        if !is_asking {
            list.files(found, |_, entry, _| {
                flags.means(last(&entry.path)).then(String::new)
            });
            list.paper.blank();
        }
        let text = list.say("mcp.elicitation.install.nothing_to_do", &[]);
        list.paper.paragraph(0, &text);
        print(&list.paper.text)?;
        return Ok(so_far);
    }
    plan(
        &mut list,
        found,
        "mcp.elicitation.install.plan",
        |index, path| {
            let job: Option<&Job> = jobs.get(&index);
            job.is_some_and(|job| job.wrap.contains(path) || job.repoint.contains(path))
        },
    )?;
    if flags.dry_run {
        return Ok(so_far);
    }
    if !confirmed(&flags, &list, jobs.len())? {
        return Ok(ExitCode::SUCCESS);
    }
    change(&place, &jobs, &mut list)
}

/// Changes the files, and tells how that went.
fn change(
    place: &Place,
    jobs: &BTreeMap<usize, Job>,
    list: &mut List<'_>,
) -> anyhow::Result<ExitCode> {
    let hand = Hand::new(&place.records, &place.program)?;
    let mut has_failed = place.is_broken();
    let mut changed = Vec::new();
    for (index, job) in jobs {
        let found = &place.found[*index];
        match hand.install(found, job) {
            Ok(()) => changed.push(found),
            Err(trouble) => {
                has_failed = true;
                tell(list, found, &trouble);
            }
        }
    }
    done(list, &changed, "mcp.elicitation.install.done");
    if !changed.is_empty() {
        let folder = place.records.folder().display().to_string();
        let text = list.say("mcp.elicitation.install.backups", &[("folder", &folder)]);
        list.paper.paragraph(0, &text);
    }
    print(&list.paper.text)?;
    Ok(ExitCode::from(u8::from(has_failed)))
}

/// Prints what is about to be done.
pub fn plan(
    list: &mut List<'_>,
    found: &[Found],
    key: &str,
    is_meant: impl Fn(usize, &Vec<String>) -> bool,
) -> std::io::Result<()> {
    let text = list.say(key, &[]);
    list.paper.paragraph(0, &text);
    list.paper.blank();
    list.files(found, |index, entry, _| {
        is_meant(index, &entry.path).then(String::new)
    });
    print(&std::mem::take(&mut list.paper.text))
}

/// What is done to each file.
fn jobs(found: &[Found], picks: Vec<Pick>, list: &List<'_>) -> BTreeMap<usize, Job> {
    let mut jobs: BTreeMap<usize, Job> = BTreeMap::new();
    for (index, path) in picks {
        jobs.entry(index).or_default().wrap.push(path);
    }
    for (index, content) in readable(found) {
        for entry in content.document.entries() {
            let is_server = matches!(&entry.start, Start::Wrapped { .. });
            if is_server && content.state(&entry, list.program).is_repaired() {
                jobs.entry(index).or_default().repoint.push(entry.path);
            }
        }
    }
    jobs
}

/// The servers that the flags pick.
fn flagged(flags: &Flags, found: &[Found], list: &List<'_>) -> Vec<Pick> {
    let mut picks = Vec::new();
    if !flags.is_picked() && !flags.dry_run {
        return picks; // With --yes alone, paths are repaired and nothing else.
    }
    for (index, content) in readable(found) {
        for entry in content.document.entries() {
            let name = last(&entry.path);
            let is_picked = match content.state(&entry, list.program) {
                State::Open => flags.means(name),
                State::MayWantLogin => flags.names(name),
                State::Wrapped { .. } | State::Alone(_) => false,
            };
            if is_picked {
                picks.push((index, entry.path));
            }
        }
    }
    picks
}

/// A server's own name.
pub fn last(path: &[String]) -> &str {
    path.last().map_or("", String::as_str)
}

/// Shows all servers and asks which.
fn ask(list: &mut List<'_>, found: &[Found]) -> anyhow::Result<Vec<Pick>> {
    let can_pick = |state| matches!(state, State::Open | State::MayWantLogin);
    let candidates = candidates(found, list, can_pick);
    list_numbers(list, found, &candidates)?;
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    if !Flags::can_ask() {
        bail!("{}", list.say("mcp.elicitation.install.how", &[]));
    }
    let total = candidates.len();
    let sure = (1..=total).filter(|number| candidates[number - 1].1 == State::Open);
    let question = list.say("mcp.elicitation.install.which", &[]);
    let again = list
        .locale
        .say("mcp.elicitation.install.again", &[("total", total.into())]);
    let numbers = numbers(&question, &again, total, &sure.collect::<Vec<_>>())?;
    Ok(numbers
        .into_iter()
        .map(|number| candidates[number - 1].0.clone())
        .collect())
}

/// The servers that can be picked, in the order of the list.
pub fn candidates(
    found: &[Found],
    list: &List<'_>,
    can_pick: impl Fn(State) -> bool,
) -> Vec<(Pick, State)> {
    let mut candidates = Vec::new();
    for (index, content) in readable(found) {
        for entry in content.document.entries() {
            let state = content.state(&entry, list.program);
            if can_pick(state) {
                candidates.push(((index, entry.path), state));
            }
        }
    }
    candidates
}

/// Prints all servers, with numbers in front of those that can be picked.
pub fn list_numbers(
    list: &mut List<'_>,
    found: &[Found],
    candidates: &[(Pick, State)],
) -> std::io::Result<()> {
    let width = candidates.len().to_string().len();
    list.files(found, |index, entry, _| {
        let at = candidates
            .iter()
            .position(|((file, path), _)| *file == index && *path == entry.path);
        Some(match at {
            Some(at) => format!("{:width$}  ", at + 1),
            None => format!("{:>width$}  ", "-"),
        })
    });
    list.paper.blank();
    print(&std::mem::take(&mut list.paper.text))
}

/// Asks before files are changed, if nobody has said yes yet.
pub fn confirmed(flags: &Flags, list: &List<'_>, count: usize) -> anyhow::Result<bool> {
    if flags.yes {
        return Ok(true);
    }
    if !Flags::can_ask() {
        bail!("{}", list.say("mcp.elicitation.install.needs_yes", &[]));
    }
    let question = list
        .locale
        .say("mcp.elicitation.install.sure", &[("count", count.into())]);
    let yes = list.say("mcp.elicitation.terminal.yes_letter", &[]);
    let agreed = agrees(&format!("\n{question}"), &yes)?;
    if !agreed {
        eprintln!("{}", list.say("mcp.elicitation.install.unchanged", &[]));
    }
    Ok(agreed)
}

/// Tells why a file wasn't changed.
pub fn tell(list: &List<'_>, found: &Found, trouble: &trouble::Trouble) {
    let path = one_line(&list.home.show(&found.path), 1_000);
    eprintln!("midcall: {path}: {}", trouble.say(list.locale));
}

/// Tells which files were changed, and what to restart.
pub fn done(list: &mut List<'_>, changed: &[&Found], key: &str) {
    if changed.is_empty() {
        return;
    }
    list.paper.blank();
    for found in changed {
        let file = list.home.show(&found.path);
        let text = list.say(key, &[("file", &file)]);
        list.line(&text);
    }
    let mut titles: Vec<_> = changed.iter().map(|found| found.client.title).collect();
    titles.dedup();
    let text = list.say(
        "mcp.elicitation.install.restart",
        &[("clients", &titles.join(", "))],
    );
    list.paper.paragraph(0, &text);
}
