//! `midcall`: makes a server's question reach a person, and the answer reach the tool.
//!
//! This is a program; the library is there so that its parts can be measured and tested from
//! outside. What others may build on is in `midcall-core` and `midcall-desk`.

mod awake;
mod browser;
mod call;
mod cli;
mod cmd;
mod config;
mod duration;
pub mod frame;
mod http;
mod leg;
mod local;
mod moment;
mod principal;
mod printer;
mod relay;
#[doc(hidden)]
pub mod replay;
mod route;
mod session;
mod times;
mod token;
mod transport;
mod unseen;

use std::process::ExitCode;

use clap::Parser;

/// Does what the command line of this process says.
pub fn run() -> ExitCode {
    let result = match cli::Cli::parse().command {
        cli::Command::Lint(lint) => cmd::lint::run(lint),
        cli::Command::Doctor(doctor) => cmd::doctor::run(doctor),
        cli::Command::Demo(demo) => cmd::demo::run(demo),
        cli::Command::Wrap(wrap) => cmd::wrap::run(*wrap),
        cli::Command::Serve(serve) => cmd::serve::run(serve),
        cli::Command::Open(open) => cmd::open::run(open),
        cli::Command::Desk(desk) => cmd::desk::run(desk),
    };
    result.unwrap_or_else(|error| {
        eprintln!("midcall: {error:#}");
        ExitCode::from(2)
    })
}
