//! Walking through JSON bytes without building anything.
//!
//! The members that are asked for are seen one by one; everything else is stepped over by its
//! brackets and strings alone. That is enough to find a message's way, and a tenth of the work
//! of parsing it. Whether the rest is right is for its receiver to say.

use std::borrow::Cow;

use memchr::memchr2;

use super::skip::brackets;

/// A place in JSON bytes. Every step is `None` where they are not JSON.
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// What comes next, after white space.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(*byte),
            }
        }
        None
    }

    /// Where the walk has come to.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The bytes from a place to here.
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// Whether nothing but white space is left.
    pub fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Walks through an object. `member` is told each name, and steps over its value.
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let name = self.text()?;
            self.take(b':')?;
            self.peek()?;
            member(self, &name)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Walks through an array. `entry` is told the bytes of each.
    pub fn array(&mut self, mut entry: impl FnMut(&'a [u8])) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            entry(self.value()?);
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Steps over a string and says what it means.
    pub fn text(&mut self) -> Option<Cow<'a, str>> {
        self.peek()?;
        let start = self.at;
        let is_plain = self.string()?;
        let raw = &self.bytes[start..self.at];
        // What means nothing is not what anybody looks for.
        let nothing = Cow::Borrowed("\u{fffd}");
        Some(if is_plain {
            str::from_utf8(&raw[1..raw.len() - 1]).map_or(nothing, Cow::Borrowed)
        } else {
            serde_json::from_slice(raw).map_or(nothing, Cow::Owned)
        })
    }

    /// Steps over any value and gives its bytes.
    pub fn value(&mut self) -> Option<&'a [u8]> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => {
                self.string()?;
            }
            b'{' | b'[' => self.at += brackets(&self.bytes[self.at..])?,
            _ => self.word()?,
        }
        Some(&self.bytes[start..self.at])
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    /// Steps over a string; `true` if it says what it means, without escapes.
    fn string(&mut self) -> Option<bool> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return None;
        }
        self.at += 1;
        let mut is_plain = true;
        loop {
            self.at += memchr2(b'"', b'\\', self.bytes.get(self.at..)?)?;
            if self.bytes[self.at] == b'"' {
                self.at += 1;
                return Some(is_plain);
            }
            is_plain = false;
            self.at += 2;
        }
    }

    /// Steps over a number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
        let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        let word = &rest[..length];
        let is_number = matches!(word.first()?, b'-' | b'0'..=b'9')
            && (word.iter())
                .all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        self.at += length;
        (is_number || matches!(word, b"true" | b"false" | b"null")).then_some(())
    }
}
