//! Lines, out of whatever pieces they arrive in.

use std::io;

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::task::coop::consume_budget;

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
                    consume_budget().await; // A flood of nothing must not keep others waiting.
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
                other => assert!(!fits && other == Line::TooLong),
            }
            drop(lines);
            writing.await.unwrap();
        }
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
}
