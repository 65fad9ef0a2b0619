//! Values of flags that several commands have, and what to write instead of a wrong one.
//!
//! In: [`locale`], [`loopback`]. Not here: how a wrong one is told (`cli`), durations (`duration`).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use midcall_core::catalog::Locale;
use midcall_core::wire::Revision;

use crate::suggest::nearest;
use crate::unseen::one_line;

/// Why a flag's value can't be used. It has words in every language, because people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Midcall doesn't speak the language.
    Locale(String),
    /// Not a revision of the protocol.
    Revision(String),
    /// Not an address with a port.
    NoAddress { given: String, instead: SocketAddr },
    /// Other computers could reach the address.
    Open { given: String, instead: SocketAddr },
    /// An address of this computer, but not one that browsers take for it.
    OtherLoopback { given: String, instead: SocketAddr },
}

/// Reads `--locale`. The C locale, and nothing at all, mean the default.
pub fn locale(text: &str) -> Result<Locale, Unusable> {
    let bare = text.split('.').next().unwrap_or_default();
    if ["", "C", "POSIX"].contains(&bare) {
        return Ok(Locale::default());
    }
    Locale::find(text).ok_or_else(|| Unusable::Locale(text.to_owned()))
}

/// Reads a revision of the protocol.
pub fn revision(text: &str) -> Result<Revision, Unusable> {
    text.parse()
        .map_err(|_| Unusable::Revision(text.to_owned()))
}

/// Reads an address that only this computer can reach.
pub fn loopback(text: &str) -> Result<SocketAddr, Unusable> {
    let given = || text.to_owned();
    let Ok(address) = text.parse::<SocketAddr>() else {
        return Err(no_address(text));
    };
    if is_ours(address.ip()) {
        return Ok(address);
    }
    let instead = SocketAddr::new(ours(address.ip()), address.port());
    Err(match address.ip().is_loopback() {
        true => Unusable::OtherLoopback {
            given: given(),
            instead,
        },
        false => Unusable::Open {
            given: given(),
            instead,
        },
    })
}

/// Says no to a text that isn't an address with a port, and guesses which one was meant.
fn no_address(text: &str) -> Unusable {
    let given = text.to_owned();
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        let instead = SocketAddr::new(ours(ip), 0);
        return match ip.is_loopback() {
            true => Unusable::NoAddress { given, instead },
            false => Unusable::Open { given, instead },
        };
    }
    let port = text.rsplit(':').next().and_then(|port| port.parse().ok());
    let instead = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port.unwrap_or(0));
    Unusable::NoAddress { given, instead }
}

/// True for the loopback addresses that have a name in every browser.
fn is_ours(ip: IpAddr) -> bool {
    ip == Ipv4Addr::LOCALHOST || ip == Ipv6Addr::LOCALHOST
}

/// The loopback address of the same kind.
fn ours(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

impl Unusable {
    /// The reason and what to write instead, for a person.
    pub fn say(&self, locale: Locale) -> String {
        let address = |key, given: &String, instead: &SocketAddr| {
            let (given, instead) = (one_line(given, 60), instead.to_string());
            let params = [
                ("address", given.as_str().into()),
                ("instead", instead.as_str().into()),
            ];
            locale.say(key, &params)
        };
        match self {
            Self::Locale(given) => unknown_locale(given, locale),
            Self::Revision(given) => unknown_revision(given, locale),
            Self::NoAddress { given, instead } => {
                address("mcp.elicitation.terminal.address_unread", given, instead)
            }
            Self::Open { given, instead } => {
                address("mcp.elicitation.terminal.address_open", given, instead)
            }
            Self::OtherLoopback { given, instead } => {
                address("mcp.elicitation.terminal.address_other", given, instead)
            }
        }
    }
}

fn unknown_locale(given: &str, locale: Locale) -> String {
    /// What people write for a language, and its tag.
    const NAMES: [(&str, Locale); 6] = [
        ("en-US", Locale::EnUs),
        ("en", Locale::EnUs),
        ("english", Locale::EnUs),
        ("pt-BR", Locale::PtBr),
        ("pt", Locale::PtBr),
        ("portuguese", Locale::PtBr),
    ];
    let known = Locale::ALL.map(Locale::tag);
    let near = nearest(given, NAMES.map(|(name, _)| name));
    let meant = NAMES.iter().find(|(name, _)| Some(*name) == near);
    let meant = meant.map(|(_, locale)| locale.tag());
    unknown(
        "mcp.elicitation.terminal.locale_unknown",
        given,
        &known,
        meant,
        locale,
    )
}

fn unknown_revision(given: &str, locale: Locale) -> String {
    let known = Revision::ALL.into_iter().filter(|known| known.elicits());
    let known: Vec<&str> = known.map(Revision::as_str).collect();
    let meant = nearest(given, known.iter().copied());
    unknown(
        "mcp.elicitation.terminal.revision_unknown",
        given,
        &known,
        meant,
        locale,
    )
}

/// Says that there is no such word, which ones there are, and which was meant.
fn unknown(key: &str, given: &str, known: &[&str], meant: Option<&str>, locale: Locale) -> String {
    let known = known.join(", ");
    let given = one_line(given, 40);
    let params = [
        ("given", given.as_str().into()),
        ("known", known.as_str().into()),
    ];
    let mut told = locale.say(key, &params);
    if let Some(meant) = meant {
        let params = [("meant", meant.into())];
        told.push(' ');
        told += &locale.say("mcp.elicitation.terminal.did_you_mean", &params);
    }
    told
}

/// In English: an error has no language of its own.
impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(Locale::default()))
    }
}

impl std::error::Error for Unusable {}
