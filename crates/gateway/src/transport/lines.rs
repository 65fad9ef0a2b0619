//! Lines, out of whatever pieces they arrive in.

use std::io;

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::task::coop::consume_budget;

use super::oversized::{Oversized, Skim};
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
    /// The line that is being read past, if it is too long.
    skim: Option<Skim>,
}

/// What comes next.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// A line, its end included; the last one may have none.
    Whole(Bytes),
    /// A line longer than is taken. It was read past.
    TooLong(Oversized),
    /// A line that may never end.
    Endless,
    /// No more.
    End,
}

/// How much is read at once.
const PIECE: usize = 32 * 1024;

/// How much of a line is read past before it counts as endless.
const ENDLESS: usize = 1024 * 1024 * 1024;

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
            skim: None,
        }
    }

    /// The next line that is not blank.
    pub async fn next(&mut self) -> io::Result<Line> {
        loop {
            if self.skim.is_some() {
                if let Some(line) = self.read_past() {
                    return Ok(line);
                }
            } else if let Some(line) = self.split() {
                if line.iter().all(u8::is_ascii_whitespace) {
                    consume_budget().await; // A flood of nothing must not keep others waiting.
                    continue;
                }
                return Ok(Line::Whole(line));
            }
            if self.read.len() > self.most {
                self.skim = Some(Skim::default());
                continue;
            }
            if self.ended {
                return Ok(Line::End);
            }
            let read = self.from.read(&mut self.piece[..]).await?;
            self.ended = read == 0;
            self.read.extend_from_slice(&self.piece[..read]);
        }
    }

    /// Reads past what has arrived of a line that is too long, and says what it was once it is over.
    fn read_past(&mut self) -> Option<Line> {
        let skim = self.skim.as_mut()?;
        let end = memchr(b'\n', &self.read);
        skim.read(&self.read[..end.unwrap_or(self.read.len())]);
        // What was kept of it is given back.
        self.read = match end {
            Some(end) => BytesMut::from(&self.read[end + 1..]),
            None => BytesMut::new(),
        };
        self.seen = 0;
        if end.is_some() || self.ended {
            return self.skim.take().map(|skim| Line::TooLong(skim.found()));
        }
        (skim.bytes() > ENDLESS).then_some(Line::Endless)
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
        let mut line = self.read.split_to(end);
        join(&mut line);
        Some(line.freeze())
    }
}

/// Replaces carriage returns within a line by spaces. They are white space in JSON, but some peers end a line there, and
/// would take a part of the message for a message of its own.
fn join(line: &mut [u8]) {
    let end = line.trim_ascii_end().len();
    let mut at = 0;
    while let Some(found) = memchr(b'\r', &line[at..end]) {
        at += found;
        line[at] = b' ';
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn stream(most: usize) -> (io::PipeWriter, Lines) {
        let (reader, writer) = io::pipe().unwrap();
        (
            writer,
            Lines::new(Reading::new(reader.into()).unwrap(), most),
        )
    }

    async fn all(mut lines: Lines) -> Vec<String> {
        let mut found = Vec::new();
        while let Line::Whole(line) = lines.next().await.unwrap() {
            found.push(String::from_utf8(line.to_vec()).unwrap());
        }
        found
    }

    #[tokio::test]
    async fn lines_come_whole_however_they_arrive() {
        for piece in [1, 2, 3, 7, 1000] {
            let (mut writer, lines) = stream(1_000_000);
            let text = "{\"a\":1}\n\n  \r\n{\"b\":\"é\"}\r\n[]\n{\"last\":true}";
            let writing = tokio::task::spawn_blocking(move || {
                for piece in text.as_bytes().chunks(piece) {
                    writer.write_all(piece).unwrap();
                }
            });
            let found = all(lines).await;
            writing.await.unwrap();
            assert_eq!(
                found,
                [
                    "{\"a\":1}\n",
                    "{\"b\":\"é\"}\r\n",
                    "[]\n",
                    "{\"last\":true}"
                ]
            );
        }
    }

    #[tokio::test]
    async fn a_line_may_be_as_long_as_is_allowed_and_no_longer() {
        for (length, most, fits) in [
            (300_000, 300_000, true),
            (300_001, 300_000, false),
            (10, 9, false),
        ] {
            let (mut writer, mut lines) = stream(most);
            let writing = tokio::task::spawn_blocking(move || {
                let _ = writer.write_all(&vec![b'x'; length]);
                let _ = writer.write_all(b"\n");
            });
            match lines.next().await.unwrap() {
                Line::Whole(line) => assert!(fits && line.len() == length + 1),
                other => assert!(!fits && matches!(other, Line::TooLong(_))),
            }
            drop(lines);
            writing.await.unwrap();
        }
    }

    #[tokio::test]
    async fn what_comes_after_a_line_that_is_too_long_is_read() {
        let (mut writer, mut lines) = stream(1_000);
        let writing = tokio::task::spawn_blocking(move || {
            let long = "x".repeat(500_000);
            write!(
                writer,
                "{{\"long\":\"{long}\"}}\n{{\"short\":1}}\n{{\"cut\":\"{long}"
            )
            .unwrap();
        });
        assert!(matches!(lines.next().await.unwrap(), Line::TooLong(_)));
        assert_eq!(
            lines.next().await.unwrap(),
            Line::Whole("{\"short\":1}\n".into())
        );
        assert!(matches!(lines.next().await.unwrap(), Line::TooLong(_)));
        assert_eq!(lines.next().await.unwrap(), Line::End);
        writing.await.unwrap();
    }

    #[tokio::test]
    async fn waiting_may_be_given_up() {
        let (mut writer, mut lines) = stream(1_000);
        writer.write_all(b"{\"half\":").unwrap();
        let nothing = tokio::time::timeout(std::time::Duration::from_millis(50), lines.next());
        assert!(nothing.await.is_err());
        writer.write_all(b"1}\n").unwrap();
        assert_eq!(
            lines.next().await.unwrap(),
            Line::Whole("{\"half\":1}\n".into())
        );
    }

    #[test]
    fn a_carriage_return_within_a_line_ends_none() {
        for (line, joined) in [
            ("{\"a\":\r{}\r}\n", "{\"a\": {} }\n"),
            ("\r{}\r\n", " {}\r\n"),
            ("{}\n", "{}\n"),
            ("{}\r", "{}\r"),
        ] {
            let mut bytes = line.as_bytes().to_vec();
            join(&mut bytes);
            assert_eq!(bytes, joined.as_bytes(), "{line:?}");
        }
    }
}
