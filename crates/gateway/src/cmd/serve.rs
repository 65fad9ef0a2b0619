//! `midcall serve`: many servers behind one gateway, over HTTP.

pub mod host;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use midcall_core::catalog::Locale;

use crate::config::Config;
use crate::http::Bounds;
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
  midcall serve --config team.toml --check     only says whether the file is right

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
    /// Say whether the file is right, and serve nothing
    #[arg(long, env = "MIDCALL_CHECK", value_parser = clap::builder::BoolishValueParser::new())]
    check: bool,
    /// The file to announce the page in, for its owner only
    #[arg(long, env = "MIDCALL_ANNOUNCE", value_name = "FILE")]
    announce: Option<PathBuf>,
    /// Do not open a browser
    #[arg(long, env = "MIDCALL_NO_OPEN", value_parser = clap::builder::BoolishValueParser::new())]
    no_open: bool,
    /// The language of what is told here: en-US or pt-BR (the page follows the browser)
    #[arg(long, env = "MIDCALL_LOCALE", default_value = "en-US")]
    locale: String,
    /// What to tell on standard error: a level, or a filter like midcall=debug
    #[arg(long, env = "MIDCALL_LOG", default_value = "warn")]
    log: String,
}

#[tokio::main]
pub async fn run(cmd: Cmd) -> anyhow::Result<ExitCode> {
    let locale = Locale::negotiate(&cmd.locale);
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
    host::host(local, config.upstreams, opens, |addresses| {
        say("mcp.elicitation.terminal.serve_ready");
        for (name, address) in addresses {
            // A reader that has gone is no reason to end: clients may be there already.
            let _ = writeln!(io::stdout(), "{name} {address}");
        }
        say("mcp.elicitation.terminal.serve_hint");
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
