//! A text being typed.

use crate::event::Key;
use crate::text::{next, own, pieces, previous, width};

/// Bytes that are kept: as much as an answer may have. `Debug` isn't there: this is what a person types.
const MOST: usize = 1024 * 1024;

/// A text and where in it the person is.
#[derive(Default)]
pub(crate) struct Edit {
    text: String,
    at: usize,
    /// Whether it may have several lines.
    is_long: bool,
    /// Whether something didn't fit since the last key.
    overflowed: bool,
}

/// A text drawn on lines, and the place of the cursor.
pub(crate) struct Drawn {
    pub lines: Vec<String>,
    pub row: usize,
    pub column: usize,
}

impl Edit {
    /// A text of one line.
    pub fn line(text: &str) -> Self {
        let mut edit = Self::default();
        edit.set(text);
        edit
    }

    /// A text of several lines.
    pub fn lines(text: &str) -> Self {
        let mut edit = Self {
            is_long: true,
            ..Self::default()
        };
        edit.set(text);
        edit
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the whole text.
    pub fn set(&mut self, text: &str) {
        self.text.clear();
        self.at = 0;
        self.insert(text);
    }

    /// True if the last paste was too large and was not taken.
    pub fn has_overflowed(&self) -> bool {
        self.overflowed
    }

    /// Adds a text where the person is. Line breaks become spaces where there is one line only.
    pub fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = if self.is_long {
            text
        } else {
            text.trim_end_matches('\n').replace('\n', " ")
        };
        self.overflowed = self.text.len() + text.len() > MOST;
        if !self.overflowed {
            self.text.insert_str(self.at, &text);
            self.at += text.len();
        }
    }

    /// Takes a key. Returns whether it means something here, and whether it changed the text.
    pub fn key(&mut self, key: Key) -> Option<bool> {
        let before = self.text.len();
        let start = self.text[..self.at]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let end = self.text[self.at..]
            .find('\n')
            .map_or(self.text.len(), |newline| self.at + newline);
        match key {
            Key::Char(character) => self.insert(character.encode_utf8(&mut [0; 4])),
            Key::NewLine if self.is_long => self.insert("\n"),
            Key::Backspace => self.remove(previous(&self.text, self.at), self.at),
            Key::Delete => self.remove(self.at, next(&self.text, self.at)),
            Key::Left => self.at = previous(&self.text, self.at),
            Key::Right => self.at = next(&self.text, self.at),
            Key::Home | Key::Ctrl('a') => self.at = start,
            Key::End | Key::Ctrl('e') => self.at = end,
            Key::Ctrl('u') => self.remove(start, self.at),
            Key::Ctrl('k') => self.remove(self.at, end),
            Key::Ctrl('w') => {
                let kept = self.text[start..self.at].trim_end();
                let word = kept.rfind(' ').map_or(start, |space| start + space + 1);
                self.remove(word, self.at);
            }
            Key::Up if self.is_long && start > 0 => {
                let above = self.text[..start - 1]
                    .rfind('\n')
                    .map_or(0, |newline| newline + 1);
                self.go(above, start - 1, start);
            }
            Key::Down if self.is_long && end < self.text.len() => {
                let below = self.text[end + 1..]
                    .find('\n')
                    .map_or(self.text.len(), |newline| end + 1 + newline);
                self.go(end + 1, below, start);
            }
            _ => return None,
        }
        Some(self.text.len() != before)
    }

    /// Moves to another line, as far from its start as on this one.
    fn go(&mut self, start: usize, end: usize, from: usize) {
        let column = width(&self.text[from..self.at]);
        self.at = start;
        while self.at < end && width(&self.text[start..self.at]) < column {
            self.at = next(&self.text, self.at);
        }
        self.at = self.at.min(end);
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.at = from;
        self.overflowed = false;
    }

