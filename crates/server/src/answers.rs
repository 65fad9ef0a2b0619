//! Answers from a file: for scripts, tests and command lines.

use std::sync::{Arc, Mutex, PoisonError};

use midcall_core::wire::ElicitResult;
use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::asking::Reply;

/// Answers that were written down beforehand. The first unused entry that matches is taken.
///
/// ```
/// use midcall_server::{Answers, Asks};
///
/// let answers = Answers::read(r#"{"answers": [
///     {"message": "^Delete", "action": "accept", "content": {"confirmed": true}},
///     {"tool": "book_table", "action": "decline", "reason": "Too late", "times": 2}
/// ]}"#)?;
/// let asks = Asks::new().answers(answers);
/// # Ok::<(), midcall_server::AnswersError>(())
/// ```
#[derive(Clone)]
pub struct Answers(Arc<Mutex<Vec<Entry>>>);

/// Why a file of answers could not be read.
///
/// ```
/// use midcall_server::{Answers, AnswersError};
/// let refused = Answers::read(r#"{"answers": [{"action": "perhaps"}]}"#);
/// assert!(matches!(refused, Err(AnswersError::Entry(1))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// More bytes than are read.
    #[error("the answers are {0} bytes long; at most {MOST} are read")]
    TooLong(usize),
    /// Not JSON, or not this shape. The position is told, the text is not.
    #[error(
        "the answers cannot be read (line {line}, column {column}): they must be {{\"answers\": [{{\"action\": …}}]}}"
    )]
    Shape {
        /// Where reading stopped.
        line: usize,
        /// Where reading stopped.
        column: usize,
    },
    /// An entry whose action or content is none.
    #[error(
        "answer {0} must have an action (accept, decline or cancel), and content only if it accepts"
    )]
    Entry(usize),
    /// A `message` that is not a regular expression.
    #[error("the message of answer {0} is not a regular expression")]
    Message(usize),
}

/// How many bytes are read.
const MOST: usize = 1024 * 1024;

struct Entry {
    message: Option<Regex>,
    tool: Option<String>,
    result: ElicitResult,
    reason: Option<String>,
    times: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    answers: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    message: Option<String>,
    tool: Option<String>,
    action: String,
    content: Option<Map<String, Value>>,
    reason: Option<String>,
    times: Option<u32>,
}

impl Answers {
    /// Reads them.
    ///
    /// ```
    /// use midcall_server::{Answers, AnswersError};
    ///
    /// let answers = Answers::read(r#"{"answers": [
    ///     {"message": "(?i)colour", "action": "accept", "content": {"selected": "red"}}
    /// ]}"#)?;
    /// assert!(matches!(Answers::read("{"), Err(AnswersError::Shape { line: 1, .. })));
    /// # Ok::<(), AnswersError>(())
    /// ```
    pub fn read(text: &str) -> Result<Self, AnswersError> {
        if text.len() > MOST {
            return Err(AnswersError::TooLong(text.len()));
        }
        let file: File = serde_json::from_str(text).map_err(|error| AnswersError::Shape {
            line: error.line(),
            column: error.column(),
        })?;
        let entries = file.answers.into_iter().enumerate();
        let entries = entries.map(|(at, written)| written.entry(at + 1));
        Ok(Self(Arc::new(Mutex::new(
            entries.collect::<Result<_, _>>()?,
        ))))
    }

    pub(crate) fn take(&self, message: &str, tool: &str) -> Option<Reply> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.iter_mut().find(|entry| {
            let is_meant = entry
                .message
                .as_ref()
                .is_none_or(|wanted| wanted.is_match(message));
            entry.times > 0 && is_meant && entry.tool.as_ref().is_none_or(|name| name == tool)
        })?;
        entry.times -= 1;
        let outcome = entry
            .reason
            .as_ref()
            .map(|reason| json!({"reason": reason}));
        Some(Reply {
            result: entry.result.clone(),
            outcome,
        })
    }
}

impl Written {
    fn entry(self, at: usize) -> Result<Entry, AnswersError> {
        let message = self.message.as_deref().map(Regex::new).transpose();
        let mut result = Map::from_iter([("action".to_owned(), self.action.into())]);
        if let Some(content) = self.content {
            result.insert("content".into(), Value::Object(content));
        }
        let has_content = result.contains_key("content");
        let result =
            ElicitResult::read(Value::Object(result)).map_err(|_| AnswersError::Entry(at))?;
        if has_content && result.content().is_none() {
            return Err(AnswersError::Entry(at));
        }
        Ok(Entry {
            message: message.map_err(|_| AnswersError::Message(at))?,
            tool: self.tool,
            result,
            reason: self.reason,
            times: self.times.unwrap_or(1),
        })
    }
}

impl std::fmt::Debug for Answers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Answers(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midcall_core::wire::Action;

    #[test]
    fn the_first_unused_match_wins() {
        let answers = Answers::read(
            r#"{"answers": [
                {"message": "^Delete", "tool": "rm", "action": "accept", "content": {"confirmed": true}},
                {"action": "decline", "times": 2, "reason": "no"},
                {"message": "name", "action": "cancel"}
            ]}"#,
        )
        .unwrap();
        let action = |message: &str, tool: &str| {
            let reply = answers.take(message, tool);
            reply.map(|reply| reply.result.action())
        };
        assert_eq!(action("Delete it?", "other"), Some(Action::Decline));
        assert_eq!(action("Delete it?", "rm"), Some(Action::Accept));
        assert_eq!(action("Delete it?", "rm"), Some(Action::Decline));
        assert_eq!(action("Your name?", "rm"), Some(Action::Cancel));
        assert_eq!(action("Your name?", "rm"), None);
    }

    #[test]
    fn what_is_no_answer_is_refused_before_anybody_is_asked() {
        for (text, expected) in [
            (
                "{",
                "the answers cannot be read (line 1, column 1): they must be {\"answers\": [{\"action\": …}]}",
            ),
            (
                r#"{"answers": [{"action": "yes"}]}"#,
                "answer 1 must have an action (accept, decline or cancel), and content only if it accepts",
            ),
            (
                r#"{"answers": [{"action": "cancel", "content": {}}]}"#,
                "answer 1 must have an action (accept, decline or cancel), and content only if it accepts",
            ),
            (
                r#"{"answers": [{"action": "cancel", "message": "("}]}"#,
                "the message of answer 1 is not a regular expression",
            ),
        ] {
            assert_eq!(Answers::read(text).unwrap_err().to_string(), expected);
        }
    }
}
