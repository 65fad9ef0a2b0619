//! One server in a client's configuration: how it is started, and what Midcall can do about it.

use std::path::Path;

use url::Url;

use super::client::Shape;
use super::tree::{NULL, Node, Value};
use crate::transport::remote::Target;

/// A server that a client knows.
pub struct Entry<'a> {
    /// The names that lead to it in the file.
    pub path: Vec<String>,
    pub node: &'a Node,
    pub start: Start,
}

/// How a client starts a server.
#[derive(Clone, PartialEq, Eq)]
pub enum Start {
    /// By a command, its first word the program.
    Command(Vec<String>),
    /// It is reached by HTTP.
    Remote {
        url: String,
        headers: Vec<(String, String)>,
    },
    /// Through `midcall wrap`.
    Wrapped {
        program: String,
        server: Box<Start>,
        /// How many of the words after the program are Midcall's own.
        own: usize,
    },
    /// In a way that Midcall leaves alone.
    Other(Reason),
}

/// Why Midcall leaves a server alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The client logs in to it.
    OAuth,
    /// It's reached by the transport that came before Streamable HTTP.
    Sse,
    /// Its headers or its address can't be given to `midcall wrap`.
    Headers,
    /// It has a name or a setting twice.
    Twice,
    /// It isn't written as this client's servers are.
    Unusual,
}

/// Settings that show that a client logs in by OAuth.
const OAUTH: &[&str] = &[
    "auth",
    "authProviderType",
    "authentication",
    "oauth",
    "oauth_client_id",
    "oauth_resource",
    "oauth_scopes",
    "scopes",
];

/// Settings of a remote server that have no counterpart for one that is started.
const REMOTE_ONLY: &[&str] = &[
    "bearer_token_env_var",
    "env_http_headers",
    "headersHelper",
    "requestOptions",
    "socket",
];

/// Flags of `npx`, `uvx`, `python` and the like that no value follows.
const BARE: &[&str] = &["--quiet", "--yes", "-m", "-q", "-u", "-y"];

/// Values of `type` for Streamable HTTP.
const STREAMABLE: &[&str] = &[
    "http",
    "remote",
    "streamable-http",
    "streamableHttp",
    "streamable_http",
];

/// All servers in a file that are started or reached, in its order. Others are part of the client.
pub fn entries<'a>(root: &'a Node, shape: &Shape) -> Vec<Entry<'a>> {
    let mut found = Vec::new();
    for names in shape.roots {
        for (path, servers) in holders(root, names) {
            for (name, node) in named(servers) {
                let mut path = path.clone();
                path.push(name.to_owned());
                let is_twice = named(servers).filter(|(other, _)| *other == name).count() > 1;
                let start = match start(node, shape) {
                    Some(_) if is_twice => Start::Other(Reason::Twice),
                    Some(start) => start,
                    None => continue,
                };
                if !found.iter().any(|one: &Entry<'_>| one.path == path) {
                    found.push(Entry { path, node, start });
                }
            }
        }
    }
    found
}

/// A list or map of servers that stands twice in a file, so that it isn't certain which one counts.
pub fn repeated(root: &Node, shape: &Shape) -> Option<&'static str> {
    let names = shape.roots.iter().map(|names| names[0]);
    names.into_iter().find(|name| root.repeats(name))
}

/// The maps and lists that hold servers, with the names that lead there.
fn holders<'a>(root: &'a Node, names: &[&str]) -> Vec<(Vec<String>, &'a Node)> {
    let mut found = vec![(Vec::new(), root)];
    for name in names {
        let mut next = Vec::new();
        for (path, node) in found {
            let members = node.members().iter();
            for member in members.filter(|one| *name == "*" || one.name == *name) {
                let mut path: Vec<String> = path.clone();
                path.push(member.name.clone());
                next.push((path, &member.node));
            }
        }
        found = next;
    }
    found
}

/// The servers in a map, or in a list of which each has a `name`.
fn named(servers: &Node) -> Box<dyn Iterator<Item = (&str, &Node)> + '_> {
    match servers.items() {
        Some(items) => Box::new(items.iter().filter_map(|item| {
            let name = item.member("name")?.node.text()?;
            Some((name, item))
        })),
        None => Box::new(
            servers
                .members()
                .iter()
                .map(|one| (one.name.as_str(), &one.node)),
        ),
    }
}

