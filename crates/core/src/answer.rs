//! What a person said.

use std::fmt;

use crate::values::Checked;

/// What a person said. Content lives only in `Accepted`, so a refusal that carries data cannot
/// be written down. For a link, which has no content, the checked values are empty.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<T = Checked> {
    /// Yes, and this.
    Accepted(T),
    /// No.
    Declined {
        /// Why, if they said so.
        reason: Option<Words>,
    },
    /// Neither: the question was put away.
    Cancelled,
}

/// Words a person typed. `Debug` tells their number only.
#[derive(Clone, PartialEq, Eq)]
pub struct Words(String);

/// A refusal, for whoever takes one for an error: [`Answer::accepted`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The person said no.
    #[error("the person was asked and said no")]
    Declined {
        /// Why, if they said so.
        reason: Option<Words>,
    },
    /// The question was put away.
    #[error("the person was asked and put the question away")]
    Cancelled,
}

impl Answer<bool> {
    /// Whether the person was asked yes or no, and said yes. Sending the form with a no in it is
    /// accepted, too, and is not this.
    ///
    /// ```
    /// use midcall_core::Answer;
    ///
    /// assert!(Answer::Accepted(true).agreed());
    /// assert!(!Answer::Accepted(false).agreed() && !Answer::Cancelled.agreed());
    /// ```
    #[must_use = "nothing else says whether they agreed"]
    pub fn agreed(&self) -> bool {
        *self == Self::Accepted(true)
    }
}

impl Answer {
    /// The pointers of accepted values that only the server can check: [`Checked::unchecked`].
    pub fn unchecked(&self) -> &[String] {
        match self {
            Self::Accepted(checked) => checked.unchecked(),
            Self::Declined { .. } | Self::Cancelled => &[],
        }
    }
}

impl<T> Answer<T> {
    /// What was accepted; a refusal is an error.
    ///
    /// ```
    /// use midcall_core::{Answer, Refused};
    ///
    /// assert_eq!(Answer::Accepted(3).accepted(), Ok(3));
    /// assert_eq!(Answer::<u8>::Cancelled.accepted(), Err(Refused::Cancelled));
    /// ```
    pub fn accepted(self) -> Result<T, Refused> {
        match self {
            Self::Accepted(content) => Ok(content),
            Self::Declined { reason } => Err(Refused::Declined { reason }),
            Self::Cancelled => Err(Refused::Cancelled),
        }
    }

    /// The same answer about something else, if it was accepted.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Accepted(content) => Answer::Accepted(change(content)),
            Self::Declined { reason } => Answer::Declined { reason },
            Self::Cancelled => Answer::Cancelled,
        }
    }
}

impl Words {
    /// How many characters are kept.
    pub const MOST: usize = 1_000;

    /// Keeps what a person typed, without the space around it; nothing if nothing is left.
    /// What is longer than [`Words::MOST`] characters is cut.
    pub fn new(typed: &str) -> Option<Self> {
        let typed = typed.trim();
        (!typed.is_empty()).then(|| Self(typed.chars().take(Self::MOST).collect()))
    }

    /// The words themselves.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({} characters)", self.0.chars().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_tidied_bounded_and_not_shown() {
        assert_eq!(Words::new("  \n "), None);
        assert_eq!(Words::new(" too dear ").unwrap().as_str(), "too dear");
        assert_eq!(
            Words::new(&"é".repeat(5_000))
                .unwrap()
                .as_str()
                .chars()
                .count(),
            1_000
        );
        let answer: Answer = Answer::Declined {
            reason: Words::new("xyzzy"),
        };
        assert_eq!(
            format!("{answer:?}"),
            "Declined { reason: Some(Words(5 characters)) }"
        );
    }
}
