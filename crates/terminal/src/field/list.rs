//! A list to choose from: by arrow keys, by number, and where it is long, by typing a part of a name. Only what is seen
//! is drawn, so ten thousand options are no slower than ten.

use midcall_core::Offers;

use crate::edit::Edit;
use crate::event::Key;
use crate::look::Look;
use crate::page::{Page, Style};
use crate::text::short;

/// From how many options on typing searches. Fewer have numbers of one digit.
const LONG: usize = 10;

/// Characters of an option's name. A longer one is no name.
const NAME: usize = 200;

/// How many matches plain mode lists.
const LISTED: usize = 20;

/// One option as it is shown and searched.
struct Item {
    label: String,
    folded: String,
    description: Option<String>,
}

pub(super) struct List {
    items: Vec<Item>,
    /// The first item has the number 0: it means none of the others.
    has_none: bool,
    query: Edit,
    /// The items that the query leaves.
    matches: Vec<usize>,
    /// Which of those the person is at.
    at: Option<usize>,
}

impl List {
    pub fn new(offers: &Offers, none: Option<String>) -> Self {
        let has_none = none.is_some();
        let none = none.map(|label| (label, None));
        let offers = offers
            .list
            .iter()
            .map(|offer| (short(&offer.label(), NAME), offer.description.clone()));
        let item = |(label, description): (String, Option<String>)| Item {
            folded: label.to_lowercase(),
            label,
            description,
        };
        let items: Vec<Item> = none.into_iter().chain(offers).map(item).collect();
        let matches = (0..items.len()).collect();
        Self {
            items,
            has_none,
            query: Edit::line(""),
            matches,
            at: None,
        }
    }

    /// The item the person is at.
    pub fn current(&self) -> Option<usize> {
        self.at.map(|at| self.matches[at])
    }

    /// Goes to an item, if the query leaves it.
    pub fn go(&mut self, item: Option<usize>) {
        self.at = item.and_then(|item| self.matches.iter().position(|found| *found == item));
    }

    pub fn is_long(&self) -> bool {
        self.items.len() - usize::from(self.has_none) >= LONG
    }

    /// Whether the person is searching.
    pub fn is_searching(&self) -> bool {
        !self.query.text().is_empty()
    }

    /// Ends the search where the person is.
    pub fn end_search(&mut self) {
        let current = self.current();
        self.query.set("");
        self.search();
        self.go(current);
    }

    /// Takes a key. Returns whether it meant something here, and the item whose number was typed.
    pub fn key(&mut self, key: Key, rows: usize) -> (bool, Option<usize>) {
        let last = self.matches.len().checked_sub(1);
        let page = rows.max(1);
        let to = match (key, self.at, last) {
            (Key::Up | Key::Down | Key::PageUp | Key::PageDown, _, None) => None,
            (Key::Up | Key::PageUp, None, last) => last,
            (Key::Down | Key::PageDown, None, _) => Some(0),
            (Key::Up, Some(at), _) => Some(at.saturating_sub(1)),
            (Key::Down, Some(at), last) => last.map(|last| last.min(at + 1)),
            (Key::PageUp, Some(at), _) => Some(at.saturating_sub(page)),
            (Key::PageDown, Some(at), last) => last.map(|last| last.min(at + page)),
            (Key::Home, _, Some(_)) if !self.is_searching() => Some(0),
            (Key::End, _, last) if !self.is_searching() => last,
            (Key::Char(digit @ '0'..='9'), ..) if !self.is_long() => {
                let number = usize::from(digit as u8 - b'0');
                let item = self.of_number(number);
                if item.is_some() {
                    self.at = item;
                }
                return (item.is_some(), item);
            }
            _ if self.is_long() => return (self.query(key), None),
            _ => return (false, None),
        };
        if to.is_some() {
            self.at = to;
        }
        (true, None)
    }

    /// Adds what was pasted to the search.
    pub fn paste(&mut self, text: &str) -> bool {
        if self.is_long() {
            self.query.insert(text.trim());
            self.search();
        }
        self.is_long()
    }

    fn query(&mut self, key: Key) -> bool {
        match self.query.key(key) {
            None => false,
            Some(changed) => {
                if changed {
                    self.search();
                }
                true
            }
        }
    }

    /// Finds what the query leaves, and goes to the best of it.
    fn search(&mut self) {
        let query = self.query.text().trim().to_lowercase();
        self.matches = self.matching(&query);
        let exact = query.parse().ok().and_then(|number| self.of_number(number));
        self.at = match query.is_empty() {
            true => None,
            false => exact
                .and_then(|exact| self.matches.iter().position(|item| *item == exact))
                .or((!self.matches.is_empty()).then_some(0)),
        };
    }