    /// Draws the text, or a dot for each of its characters, on lines of so many columns; no more than `rows` of them,
    /// those around the cursor.
    pub fn draw(&self, columns: usize, rows: usize, is_masked: bool) -> Drawn {
        let columns = columns.max(4);
        let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
        let (mut here, mut at) = ((0, 0), 0);
        for piece in pieces(&self.text) {
            if at == self.at {
                here = (lines.len(), used);
            }
            at += piece.len();
            if piece == "\n" && !is_masked {
                lines.push(std::mem::take(&mut line));
                used = 0;
                continue;
            }
            let shown = if is_masked {
                "•".to_owned()
            } else {
                own(piece)
            };
            if used + width(&shown) > columns {
                if here == (lines.len(), used) && at - piece.len() == self.at {
                    here = (lines.len() + 1, 0);
                }
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            used += width(&shown);
            line.push_str(&shown);
        }
        lines.push(line);
        if at == self.at {
            here = (lines.len() - 1, used);
            if used >= columns {
                lines.push(String::new());
                here = (lines.len() - 1, 0);
            }
        }
        let rows = rows.max(1);
        let top = here.0.saturating_sub(rows - 1);
        let lines = lines.into_iter().skip(top).take(rows).collect();
        Drawn {
            lines,
            row: here.0 - top,
            column: here.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(edit: &mut Edit, keys: &[Key]) -> String {
        for key in keys {
            edit.key(*key);
        }
        edit.text().to_owned()
    }

    #[test]
    fn keys_change_the_text_character_by_character() {
        use Key::*;
        let mut edit = Edit::line("cafe\u{301} 👍🏽");
        assert_eq!(typed(&mut edit, &[Backspace, Backspace, Backspace]), "caf");
        assert_eq!(
            typed(&mut edit, &[Home, Delete, Char('C'), End, Char('é')]),
            "Café"
        );
        assert_eq!(typed(&mut edit, &[Left, Ctrl('u')]), "é");
        assert_eq!(
            typed(&mut edit, &[NewLine, Up, Down]),
            "é",
            "one line stays one"
        );
        let mut edit = Edit::line("one two  ");
        assert_eq!(typed(&mut edit, &[Ctrl('w')]), "one ");
    }

    #[test]
    fn several_lines_are_walked_up_and_down() {
        use Key::*;
        let mut edit = Edit::lines("abc\nx\nlong");
        assert_eq!(typed(&mut edit, &[Up, Char('!')]), "abc\nx!\nlong");
        assert_eq!(
            typed(&mut edit, &[Up, Home, Ctrl('k'), NewLine]),
            "\n\nx!\nlong"
        );
    }

    #[test]
    fn a_paste_is_one_line_where_there_is_one() {
        let mut edit = Edit::line("");
        edit.insert("a\r\nb\n");
        assert_eq!(edit.text(), "a b");
        edit.insert(&"x".repeat(MOST));
        assert!(
            edit.has_overflowed() && edit.text() == "a b",
            "nothing is cut in silence"
        );
    }

    #[test]
    fn the_cursor_stands_where_the_person_is() {
        let mut edit = Edit::line("日本語x");
        let drawn = edit.draw(5, 3, false);
        assert_eq!(
            (drawn.lines.as_slice(), drawn.row, drawn.column),
            (&["日本".to_owned(), "語x".into()][..], 1, 3)
        );
        edit.key(Key::Left);
        edit.key(Key::Left);
        let drawn = edit.draw(5, 3, false);
        assert_eq!((drawn.row, drawn.column), (1, 0));
        let drawn = Edit::line("secret").draw(20, 1, true);
        assert_eq!(drawn.lines, ["••••••"]);
        let drawn = Edit::line("abcd").draw(4, 3, false);
        assert_eq!((drawn.row, drawn.column), (1, 0));
        let drawn = Edit::lines(&"row\n".repeat(100)).draw(10, 3, false);
        assert_eq!(
            (drawn.lines.len(), drawn.row),
            (3, 2),
            "a long text shows where the person is"
        );
    }
}
