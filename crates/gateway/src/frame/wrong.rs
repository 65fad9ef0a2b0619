//! Messages that are refused whatever they say.
//!
//! Two readers may understand such a message in two ways, and then the one that Midcall judges isn't the one that its
//! receiver gets; or reading it costs more than it is worth.

use super::scan::Scan;
use midcall_core::wire::member;

/// How many messages a batch may have.
pub const MOST_PARTS: usize = 100;

/// Why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A batch has no messages.
    #[error("a batch must contain a message")]
    EmptyBatch,
    /// A batch has a batch among its messages.
    #[error("a batch can't contain another batch")]
    NestedBatch,
    /// A batch has more than `MOST_PARTS` messages.
    #[error("a batch can contain at most {MOST_PARTS} messages")]
    LongBatch,
    /// An answer has a result, and an error as well.
    #[error("the answer has both a result and an error")]
    ResultAndError,
    /// A member of the message is there twice, or its name is also there in other letters (`Method`).
    #[error("the message has the member \"{0}\" twice, or in other letters")]
    Ambiguous(&'static str),
}

/// The names that decide what a message is.
pub const ENVELOPE: [&str; 6] = ["id", "method", "params", "result", "error", "jsonrpc"];

/// The names in `params` by which a call or a question is judged.
pub const PARAMS: [&str; 13] = [
    "name",
    "arguments",
    "_meta",
    "requestId",
    "progressToken",
    "message",
    "mode",
    member::REQUESTED_SCHEMA,
    "url",
    member::ELICITATION_ID,
    member::INPUT_RESPONSES,
    member::REQUEST_STATE,
    "uri",
];

/// The names in the result of `elicitation/create`.
pub const ANSWER: [&str; 3] = ["action", "content", "_meta"];

/// The names in a result that asks for input.
pub const ROUND: [&str; 3] = [
    member::RESULT_TYPE,
    member::INPUT_REQUESTS,
    member::REQUEST_STATE,
];

/// The names in an error.
pub const ERROR: [&str; 3] = ["code", "message", "data"];

/// The names in the `data` of an error that names links.
pub const LINKS: [&str; 1] = [member::ELICITATIONS];

/// True if an object has one of these names twice, or in other letters.
pub fn repeats<const N: usize>(object: &[u8], known: &'static [&'static str; N]) -> bool {
    let mut seen = Seen::new(known);
    let read = Scan::new(object).object(|scan, name| {
        seen.see(name);
        scan.value().map(drop)
    });
    read.is_some() && seen.twice.is_some()
}

/// Which of some names an object has had, and the first that was there twice or in other letters.
pub struct Seen<const N: usize> {
    known: &'static [&'static str; N],
    seen: [bool; N],
    pub twice: Option<&'static str>,
}

impl<const N: usize> Seen<N> {
    pub fn new(known: &'static [&'static str; N]) -> Self {
        Self {
            known,
            seen: [false; N],
            twice: None,
        }
    }

    /// The object has a member of this name.
    pub fn see(&mut self, name: &str) {
        for (known, seen) in self.known.iter().zip(&mut self.seen) {
            if *known == name {
                if std::mem::replace(seen, true) {
                    self.twice = Some(known);
                }
                return;
            }
        }
        if let Some(known) = self.known.iter().find(|known| resembles(name, known)) {
            self.twice = Some(known);
        }
    }
}

/// True if a reader that doesn't distinguish capital letters takes the name for a known one. Go's does, and it also
/// takes the long s and the Kelvin sign for letters of the alphabet.
fn resembles(name: &str, known: &str) -> bool {
    if name.len() < known.len() || name.len() > 3 * known.len() {
        return false;
    }
    let folded = name.chars().map(|letter| match letter {
        'ſ' => 's',
        '\u{212a}' => 'k',
        letter => letter.to_ascii_lowercase(),
    });
    folded.eq(known.chars().map(|letter| letter.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_repeats_a_name_is_found() {
        for (object, repeated) in [
            (r#"{"action":"accept","content":{"action":1}}"#, false),
            (r#"{"action":"accept","action":"accept"}"#, true),
            (r#"{"action":"accept","Content":{}}"#, true),
            (r#"{"a\u0063tion":"accept","action":"decline"}"#, true),
            ("[1]", false),
        ] {
            assert_eq!(repeats(object.as_bytes(), &ANSWER), repeated, "{object}");
        }
    }

    #[test]
    fn names_in_other_letters_are_found() {
        for name in ["Method", "METHOD", "paramſ", "Id", "jsonRpc"] {
            let mut seen = Seen::new(&ENVELOPE);
            seen.see(name);
            assert!(seen.twice.is_some(), "{name}");
        }
        for name in ["methods", "metho", "x-method", "", "ids", "parameters"] {
            let mut seen = Seen::new(&ENVELOPE);
            seen.see(name);
            assert_eq!(seen.twice, None, "{name}");
        }
    }
}
