//! `midcall status`: which gateways of this person run, and which questions wait there.

use std::process::ExitCode;
use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use midcall_core::catalog::Locale;
use serde::Serialize;

use super::paper::print;
use super::table::Table;
use crate::flag;
use crate::http::peers::{Folder, OpenQuestion, Peer};
use crate::ink::{self, Ink};
use crate::unseen::one_line;

/// Show which gateways run, and which questions wait for you
///
/// Lists every gateway of yours on this machine that has a page: a wrapped server gets one with its first
/// question. Says since when each question waits, and for how long it can still be answered.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall status               what runs and what waits
  midcall status --json        for scripts: [{pid, server, client, page, waiting}]
  midcall open                 answer what waits

Exits with 0, or with 1 if a gateway runs but does not answer.")]
pub struct Cmd {
    /// Print JSON instead of text
    #[arg(long, env = "MIDCALL_JSON", value_parser = clap::builder::BoolishValueParser::new())]
    json: bool,
    /// The language of the texts: en-US or pt-BR
    #[arg(
        long,
        env = "MIDCALL_LOCALE",
        value_name = "TAG",
        default_value = "en-US",
        value_parser = flag::locale
    )]
    locale: Locale,
}

/// A server of a gateway, and what it asks. The form of `--json` is fixed: scripts rely on it.
#[derive(Serialize)]
struct Entry {
    pid: u32,
    server: String,
    /// The client's name. Gateways don't know it yet.
    client: Option<String>,
    page: String,
    waiting: Vec<Waiting>,
}

#[derive(Serialize)]
struct Waiting {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    asked: String,
    deadline: String,
}

#[tokio::main(flavor = "current_thread")]
pub async fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let locale = cmd.locale;
    let gateways = Folder::of_this_user()?.living();
    let told = join_all(gateways.iter().map(Peer::status)).await;
    let mut entries = Vec::new();
    let mut is_whole = true;
    for (gateway, told) in gateways.iter().zip(told) {
        match told {
            Ok(told) => entries.extend(of(gateway, told.servers, told.waiting)),
            Err(_) => {
                is_whole = false;
                let pid = gateway.pid.to_string();
                let params = [("pid", pid.as_str().into())];
                ink::complain(&locale.say("mcp.elicitation.terminal.status_mute", &params));
            }
        }
    }
    if cmd.json {
        print(&(serde_json::to_string_pretty(&entries)? + "\n"))?;
    } else if gateways.is_empty() {
        eprintln!(
            "{}",
            locale.say("mcp.elicitation.terminal.status_none", &[])
        );
    } else if !entries.is_empty() {
        print(&draw(&entries, locale, Ink::stdout(), Timestamp::now()))?;
    }
    Ok(match is_whole {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// An entry for each server of a gateway, and for each that asks under another name.
fn of(gateway: &Peer, servers: Vec<String>, waiting: Vec<OpenQuestion>) -> Vec<Entry> {
    let entry = |server: String| Entry {
        pid: gateway.pid,
        server,
        client: None,
        page: gateway.page.clone(),
        waiting: Vec::new(),
    };
    let mut entries: Vec<Entry> = servers.into_iter().map(entry).collect();
    for question in waiting {
        let known = entries.iter().position(|one| one.server == question.server);
        let place = known.unwrap_or_else(|| {
            entries.push(entry(question.server));
            entries.len() - 1
        });
        entries[place].waiting.push(Waiting {
            id: question.id,
            tool: question.tool,
            asked: question.asked,
            deadline: question.deadline,
        });
    }
    entries
}

/// How much of a name is shown.
const NAME: usize = 40;

/// Two tables: what runs, and what waits.
fn draw(entries: &[Entry], locale: Locale, ink: Ink, now: Timestamp) -> String {
    let say = |key: &str| locale.say(key, &[]);
    let mut running = Table::new([
        say("mcp.elicitation.terminal.status_server"),
        say("mcp.elicitation.terminal.status_client"),
        say("mcp.elicitation.terminal.status_process"),
        say("mcp.elicitation.terminal.status_waiting"),
        say("mcp.elicitation.terminal.status_page"),
    ]);
    let mut questions = Table::new([
        say("mcp.elicitation.terminal.status_server"),
        say("mcp.elicitation.terminal.status_tool"),
        say("mcp.elicitation.terminal.status_asked"),
        say("mcp.elicitation.terminal.status_deadline"),
    ]);
    for entry in entries {
        let count = [("count", entry.waiting.len().into())];
        let server = one_line(&entry.server, NAME);
        running.row([
            server.clone(),
            entry.client.clone().unwrap_or_default(),
            entry.pid.to_string(),
            locale.say("mcp.elicitation.terminal.status_questions", &count),
            entry.page.clone(),
        ]);
        for one in &entry.waiting {
            let time = |key: &str, time: Option<Duration>| {
                let time = rough(time.unwrap_or_default());
                locale.say(key, &[("time", time.as_str().into())])
            };
            questions.row([
                server.clone(),
                one_line(one.tool.as_deref().unwrap_or_default(), NAME),
                time("mcp.elicitation.terminal.status_ago", age(&one.asked, now)),
                time(
                    "mcp.elicitation.terminal.status_left",
                    left(&one.deadline, now),
                ),
            ]);
        }
    }
    let rest = match entries.iter().all(|entry| entry.waiting.is_empty()) {
        true => say("mcp.elicitation.terminal.status_idle") + "\n",
        false => {
            questions.draw(0, ink) + "\n" + &say("mcp.elicitation.terminal.status_open") + "\n"
        }
    };
    running.draw(0, ink) + "\n" + &rest
}

/// How long ago a time was, if it can be read and was before now.
fn age(at: &str, now: Timestamp) -> Option<Duration> {
    let at: Timestamp = at.parse().ok()?;
    now.duration_since(at).try_into().ok()
}

/// How long it is until a time, if it can be read and is still to come.
fn left(at: &str, now: Timestamp) -> Option<Duration> {
    let at: Timestamp = at.parse().ok()?;
    at.duration_since(now).try_into().ok()
}

/// A time in its largest unit.
fn rough(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
