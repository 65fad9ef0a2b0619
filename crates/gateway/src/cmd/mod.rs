//! The subcommands: each has a `Cmd` with its flags, and a `run`.

pub mod lint;