    fn matching(&self, query: &str) -> Vec<usize> {
        let is_number = |item: usize| query.parse() == Ok(self.number(item));
        (0..self.items.len())
            .filter(|item| self.items[*item].folded.contains(query) || is_number(*item))
            .collect()
    }

    fn number(&self, item: usize) -> usize {
        item + usize::from(!self.has_none)
    }

    fn of_number(&self, number: usize) -> Option<usize> {
        let item = number.checked_sub(usize::from(!self.has_none))?;
        (item < self.items.len()).then_some(item)
    }

    /// Draws the items around the person, each behind what `mark` says of it.
    pub fn draw(&self, page: &mut Page, look: &Look, mark: impl Fn(usize) -> &'static str) {
        if self.is_long() {
            page.edit(
                &format!("{} ", look.say("prompt.search")),
                &self.query,
                false,
            );
        }
        let rows = rows(page);
        let at = self.at.unwrap_or(0);
        let top = at
            .saturating_sub(rows / 2)
            .min(self.matches.len().saturating_sub(rows));
        if top > 0 {
            page.text(Style::Muted, "  ", &format!("… +{top}"));
        }
        let digits = self.number(self.items.len()).to_string().len();
        for (nth, item) in self.matches.iter().enumerate().skip(top).take(rows) {
            let is_here = self.at == Some(nth);
            let (style, pointer) = if is_here {
                (Style::Accent, ">")
            } else {
                (Style::Plain, " ")
            };
            let number = self.number(*item);
            let item_mark = format!("{pointer} {}{number:digits$}. ", mark(*item));
            page.beginning(style, &item_mark, &self.items[*item].label, 2);
            if is_here {
                if let Some(description) = &self.items[*item].description {
                    let indent = " ".repeat(crate::text::width(&item_mark));
                    page.beginning(Style::Muted, &indent, description, 3);
                }
                page.focus();
            }
        }
        let below = self.matches.len().saturating_sub(top + rows);
        if below > 0 {
            page.text(Style::Muted, "  ", &format!("… +{below}"));
        }
        if self.matches.is_empty() {
            page.text(Style::Muted, "  ", &look.say("prompt.no_match"));
        }
    }

    /// In plain mode: the options with their numbers, if they aren't too many to be read.
    pub fn told(&self, mark: impl Fn(usize) -> &'static str) -> Vec<String> {
        let items = 0..self.items.len().min(LISTED + 1);
        let mut told: Vec<String> = items.map(|item| self.tell(item, mark(item))).collect();
        if self.items.len() > LISTED + 1 {
            told.push(format!("… +{}", self.items.len() - LISTED - 1));
        }
        told
    }

    fn tell(&self, item: usize, mark: &str) -> String {
        let Item {
            label, description, ..
        } = &self.items[item];
        let number = self.number(item);
        match description {
            Some(description) => format!("{mark}{number}. {label}: {}", short(description, NAME)),
            None => format!("{mark}{number}. {label}"),
        }
    }

    /// In plain mode: the item that a number or a name means; else what to say to the person.
    pub fn find(&self, said: &str, look: &Look) -> Result<usize, Vec<String>> {
        let said = said.trim().to_lowercase();
        if let Some(item) = said.parse().ok().and_then(|number| self.of_number(number)) {
            return Ok(item);
        }
        if let Some(item) = self.items.iter().position(|item| item.folded == said) {
            return Ok(item);
        }
        let found = self.matching(&said);
        match found.as_slice() {
            _ if said.is_empty() => Err(Vec::new()),
            [] => Err(vec![midcall_core::Fault::NotAnOption.say(look.locale)]),
            [only] => Ok(*only),
            several => {
                let mut told: Vec<String> = several
                    .iter()
                    .take(LISTED)
                    .map(|item| self.tell(*item, ""))
                    .collect();
                if several.len() > LISTED {
                    told.push(format!("… +{}", several.len() - LISTED));
                }
                Err(told)
            }
        }
    }

    /// How many options there are, for the hint.
    pub fn total(&self) -> usize {
        self.items.len() - usize::from(self.has_none)
    }
}

/// How many items are drawn.
pub(super) fn rows(page: &Page) -> usize {
    page.size.rows.saturating_sub(12).clamp(3, 10)
}
