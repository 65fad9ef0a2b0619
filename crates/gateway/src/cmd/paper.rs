//! Reports for a terminal: wrapped, indented, and without anything that a terminal would obey.

use std::io::{self, Write};

use crate::unseen::is_unseen;

/// How wide lines get.
const WIDTH: usize = 88;

/// What is to be printed.
#[derive(Default)]
pub struct Paper {
    pub text: String,
}

impl Paper {
    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Writes a text beside a label, in a column of its own.
    pub fn entry(&mut self, indent: usize, label: &str, column: usize, text: &str) {
        let label = plain(label);
        let start = self.text.len();
        let room = column.saturating_sub(2);
        if label.chars().count() > room || text.is_empty() {
            self.paragraph(indent, &label);
            if !text.is_empty() {
                self.paragraph(indent + column, text);
            }
            return;
        }
        self.paragraph(indent + column, text);
        let label = format!("{:indent$}{label:column$}", "");
        self.text
            .replace_range(start..start + indent + column, &label);
    }

    /// Adds to the last line what is ours and may be in color.
    pub fn append(&mut self, text: &str) {
        let end = self.text.trim_end_matches('\n').len();
        self.text.insert_str(end, text);
    }

    /// Writes a text, wrapped and indented. Its own line breaks are kept.
    pub fn paragraph(&mut self, indent: usize, text: &str) {
        for line in text.split('\n') {
            let line = plain(line);
            let mut column = 0;
            for word in line.split(' ') {
                let width = word.chars().count();
                if column > 0 && column + 1 + width > WIDTH.saturating_sub(indent) && width > 0 {
                    self.text.push('\n');
                    column = 0;
                }
                if column == 0 {
                    self.text.extend(std::iter::repeat_n(' ', indent));
                    column = width.max(1);
                } else {
                    self.text.push(' ');
                    column += 1 + width;
                }
                self.text.push_str(word);
            }
            let end = self.text.trim_end_matches(' ').len();
            self.text.truncate(end);
            self.text.push('\n');
        }
    }
}

/// A stranger's text without what a terminal would obey.
pub fn plain(text: &str) -> String {
    let harmless = |c: char| if is_unseen(c) { '\u{fffd}' } else { c };
    text.chars().map(harmless).collect()
}

/// The beginning of a stranger's text, on one line and without what a terminal would obey.
pub fn short(text: &str, most: usize) -> String {
    let text = plain(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Prints to standard output. A reader that has seen enough (`| head`) is no error.
pub fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_to_its_column() {
        let mut paper = Paper::default();
        paper.entry(2, "short", 10, &"word ".repeat(20));
        paper.entry(2, "too long a label", 10, "text");
        paper.entry(2, "alone", 10, "");
        paper.entry(2, "", 10, "no label");
        let expected = format!(
            "  short     {}\n            {}\n  too long a label\n            text\n  alone\n            no label\n",
            ["word"; 15].join(" "),
            ["word"; 5].join(" "),
        );
        assert_eq!(paper.text, expected);
    }
}