/// How a server is started. `None` if the entry says neither a command nor an address.
fn start(entry: &Node, shape: &Shape) -> Option<Start> {
    let holder = holder(entry, shape);
    let url = address(entry, shape);
    let command = holder.member(command_name(entry, shape));
    let names = [
        command_name(entry, shape),
        shape.args,
        shape.env,
        shape.headers,
        "type",
    ];
    let is_unclear = names
        .iter()
        .any(|name| holder.repeats(name) || entry.repeats(name));
    if (command.is_some() || url.is_some()) && is_unclear {
        return Some(Start::Other(Reason::Twice));
    }
    if holder.member("<<").is_some() {
        return Some(Start::Other(Reason::Unusual));
    }
    match (command, url) {
        (Some(_), _) => Some(match words(entry, shape) {
            Some(words) if !words.is_empty() => wrapped(&words).unwrap_or(Start::Command(words)),
            _ => Start::Other(Reason::Unusual),
        }),
        (None, Some(name)) => Some(remote(entry, shape, name)),
        (None, None) => None,
    }
}

/// The part of an entry that holds the command: Zed had `"command": {"path", "args", "env"}` once.
pub fn holder<'a>(entry: &'a Node, shape: &Shape) -> &'a Node {
    match entry.member(shape.command) {
        Some(member) if !member.node.members().is_empty() => &member.node,
        _ => entry,
    }
}

/// What the member with the program is called.
pub fn command_name(entry: &Node, shape: &Shape) -> &'static str {
    match std::ptr::eq(holder(entry, shape), entry) {
        true => shape.command,
        false => "path",
    }
}

/// The member that holds a remote server's address.
pub fn address(entry: &Node, shape: &Shape) -> Option<&'static str> {
    let names = shape.urls.iter().copied();
    names.into_iter().find(|name| entry.member(name).is_some())
}

/// The words of a command, unless one of them isn't a text.
fn words(entry: &Node, shape: &Shape) -> Option<Vec<String>> {
    let holder = holder(entry, shape);
    let command = &holder.member(command_name(entry, shape))?.node;
    let texts = |items: &[Node]| -> Option<Vec<String>> {
        items
            .iter()
            .map(|one| one.text().map(str::to_owned))
            .collect()
    };
    if shape.is_one_list {
        return texts(command.items()?);
    }
    let mut words = vec![command.text()?.to_owned()];
    match holder.member(shape.args).map(|args| &args.node.value) {
        None => {}
        Some(Value::Other(null)) if null == NULL => {}
        Some(Value::List(items)) => words.extend(texts(items)?),
        Some(_) => return None,
    }
    Some(words)
}

/// The server behind `midcall wrap`, if that's what a command is.
fn wrapped(words: &[String]) -> Option<Start> {
    let program = Path::new(&words[0]).file_name()?.to_str()?;
    if program != "midcall" || words.get(1)? != "wrap" {
        return None;
    }
    let server = match (words.iter().position(|word| word == "--"), &words[2..]) {
        (Some(at), _) if at + 1 < words.len() => Start::Command(words[at + 1..].to_vec()),
        (None, [flag, url]) if flag == "--url" => Start::Remote {
            url: url.clone(),
            headers: Vec::new(),
        },
        _ => Start::Other(Reason::Unusual),
    };
    let own = match &server {
        Start::Command(server) => words.len() - server.len() - 1,
        _ => words.len() - 1,
    };
    Some(Start::Wrapped {
        program: words[0].clone(),
        server: Box::new(server),
        own,
    })
}

