//! Where a server elsewhere is, and what every request to it bears.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{env, fs};

use crate::times::CONNECT;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, Url, redirect};

/// A server's address, the headers a person gave for it, and whom to trust. Sessions with one
/// server share its connections.
#[derive(Clone)]
pub struct Target(Arc<Inner>);

struct Inner {
    url: Url,
    headers: HeaderMap,
    ca: Vec<Certificate>,
    client: OnceLock<Result<Client, String>>,
}

/// Why a server cannot be reached at all.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// It is no address.
    #[error("{0:?} is no address of a server: it should look like https://example.com/mcp")]
    Url(String),
    /// A password in an address ends up in logs and histories.
    #[error("the address must not hold a user or a password: give them with --header")]
    Userinfo,
    /// It is no header.
    #[error("header {0} does not look like 'Name: value'")]
    Header(usize),
    /// The value cannot be sent.
    #[error("the value of the header {0} has characters that no header may have")]
    Value(String),
    /// We set it ourselves.
    #[error("the header {0} is set by Midcall itself, and cannot be given")]
    Reserved(String),
    /// The header says to take a value from the environment.
    #[error("the header {0} wants the environment variable {1}, which is not set")]
    Variable(String, String),
    /// The header has a variable without an end.
    #[error("the header {0} has a '${{' without its '}}'")]
    Unclosed(String),
    /// There is no server that they could be for.
    #[error("--header and --ca are for a server that has an address: give it with --url")]
    NoUrl,
    /// The certificates cannot be read.
    #[error("the certificates in {0:?} cannot be read: {1}")]
    Ca(PathBuf, String),
}

/// How long a connection is kept for the next request. Node and uvicorn close theirs after five
/// seconds: one that is used at that moment would fail a call for nothing.
const IDLE: Duration = Duration::from_secs(3);

/// How often a quiet connection is looked after: a call may wait for a person for minutes.
const ALIVE: Duration = Duration::from_secs(30);

