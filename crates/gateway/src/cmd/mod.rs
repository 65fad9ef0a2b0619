//! The subcommands: each has a `Cmd` with its flags, and a `run`.

pub mod demo;
pub mod desk;
pub mod doctor;
pub mod install;
pub mod lint;
pub mod open;
mod paper;
pub mod serve;
pub mod status;
mod table;
pub mod uninstall;
pub mod wrap;
