//! `midcall demo`: a page with every kind of question behind it.

mod calls;
mod elsewhere;
mod play;
mod questions;

use std::io::{self, Write};
use std::process::ExitCode;

use midcall_core::catalog::Locale;
use midcall_desk::Rules;

use crate::browser;
use crate::http::Bounds;
use crate::local::{Flags, Local, Site};
use elsewhere::Elsewhere;
use play::Stage;

/// Try every kind of question on a page in your browser
///
/// Prints the page's address, which works once and on this machine only, and opens it where
/// there is a browser. Nothing is installed and nothing is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall demo                                 opens the page in a browser
  midcall demo --no-open                       prints its address only
  midcall demo --page-addr 127.0.0.1:8642      always at the same place
  midcall demo --timeout 1m                    questions wait for a minute
  BROWSER=firefox midcall demo                 in a certain browser")]
pub struct Cmd {
    #[command(flatten)]
    local: Flags,
    /// Do not open a browser
    #[arg(long, env = "MIDCALL_NO_OPEN", value_parser = clap::builder::BoolishValueParser::new())]
    no_open: bool,
    /// The language of what is printed here: en-US or pt-BR (the page follows the browser)
    #[arg(long, env = "MIDCALL_LOCALE", default_value = "en-US")]
    locale: String,
}

#[tokio::main]
pub async fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let locale = Locale::negotiate(&cmd.locale);
    let local = Local::open(cmd.local, Rules::default(), Bounds::default()).await?;
    let desk = local.desk.clone();
    let launch = local.launch();
    let for_the_browser = local.launch_now(); // Each works once, and both should.
    let stage = Stage {
        desk: desk.clone(),
        page: local.page(),
        elsewhere: Elsewhere::default(),
    };
    let mut serving = local.serve(Site {
        home: "page/demo.html",
        calls: calls::routes(stage),
    })?;

    let say = |key: &str| eprintln!("{}", locale.say(key, &[]));
    say("mcp.elicitation.terminal.demo_ready");
    // A reader that has gone is no reason to end: the page may be open already.
    let _ = writeln!(io::stdout(), "{launch}");
    say("mcp.elicitation.terminal.demo_hint");
    if !cmd.no_open {
        browser::open(&for_the_browser);
    }

    serving.told_to_end().await?;
    desk.shut_down().await;
    serving.close().await?;
    say("mcp.elicitation.terminal.demo_ended");
    Ok(ExitCode::SUCCESS)
}
