//! `midcall demo`: a page with every kind of question behind it, and the server that asks them.

mod calls;
mod gallery;
mod play;
mod server;
mod wire;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use midcall_core::Asker;
use midcall_core::catalog::Locale;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::browser;
use crate::config::settings::Settings;
use crate::duration::{Hold, Span};
use crate::flag;
use crate::http::Bounds;
use crate::local::{Flags, Local, Site};
use crate::printer::Printer;
use crate::relay::Room;
use crate::route::PATIENCE;
use play::Stage;

/// Try every kind of question on a page in your browser
///
/// A server on this machine asks, with a gateway before it as `midcall wrap` would be. Prints the
/// page's address, which works once and on this machine only, and opens it where there is a
/// browser. Nothing is installed and nothing is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall demo                                 opens the page in a browser
  midcall demo --no-open                       prints its address only
  midcall demo --page-addr 127.0.0.1:8642      always at the same place
  midcall demo --timeout 1m                    questions wait for a minute
  BROWSER=firefox midcall demo                 in a certain browser
  midcall wrap -- midcall demo --stdio         its server, for a client of yours")]
pub struct Cmd {
    #[command(flatten)]
    local: Flags,
    /// How long a question waits
    #[arg(long, env = "MIDCALL_TIMEOUT", default_value_t = Span(PATIENCE))]
    timeout: Span,
    /// Only the server, on standard input and output: to try a client of yours with it
    #[arg(long, env = "MIDCALL_STDIO")]
    stdio: bool,
    /// Do not open a browser
    #[arg(long, env = "MIDCALL_NO_OPEN", value_parser = clap::builder::BoolishValueParser::new())]
    no_open: bool,
    /// The language of what is printed here: en-US or pt-BR (the page follows the browser)
    #[arg(
        long,
        env = "MIDCALL_LOCALE",
        value_name = "TAG",
        default_value = "en-US",
        value_parser = flag::locale,
        help_heading = "Output"
    )]
    locale: Locale,
}

/// How many pieces are played at once.
const PLAYS: usize = 32;

/// How long the last calls may take to end.
const GOODBYE: Duration = Duration::from_secs(2);

#[tokio::main]
pub async fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let locale = cmd.locale;
    if cmd.stdio {
        server::run(cmd.timeout.0, locale).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let errors = Printer::start(io::stderr());
    let mut rules = midcall_desk::Rules::default();
    rules.patience = cmd.timeout.0;
    let local = Local::open(cmd.local, rules, Bounds::default()).await?;
    let desk = local.desk.clone();
    let launch = local.launch();
    let for_the_browser = local.launch_now(); // Each works once, and both should.
    let gateways = TaskTracker::new();
    // As `wrap` does it, but the client waits as long as the person thinks.
    let settings = Settings {
        hold: Some(Hold(None)),
        timeout: cmd.timeout,
        ..Settings::default()
    };
    let stage = Stage {
        room: Room::of(desk.clone(), local.door(), false),
        setup: settings.setup(Path::new(""), locale, Asker::named("midcall-demo"))?,
        errors: errors.clone(),
        gateways: gateways.clone(),
        places: Arc::new(Semaphore::new(PLAYS)),
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
    gateways.close();
    let _ = timeout(GOODBYE, gateways.wait()).await; // Whoever is late loses its server, and ends.
    errors.finish();
    say("mcp.elicitation.terminal.demo_ended");
    Ok(ExitCode::SUCCESS)
}
