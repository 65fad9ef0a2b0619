//! `midcall wrap` beside nothing in between, and beside other proxies.
//!
//! The others are bridges from standard streams to HTTP and back. To stand where `wrap` stands,
//! between a client and a server on standard streams, they need both halves: a pair.

mod line;
pub mod way;

use std::process::Command;
use std::time::{Duration, Instant};

use crate::side::{Seconds, Side, beside, median};
use line::{Line, Mute};
use way::Way;

const STARTS: usize = 15;
/// Others take seconds to start.
const STARTS_OF_OTHERS: usize = 3;

/// Every figure of this area.
pub fn run() {
    start_up();
    with_an_sdk();
    for (who, ways) in Way::bridged() {
        let mut lines = open(ways);
        trips(
            &format!("wrap, {who}, tools/call"),
            "none",
            &mut lines,
            Line::call,
        );
        keep_those_that_ask(&mut lines);
        trips(
            &format!("wrap, {who}, elicitation"),
            "none",
            &mut lines,
            Line::ask,
        );
    }
    let mut lines = open(Way::all());
    trips(
        "wrap, tools/call without an SDK on either side",
        "none",
        &mut lines,
        Line::call,
    );
    for (way, line) in &lines {
        let budget = if way.is_ours() {
            " (budget ≤ 12 MB)"
        } else {
            ""
        };
        if let Some(memory) = way.memory(line) {
            println!("wrap, resident memory: {} {memory:.1} MB{budget}", way.name);
        }
    }
    keep_those_that_ask(&mut lines);
    trips(
        "wrap, elicitation without an SDK on either side",
        "none",
        &mut lines,
        Line::ask,
    );
}

/// Those ways that come up.
fn open(ways: Vec<Way>) -> Vec<(Way, Line)> {
    let mut lines = Vec::new();
    for way in ways {
        match Line::open(&way) {
            Ok(line) => lines.push((way, line)),
            Err(Mute) => println!("wrap: {} does not come up", way.name),
        }
    }
    lines
}

fn keep_those_that_ask(lines: &mut Vec<(Way, Line)>) {
    lines.retain_mut(|(way, line)| {
        let asks = line.within(Duration::from_secs(5), Line::ask);
        if asks.is_err() {
            println!("wrap, elicitation: {} does not pass it on", way.name);
        }
        asks.is_ok()
    });
}

/// What people have: a client and a server on an SDK, whose own work is most of a call.
fn with_an_sdk() {
    #[derive(serde::Deserialize)]
    struct Figure {
        name: String,
        ours: f64,
        direct: f64,
        cats: f64,
        before: Option<f64>,
    }
    let node =
        std::env::var_os("MIDCALL_NODE").expect("MIDCALL_NODE: this program is run by ./bench");
    let told = Command::new(node)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/sdk.mjs"))
        .output()
        .expect("Node starts");
    for line in String::from_utf8_lossy(&told.stdout).lines() {
        let Figure {
            name,
            ours,
            direct,
            cats,
            before,
        } = serde_json::from_str(line).expect("Node tells figures");
        let budget = match name.as_str() {
            "tools/call" => "≤ 1.25 ×, aim 1.15 ×",
            _ => "≤ 1.3 ×",
        };
        println!(
            "wrap, {name} with an SDK on both sides: direct {}, ours {}, ours by direct {:.2} (budget {budget}), two cats {}, two cats by direct {:.2}",
            Seconds::new(direct / 1e9),
            Seconds::new(ours / 1e9),
            ours / direct,
            Seconds::new(cats / 1e9),
            cats / direct
        );
        if let Some(before) = before {
            println!(
                "wrap, {name} with an SDK on both sides: {} {}, by direct {:.2}, ours by that {:.2}",
                way::BEFORE,
                Seconds::new(before / 1e9),
                before / direct,
                ours / before
            );
        }
    }
}

/// Round trips of one kind, all ways taking turns.
fn trips(
    name: &str,
    budget: &str,
    lines: &mut [(Way, Line)],
    trip: fn(&mut Line) -> Result<(), Mute>,
) {
    let mut sides = lines
        .iter_mut()
        .map(|(way, line)| Side::here(way.name, move || trip(line).expect("it answered before")));
    let Some(direct) = sides.next() else { return };
    beside(name, budget, direct, sides.collect());
}

/// From nothing to the answer to `initialize`.
fn start_up() {
    let ways = Way::all();
    let mut took: Vec<Vec<f64>> = ways.iter().map(|_| Vec::new()).collect();
    for round in 0..STARTS {
        for (way, took) in ways.iter().zip(&mut took) {
            if way.is_other() && round >= STARTS_OF_OTHERS {
                continue;
            }
            let start = Instant::now();
            if Line::open(way).is_ok() {
                took.push(start.elapsed().as_secs_f64());
            }
        }
    }
    let mut medians = took
        .iter_mut()
        .map(|took| (!took.is_empty()).then(|| median(took)));
    let Some(direct) = medians.next().flatten() else {
        return;
    };
    for (way, median) in ways.iter().skip(1).zip(medians) {
        let Some(median) = median else { continue };
        let added = Seconds::new(median.seconds() - direct.seconds());
        let budget = if way.is_ours() {
            " (budget ≤ 15 ms)"
        } else {
            ""
        };
        println!(
            "wrap, start-up: direct {direct}, {} {median}, added {added}{budget}",
            way.name
        );
    }
}
