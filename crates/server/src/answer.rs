//! What a person said, as a tool gets it.

use midcall_core::Words;

use crate::error::AskError;

/// What a person said. Only `Accepted` has a value: take it with [`accepted`](Self::accepted), or
/// match where a no is fine.
///
/// ```
/// use midcall_server::{Answer, Ask, AskError};
///
/// # async fn tool(ask: Ask) -> Result<String, AskError> {
/// let name = ask.text("What is your name?").await?.accepted()?; // A no ends the tool here.
/// Ok(match ask.integer("How old are you?").await? {
///     Answer::Accepted(age) => format!("{name} is {age}"),
///     Answer::Declined { .. } | Answer::Cancelled => format!("{name} did not say"),
/// })
/// # }
/// ```
///
/// Forgetting it is a warning. That the person was asked says nothing about what they said:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # async fn tool(ask: midcall_server::Ask) -> Result<String, midcall_server::AskError> {
/// ask.confirm("Delete 3 files?").await?;
/// Ok("Deleted 3 files".into())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "the person may have said no: use `.accepted()?`, or match on the answer"]
pub enum Answer<T> {
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

impl Answer<bool> {
    /// Whether the person was asked yes or no, and said yes. Sending the form with a no in it is
    /// accepted, too, and is not this.
    ///
    /// ```
    /// use midcall_server::Answer;
    ///
    /// assert!(Answer::Accepted(true).agreed());
    /// assert!(!Answer::Accepted(false).agreed() && !Answer::Cancelled.agreed());
    /// ```
    #[must_use = "nothing else says whether they agreed"]
    pub fn agreed(&self) -> bool {
        *self == Self::Accepted(true)
    }
}

impl<T> Answer<T> {
    /// What was accepted. A refusal is an error: the one that a tool returns anyway.
    ///
    /// ```
    /// use midcall_server::{Answer, AskError};
    ///
    /// assert_eq!(Answer::Accepted(3).accepted().unwrap(), 3);
    /// assert!(matches!(Answer::<u8>::Cancelled.accepted(), Err(AskError::Cancelled)));
    /// ```
    pub fn accepted(self) -> Result<T, AskError> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Declined { reason } => Err(AskError::Declined { reason }),
            Self::Cancelled => Err(AskError::Cancelled),
        }
    }

    /// The same answer about something else, if it was accepted.
    ///
    /// ```
    /// use midcall_server::Answer;
    /// assert_eq!(Answer::Accepted("Ana").map(str::len), Answer::Accepted(3));
    /// ```
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Accepted(value) => Answer::Accepted(change(value)),
            Self::Declined { reason } => Answer::Declined { reason },
            Self::Cancelled => Answer::Cancelled,
        }
    }
}
