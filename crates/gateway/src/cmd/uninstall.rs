//! `midcall uninstall`: takes away what `midcall install` put in front of servers.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::bail;

use crate::cmd::install::{
    Flags, Found, Hand, List, Pick, Place, State, candidates, confirmed, done, last, list_numbers,
    numbers, plan, readable, tell,
};
use crate::cmd::paper::print;

/// Take Midcall away from the servers of your clients
///
/// Files that nothing else has changed become what they were before `midcall install`, byte for byte. In others, only
/// the servers that it wrapped are changed back. A server that you wrapped by hand stays as it is, unless you name it
/// with --server.
///
/// Exits with 0 if it's done or there is nothing to do, 1 if a file couldn't be read or changed (all others are), 2 if
/// the command line is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall uninstall                                    shows the wrapped servers and asks which
  midcall uninstall --dry-run                          what would be done to all of them
  midcall uninstall --all --yes                        all of them, without asking
  midcall uninstall --client cursor --server github    one server of one client")]
pub struct Cmd {
    #[command(flatten)]
    flags: Flags,
}

pub fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let flags = cmd.flags;
    let place = Place::new(&flags)?;
    let found = &place.found;
    let mut list = List::new(flags.locale, &place.home, &place.program);
    let so_far = ExitCode::from(u8::from(place.is_broken()));
    let is_asking = !flags.is_picked() && !flags.dry_run;
    let picks = match is_asking {
        true => ask(&mut list, found)?,
        false => flagged(&flags, found, &list),
    };
    if picks.is_empty() {
        if !is_asking {
            list.files(found, |_, entry, state| {
                is_shown(&flags, last(&entry.path), state).then(String::new)
            });
        }
        let text = list.say("mcp.elicitation.install.nothing_to_do", &[]);
        list.paper.paragraph(0, &text);
        print(&list.paper.text)?;
        return Ok(so_far);
    }
    plan(
        &mut list,
        found,
        "mcp.elicitation.install.plan_back",
        |index, path| {
            picks
                .iter()
                .any(|(file, picked)| *file == index && picked == path)
        },
    )?;
    if flags.dry_run {
        return Ok(so_far);
    }
    let mut jobs: BTreeMap<usize, Vec<Vec<String>>> = BTreeMap::new();
    for (index, path) in picks {
        jobs.entry(index).or_default().push(path);
    }
    if !confirmed(&flags, &list, jobs.len())? {
        return Ok(ExitCode::SUCCESS);
    }
    change(&place, &jobs, &mut list)
}

/// Changes the files back, and tells how that went.
fn change(
    place: &Place,
    jobs: &BTreeMap<usize, Vec<Vec<String>>>,
    list: &mut List<'_>,
) -> anyhow::Result<ExitCode> {
    let hand = Hand::new(&place.records, &place.program)?;
    let mut has_failed = place.is_broken();
    let (mut restored, mut changed) = (Vec::new(), Vec::new());
    for (index, paths) in jobs {
        let found = &place.found[*index];
        match hand.uninstall(found, paths) {
            Ok(true) => restored.push(found),
            Ok(false) => changed.push(found),
            Err(trouble) => {
                has_failed = true;
                tell(list, found, &trouble);
            }
        }
    }
    done(list, &restored, "mcp.elicitation.install.restored");
    done(list, &changed, "mcp.elicitation.install.taken_back");
    print(&list.paper.text)?;
    Ok(ExitCode::from(u8::from(has_failed)))
}

/// The servers that the flags pick: those that `install` has wrapped, and any that is named.
fn flagged(flags: &Flags, found: &[Found], list: &List<'_>) -> Vec<Pick> {
    let mut picks = Vec::new();
    for (index, content) in readable(found) {
        for entry in content.document.entries() {
            let name = last(&entry.path);
            let is_picked = match content.state(&entry, list.program) {
                State::Wrapped { by_us: true, .. } => flags.means(name),
                State::Wrapped { by_us: false, .. } => flags.names(name),
                _ => false,
            };
            if is_picked {
                picks.push((index, entry.path));
            }
        }
    }
    picks
}

/// What is worth showing when there is nothing to do.
fn is_shown(flags: &Flags, name: &str, state: State) -> bool {
    flags.means(name) && matches!(state, State::Wrapped { .. })
}

/// Shows the wrapped servers and asks which.
fn ask(list: &mut List<'_>, found: &[Found]) -> anyhow::Result<Vec<Pick>> {
    let candidates = candidates(found, list, |state| matches!(state, State::Wrapped { .. }));
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    list_numbers(list, found, &candidates)?;
    if !Flags::can_ask() {
        bail!("{}", list.say("mcp.elicitation.install.how", &[]));
    }
    let total = candidates.len();
    let is_ours = |state| matches!(state, State::Wrapped { by_us: true, .. });
    let ours = (1..=total).filter(|number| is_ours(candidates[number - 1].1));
    let question = list.say("mcp.elicitation.install.which_back", &[]);
    let again = list
        .locale
        .say("mcp.elicitation.install.again", &[("total", total.into())]);
    let numbers = numbers(&question, &again, total, &ours.collect::<Vec<_>>())?;
    Ok(numbers
        .into_iter()
        .map(|number| candidates[number - 1].0.clone())
        .collect())
}
