//! Columns for a terminal: as wide as what is in them.

use crate::ink::{Ink, Tone};
use crate::unseen::one_line;

/// Rows under a head. A column that is empty in every row is left out.
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// How wide a column gets at most: an address must not be cut.
const WIDTH: usize = 1_000;

impl Table {
    /// A table with these heads.
    pub fn new(head: impl IntoIterator<Item = String>) -> Self {
        Self {
            head: head.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, with nothing in it that a terminal would obey.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().map(|cell| one_line(&cell, WIDTH));
        self.rows.push(cells.collect());
    }

    /// The lines of the table, each with an indent.
    pub fn draw(&self, indent: usize, ink: Ink) -> String {
        let is_used = |column: &usize| self.rows.iter().any(|row| !row[*column].is_empty());
        let columns: Vec<usize> = (0..self.head.len()).filter(is_used).collect();
        let all = || [&self.head].into_iter().chain(&self.rows);
        let width = |column: usize| all().map(|row| row[column].chars().count()).max();
        let mut text = String::new();
        for (nth, row) in all().enumerate() {
            let cells = columns.iter().map(|&column| {
                let cell = &row[column];
                let is_last = Some(&column) == columns.last();
                let width = width(column).filter(|_| !is_last).unwrap_or(0);
                let rest = " ".repeat(width.saturating_sub(cell.chars().count()));
                let tone = (nth == 0).then_some(Tone::Strong);
                tone.map_or_else(|| cell.clone(), |tone| ink.paint(tone, cell)) + &rest
            });
            let cells: Vec<String> = cells.collect();
            text += &" ".repeat(indent);
            text += cells.join("  ").trim_end();
            text.push('\n');
        }
        text
    }
}