fn remote(entry: &Node, shape: &Shape, name: &str) -> Start {
    let kind = entry.member("type").and_then(|member| member.node.text());
    let text = |name: &str| entry.member(name).and_then(|member| member.node.text());
    let has = |names: &[&str]| names.iter().any(|name| entry.member(name).is_some());
    let Some(url) = text(name) else {
        return Start::Other(Reason::Unusual);
    };
    let is_sse = match kind {
        Some("sse") => true,
        Some(kind) if STREAMABLE.contains(&kind) => false,
        Some(_) => return Start::Other(Reason::Unusual),
        None => shape.is_url_sse && name == "url" || path(url).ends_with("/sse"),
    };
    if has(OAUTH) {
        return Start::Other(Reason::OAuth);
    }
    if is_sse {
        return Start::Other(Reason::Sse);
    }
    if has(REMOTE_ONLY) {
        return Start::Other(Reason::Headers);
    }
    let Some(headers) = headers(entry, shape) else {
        return Start::Other(Reason::Headers);
    };
    // Goose writes an empty `envs` beside its headers. Elsewhere the headers take that place.
    let env = entry.member(shape.env).map(|member| &member.node);
    if env.is_some_and(|env| !env.members().is_empty()) {
        return Start::Other(Reason::Headers);
    }
    // A client fills in `${…}` before it uses what stands there, in the environment as in a header.
    let is_template = url.contains("${") || url.contains("{env:");
    // Everybody on this machine can read the arguments of a process.
    if holds_key(url) {
        return Start::Other(Reason::Headers);
    }
    if !is_template && Target::of(url, headers.clone(), None).is_err() {
        return Start::Other(Reason::Headers);
    }
    Start::Remote {
        url: url.to_owned(),
        headers,
    }
}

/// Headers as names and values. `None` if they can't be written as lines.
fn headers(entry: &Node, shape: &Shape) -> Option<Vec<(String, String)>> {
    let Some(member) = entry.member(shape.headers) else {
        return Some(Vec::new());
    };
    if matches!(&member.node.value, Value::Other(null) if null == NULL) {
        return Some(Vec::new());
    }
    let Value::Map(members) = &member.node.value else {
        return None;
    };
    let read = |one: &super::tree::Member| {
        let value = one.node.text()?;
        let is_line = !value.contains(['\n', '\r']) && !one.name.contains([':', '\n']);
        is_line.then(|| (one.name.clone(), value.to_owned()))
    };
    members.iter().map(read).collect()
}

fn path(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| url.path().to_owned())
}

impl Start {
    /// True if the server is on this machine, so that nobody has to log in to reach it.
    pub fn is_here(&self) -> bool {
        let Self::Remote { url, .. } = self else {
            return true;
        };
        let url = Url::parse(url).ok();
        match url.as_ref().and_then(Url::host) {
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        }
    }

    /// True if it's reached by HTTP, by the client or by Midcall.
    pub fn is_remote(&self) -> bool {
        match self {
            Self::Remote { .. } => true,
            Self::Wrapped { server, .. } => server.is_remote(),
            Self::Command(_) | Self::Other(_) => false,
        }
    }

    /// True for a remote server that may want a login: it's elsewhere, and nothing says how to get in.
    pub fn may_want_login(&self) -> bool {
        matches!(self, Self::Remote { headers, .. } if headers.is_empty()) && !self.is_here()
    }

    /// What to call the server: its program and what that runs, or the host of its address. Everything else may hold
    /// keys.
    pub fn label(&self) -> String {
        match self {
            Self::Command(words) => {
                let program = Path::new(&words[0]).file_name();
                let program =
                    program.map_or(words[0].as_str().into(), |name| name.to_string_lossy());
                let mut rest = words[1..]
                    .iter()
                    .skip_while(|word| BARE.contains(&word.as_str()));
                match rest
                    .next()
                    .filter(|word| !word.starts_with('-') && !word.contains(['=', ':']))
                {
                    Some(word) => format!("{program} {word}"),
                    None => program.into_owned(),
                }
            }
            Self::Remote { url, .. } => match Url::parse(url) {
                Ok(url) => url.origin().ascii_serialization(),
                Err(_) => String::new(),
            },
            Self::Wrapped { server, .. } => server.label(),
            Self::Other(_) => String::new(),
        }
    }
}

/// True if an address may hold a key: it has a query, or a user's name or password.
fn holds_key(url: &str) -> bool {
    let parsed = Url::parse(url);
    url.contains('?')
        || parsed.is_ok_and(|url| !url.username().is_empty() || url.password().is_some())
}