/// What belongs to the protocol, and to HTTP itself. All that begins with `mcp-` does too.
const RESERVED: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Target {
    /// An address, headers as `Name: value` with variables of the environment, and a file of
    /// further authorities to trust.
    pub fn new(url: &str, headers: &[String], ca: Option<&Path>) -> Result<Self, TargetError> {
        Self::of(url, read_headers(headers)?, ca)
    }

    /// The same with headers by their names, as they are.
    pub fn of(
        url: &str,
        headers: Vec<(String, String)>,
        ca: Option<&Path>,
    ) -> Result<Self, TargetError> {
        let bad = || TargetError::Url(without_secrets(url));
        let mut url = Url::parse(url).map_err(|_| bad())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(bad());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::Userinfo);
        }
        url.set_fragment(None);
        let headers = header_map(headers)?;
        let ca = ca.map(read_ca).transpose()?.unwrap_or_default();
        Ok(Self(Arc::new(Inner {
            url,
            headers,
            ca,
            client: OnceLock::new(),
        })))
    }

    pub(super) fn url(&self) -> &Url {
        &self.0.url
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// Whether a person gave this header.
    pub(super) fn gives(&self, name: &str) -> bool {
        self.0.headers.contains_key(name)
    }

    /// What makes the connections. It is made when it is first needed: reading what the system
    /// trusts takes its time.
    pub(super) fn client(&self) -> Result<&Client, String> {
        let made = self.0.client.get_or_init(|| {
            // Only the first of several targets installs it; `reqwest` panics without one.
            let _ = rustls::crypto::ring::default_provider().install_default();
            Client::builder()
                .redirect(redirect::Policy::none()) // They are followed with care (`wire`).
                .connect_timeout(CONNECT.get())
                .pool_idle_timeout(IDLE)
                .tcp_keepalive(ALIVE)
                .tls_certs_merge(self.0.ca.iter().cloned())
                .build()
                .map_err(|error| chain(&error))
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// The server's host, to call it by until it says its name.
    pub fn host(&self) -> String {
        self.0.url.host_str().unwrap_or_default().to_owned()
    }

    /// Whether others on the way could read what is sent.
    pub fn is_open_to_others(&self) -> bool {
        let loopback = match self.0.url.host() {
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        self.0.url.scheme() == "http" && !loopback
    }
}

/// The address without what may be a key in it, and the headers' names.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: HashSet<&HeaderName> = self.0.headers.keys().collect();
        f.debug_struct("Target")
            .field("url", &place(&self.0.url))
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

/// An address for people: queries may hold keys.
pub(super) fn place(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

/// An error and what caused it, for people. Addresses are left out, since they may hold keys, and
/// what only names the library's parts.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = Vec::<String>::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let said = error.to_string();
        let is_name = said.contains("://") || said.starts_with("client error (");
        if !is_name && words.last() != Some(&said) {
            words.push(said);
        }
        next = error.source();
    }
    words.join(": ")
}

fn without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    let start = url.rfind('@').map_or(0, |at| at + 1);
    url.get(start..).unwrap_or_default().to_owned()
}

fn read_headers(lines: &[String]) -> Result<Vec<(String, String)>, TargetError> {
    let read = |(index, line): (usize, &String)| {
        let (name, value) = line.split_once(':').ok_or(TargetError::Header(index + 1))?;
        let name = name.trim();
        Ok((name.to_owned(), expand(name, value.trim())?))
    };
    lines.iter().enumerate().map(read).collect()
}

fn header_map(given: Vec<(String, String)>) -> Result<HeaderMap, TargetError> {
    let mut headers = HeaderMap::new();
    for (index, (name, value)) in given.into_iter().enumerate() {
        let name: HeaderName = name.parse().map_err(|_| TargetError::Header(index + 1))?;
        if RESERVED.contains(&name.as_str()) || name.as_str().starts_with("mcp-") {
            return Err(TargetError::Reserved(name.to_string()));
        }
        let mut value = HeaderValue::from_str(value.trim())
            .map_err(|_| TargetError::Value(name.to_string()))?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// `${NAME}` stands for what the environment has: other users see a command's arguments.
fn expand(header: &str, value: &str) -> Result<String, TargetError> {
    let mut whole = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after
            .split_once('}')
            .ok_or_else(|| TargetError::Unclosed(header.to_owned()))?;
        let found = env::var(name)
            .map_err(|_| TargetError::Variable(header.to_owned(), name.to_owned()))?;
        whole.push_str(before);
        whole.push_str(&found);
        rest = after;
    }
    whole.push_str(rest);
    Ok(whole)
}

fn read_ca(file: &Path) -> Result<Vec<Certificate>, TargetError> {
    let bad = |why: String| TargetError::Ca(file.to_owned(), why);
    let pem = fs::read(file).map_err(|error| bad(error.to_string()))?;
    let found = Certificate::from_pem_bundle(&pem).map_err(|error| bad(chain(&error)))?;
    if found.is_empty() {
        return Err(bad("there are none in it, as PEM".to_owned()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, headers: &[&str]) -> Result<Target, TargetError> {
        let headers: Vec<String> = headers.iter().map(|line| (*line).to_owned()).collect();
        Target::new(url, &headers, None)
    }

    #[test]
    fn what_cannot_work_is_said_before_anything_is_sent() {
        for (url, headers, said) in [
            ("example.com/mcp", &[][..], "no address"),
            ("ftp://example.com/", &[], "no address"),
            ("https://me:secret@example.com/", &[], "must not hold"),
            ("https://a/", &["Authorization"], "header 1 does not look"),
            ("https://a/", &["X: 1", "a b: c"], "header 2 does not look"),
            ("https://a/", &["X: a\u{7}b"], "the value of the header x"),
            ("https://a/", &["Mcp-Session-Id: 1"], "set by Midcall"),
            ("https://a/", &["Host: b"], "set by Midcall"),
            ("https://a/", &["X: ${MIDCALL_NOT_SET}"], "is not set"),
            ("https://a/", &["X: ${PATH"], "without its '}'"),
        ] {
            let error = target(url, headers).expect_err(url).to_string();
            assert!(error.contains(said), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn values_come_from_the_environment_and_are_never_shown() {
        let target = target(
            "https://a.example/mcp?key=hidden#x",
            &["Authorization: Bearer ${PATH}", "x-a:1", "X-A: 2"],
        )
        .unwrap();
        let path = env::var("PATH").unwrap();
        assert_eq!(
            target.headers()["authorization"].to_str().unwrap(),
            format!("Bearer {path}")
        );
        assert_eq!(target.headers().get_all("x-a").iter().count(), 2);
        let shown = format!("{target:?} {:?}", target.headers());
        assert!(shown.contains("https://a.example/mcp"), "{shown}");
        assert!(
            !shown.contains(&path) && !shown.contains("hidden"),
            "{shown}"
        );
    }

    #[test]
    fn others_may_read_what_is_not_encrypted() {
        for (url, open) in [
            ("http://example.com/", true),
            ("https://example.com/", false),
            ("http://localhost:3000/", false),
            ("http://127.0.0.1/", false),
            ("http://[::1]/", false),
        ] {
            assert_eq!(target(url, &[]).unwrap().is_open_to_others(), open, "{url}");
        }
    }
}
