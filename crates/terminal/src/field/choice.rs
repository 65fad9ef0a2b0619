//! One of several options.

use super::list::List;
use super::*;
use midcall_core::Offers;

pub(crate) struct Choice {
    list: List,
    values: Vec<Option<Value>>,
}

impl Choice {
    pub fn new(offers: &Offers, start: Option<&Value>, required: bool, look: &Look) -> Self {
        let none = (!required).then(|| look.say("label.left_empty"));
        let empty = none.is_some().then_some(None);
        let values = offers.list.iter().map(|offer| Some(offer.value.clone()));
        let values: Vec<Option<Value>> = empty.into_iter().chain(values).collect();
        let mut list = List::new(offers, none);
        let is_start = |start: &Value| offers.list.iter().position(|offer| offer.is(start));
        let skipped = usize::from(!required);
        list.go(start.and_then(is_start).map(|place| place + skipped));
        Self { list, values }
    }
}

impl Input for Choice {
    fn key(&mut self, key: Key, _look: &Look) -> Heard {
        match self.list.key(key, 10) {
            (true, _) => Heard::Changed,
            (false, _) => Heard::Ignored,
        }
    }

    fn paste(&mut self, text: &str) -> Heard {
        if self.list.paste(text) {
            Heard::Changed
        } else {
            Heard::Ignored
        }
    }

    fn read(&self, _look: &Look) -> Result<Option<Value>, Fault> {
        match self.list.current() {
            Some(item) => Ok(self.values[item].clone()),
            None if self.list.is_searching() => Err(Fault::NotAnOption),
            None => Ok(None),
        }
    }

    fn draw(&self, page: &mut Page, look: &Look) {
        self.list.draw(page, look, |_| "");
    }

    fn keys(&self) -> &'static [&'static str] {
        if self.list.is_long() {
            &["move", "choose", "search"]
        } else {
            &["move", "choose"]
        }
    }

    fn options(&self, look: &Look) -> Vec<String> {
        let mut told = self.list.told(|_| "");
        told.push(look.fill(
            "terminal.number_hint",
            &[("total", self.list.total().into())],
        ));
        if self.list.is_long() {
            told.push(look.say("prompt.search_hint"));
        }
        told
    }

    fn line(&mut self, line: &str, look: &Look) -> Reply {
        match self.list.find(line, look) {
            Ok(item) => {
                self.list.go(Some(item));
                Reply::Done
            }
            Err(told) => Reply::Say(told),
        }
    }

    fn clear(&mut self) {
        self.list.go(None);
    }
}
