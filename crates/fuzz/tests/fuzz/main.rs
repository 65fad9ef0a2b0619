//! The fuzz functions on stable: every seed of the corpus, then mutations of them.
//!
//! `MIDCALL_FUZZ_SECONDS` is the time for each function (10 if not set, 0 for the seeds
//! alone), `MIDCALL_FUZZ_SEED` leads to other mutations. The same seed gives the same
//! inputs in the same order, as far as the time reaches.

mod mutate;

use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use mutate::Mutator;

#[test]
fn form_holds() {
    holds("form", midcall_fuzz::form);
}

#[test]
fn wire_holds() {
    holds("wire", midcall_fuzz::wire);
}

#[test]
fn link_holds() {
    holds("link", midcall_fuzz::link);
}

#[test]
fn session_holds() {
    holds("session", midcall_fuzz::session);
}

fn holds(name: &str, promise: fn(&[u8])) {
    let seeds = corpus(name);
    assert!(
        seeds.len() >= 20,
        "corpus/{name} has {} seeds only",
        seeds.len()
    );
    for seed in &seeds {
        try_on(promise, seed);
    }

    let end = Instant::now() + Duration::from_secs(number("MIDCALL_FUZZ_SECONDS", 10));
    let mut mutator = Mutator::new(seeds, number("MIDCALL_FUZZ_SEED", 1));
    while Instant::now() < end {
        try_on(promise, &mutator.next());
    }
}

fn try_on(promise: fn(&[u8]), input: &[u8]) {
    if catch_unwind(|| promise(input)).is_err() {
        panic!("the input was b\"{}\"", input.escape_ascii());
    }
}

/// The seeds in the order of their names, so that a run can be repeated.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(name);
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the corpus can be listed")
        .map(|entry| entry.expect("the corpus can be listed").path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| fs::read(path).expect("a seed can be read"))
        .collect()
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is not a number: {text}")),
        Err(_) => otherwise,
    }
}
