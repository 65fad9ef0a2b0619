//! `midcall doctor`: what a server is like, and who would be asked what it asks. Without a server: which servers the
//! clients here start, and which of them ask through Midcall.
//!
//! The server is started up to three times and met as a client meets it: by one that can ask
//! people, by one that cannot, and in the newer era. None of its tools is called.

mod draw;
mod installed;
mod json;
mod look;
mod peer;
mod who;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use midcall_core::catalog::Locale;
use tokio::signal::unix::{SignalKind, signal};

use crate::cmd::paper::print;
use crate::duration;
use crate::flag;
use crate::route::{Profile, Routes};
use who::Client;

/// Tell what a server is like, or which of your clients' servers ask through Midcall
///
/// With a server: starts it, looks at what it says of itself and at its tools, and ends it. No tool is
/// called. Exits with 0 if the server answers, 1 if it cannot be started or does not answer, 2 if
/// the command line is wrong.
///
/// Without a server: lists the servers in your clients' configuration, those that ask through Midcall, and those
/// that a client can't start because midcall has moved. Exits with 1 if there are such, or a file can't be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall doctor                                              what is installed where
  midcall doctor -- npx -y @modelcontextprotocol/server-everything
  midcall doctor --client-profile goose -- uvx some-server    what Goose's users would get
  midcall doctor --ask client,model -- node server.js         as with `midcall wrap --ask`
  midcall doctor --timeout 60s -- docker run -i some-server   it takes long to start
  midcall doctor --json -- node server.js                     for scripts: see the README")]
pub struct Cmd {
    /// The client that would be used: codex, goose, vscode, ... or one of your own
    #[arg(
        long,
        env = "MIDCALL_CLIENT_PROFILE",
        value_name = "NAME",
        requires = "server"
    )]
    client_profile: Option<String>,
    /// Who may be asked, as for `midcall wrap`: client, page, api, model
    #[arg(
        long,
        env = "MIDCALL_ASK",
        value_name = "ROUTES",
        default_value = "client,page"
    )]
    ask: Routes,
    /// How long the server may take to answer
    #[arg(long, env = "MIDCALL_TIMEOUT", value_name = "TIME", default_value = "20s", value_parser = duration::read)]
    timeout: Duration,
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
    /// Without a server: the home folder to look in, instead of yours
    #[arg(long, env = "MIDCALL_HOME", value_name = "DIR")]
    home: Option<PathBuf>,
    /// The server's command
    #[arg(last = true, value_name = "SERVER")]
    server: Vec<OsString>,
}

pub fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    match cmd.server.is_empty() {
        true => installed::run(cmd.home.as_deref(), cmd.json, cmd.locale),
        false => meet(cmd),
    }
}

/// Meets a server and tells what it's like.
#[tokio::main(flavor = "current_thread")]
async fn meet(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let locale = cmd.locale;
    let profile = cmd.client_profile.as_deref().map(Profile::named);
    let profile = profile.transpose()?;
    let clients = match &profile {
        Some(profile) => vec![Client::Named(profile)],
        None => vec![Client::Asks, Client::DoesNotAsk],
    };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // Whatever was started is ended when it is looked at no more.
    let looked = tokio::select! {
        looked = look::at(&cmd.server, cmd.timeout) => looked,
        _ = interrupt.recv() => return Ok(ExitCode::from(130)),
        _ = terminate.recv() => return Ok(ExitCode::from(143)),
    };
    let (out, code) = match &looked {
        Ok(found) => {
            let asked = who::asked(found, &cmd.ask, &clients);
            let out = match cmd.json {
                true => json::found(found, &asked, &cmd.ask, &clients),
                false => draw::found(found, &asked, &cmd.ask, &clients, locale),
            };
            (out, 0)
        }
        Err(failure) => {
            let out = match cmd.json {
                true => json::failure(failure, locale),
                false => draw::failure(failure, locale),
            };
            (out, 1)
        }
    };
    print(&out)?;
    Ok(ExitCode::from(code))
}
