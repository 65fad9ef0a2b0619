//! How a client gets to the trivial server: directly, through `midcall wrap`, or through others.

use std::env;
use std::fs;
use std::net::TcpListener;

use super::line::Line;

/// The trivial server of each era.
pub const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/server.mjs");
pub const MODERN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/modern.mjs");

/// Which era of the protocol somebody speaks.
#[derive(Clone, Copy, PartialEq)]
pub enum Era {
    Legacy,
    Modern,
}

/// One way. Its commands are made anew each time: they name a free port.
pub struct Way {
    pub name: &'static str,
    /// What the client speaks.
    pub era: Era,
    commands: fn() -> Commands,
}

/// What is started for it.
pub struct Commands {
    /// Behind the one that the client starts: a server on this port.
    pub behind: Option<(Vec<String>, u16)>,
    /// What the client starts.
    pub front: Vec<String>,
}

impl Way {
    fn new(name: &'static str, era: Era, commands: fn() -> Commands) -> Self {
        Self {
            name,
            era,
            commands,
        }
    }

    /// Every way, the direct one first and ours second.
    pub fn all() -> Vec<Self> {
        let legacy = |name, commands| Self::new(name, Era::Legacy, commands);
        let mut ways = vec![
            legacy("direct", direct),
            legacy(OURS, ours),
            legacy("two cats", cats),
            legacy("mcp-proxy of PyPI, a pair", python_proxy),
            legacy("supergateway, a pair", supergateway),
            legacy("npm's mcp-proxy and mcp-remote", remote),
        ];
        ways.extend(before().map(|_| legacy(BEFORE, ours_before)));
        ways
    }

