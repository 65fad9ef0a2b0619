//! What is said about a link, and why.
//!
//! Each reason is a key of the message catalog with the parameters of its sentence, and
//! goes over the wire as `{key, params}`.

use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// Whether a link may be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "reasons", rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing is odd about it.
    Plain,
    /// It opens, after a person has been told this.
    Warn(Vec<Reason>),
    /// It does not open. What a warning would add is left out.
    Refuse(Vec<Reason>),
}

/// Why a link is refused or warned about. Reasons are given in the order of this list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Refused: longer than any honest link. Nothing else was looked at.
    TooLong {
        /// How many bytes are allowed.
        limit: usize,
    },
    /// Refused: spaces, controls, or characters that are not seen.
    HiddenCharacters {
        /// The first of them, as `U+202E`.
        character: String,
    },
    /// Refused: browsers read `\` as `/`, other programs do not, so the host is in doubt.
    Backslash,
    /// Refused: neither `https` nor `http`.
    Scheme {
        /// The scheme it has.
        scheme: String,
    },
    /// Refused: not a complete web address.
    Unreadable,
    /// Refused: `http` to another machine, where anyone between can read and change it.
    Insecure,

    /// A user name stands before the host, often to look like another host.
    UserInfo {
        /// The host that is really opened.
        host: String,
    },
    /// A number instead of a name.
    IpAddress {
        /// The address in its usual form.
        address: String,
    },
    /// The person's own machine, and the asking server isn't reached at a loopback address itself.
    Local,
    /// The name has letters beyond ASCII.
    Punycode {
        /// The name as the DNS knows it.
        ascii: String,
    },
    /// One part of the name mixes scripts, such as Latin and Cyrillic.
    MixedScripts {
        /// That part.
        label: String,
    },
    /// Another site, with a name made to resemble the asking server's.
    LookAlike {
        /// The asking server's host.
        asker: String,
    },
    /// Not the usual port.
    Port {
        /// The port it has.
        port: u16,
    },
    /// Too long for a person to read.
    Long {
        /// How many characters it has.
        length: usize,
    },
}

impl Verdict {
    /// Why; empty when the link is plain.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Verdict::Plain => &[],
            Verdict::Warn(reasons) | Verdict::Refuse(reasons) => reasons,
        }
    }
}

impl Reason {
    /// The key of its sentence in the message catalog.
    pub fn key(&self) -> &'static str {
        self.entry().0
    }

    /// What its sentence mentions, by name.
    pub fn params(&self) -> BTreeMap<&'static str, String> {
        self.entry().1.into_iter().collect()
    }

    fn entry(&self) -> (&'static str, Option<(&'static str, String)>) {
        match self {
            Reason::TooLong { limit } => (
                "mcp.elicitation.link.too_long",
                Some(("limit", limit.to_string())),
            ),
            Reason::HiddenCharacters { character } => (
                "mcp.elicitation.link.hidden_characters",
                Some(("character", character.clone())),
            ),
            Reason::Backslash => ("mcp.elicitation.link.backslash", None),
            Reason::Scheme { scheme } => (
                "mcp.elicitation.link.scheme",
                Some(("scheme", scheme.clone())),
            ),
            Reason::Unreadable => ("mcp.elicitation.link.unreadable", None),
            Reason::Insecure => ("mcp.elicitation.link.insecure", None),
            Reason::UserInfo { host } => (
                "mcp.elicitation.link.user_info",
                Some(("host", host.clone())),
            ),
            Reason::IpAddress { address } => (
                "mcp.elicitation.link.ip_address",
                Some(("address", address.clone())),
            ),
            Reason::Local => ("mcp.elicitation.link.local", None),
            Reason::Punycode { ascii } => (
                "mcp.elicitation.link.punycode",
                Some(("ascii", ascii.clone())),
            ),
            Reason::MixedScripts { label } => (
                "mcp.elicitation.link.mixed_scripts",
                Some(("label", label.clone())),
            ),
            Reason::LookAlike { asker } => (
                "mcp.elicitation.link.look_alike",
                Some(("asker", asker.clone())),
            ),
            Reason::Port { port } => (
                "mcp.elicitation.link.port",
                Some(("port", port.to_string())),
            ),
            Reason::Long { length } => (
                "mcp.elicitation.link.long",
                Some(("length", length.to_string())),
            ),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut reason = serializer.serialize_struct("Reason", 2)?;
        reason.serialize_field("key", self.key())?;
        reason.serialize_field("params", &self.params())?;
        reason.end()
    }
}
