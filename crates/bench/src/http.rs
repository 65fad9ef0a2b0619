//! `midcall wrap --listen` beside a server that speaks HTTP by itself, and beside other gateways
//! from HTTP to standard streams.

mod visit;

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::side::{Side, beside};
use crate::wrap::way::{BEFORE, MODERN, SERVER, before, free_port, node, package, told, words};
use visit::{Era, Visit};

/// Clients at once, each with a connection of its own.
const CROWD: usize = 16;
const WHILE: Duration = Duration::from_secs(3);

/// Something that listens.
struct Way {
    name: &'static str,
    command: fn(u16) -> Vec<String>,
}

/// A way that is up, until it is dropped.
struct Up {
    name: &'static str,
    port: u16,
    process: Child,
}

/// Every figure of this area.
pub fn run() {
    let mut legacy = vec![
        Way {
            name: "direct",
            command: |port| served(SERVER, port),
        },
        Way {
            name: "ours",
            command: |port| ours(SERVER, port),
        },
        Way {
            name: "supergateway",
            command: supergateway,
        },
        Way {
            name: "npm's mcp-proxy",
            command: proxy,
        },
    ];
    let mut modern = vec![
        Way {
            name: "direct",
            command: |port| served(MODERN, port),
        },
        Way {
            name: "ours",
            command: |port| ours(MODERN, port),
        },
        Way {
            name: "ours, to a legacy server",
            command: |port| ours(SERVER, port),
        },
    ];
    if before().is_some() {
        let command = |port| listens(told("MIDCALL_BEFORE"), SERVER, port);
        for ways in [&mut legacy, &mut modern] {
            ways.push(Way {
                name: BEFORE,
                command,
            });
        }
    }
    for (name, era, ways) in [
        ("http, legacy", Era::Legacy, &legacy[..]),
        ("http, modern", Era::Modern, &modern[..]),
    ] {
        let up: Vec<Up> = ways.iter().filter_map(|way| way.start(era)).collect();
        let mut visits: Vec<(&str, Visit)> = up
            .iter()
            .filter_map(|up| Some((up.name, Visit::open(era, up.port).ok()?)))
            .collect();
        let mut sides = visits.iter_mut().map(|(name, visit)| {
            Side::here(name, move || visit.echo().expect("it answered before"))
        });
        if let Some(direct) = sides.next() {
            beside(
                &format!("{name}, tools/call"),
                "none",
                direct,
                sides.collect(),
            );
        }
        drop(visits);
        for up in &up {
            match crowd(era, up.port) {
                Some(rate) => println!(
                    "{name}, {CROWD} clients at once: {} {rate:.0} calls a second",
                    up.name
                ),
                None => println!(
                    "{name}, {CROWD} clients at once: {} does not answer all of them",
                    up.name
                ),
            }
        }
    }
}

/// How many calls a second a crowd gets answered.
fn crowd(era: Era, port: u16) -> Option<f64> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let visits: Option<Vec<Visit>> = (0..CROWD).map(|_| Visit::open(era, port).ok()).collect();
        let start = Instant::now();
        let counting: Vec<_> = visits?
            .into_iter()
            .map(|mut visit| {
                let over = &over;
                scope.spawn(move || {
                    let mut count = 0_u64;
                    while !over.load(Ordering::Relaxed) {
                        visit.echo().ok()?;
                        count += 1;
                    }
                    Some(count)
                })
            })
            .collect();
        thread::sleep(WHILE);
        over.store(true, Ordering::Relaxed);
        let counts: Option<Vec<u64>> = counting.into_iter().map(|one| one.join().ok()?).collect();
        Some(counts?.iter().sum::<u64>() as f64 / start.elapsed().as_secs_f64())
    })
}

impl Way {
    /// Starts it, and waits until it answers.
    fn start(&self, era: Era) -> Option<Up> {
        let port = free_port();
        let command = (self.command)(port);
        let process = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let up = Up {
            name: self.name,
            port,
            process,
        };
        let late = Instant::now() + Duration::from_secs(20);
        while Visit::open(era, port).is_err() {
            if Instant::now() > late {
                println!("http: {} does not come up", self.name);
                return None;
            }
            thread::sleep(Duration::from_millis(100));
        }
        Some(up)
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn served(server: &str, port: u16) -> Vec<String> {
    vec![node(), server.to_owned(), port.to_string()]
}

fn ours(server: &str, port: u16) -> Vec<String> {
    listens(told("MIDCALL_BIN"), server, port)
}

fn listens(binary: String, server: &str, port: u16) -> Vec<String> {
    words(&format!(
        "{binary} wrap --no-open --listen 127.0.0.1:{port} -- {} {server}",
        node()
    ))
}

fn supergateway(port: u16) -> Vec<String> {
    let program = package("supergateway/dist/index.js");
    let mut command = words(&format!(
        "{program} --logLevel none --outputTransport streamableHttp --stateful --port {port} --stdio"
    ));
    command.push(format!("{} {SERVER}", node()));
    command
}

fn proxy(port: u16) -> Vec<String> {
    let program = package("mcp-proxy/dist/bin/mcp-proxy.mjs");
    words(&format!(
        "{program} --host 127.0.0.1 --port {port} -- {} {SERVER}",
        node()
    ))
}
