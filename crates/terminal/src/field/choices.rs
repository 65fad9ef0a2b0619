//! Some of several options.

use super::list::List;
use super::*;
use midcall_core::Offers;
use std::collections::BTreeSet;

pub(crate) struct Choices {
    list: List,
    values: Vec<Value>,
    marked: BTreeSet<usize>,
    /// Whether "none of these" is an answer, and not the same as leaving it out.
    is_answer: bool,
}

impl Choices {
    pub fn new(offers: &Offers, start: Option<&Value>, field: &Field) -> Self {
        let values: Vec<Value> = offers
            .list
            .iter()
            .map(|offer| offer.value.clone())
            .collect();
        let started = start.and_then(Value::as_array).into_iter().flatten();
        let place = |value: &Value| offers.list.iter().position(|offer| offer.is(value));
        let mut list = List::new(offers, None);
        list.go(Some(0));
        Self {
            list,
            values,
            marked: started.filter_map(place).collect(),
            is_answer: field.required || field.suggested.is_some(),
        }
    }

    fn toggle(&mut self, item: usize) {
        if !self.marked.remove(&item) {
            self.marked.insert(item);
        }
    }
}

impl Input for Choices {
    fn key(&mut self, key: Key, _look: &Look) -> Heard {
        match (key, self.list.current()) {
            (Key::Char(' '), Some(item)) => {
                self.toggle(item);
                self.list.end_search();
                Heard::Changed
            }
            (Key::Char(' '), None) => Heard::Moved,
            (key, _) => match self.list.key(key, 10) {
                (_, Some(item)) => {
                    self.toggle(item);
                    Heard::Changed
                }
                (true, None) => Heard::Moved,
                (false, None) => Heard::Ignored,
            },
        }
    }

    fn paste(&mut self, text: &str) -> Heard {
        if self.list.paste(text) {
            Heard::Moved
        } else {
            Heard::Ignored
        }
    }

    fn read(&self, _look: &Look) -> Result<Option<Value>, Fault> {
        let chosen: Vec<Value> = self
            .marked
            .iter()
            .map(|item| self.values[*item].clone())
            .collect();
        Ok((!chosen.is_empty() || self.is_answer).then_some(Value::Array(chosen)))
    }

    fn draw(&self, page: &mut Page, look: &Look) {
        self.list
            .draw(page, look, |item| mark(self.marked.contains(&item)));
    }

    fn keys(&self) -> &'static [&'static str] {
        if self.list.is_long() {
            &["move", "mark", "next", "search"]
        } else {
            &["move", "mark", "next"]
        }
    }

    fn options(&self, look: &Look) -> Vec<String> {
        let mut told = self.list.told(|item| mark(self.marked.contains(&item)));
        told.push(look.fill(
            "terminal.numbers_hint",
            &[("total", self.list.total().into())],
        ));
        told
    }

    /// Numbers or names; a name with spaces needs commas around it.
    fn line(&mut self, line: &str, look: &Look) -> Reply {
        let parts: Vec<&str> = match line.contains(',') {
            true => line.split(',').collect(),
            false => line.split_whitespace().collect(),
        };
        let mut marked = BTreeSet::new();
        match self.list.find(line, look) {
            Ok(item) => drop(marked.insert(item)),
            Err(_) => {
                for part in parts
                    .iter()
                    .map(|part| part.trim())
                    .filter(|part| !part.is_empty())
                {
                    match self.list.find(part, look) {
                        Ok(item) => drop(marked.insert(item)),
                        Err(told) => return Reply::Say(told),
                    }
                }
            }
        }
        self.marked = marked;
        Reply::Done
    }

    fn clear(&mut self) {
        self.marked.clear();
    }
}

fn mark(is_marked: bool) -> &'static str {
    if is_marked { "[x] " } else { "[ ] " }
}
