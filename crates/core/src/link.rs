//! Whether a link may be opened, and what a person should hear first.
//!
//! A server in URL mode names a page for a person to visit. A [`Link`] holds that URL
//! as it was sent and as it would be opened, and a [`Verdict`]: plain, opened after a
//! warning, or refused. Reading one is total, bounded and touches no network: a link is
//! never fetched, only shown and opened on a click.
//!
//! A URL is ASCII by its standard, so refusing hidden characters and backslashes costs
//! an honest server nothing; browsers drop or turn them silently, which is all a
//! dishonest one needs.
//!
//! The page applies the same rules in JavaScript: `URL` parses alike, and both sides run
//! `fixtures/link/`. What needs Unicode's confusables table, which browsers lack, stands
//! apart in `fixtures/link/confusables.json`.
//!
//! In: [`Link::read`]. Elsewhere: the sentences (the message catalog), the click (surfaces).

mod look_alike;
mod verdict;

use std::fmt;
use std::sync::LazyLock;

use crate::values::Checked;
use regex::Regex;
use serde::Serialize;
use unicode_security::mixed_script::AugmentedScriptSet;
use url::Url;

pub use verdict::{Reason, Verdict};

/// Bytes a URL may have. Longer ones are refused unread.
const TOO_LONG: usize = 8 * 1024;
/// Characters of a URL that a person is still expected to read.
const LONG: usize = 300;
/// Characters kept of what a server sent.
const SHOWN: usize = 1024;
/// Characters a host may have: no longer name exists in the DNS.
const HOST: usize = 253;
/// No origin is allowed to go unencrypted.
const NONE: &[&str] = &[];

/// Where a server wants to send a person.
///
/// Only [`Link::read`] makes one, so a refused link has no [`href`](Link::href).
/// `Debug` leaves the URL out: it may carry a one-time secret.
///
/// ```
/// use midcall_core::link::{Link, Verdict};
///
/// let link = Link::read("https://github.com@evil.example/login", Some("github.com"));
/// assert_eq!(link.host().unwrap().shown, "evil.example");
/// assert_eq!(link.verdict().reasons()[0].key(), "mcp.elicitation.link.user_info");
///
/// let link = Link::read("javascript:alert(1)", None);
/// assert!(matches!(link.verdict(), Verdict::Refuse(_)));
/// assert_eq!(link.href(), None);
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    sent: String,
    href: Option<String>,
    host: Option<Host>,
    #[serde(flatten)]
    verdict: Verdict,
}

/// The host of a link, to be shown larger than the rest.
///
/// Right-to-left names reorder what stands beside them: give `shown` a line of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    /// The name as people read it.
    pub shown: String,
    /// The name as the DNS knows it (Punycode), when that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ascii: Option<String>,
}

impl Link {
    /// Reads a URL that a server sent. `asker` is that server's own host, if it has one.
    pub fn read(sent: &str, asker: Option<&str>) -> Link {
        Self::read_allowing(sent, asker, NONE)
    }

    /// Reads a URL that a server sent. Links to the origins in `allowed`, such as
    /// `http://jira.corp`, may be opened although they aren't encrypted: their verdict is a
    /// warning. Each is written as [`http_origin`] returns it.
    ///
    /// ```
    /// use midcall_core::link::{Link, Verdict};
    ///
    /// let link = Link::read_allowing("http://jira.corp/sign-in", None, &["http://jira.corp"]);
    /// assert!(matches!(link.verdict(), Verdict::Warn(_)));
    /// ```
    pub fn read_allowing(sent: &str, asker: Option<&str>, allowed: &[impl AsRef<str>]) -> Link {
        let mut link = Link {
            sent: visible(sent),
            href: None,
            host: None,
            verdict: Verdict::Plain,
        };
        if sent.len() > TOO_LONG {
            link.verdict = Verdict::Refuse(vec![Reason::TooLong { limit: TOO_LONG }]);
            return link;
        }
        let url = Url::parse(sent).ok();
        link.host = url.as_ref().and_then(Host::of);
        let mut refusals = refusals(sent, url.as_ref(), link.host.as_ref());
        let is_allowed = |url: &Url| {
            let origin = url.origin().ascii_serialization();
            allowed.iter().any(|allowed| allowed.as_ref() == origin)
        };
        let is_exempt = refusals == [Reason::Insecure] && url.as_ref().is_some_and(is_allowed);
        if is_exempt {
            refusals.clear();
        }
        link.verdict = match (url, &link.host) {
            (Some(url), Some(host)) if refusals.is_empty() => {
                let mut warnings = warnings(sent, &url, host, asker);
                if is_exempt {
                    warnings.insert(0, Reason::Insecure);
                }
                let verdict = match warnings {
                    warnings if warnings.is_empty() => Verdict::Plain,
                    warnings => Verdict::Warn(warnings),
                };
                link.href = Some(url.into());
                verdict
            }
            _ => Verdict::Refuse(refusals),
        };
        link
    }

