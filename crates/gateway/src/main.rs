//! `midcall`: makes a server's question reach a person, and the answer reach the tool.

mod browser;
mod claim;
mod cli;
mod cmd;
mod duration;
mod era;
mod frame;
mod http;
mod local;
mod printer;
mod route;
mod session;
mod token;
mod transport;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let result = match cli::Cli::parse().command {
        cli::Command::Lint(lint) => cmd::lint::run(lint),
        cli::Command::Demo(demo) => cmd::demo::run(demo),
        cli::Command::Wrap(wrap) => cmd::wrap::run(wrap),
        cli::Command::Open(open) => cmd::open::run(open),
        cli::Command::Desk(desk) => cmd::desk::run(desk),
    };
    result.unwrap_or_else(|error| {
        eprintln!("midcall: {error:#}");
        ExitCode::from(2)
    })
}
