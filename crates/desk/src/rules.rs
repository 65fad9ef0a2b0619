//! What the desk allows, and for how long.

use std::time::Duration;

/// Bounds of a desk. All of them can be set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rules {
    /// How long a ticket waits if nobody says otherwise.
    pub patience: Duration,
    /// How long a ticket may wait at most.
    pub longest_patience: Duration,
    /// How long a closed ticket can still be asked about.
    pub memory: Duration,
    /// Open tickets of one user.
    pub open_per_user: usize,
    /// Open tickets of one server, for one user.
    pub open_per_server: usize,
    /// Open tickets of one conversation.
    pub open_per_conversation: usize,
    /// Questions a minute of one server, for one user.
    pub asks_per_minute: u32,
    /// Bytes of a question's params.
    pub question_bytes: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(5 * 60),
            longest_patience: Duration::from_secs(24 * 60 * 60),
            memory: Duration::from_secs(10 * 60),
            open_per_user: 200,
            open_per_server: 50,
            open_per_conversation: 50,
            asks_per_minute: 120,
            question_bytes: 320 * 1024,
        }
    }
}

/// What there is too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limited {
    /// Too many open tickets of the user.
    #[error("{0} questions are open for this user already")]
    User(usize),
    /// Too many open tickets of the server.
    #[error("this server has {0} open questions already")]
    Server(usize),
    /// Too many open tickets in the conversation.
    #[error("{0} questions are open in this conversation already")]
    Conversation(usize),
    /// Too many questions in a short time.
    #[error("this server asks more than {0} questions a minute")]
    TooOften(u32),
    /// Too large a question.
    #[error("the question is larger than {0} bytes")]
    TooLarge(usize),
}
