//! Ours beside its peers: `./bench [area]`.
//!
//! Prints one line per figure, `name: ours X, peer Y, ratio R (budget B)`. The ratio is the
//! peer's time by ours: above 1, ours is the faster one. `wrap` and `http` are measured against nothing in
//! between: there the ratio is by that, and below the budget is better. Nothing fails when a budget is missed:
//! the machine of the moment is not a judge.
#![allow(clippy::print_stdout, reason = "figures are what this program is for")]

mod ajv;
mod core;
mod desk;
mod frame;
mod hostile;
mod http;
mod server;
mod side;
mod web;
mod wrap;

use std::{env, process};

/// Counts what is allocated, for the hostile inputs.
#[global_allocator]
static MEMORY: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

/// A new area is a file beside `core.rs` and a line here.
const AREAS: &[(&str, fn())] = &[
    ("core", core::run),
    ("desk", desk::run),
    ("frame", frame::run),
    ("hostile", hostile::run),
    ("http", http::run),
    ("server", server::run),
    ("web", web::run),
    ("wrap", wrap::run),
];

fn main() {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let areas: Vec<_> = AREAS
        .iter()
        .filter(|(name, _)| wanted.is_empty() || wanted == [*name])
        .collect();
    if areas.is_empty() {
        eprintln!("./bench [area], without one all of them:");
        AREAS.iter().for_each(|(name, _)| eprintln!("  {name}"));
        eprintln!("MIDCALL_BEFORE=PATH measures an older midcall in the same run (wrap, http).");
        process::exit(2);
    }
    for (_, run) in areas {
        run();
    }
}
