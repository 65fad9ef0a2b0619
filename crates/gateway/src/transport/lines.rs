//! Lines, out of whatever pieces they arrive in.

use std::io;

use bytes::{Bytes, BytesMut};
use memchr::memchr;

use super::pipe::Reading;

/// A stream of lines. What was read stays read when waiting for the next line is given up.
pub struct Lines {
    from: Reading,
    /// What is read at once lands here.
    piece: Box<[u8; PIECE]>,
    read: BytesMut,
    /// How much of it is known to hold no end of a line.
    seen: usize,
    most: usize,
    ended: bool,
}

/// What comes next.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// A line, its end included; the last one may have none.
    Whole(Bytes),
    /// A line longer than is taken.
    TooLong,
    /// No more.
    End,
}

/// How much is read at once.
const PIECE: usize = 32 * 1024;

impl Lines {
    /// Lines of at most so many bytes.
    pub fn new(from: Reading, most: usize) -> Self {
        Self {
            from,
            piece: Box::new([0; PIECE]),
            read: BytesMut::new(),
            seen: 0,
            most,
            ended: false,
        }
    }

    /// The next line that is not blank.
    pub async fn next(&mut self) -> io::Result<Line> {
        loop {
            if let Some(line) = self.split() {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return Ok(Line::Whole(line));
            }
            if self.read.len() > self.most {
                return Ok(Line::TooLong);
            }
            if self.ended {
                return Ok(Line::End);
            }
            let read = self.from.read(&mut self.piece[..]).await?;
            self.ended = read == 0;
            self.read.extend_from_slice(&self.piece[..read]);
        }
    }

    fn split(&mut self) -> Option<Bytes> {
        let found = memchr(b'\n', &self.read[self.seen..]);
        let end = match found {
            Some(at) => self.seen + at + 1,
            None if self.ended && !self.read.is_empty() => self.read.len(),
            None => {
                self.seen = self.read.len();
                return None;
            }
        };
        if end > self.most + 1 {
            return None;
        }
        self.seen = 0;
        Some(self.read.split_to(end).freeze())
    }
}
