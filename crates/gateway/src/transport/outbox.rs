//! Lines on their way out, as fast as the other side takes them.

use std::collections::VecDeque;
use std::io::{self, IoSlice};

use bytes::{Buf, Bytes};

use super::pipe::Writing;

/// Lines that wait to be written. It takes whatever it is given; who fills it has to look
/// whether it is full, and stop reading what fills it.
pub struct Outbox {
    to: Writing,
    lines: VecDeque<Line>,
    bytes: usize,
    /// How many of them are our own answers.
    own: usize,
}

struct Line {
    bytes: Bytes,
    own: bool,
}

/// How many bytes may wait before the other side is read no more.
const FULL: usize = 256 * 1024;

/// How many bytes of our own answers may wait before whoever causes them is read no more.
const FLOODED: usize = 1024 * 1024;

/// How many lines are written with one call.
const AT_ONCE: usize = 16;

impl Outbox {
    pub fn new(to: Writing) -> Self {
        Self {
            to,
            lines: VecDeque::new(),
            bytes: 0,
            own: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.bytes >= FULL
    }

    /// Whether whoever should take our answers causes more and more of them.
    pub fn is_flooded(&self) -> bool {
        self.own >= FLOODED
    }

    /// Takes a line of the other side, with its end or without.
    pub fn push(&mut self, line: Bytes) {
        self.add(line, false);
    }

    /// Takes an answer of our own.
    pub fn answer(&mut self, line: Bytes) {
        self.add(line, true);
    }

    /// Takes a line of the other side, or one of our own.
    pub fn add(&mut self, bytes: Bytes, own: bool) {
        let ends = bytes.ends_with(b"\n");
        for bytes in [bytes, Bytes::from_static(b"\n")]
            .into_iter()
            .take(if ends { 1 } else { 2 })
        {
            self.bytes += bytes.len();
            self.own += if own { bytes.len() } else { 0 };
            self.lines.push_back(Line { bytes, own });
        }
    }

    /// Writes what the system takes at once.
    pub fn hurry(&mut self) -> io::Result<()> {
        while !self.lines.is_empty() {
            match self.to.try_write(&pieces(&self.lines)) {
                Ok(written) => self.gone(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes some of it, once the system takes it. Nothing is lost when waiting is given up.
    pub async fn flush(&mut self) -> io::Result<()> {
        self.to.ready().await?;
        self.hurry()
    }

    /// Closes the other side's input. What waited is lost.
    pub async fn close(self) {
        self.to.close().await;
    }

    fn gone(&mut self, mut written: usize) {
        self.bytes -= written;
        while let Some(line) = self.lines.front_mut() {
            let gone = written.min(line.bytes.len());
            self.own -= if line.own { gone } else { 0 };
            if written < line.bytes.len() {
                line.bytes.advance(written);
                return;
            }
            written -= gone;
            self.lines.pop_front();
        }
    }
}

fn pieces(lines: &VecDeque<Line>) -> Vec<IoSlice<'_>> {
    let lines = lines.iter().take(AT_ONCE);
    lines.map(|line| IoSlice::new(&line.bytes)).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[tokio::test]
    async fn everything_gets_out_in_order_however_slowly_it_is_read() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut out = Outbox::new(Writing::new(writer.into()).unwrap());
        let mut expected = Vec::new();
        for n in 0..2_000_u32 {
            let line = format!("{n}:{}", "x".repeat(n as usize % 500));
            expected.extend_from_slice(line.as_bytes());
            expected.push(b'\n');
            // Some have their end, some have not.
            out.push(if n % 2 == 0 {
                line.into()
            } else {
                format!("{line}\n").into()
            });
            out.hurry().unwrap();
        }
        assert!(out.is_full(), "a pipe does not take half a megabyte");
        let reading = tokio::task::spawn_blocking(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            read
        });
        while !out.is_empty() {
            out.flush().await.unwrap();
        }
        assert!(!out.is_full());
        out.close().await;
        assert_eq!(reading.await.unwrap(), expected);
    }

    #[tokio::test]
    async fn our_own_answers_are_counted_until_they_are_out() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut out = Outbox::new(Writing::new(writer.into()).unwrap());
        out.push("x".repeat(3 * FLOODED).into());
        assert!(out.is_full() && !out.is_flooded());
        out.answer("y".repeat(FLOODED).into());
        assert!(out.is_flooded());
        let reading = tokio::task::spawn_blocking(move || io::copy(&mut reader, &mut io::sink()));
        while !out.is_empty() {
            out.flush().await.unwrap();
        }
        assert!(!out.is_flooded() && !out.is_full());
        out.close().await;
        reading.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_an_error() {
        let (reader, writer) = io::pipe().unwrap();
        let mut out = Outbox::new(Writing::new(writer.into()).unwrap());
        drop(reader);
        out.push("{}".into());
        assert!(out.flush().await.is_err());
    }

    #[tokio::test]
    async fn a_file_takes_everything_too() {
        let path = std::env::temp_dir().join(format!("midcall-outbox-{}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        let mut out = Outbox::new(Writing::new(file.into()).unwrap());
        out.push("{}".into());
        while !out.is_empty() {
            out.flush().await.unwrap();
        }
        out.close().await;
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
        std::fs::remove_file(path).unwrap();
    }
}