    /// The URL as the server sent it: its first characters, the hidden ones written out
    /// as `<U+202E>`. To look at, not to open.
    pub fn sent(&self) -> &str {
        &self.sent
    }

    /// The URL as it will be opened, complete and in ASCII. `None` when it is refused.
    pub fn href(&self) -> Option<&str> {
        self.href.as_deref()
    }

    /// The web host the URL names, also of a refused link, as far as it has one.
    pub fn host(&self) -> Option<&Host> {
        self.host.as_ref()
    }

    /// The scheme, host and port that it leads to. `None` when it is refused.
    ///
    /// ```
    /// use midcall_core::Link;
    ///
    /// let link = Link::read("https://Example.com:443/sign-in?state=1", None);
    /// assert_eq!(link.origin().as_deref(), Some("https://example.com"));
    /// assert_eq!(Link::read("javascript:alert(1)", None).origin(), None);
    /// ```
    pub fn origin(&self) -> Option<String> {
        let url = Url::parse(self.href()?).ok()?;
        Some(url.origin().ascii_serialization())
    }

    /// Whether it may be opened.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// What a person's consent to open it is worth: an answer without content, and nothing at
    /// all for a link that is refused.
    pub fn consent(&self) -> Option<Checked> {
        self.href().map(|_| Checked::consent())
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("host", &self.host)
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}

impl Host {
    fn of(url: &Url) -> Option<Host> {
        let ascii = url.host_str().filter(|host| host.len() <= HOST)?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let shown = match url.domain() {
            Some(domain) => idna::domain_to_unicode(domain).0,
            None => ascii.to_owned(),
        };
        let ascii = (shown != ascii).then(|| ascii.to_owned());
        Some(Host { shown, ascii })
    }
}

/// The origin that a person means by an address such as `http://jira.corp`, in the spelling that
/// [`Link::read_allowing`] wants. `None` unless the address is an unencrypted origin and nothing
/// else: no path, no user, no query.
///
/// ```
/// use midcall_core::link::http_origin;
///
/// assert_eq!(http_origin("http://Jira.corp:80/").as_deref(), Some("http://jira.corp"));
/// assert_eq!(http_origin("http://jira.corp/browse"), None);
/// assert_eq!(http_origin("https://jira.corp"), None);
/// ```
pub fn http_origin(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let origin = url.origin().ascii_serialization();
    let is_http = url.scheme() == "http" && !HIDDEN.is_match(address) && !address.contains('\\');
    let is_origin = authority(address).is_some() && url.as_str() == format!("{origin}/");
    (is_http && is_origin).then_some(origin)
}

/// Everything that keeps a link from being opened, in the order of [`Reason`].
fn refusals(sent: &str, url: Option<&Url>, host: Option<&Host>) -> Vec<Reason> {
    let mut found = Vec::new();
    if let Some(hidden) = HIDDEN.find(sent) {
        let character = hidden.as_str().chars().map(code_point).collect();
        found.push(Reason::HiddenCharacters { character });
    }
    if sent.contains('\\') {
        found.push(Reason::Backslash);
    }
    match (url, host) {
        (Some(url), _) if !matches!(url.scheme(), "http" | "https") => {
            let scheme = url.scheme().chars().take(32).collect();
            found.push(Reason::Scheme { scheme });
        }
        (Some(url), Some(_)) if authority(sent).is_some() => {
            if url.scheme() == "http" && !is_loopback(url) {
                found.push(Reason::Insecure);
            }
        }
        _ => found.push(Reason::Unreadable),
    }
    found
}

/// Everything a person should hear before opening, in the order of [`Reason`].
fn warnings(sent: &str, url: &Url, host: &Host, asker: Option<&str>) -> Vec<Reason> {
    // Read as a URL's host is, so that case, Punycode and a port make no difference.
    let asker = asker.and_then(|asker| Url::parse(&format!("https://{asker}")).ok());
    let loopback = is_loopback(url);
    let mut found = Vec::new();

    if !url.username().is_empty() || url.password().is_some() {
        let host = host.shown.clone();
        found.push(Reason::UserInfo { host });
    }
    // A local address in its usual spelling is no riddle; `http://2130706433` is.
    if url.domain().is_none() && !(loopback && spelled_out(sent, &host.shown)) {
        let address = host.shown.clone();
        found.push(Reason::IpAddress { address });
    }
    // Web pages normally can't open these. A server on stdio has no host, and is no exception.
    if loopback && !asker.as_ref().is_some_and(is_loopback) {
        found.push(Reason::Local);
    }
    if let Some(ascii) = &host.ascii {
        let ascii = ascii.clone();
        found.push(Reason::Punycode { ascii });
    }
    if let Some(label) = host.shown.split('.').find(|label| mixes_scripts(label)) {
        let label = label.to_owned();
        found.push(Reason::MixedScripts { label });
    }
    if let Some(asker) = asker.filter(|asker| url.domain().is_some() && asker.domain().is_some())
        && let Some(asker) = Host::of(&asker)
        && look_alike::imitates(&host.shown, &asker.shown)
    {
        found.push(Reason::LookAlike { asker: asker.shown });
    }
    if let Some(port) = url.port().filter(|_| !loopback) {
        found.push(Reason::Port { port });
    }
    let length = url.as_str().len(); // ASCII: as many bytes as characters
    if length > LONG {
        found.push(Reason::Long { length });
    }
    found
}

/// What is not seen, or reads as nothing. The page uses the same pattern.
static HIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u{2800}]")
        .expect("the pattern is constant")
});

