//! How a prompt ended.

use midcall_core::Answer;

/// How [`ask`](crate::ask) ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The person answered. For a link, `Accepted` means that they agreed to open it, and that it was opened or its
    /// address shown: [`opened`](crate::opened) waits until they are done there.
    Answered(Answer),
    /// The question was closed before they did. They were told why.
    Closed(Closing),
}

/// How [`opened`](crate::opened) ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// The person says that they have finished on the page.
    Finished,
    /// The person gave up.
    Cancelled,
    /// The question was closed before they said so.
    Closed(Closing),
}

/// Why a question was closed without this person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Somebody answered it on another surface.
    AnsweredElsewhere,
    /// Its time is up.
    TimedOut,
    /// The server no longer needs an answer.
    Withdrawn,
    /// It can't be answered anymore for another reason, such as a gateway that is gone.
    Unavailable,
}

/// The catalog key of what the person is told of their answer, after `mcp.elicitation.`
pub(crate) fn state(answer: &Answer) -> &'static str {
    match answer {
        Answer::Accepted(_) => "state.answered",
        Answer::Declined { .. } => "state.declined",
        Answer::Cancelled => "state.cancelled",
    }
}

impl Closing {
    /// The catalog key of what the person is told.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::AnsweredElsewhere => "mcp.elicitation.state.answered_before",
            Self::TimedOut => "mcp.elicitation.state.timed_out",
            Self::Withdrawn => "mcp.elicitation.state.withdrawn",
            Self::Unavailable => "mcp.elicitation.prompt.unavailable",
        }
    }
}
