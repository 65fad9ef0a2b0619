//! The program `midcall`.

use std::process::ExitCode;

fn main() -> ExitCode {
    midcall::run()
}
