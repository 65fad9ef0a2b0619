//! Why a message could not be read, and why one could not be written.

use super::{Mode, Revision};

/// Why a peer's JSON could not be read.
///
/// Names members and what was expected of them, never what a person typed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A member without which the message means nothing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A member, or a whole message, of the wrong kind.
    #[error("`{member}` must be {expected}")]
    Unfit {
        /// The member, or the name of the message.
        member: &'static str,
        /// What it must be, as a phrase.
        expected: &'static str,
    },
    /// A mode of elicitation that no revision has. Holds an excerpt of its name.
    #[error("the elicitation mode \"{0}\" is unknown: it must be \"form\" or \"url\"")]
    Mode(String),
    /// An `input_required` result that asks for nothing.
    #[error("an `input_required` result must have `inputRequests` or `requestState`")]
    NothingAsked,
    /// One part of a larger message.
    #[error("in `{place}`: {why}")]
    Within {
        /// Which part: a key or an index, as an excerpt.
        place: String,
        /// What is wrong there.
        why: Box<Unreadable>,
    },
}

/// Why a message cannot be said in a revision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsayable {
    /// The revision cannot ask in this mode.
    #[error("MCP {revision} has no elicitation in {mode} mode")]
    Mode {
        /// The mode of the question.
        mode: Mode,
        /// The revision that lacks it.
        revision: Revision,
    },
    /// The revision has no such message.
    #[error("MCP {revision} has no {what}")]
    Shape {
        /// The message, in the specification's words.
        what: &'static str,
        /// The revision that lacks it.
        revision: Revision,
    },
    /// The revision requires a member that is not there.
    #[error("MCP {revision} requires `{member}`, which was not given")]
    Missing {
        /// The required member.
        member: &'static str,
        /// The revision that requires it.
        revision: Revision,
    },
}

impl Unreadable {
    /// Says in which part of a larger message this happened.
    pub(super) fn within(self, place: &str) -> Self {
        Unreadable::Within {
            place: excerpt(place),
            why: Box::new(self),
        }
    }
}

/// Lets a message pass only where the revision has it.
pub(super) fn only(has_it: bool, what: &'static str, revision: Revision) -> Result<(), Unsayable> {
    if has_it {
        Ok(())
    } else {
        Err(Unsayable::Shape { what, revision })
    }
}

/// A peer's word for an error text: escaped, since it may be shown in a
/// terminal, and at most 40 characters long, since it may be megabytes.
pub(super) fn excerpt(text: &str) -> String {
    text.escape_debug().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        assert_eq!(excerpt("voice"), "voice");
        assert_eq!(excerpt("\u{1b}[2J\n\""), r#"\u{1b}[2J\n\""#);
        assert_eq!(excerpt(&"é".repeat(1_000)).chars().count(), 40);
    }
}
