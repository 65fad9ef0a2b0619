//! Everything that is wrong with a file that a person writes, told at once.

use std::ops::Range;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct Wrong {
    pub line: usize,
    pub column: usize,
    pub reason: String,
}

impl Wrong {
    /// At a byte of a text.
    pub fn at(text: &str, place: usize, reason: impl Into<String>) -> Self {
        let place = (0..=place.min(text.len())).rfind(|place| text.is_char_boundary(*place));
        let before = &text[..place.unwrap_or(0)];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            reason: reason.into(),
        }
    }
}

/// Everything that is wrong with a text, each place once.
#[derive(Default)]
pub struct Mistakes(Vec<Mistake>);

struct Mistake {
    /// Where an editor should go.
    at: usize,
    /// What can't be used. A second mistake in it would only follow from the first.
    range: Range<usize>,
    reason: String,
}

impl Mistakes {
    /// Adds what is wrong with a key or a value, unless something is wrong with it already.
    pub fn add(&mut self, range: Range<usize>, reason: impl Into<String>) {
        self.add_at(range.start, range, reason);
    }

    /// Adds what is wrong with a table, which may have other mistakes in it.
    pub fn add_to_table(&mut self, table: &Range<usize>, reason: impl Into<String>) {
        self.add(table.start..table.start, reason);
    }

    /// The same, where the place is a part of what can't be used.
    pub fn add_at(&mut self, at: usize, range: Range<usize>, reason: impl Into<String>) {
        let overlaps = |known: &Range<usize>| known.start < range.end && range.start < known.end;
        if !self.0.iter().any(|known| overlaps(&known.range)) {
            let reason = reason.into();
            self.0.push(Mistake { at, range, reason });
        }
    }

    /// Each with its line and column, in the order in which the text has them.
    pub fn of(mut self, text: &str) -> Vec<Wrong> {
        self.0.sort_by_key(|mistake| mistake.at);
        let found = self.0.into_iter();
        found
            .map(|mistake| Wrong::at(text, mistake.at, mistake.reason))
            .collect()
    }
}
