//! The dated revisions of the protocol, and the two eras they fall into.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::fault::excerpt;

/// A revision of the Model Context Protocol. Later ones are greater.
///
/// ```
/// use midcall_core::wire::{Era, Revision};
///
/// let revision: Revision = "2025-06-18".parse()?;
/// assert_eq!(revision.era(), Era::Legacy);
/// assert!(revision.elicits() && !revision.links());
/// # Ok::<(), midcall_core::wire::UnknownRevision>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Revision {
    /// 2024-11-05: no elicitation yet.
    V2024_11_05,
    /// 2025-03-26: no elicitation yet.
    V2025_03_26,
    /// 2025-06-18: forms.
    V2025_06_18,
    /// 2025-11-25: forms, links, and tasks as an experiment.
    V2025_11_25,
    /// 2026-07-28: stateless; a server asks by returning a result.
    V2026_07_28,
}

/// How client and server meet: the great divide between revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize`, then requests in both directions.
    Legacy,
    /// No opening; every request declares itself, and servers send no requests.
    Modern,
}

/// A revision this crate has not heard of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the MCP revision \"{0}\" is unknown")]
pub struct UnknownRevision(String);

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];

    /// Those that Midcall names to clients that ask which ones it speaks, the one it prefers first. In earlier ones
    /// nobody can be asked anything.
    pub const SUPPORTED: [Revision; 3] = [
        Revision::V2026_07_28,
        Revision::V2025_11_25,
        Revision::V2025_06_18,
    ];

    /// The date by which the protocol names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era it belongs to.
    pub fn era(self) -> Era {
        if self >= Revision::V2026_07_28 {
            Era::Modern
        } else {
            Era::Legacy
        }
    }

    /// Whether a server can ask anything in it.
    pub fn elicits(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Whether a server can ask by a link (URL mode) in it.
    pub fn links(self) -> bool {
        self >= Revision::V2025_11_25
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, UnknownRevision> {
        Revision::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision(excerpt(text)))
    }
}

impl TryFrom<String> for Revision {
    type Error = UnknownRevision;

    fn try_from(text: String) -> Result<Self, UnknownRevision> {
        text.parse()
    }
}

impl From<Revision> for &'static str {
    fn from(revision: Revision) -> Self {
        revision.as_str()
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_knows_what_it_can_say() {
        #[rustfmt::skip]
        let table = [
            ("2024-11-05", Era::Legacy, false, false),
            ("2025-03-26", Era::Legacy, false, false),
            ("2025-06-18", Era::Legacy, true,  false),
            ("2025-11-25", Era::Legacy, true,  true),
            ("2026-07-28", Era::Modern, true,  true),
        ];
        for ((text, era, elicits, links), revision) in table.into_iter().zip(Revision::ALL) {
            assert_eq!(text.parse(), Ok(revision));
            assert_eq!(revision.to_string(), text);
            assert_eq!(serde_json::to_value(revision).unwrap(), text);
            assert_eq!(
                serde_json::from_value::<Revision>(text.into()).unwrap(),
                revision
            );
            assert_eq!(
                (revision.era(), revision.elicits(), revision.links()),
                (era, elicits, links),
                "{text}"
            );
        }
        assert!(Revision::ALL.is_sorted());
        let asking = Revision::ALL.into_iter().rev().filter(|it| it.elicits());
        assert!(asking.eq(Revision::SUPPORTED));
    }

    #[test]
    fn an_unknown_revision_is_named_but_not_at_length() {
        assert_eq!(
            "2027-01-01".parse::<Revision>().unwrap_err().to_string(),
            "the MCP revision \"2027-01-01\" is unknown"
        );
        let long = "x".repeat(10_000).parse::<Revision>().unwrap_err();
        assert!(long.to_string().len() < 100);
    }
}
