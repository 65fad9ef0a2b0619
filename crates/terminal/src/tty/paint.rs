//! Draws a prompt below what the terminal shows already, again and again in the same place.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};

use crate::options::Options;
use crate::page::{Line, Screen, Style};
use crate::text::width;

/// How much a terminal is asked to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    /// Letters only.
    Plain,
    /// No colors, but bold and dim.
    Mono,
    Color,
}

impl Paint {
    pub fn of(options: &Options) -> Self {
        match options {
            Options { plain: true, .. } => Self::Plain,
            Options { color: true, .. } => Self::Color,
            _ => Self::Mono,
        }
    }
}

pub(super) struct Painter {
    tty: File,
    paint: Paint,
    /// How wide the lines are that are drawn now.
    drawn: Vec<usize>,
    /// Where among them the cursor is.
    row: usize,
    column: usize,
    columns: usize,
}

impl Painter {
    pub fn new(tty: File, paint: Paint) -> Self {
        Self {
            tty,
            paint,
            drawn: Vec::new(),
            row: 0,
            column: 0,
            columns: 0,
        }
    }

    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.tty.write_all(text.as_bytes())?;
        self.tty.flush()
    }

    /// Takes the prompt away.
    pub fn clear(&mut self) -> io::Result<()> {
        let text = self.erased();
        self.write(&text)
    }

    /// Prints lines where the prompt was. It will be drawn below them.
    pub fn print(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = self.erased();
        for line in lines {
            self.styled(&mut text, line);
            text.push_str(if self.paint == Paint::Plain {
                "\n"
            } else {
                "\r\n"
            });
        }
        self.write(&text)
    }

    /// Draws the prompt anew.
    pub fn draw(&mut self, screen: &Screen, columns: usize) -> io::Result<()> {
        if columns != self.columns {
            self.reflow(columns);
        }
        let mut text = String::from("\x1b[?25l") + &self.erased();
        for (row, line) in screen.lines.iter().enumerate() {
            if row > 0 {
                text.push_str("\r\n");
            }
            self.styled(&mut text, line);
        }
        self.drawn = screen.lines.iter().map(|line| width(&line.text)).collect();
        let last = self.drawn.len().saturating_sub(1);
        (self.row, self.column) = screen.cursor.unwrap_or((last, 0));
        if last > self.row {
            let _ = write!(text, "\x1b[{}A", last - self.row); // a String takes every write
        }
        text.push('\r');
        if self.column > 0 {
            let _ = write!(text, "\x1b[{}C", self.column);
        }
        if screen.cursor.is_some() {
            text.push_str("\x1b[?25h");
        }
        self.write(&text)
    }

    /// A terminal that got narrower has broken the lines that were wider, so the prompt begins further up.
    fn reflow(&mut self, columns: usize) {
        let rows = |width: usize| width.saturating_sub(1) / columns.max(1);
        let above: usize = self
            .drawn
            .iter()
            .take(self.row)
            .map(|width| rows(*width))
            .sum();
        self.row += above + self.column / columns.max(1);
        self.columns = columns;
    }

    /// Goes to where the prompt begins, and takes away everything from there.
    fn erased(&mut self) -> String {
        let mut text = String::new();
        if self.drawn.is_empty() {
            return text;
        }
        if self.row > 0 {
            let _ = write!(text, "\x1b[{}A", self.row);
        }
        text.push_str("\r\x1b[J");
        self.drawn.clear();
        self.row = 0;
        text
    }

    fn styled(&self, text: &mut String, line: &Line) {
        let code = match (line.style, self.paint) {
            (Style::Plain, _) | (_, Paint::Plain) => "",
            (Style::Muted, _) => "\x1b[2m",
            (Style::Accent, Paint::Color) => "\x1b[36m",
            (Style::Warning, Paint::Color) => "\x1b[33m",
            (Style::Danger, Paint::Color) => "\x1b[1;31m",
            (_, Paint::Color | Paint::Mono) => "\x1b[1m",
        };
        text.push_str(code);
        text.push_str(&line.text);
        if !code.is_empty() {
            text.push_str("\x1b[0m");
        }
    }
}
