//! `midcall desk`: a desk by itself, for tests and for trying the API.
//!
//! In: a question a line on standard input. Out: a line when it is asked and a line when it
//! ends. What people typed is never printed, only the names of the fields.

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, bail};
use midcall_core::{Answer, Asker, Elicitation, Limits, Scope};
use midcall_desk::{Closing, Outcome, Rules, Ticket, TicketId, Withdrawn};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::duration::Span;
use crate::http::{Bounds, principal};
use crate::local::{Flags, Local, LocalDesk, Site};
use crate::printer::Printer;
use crate::route::PATIENCE;

/// A desk by itself, for tests and for trying the API
///
/// Asks what it reads from standard input, a JSON object a line: `params` as in
/// `elicitation/create`, and `server`, `tool`, `workspace`, `conversation` if wanted; or
/// `withdraw` with the id of a question to take back.
#[derive(Debug, clap::Args)]
pub struct Cmd {
    #[command(flatten)]
    local: Flags,
    /// How long a question waits
    #[arg(long, env = "MIDCALL_TIMEOUT", default_value_t = Span(PATIENCE))]
    timeout: Span,
    /// Open questions per user, server and conversation
    #[arg(long, env = "MIDCALL_OPEN_LIMIT", value_name = "COUNT")]
    open_limit: Option<usize>,
    /// Questions a minute of one server
    #[arg(long, env = "MIDCALL_ASKS_PER_MINUTE", value_name = "COUNT")]
    asks_per_minute: Option<u32>,
    /// Calls a second with one bearer
    #[arg(long, env = "MIDCALL_CALLS_PER_SECOND", value_name = "COUNT")]
    calls_per_second: Option<u32>,
    /// Event streams at once
    #[arg(long, env = "MIDCALL_STREAMS", value_name = "COUNT")]
    streams: Option<usize>,
}

/// A line of standard input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    params: Option<Box<RawValue>>,
    #[serde(default = "somebody")]
    server: String,
    tool: Option<String>,
    workspace: Option<String>,
    conversation: Option<String>,
    withdraw: Option<String>,
}

/// The line that tells of an end.
#[derive(Serialize)]
struct Ended<'a> {
    id: String,
    #[serde(flatten)]
    closing: Closing,
    fields: Vec<&'a str>,
}

/// How many lines may wait for their turn.
const LINES: usize = 64;

#[tokio::main]
pub async fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let (rules, bounds) = (cmd.rules(), cmd.bounds());
    let mut local = Local::open(cmd.local, rules, bounds).await?;
    local.join();
    let desk = local.desk.clone();
    let mut serving = local.serve(Site::default())?;

    let shutdown = CancellationToken::new();
    let waiting = TaskTracker::new();
    let mut lines = lines();
    let out = Printer::start(io::stdout());
    loop {
        tokio::select! {
            Some(line) = lines.recv() => match obey(&desk, &line, &out).await {
                Ok(Some(ticket)) => {
                    waiting.spawn(follow(desk.clone(), ticket, shutdown.clone(), out.clone()));
                }
                Ok(None) => {}
                Err(error) => say(&out, &json!({"error": format!("{error:#}")})),
            },
            ended = serving.told_to_end() => break ended?,
        }
    }
    shutdown.cancel();
    waiting.close();
    waiting.wait().await;
    serving.close().await?;
    out.finish();
    Ok(ExitCode::SUCCESS)
}

impl Cmd {
    fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        rules.patience = self.timeout.0;
        if let Some(most) = self.open_limit {
            rules.open_per_user = most;
            rules.open_per_server = most;
            rules.open_per_conversation = most;
        }
        if let Some(most) = self.asks_per_minute {
            rules.asks_per_minute = most;
        }
        rules
    }

    fn bounds(&self) -> Bounds {
        let usual = Bounds::default();
        Bounds {
            streams: self.streams.unwrap_or(usual.streams),
            calls_per_second: self.calls_per_second.unwrap_or(usual.calls_per_second),
        }
    }
}

fn somebody() -> String {
    "desk".to_owned()
}

/// Standard input, line by line. The thread that reads it does not keep the process alive.
fn lines() -> mpsc::Receiver<Vec<u8>> {
    let (sender, lines) = mpsc::channel(LINES);
    thread::spawn(move || {
        let input = io::stdin().lock().split(b'\n');
        for line in input.map_while(Result::ok).filter(|line| !line.is_empty()) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Does what a line says; a ticket if it asks something.
async fn obey(desk: &LocalDesk, line: &[u8], out: &Printer) -> anyhow::Result<Option<Ticket>> {
    let Ok(line) = serde_json::from_slice::<Line>(line) else {
        bail!("a line has to be a JSON object with params or withdraw");
    };
    if let Some(id) = line.withdraw {
        let id: TicketId = id.parse().context("cannot withdraw")?;
        desk.withdraw(id, Withdrawn::ByServer).await?;
        return Ok(None);
    }
    let params = line.params.context("a line needs params or withdraw")?;
    let asker = Asker {
        tool: line.tool,
        ..Asker::named(line.server)
    };
    let question = Elicitation::read(params.get(), asker, &Limits::default())?;
    let scope = Scope {
        workspace: line.workspace,
        conversation: line.conversation,
        ..principal()
    };
    let ticket = desk.ask(&scope, &question, None).await?;
    say(out, &json!({"asked": ticket.id().to_string()}));
    Ok(Some(ticket))
}

/// Waits for the end of a ticket and tells it. A shutdown takes the ticket back.
async fn follow(desk: LocalDesk, mut ticket: Ticket, shutdown: CancellationToken, out: Printer) {
    let id = ticket.id();
    let outcome = tokio::select! {
        outcome = &mut ticket => outcome,
        () = shutdown.cancelled() => {
            if let Err(error) = desk.withdraw(id, Withdrawn::Shutdown).await {
                tracing::warn!(ticket = %id, %error, "a question could not be taken back");
                return;
            }
            ticket.await
        }
    };
    if let Err(error) = desk.delivered(&principal(), id).await {
        tracing::warn!(ticket = %id, %error, "it could not be noted that an answer arrived");
    }
    let fields = match &outcome {
        Outcome::Answered(Answer::Accepted(checked), _) => checked.values().names().collect(),
        _ => Vec::new(),
    };
    let ended = Ended {
        id: id.to_string(),
        closing: Closing {
            delivery: None, // This line is the delivery.
            ..outcome.closing()
        },
        fields,
    };
    say(&out, &ended);
}

/// Prints a line of JSON.
fn say(out: &Printer, line: &impl Serialize) {
    let printed = serde_json::to_vec(line).is_ok_and(|line| out.print(&line));
    if !printed {
        tracing::warn!("nobody reads standard output: a line is left out");
    }
}