    /// Ways between a client of one era and a server of the other, behind a name for the two.
    /// The first is direct, with a client of the server's own era: there is no other.
    pub fn bridged() -> [(&'static str, Vec<Self>); 2] {
        let mut to_legacy = vec![
            Self::new("direct, of one era", Era::Legacy, direct),
            Self::new(OURS, Era::Modern, ours),
        ];
        let mut to_modern = vec![
            Self::new("direct, of one era", Era::Modern, modern),
            Self::new(OURS, Era::Legacy, ours_modern),
            Self::new("mcp-remote, to HTTP", Era::Legacy, remote_modern),
        ];
        if before().is_some() {
            to_legacy.push(Self::new(BEFORE, Era::Modern, ours_before));
            to_modern.push(Self::new(BEFORE, Era::Legacy, ours_before_modern));
        }
        [
            ("a modern client and a legacy server", to_legacy),
            ("a legacy client and a modern server", to_modern),
        ]
    }

    pub fn is_ours(&self) -> bool {
        self.name == OURS
    }

    /// Neither direct nor ours.
    pub fn is_other(&self) -> bool {
        let commands = self.commands();
        commands.behind.is_some()
    }

    pub fn commands(&self) -> Commands {
        (self.commands)()
    }

    /// What it holds besides the server, in MB; nothing where there is no `/proc`.
    pub fn memory(&self, line: &Line) -> Option<f64> {
        let server = vec![node(), SERVER.to_owned()];
        let all = processes()?;
        let mut inside = line.pids();
        let mut kilobytes = 0;
        while let Some(pid) = inside.pop() {
            inside.extend(
                all.iter()
                    .filter(|(_, parent)| *parent == pid)
                    .map(|(child, _)| *child),
            );
            if command(pid) != server {
                kilobytes += resident(pid).unwrap_or(0);
            }
        }
        (kilobytes > 0).then(|| kilobytes as f64 / 1024.0)
    }
}

const OURS: &str = "ours";
pub const BEFORE: &str = "ours before";

fn direct() -> Commands {
    Commands {
        behind: None,
        front: vec![node(), SERVER.to_owned()],
    }
}

fn modern() -> Commands {
    Commands {
        behind: None,
        front: vec![node(), MODERN.to_owned()],
    }
}

fn ours() -> Commands {
    wrapped(told("MIDCALL_BIN"), direct())
}

fn ours_modern() -> Commands {
    wrapped(told("MIDCALL_BIN"), modern())
}

fn ours_before() -> Commands {
    wrapped(told("MIDCALL_BEFORE"), direct())
}

fn ours_before_modern() -> Commands {
    wrapped(told("MIDCALL_BEFORE"), modern())
}

/// An older `midcall` to measure in the same run: `MIDCALL_BEFORE=path/to/midcall ./bench wrap`.
pub fn before() -> Option<String> {
    env::var("MIDCALL_BEFORE").ok()
}

fn wrapped(binary: String, server: Commands) -> Commands {
    let front = [binary, "wrap".to_owned(), "--".to_owned()]
        .into_iter()
        .chain(server.front);
    Commands {
        behind: None,
        front: front.collect(),
    }
}

/// The least that anything in between can cost: bytes, read and written by two more processes.
fn cats() -> Commands {
    let line = format!("cat | {} {SERVER} | cat", node());
    Commands {
        behind: None,
        front: vec!["sh".to_owned(), "-c".to_owned(), line],
    }
}

fn python_proxy() -> Commands {
    let python = format!("{}/python/bin/python", told("MIDCALL_PROXIES"));
    let port = free_port();
    let behind = format!(
        "{python} -m mcp_proxy --host 127.0.0.1 --port {port} --pass-environment -- {} {SERVER}",
        node()
    );
    let front =
        format!("{python} -m mcp_proxy --transport streamablehttp http://127.0.0.1:{port}/mcp");
    Commands {
        behind: Some((words(&behind), port)),
        front: words(&front),
    }
}

fn supergateway() -> Commands {
    let program = package("supergateway/dist/index.js");
    let port = free_port();
    let mut behind = words(&format!(
        "{program} --logLevel none --outputTransport streamableHttp --stateful --port {port} --stdio"
    ));
    behind.push(format!("{} {SERVER}", node()));
    let front = format!("{program} --logLevel none --streamableHttp http://127.0.0.1:{port}/mcp");
    Commands {
        behind: Some((behind, port)),
        front: words(&front),
    }
}

fn remote() -> Commands {
    let port = free_port();
    let proxy = package("mcp-proxy/dist/bin/mcp-proxy.mjs");
    let behind = format!(
        "{proxy} --host 127.0.0.1 --port {port} -- {} {SERVER}",
        node()
    );
    let remote = package("mcp-remote/dist/proxy.js");
    let front = format!("{remote} http://127.0.0.1:{port}/mcp --allow-http --transport http-only");
    Commands {
        behind: Some((words(&behind), port)),
        front: words(&front),
    }
}

/// The one direction that it knows. It has no standard streams on the server's side.
fn remote_modern() -> Commands {
    let port = free_port();
    let behind = vec![node(), MODERN.to_owned(), port.to_string()];
    let remote = package("mcp-remote/dist/proxy.js");
    let front = format!(
        "{remote} http://127.0.0.1:{port}/mcp --allow-http --transport http-only --protocol auto"
    );
    Commands {
        behind: Some((behind, port)),
        front: words(&front),
    }
}

/// A program of npm's, run by our Node.
pub fn package(path: &str) -> String {
    format!("{} {}/node_modules/{path}", node(), told("MIDCALL_PROXIES"))
}

pub fn node() -> String {
    told("MIDCALL_NODE")
}

pub fn told(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name}: this program is run by ./bench"))
}

pub fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    listener.local_addr().expect("it is bound").port()
}

/// All processes, with their parents.
fn processes() -> Option<Vec<(u32, u32)>> {
    let entries = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Some(
        pids.filter_map(|pid| Some((pid, status(pid, "PPid:")?)))
            .collect(),
    )
}

fn resident(pid: u32) -> Option<u32> {
    status(pid, "VmRSS:")
}

fn status(pid: u32, name: &str) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn command(pid: u32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    text.split_terminator('\0').map(str::to_owned).collect()
}
