//! `midcall`: makes a server's question reach a person, and the answer reach the tool.

mod browser;
mod cli;
mod cmd;
mod duration;
mod http;
mod local;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let result = match cli::Cli::parse().command {
        cli::Command::Lint(lint) => cmd::lint::run(lint),
        cli::Command::Demo(demo) => cmd::demo::run(demo),
        cli::Command::Desk(desk) => cmd::desk::run(desk),
    };
    result.unwrap_or_else(|error| {
        eprintln!("midcall: {error:#}");
        ExitCode::from(2)
    })
}
