//! Messages that are too long to be taken, and what comes in their place.
//!
//! Such a message is read past without being kept. Its id is found on the way, wherever it stands (some SDKs write it
//! last), so that its sender can be told, or the one who waits for it.

use std::mem::take;

use midcall_core::wire::code;

use crate::frame::{Frame, Id};

/// What is known of a message that is too long.
#[derive(Debug, PartialEq)]
pub struct Oversized {
    id: Option<Id>,
    has_method: bool,
}

/// What becomes of a message that is too long.
pub enum Instead {
    /// Its sender is told.
    Refuse(Frame),
    /// This counts as what was sent: the one who waits for an answer gets it.
    Read(Frame),
    /// It wanted no answer.
    Nothing,
}

impl Oversized {
    /// What comes in the place of a message from `sender`.
    pub fn instead(self, sender: &str) -> Instead {
        tracing::warn!(
            "a message of the {sender} is longer than --max-message allows, and was dropped"
        );
        match self {
            Self {
                id: None,
                has_method: true,
            } => Instead::Nothing,
            Self {
                id: Some(id),
                has_method: false,
            } => {
                let told =
                    format!("midcall: the {sender}'s answer is longer than --max-message allows");
                Instead::Read(Frame::error(Some(&id), code::INTERNAL_ERROR, &told))
            }
            Self { id, .. } => {
                let told = "midcall: this message is longer than --max-message allows";
                Instead::Refuse(Frame::error(id.as_ref(), code::INVALID_REQUEST, told))
            }
        }
    }
}

/// Reads past a message, piece by piece.
#[derive(Default)]
pub struct Skim {
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// What is being read of the message's own members: a name, or the value of `id`.
    part: Vec<u8>,
    /// The member whose value comes next.
    member: Member,
    id: Option<Id>,
    has_method: bool,
    /// How much has been read past.
    bytes: usize,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Member {
    /// A name comes first.
    #[default]
    None,
    Id,
    Other,
}

/// The longest name or id that is looked at.
const LONGEST: usize = 256;

impl Skim {
    /// How much has been read past.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn read(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        for byte in piece {
            self.step(*byte);
        }
    }

    /// What was found.
    pub fn found(self) -> Oversized {
        Oversized {
            id: self.id,
            has_method: self.has_method,
        }
    }

    fn step(&mut self, byte: u8) {
        if self.is_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_text = false,
                _ => {}
            }
            return self.keep(byte);
        }
        match byte {
            b'{' | b'[' => {
                self.keep(byte);
                self.depth += 1;
                if self.depth == 1 {
                    self.part.clear();
                    // A batch has no members: none of its parts is told by an id.
                    self.member = if byte == b'{' {
                        Member::None
                    } else {
                        Member::Other
                    };
                }
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
                self.keep(byte);
            }
            b':' if self.depth == 1 => self.begin_value(),
            b',' if self.depth == 1 => self.end_member(),
            b' ' | b'\t' | b'\r' => {}
            byte => {
                self.is_text = byte == b'"';
                self.keep(byte);
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.member != Member::Other && self.part.len() <= LONGEST {
            self.part.push(byte);
        }
    }

    fn begin_value(&mut self) {
        let name = take(&mut self.part);
        self.has_method |= name == b"\"method\"";
        self.member = match &name[..] {
            b"\"id\"" => Member::Id,
            _ => Member::Other,
        };
    }

    fn end_member(&mut self) {
        let value = take(&mut self.part);
        if self.member == Member::Id {
            self.id = (value.len() <= LONGEST).then(|| Id::read(&value)).flatten();
        }
        if self.member != Member::Other || self.depth == 1 {
            self.member = Member::None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skimmed(line: &str, piece: usize) -> Oversized {
        let mut skim = Skim::default();
        line.as_bytes()
            .chunks(piece)
            .for_each(|piece| skim.read(piece));
        skim.found()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let long = r#"{"id":9,"method":"n","a":[{"id":8}],"t":"\",\"id\":7,\\"}"#;
        for (line, id, has_method) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{long}}}"#),
                Some("1"),
                true,
            ),
            (
                format!(r#"{{"method":"m","params":{long},"jsonrpc":"2.0", "id" : "a,b" }}"#),
                Some("\"a,b\""),
                true,
            ),
            (format!(r#"{{"result":{long},"id":1}}"#), Some("1"), false),
            (format!(r#"{{"method":"m","params":{long}}}"#), None, true),
            (
                format!(r#"[{{"id":1,"method":"m","params":{long}}}]"#),
                None,
                false,
            ),
            (
                format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(300)),
                None,
                true,
            ),
            (r#"{"id":1,"params":{"a":"#.to_owned(), Some("1"), false),
            ("not JSON, \"id\": 1".to_owned(), None, false),
            (String::new(), None, false),
        ] {
            for piece in [1, 3, 1_000] {
                let expected = Oversized {
                    id: id.and_then(|id| Id::read(id.as_bytes())),
                    has_method,
                };
                assert_eq!(skimmed(&line, piece), expected, "{line}");
            }
        }
    }
}
