//! `midcall serve`: many servers behind one gateway, over HTTP.

pub mod host;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use midcall_core::catalog::Locale;

use crate::cmd::table::Table;
use crate::config::{Config, Hosted};
use crate::flag;
use crate::http::Bounds;
use crate::ink::Ink;
use crate::local::{Flags, Local};

/// Serve MCP servers over HTTP so that their questions reach a person
///
/// The file says which servers there are, at which paths. Clients of every revision use the same
/// address. When a server asks something, the client asks you if it can; if it cannot, a page on
/// this machine does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  midcall serve                                reads midcall.toml in this folder
  midcall serve --config team.toml --check     check the file, and list every mistake in it

A file:
  [serve]
  listen = \"127.0.0.1:8642\"

  [upstream.files]
  command = [\"npx\", \"-y\", \"@modelcontextprotocol/server-everything\"]

Then clients use http://127.0.0.1:8642/files")]
pub struct Cmd {
    /// The file that says what is served
    #[arg(
        long,
        env = "MIDCALL_CONFIG",
        value_name = "FILE",
        default_value = "midcall.toml"
    )]
    config: PathBuf,
    /// Check the file, list everything that is wrong with it, and serve nothing
    #[arg(long, env = "MIDCALL_CHECK", value_parser = clap::builder::BoolishValueParser::new())]
    check: bool,
    /// Write how to reach the page and the API to this file, which only you can read
    #[arg(
        long,
        env = "MIDCALL_ANNOUNCE",
        value_name = "FILE",
        help_heading = "Page"
    )]
    announce: Option<PathBuf>,
    /// Don't open a browser
    #[arg(
        long,
        env = "MIDCALL_NO_OPEN",
        value_parser = clap::builder::BoolishValueParser::new(),
        help_heading = "Page"
    )]
    no_open: bool,
    /// The language of Midcall's messages: en-US or pt-BR (the page follows the browser)
    #[arg(
        long,
        env = "MIDCALL_LOCALE",
        value_name = "TAG",
        default_value = "en-US",
        value_parser = flag::locale,
        help_heading = "Output"
    )]
    locale: Locale,
    /// Log level on standard error (error, warn, info, debug, trace), or a filter like midcall=debug
    #[arg(
        long,
        env = "MIDCALL_LOG",
        value_name = "LEVEL",
        default_value = "warn",
        help_heading = "Output"
    )]
    log: String,
}

#[tokio::main]
pub async fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let locale = cmd.locale;
    let config = Config::read(&cmd.config, locale)?;
    let say = |key: &str| eprintln!("{}", locale.say(key, &[]));
    if cmd.check {
        say("mcp.elicitation.terminal.serve_checked");
        return Ok(ExitCode::SUCCESS);
    }
    let flags = Flags {
        page_addr: config.listen,
        announce: cmd.announce,
        log: cmd.log,
    };
    let local = Local::open(flags, config.desk, Bounds::default()).await?;
    let opens = config.opens && !cmd.no_open;
    let door = local.door();
    for server in &config.upstreams {
        door.roster.add(&server.name);
    }
    let report = report(&config.upstreams, &door.origin(), locale, Ink::stderr());
    host::host(local, config.upstreams, opens, |addresses| {
        eprint!("{report}");
        // On a terminal, the report says it all.
        let addresses = addresses.iter().filter(|_| !io::stdout().is_terminal());
        for (name, address) in addresses {
            // A reader that has gone is no reason to end: clients may be there already.
            let _ = writeln!(io::stdout(), "{name} {address}");
        }
        say("mcp.elicitation.terminal.serve_hint");
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}

/// What is served where. Only the name of a program or a host is shown: the rest of a command or an address may hold a
/// secret.
fn report(servers: &[Hosted], origin: &str, locale: Locale, ink: Ink) -> String {
    let say = |key: &str| locale.say(key, &[]);
    let mut table = Table::new([
        say("mcp.elicitation.terminal.serve_path"),
        say("mcp.elicitation.terminal.serve_server"),
        say("mcp.elicitation.terminal.serve_address"),
    ]);
    for server in servers {
        table.row([
            server.path.clone(),
            format!("{} ({})", server.name, server.address.name()),
            format!("{origin}{}", server.path),
        ]);
    }
    let page = locale.say(
        "mcp.elicitation.terminal.serve_page",
        &[("page", origin.into())],
    );
    format!(
        "{}\n\n{}\n{page}\n",
        say("mcp.elicitation.terminal.serve_ready"),
        table.draw(2, ink)
    )
}
