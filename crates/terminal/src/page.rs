//! What a prompt shows: lines of words, each with one style, and a cursor.

use crate::edit::Edit;
use crate::text::{plain, width, wrap};

/// How a line looks, where a terminal has looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    /// What is asked.
    Strong,
    /// Where the person is.
    Accent,
    /// Help.
    Muted,
    /// What to be careful about.
    Warning,
    /// What is wrong.
    Danger,
}

/// One line, no wider than the screen.
#[derive(Clone)]
pub(crate) struct Line {
    pub style: Style,
    pub text: String,
}

/// How large a screen is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// A page being written.
pub(crate) struct Page {
    pub size: Size,
    lines: Vec<Line>,
    foot: Vec<Line>,
    cursor: Option<(usize, usize)>,
    focus: usize,
}

/// A page that fits the screen.
pub(crate) struct Screen {
    pub lines: Vec<Line>,
    /// Row and column of the cursor, if it is shown.
    pub cursor: Option<(usize, usize)>,
}

/// No line is wider, as on a printed page.
const WIDEST: usize = 88;

impl Size {
    /// How wide lines get. The last column stays free: terminals disagree on what happens there.
    pub fn width(self) -> usize {
        self.columns.saturating_sub(1).clamp(10, WIDEST)
    }
}

impl Page {
    pub fn new(size: Size) -> Self {
        Self {
            size,
            lines: Vec::new(),
            foot: Vec::new(),
            cursor: None,
            focus: 0,
        }
    }

    /// A text behind a mark, such as `"> "`; further lines are indented as far.
    pub fn text(&mut self, style: Style, mark: &str, text: &str) {
        let lines = marked(self.size, style, mark, text);
        self.lines.extend(lines);
    }

    /// At most so many lines of a text. Returns whether that was all of it.
    pub fn beginning(&mut self, style: Style, mark: &str, text: &str, most: usize) -> bool {
        let lines = marked(self.size, style, mark, text);
        self.cut(lines, most)
    }

    /// A label and its value, at most so many lines. Further lines of the value are indented, so that none looks like
    /// another label.
    pub fn entry(&mut self, style: Style, mark: &str, text: &str, most: usize) {
        let size = Size {
            columns: self.size.columns.min(WIDEST + 1).saturating_sub(4),
            ..self.size
        };
        let mut lines = marked(size, style, mark, text);
        lines
            .iter_mut()
            .skip(1)
            .for_each(|line| line.text.insert_str(0, "    "));
        self.cut(lines, most);
    }

    fn cut(&mut self, mut lines: Vec<Line>, most: usize) -> bool {
        let is_all = lines.len() <= most;
        lines.truncate(most);
        if let Some(last) = lines.last_mut().filter(|_| !is_all) {
            let room = self.size.width().saturating_sub(1);
            while width(&last.text) > room {
                last.text.pop();
            }
            last.text.push('…');
        }
        self.lines.extend(lines);
        is_all
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.text(Style::Plain, "", "");
    }

    /// The last lines are where the person is: they stay on the screen.
    pub fn focus(&mut self) {
        self.focus = self.lines.len().saturating_sub(1);
    }

    /// A text being typed, with the cursor.
    pub fn edit(&mut self, mark: &str, edit: &Edit, is_masked: bool) {
        let indent = width(mark);
        let rows = (self.size.rows / 2).clamp(1, 8);
        let drawn = edit.draw(self.size.width().saturating_sub(indent), rows, is_masked);
        self.cursor = Some((self.lines.len() + drawn.row, indent + drawn.column));
        self.focus = self.lines.len() + drawn.row;
        for (row, text) in drawn.lines.into_iter().enumerate() {
            let mark = if row == 0 {
                mark.to_owned()
            } else {
                " ".repeat(indent)
            };
            self.lines.push(Line {
                style: Style::Accent,
                text: mark + &text,
            });
        }
    }

    /// A line at the end, which stays on the screen however long the page is.
    pub fn foot(&mut self, style: Style, mark: &str, text: &str) {
        self.foot.extend(marked(self.size, style, mark, text));
    }

    /// The keys that mean something here. A line breaks between two of them, not within one.
    pub fn keys(&mut self, keys: &[String]) {
        let whole: Vec<String> = keys.iter().map(|key| key.replace(' ', "\u{a0}")).collect();
        let mut lines = marked(self.size, Style::Muted, "", &whole.join("\u{a0}· "));
        lines
            .iter_mut()
            .for_each(|line| line.text = line.text.replace('\u{a0}', " "));
        self.foot.extend(lines);
    }

    /// The lines so far, to be printed.
    pub fn into_lines(self) -> Vec<Line> {
        self.lines
    }

    /// As much as the screen has room for, around where the person is.
    pub fn fit(mut self) -> Screen {
        let rows = self.size.rows.saturating_sub(1).max(2);
        self.foot.truncate(rows - 1);
        let room = rows - self.foot.len();
        let top = match self.lines.len() > room {
            true => (self.focus + 1).saturating_sub(room),
            false => 0,
        };
        // What is focused may push the line with the cursor off the screen.
        let cursor = self.cursor.and_then(|(row, column)| {
            let row = row.checked_sub(top).filter(|row| *row < room)?;
            Some((row, column))
        });
        let mut lines: Vec<Line> = self.lines.into_iter().skip(top).take(room).collect();
        lines.append(&mut self.foot);
        Screen { lines, cursor }
    }
}

/// A text as lines behind a mark, for any screen.
pub(crate) fn marked(size: Size, style: Style, mark: &str, text: &str) -> Vec<Line> {
    let indent = width(mark);
    let lines = wrap(text, size.width().saturating_sub(indent))
        .into_iter()
        .enumerate();
    let line = |(row, text): (usize, String)| {
        let mark = if row == 0 {
            plain(mark)
        } else {
            " ".repeat(indent)
        };
        let text = mark + &text;
        Line {
            style,
            text: text.trim_end().to_owned(),
        }
    };
    lines.map(line).collect()
}
