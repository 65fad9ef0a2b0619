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
mod flag;
pub mod frame;
mod http;
mod ink;
mod leg;
mod local;
mod moment;
mod principal;
mod printer;
mod program;
mod relay;
#[doc(hidden)]
pub mod replay;
mod route;
mod session;
mod suggest;
mod times;
mod token;
mod transport;
mod unseen;
mod usage;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

/// Does what the command line of this process says.
pub fn run() -> ExitCode {
    let args: Vec<OsString> = env::args_os().collect();
    let cli = match cli::Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage::refuse(&error, &args),
    };
    let result = match cli.command {
        cli::Command::Lint(lint) => cmd::lint::run(lint),
        cli::Command::Doctor(doctor) => cmd::doctor::run(doctor),
        cli::Command::Demo(demo) => cmd::demo::run(demo),
        cli::Command::Wrap(wrap) => cmd::wrap::run(*wrap),
        cli::Command::Serve(serve) => cmd::serve::run(serve),
        cli::Command::Open(open) => cmd::open::run(open),
        cli::Command::Status(status) => cmd::status::run(status),
        cli::Command::Install(install) => cmd::install::run(install),
        cli::Command::Uninstall(uninstall) => cmd::uninstall::run(uninstall),
        cli::Command::Desk(desk) => cmd::desk::run(desk),
    };
    result.unwrap_or_else(|error| {
        ink::complain(&format!("{error:#}"));
        ExitCode::from(2)
    })
}
