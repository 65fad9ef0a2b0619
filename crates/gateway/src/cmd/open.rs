//! `midcall open`: the page, from any terminal of the person.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use midcall_core::catalog::Locale;
use tokio::time::timeout;

use crate::browser;
use crate::flag;
use crate::http::peers::Folder;
use crate::times::NO_BROWSER;

/// Show the page on which questions wait
///
/// Opens it in a browser, or prints its address where there is none. The page shows the questions
/// of all servers that are wrapped on this machine by you. Its address works once, for a minute.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall open                      opens the page in a browser
  midcall open --print              prints its address only
  BROWSER=firefox midcall open      in a certain browser

Exits with 1 if no page is there: a wrapped server gets one with its first question.")]
pub struct Cmd {
    /// Print the address and open no browser
    #[arg(long, env = "MIDCALL_PRINT", value_parser = clap::builder::BoolishValueParser::new())]
    print: bool,
    /// The language of what is printed here: en-US or pt-BR (the page follows the browser)
    #[arg(
        long,
        env = "MIDCALL_LOCALE",
        value_name = "TAG",
        default_value = "en-US",
        value_parser = flag::locale
    )]
    locale: Locale,
}

#[tokio::main(flavor = "current_thread")]
pub async fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let locale = cmd.locale;
    let say = |key: &str| eprintln!("{}", locale.say(key, &[]));
    let gateways = Folder::of_this_user()?.living();
    if gateways.is_empty() {
        say("mcp.elicitation.terminal.open_none");
        return Ok(ExitCode::FAILURE);
    }
    for gateway in gateways {
        let Ok(token) = gateway.admit(&gateway.page).await else {
            continue; // Another one may be well.
        };
        let address = format!("{}/#{token}", gateway.page);
        if !cmd.print && shown(&address).await {
            say("mcp.elicitation.terminal.open_done");
            return Ok(ExitCode::SUCCESS);
        }
        if !cmd.print {
            say("mcp.elicitation.terminal.no_browser");
        }
        say("mcp.elicitation.terminal.open_once");
        writeln!(io::stdout(), "{address}")?;
        return Ok(ExitCode::SUCCESS);
    }
    bail!("{}", locale.say("mcp.elicitation.terminal.open_mute", &[]));
}

/// Whether a browser was told, and did not say at once that it cannot.
async fn shown(address: &str) -> bool {
    match browser::open(address) {
        Some(asked) => timeout(NO_BROWSER.get(), asked.failed()).await.is_err(),
        None => false,
    }
}
