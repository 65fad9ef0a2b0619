//! The command line. Every flag can also be set as `MIDCALL_<FLAG>`.

use clap::{Parser, Subcommand};

use crate::cmd::{demo, desk, doctor, lint, open, serve, wrap};

/// Makes an MCP server's question reach a person, and the answer reach the tool
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Wrap(Box<wrap::Cmd>),
    Serve(serve::Cmd),
    Open(open::Cmd),
    Demo(demo::Cmd),
    Lint(lint::Cmd),
    Doctor(doctor::Cmd),
    #[command(hide = true)]
    Desk(desk::Cmd),
}

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
