//! The command line. Every flag can also be set as `MIDCALL_<FLAG>`.
//!
//! Not here: what a wrong one is told (`usage`).

use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Style};
use clap::{Parser, Subcommand};

use crate::cmd::{demo, desk, doctor, install, lint, open, serve, status, uninstall, wrap};

/// Makes an MCP server's question reach a person, and the answer reach the tool
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true, styles = STYLES)]
#[command(after_help = "\
Examples:
  midcall wrap -- npx -y some-server      put this in your client's configuration
  midcall serve --config midcall.toml     many servers, for clients over HTTP
  midcall status                          what runs, and which questions wait
  midcall open                            answer them in a browser")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Wrap(Box<wrap::Cmd>),
    Serve(serve::Cmd),
    Open(open::Cmd),
    Status(status::Cmd),
    Install(install::Cmd),
    Uninstall(uninstall::Cmd),
    Demo(demo::Cmd),
    Lint(lint::Cmd),
    Doctor(doctor::Cmd),
    #[command(hide = true)]
    Desk(desk::Cmd),
}

/// How help looks in a terminal. clap leaves color out where it isn't wanted.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(Style::new());

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_flag_has_its_environment_variable() {
        let cli = Cli::command();
        cli.clone().debug_assert();
        for command in cli.get_subcommands() {
            for flag in command.get_arguments() {
                let Some(long) = flag
                    .get_long()
                    .filter(|long| !matches!(*long, "help" | "version"))
                else {
                    continue;
                };
                let variable = format!("MIDCALL_{}", long.replace('-', "_").to_uppercase());
                let known = flag.get_env().and_then(|name| name.to_str());
                assert_eq!(
                    known,
                    Some(variable.as_str()),
                    "{} --{long}",
                    command.get_name()
                );
            }
        }
    }
}