fn visible(sent: &str) -> String {
    let mut characters = sent.chars();
    let start: String = characters.by_ref().take(SHOWN).collect();
    let mut visible = HIDDEN
        .replace_all(&start, |hidden: &regex::Captures<'_>| {
            let points = hidden[0].chars().map(code_point).collect::<String>();
            format!("<{points}>")
        })
        .into_owned();
    if characters.next().is_some() {
        visible.push('…');
    }
    visible
}

fn code_point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// What stands between `scheme://` and the path. Parsers also take `https:host` and
/// `https:///host`, but people and other programs read those differently.
fn authority(sent: &str) -> Option<&str> {
    let (_scheme, rest) = sent.split_once(':')?;
    let authority = rest.strip_prefix("//")?.split(['/', '?', '#']).next()?;
    (!authority.is_empty()).then_some(authority)
}

/// Whether the server spelled the host as it will be opened.
fn spelled_out(sent: &str, host: &str) -> bool {
    authority(sent)
        .and_then(|authority| authority.rsplit('@').next()?.strip_prefix(host))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether one label is written in several scripts, as UTS 39 counts them. ASCII beside
/// Chinese, Japanese or Korean is how those names are usually written.
fn mixes_scripts(label: &str) -> bool {
    if !AugmentedScriptSet::for_str(label).is_empty() {
        return false;
    }
    let beside_ascii: String = label.chars().filter(|c| !c.is_ascii()).collect();
    let rest = AugmentedScriptSet::for_str(&beside_ascii);
    !(rest.jpan || rest.kore || rest.hanb)
}
