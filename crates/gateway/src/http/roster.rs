//! The servers that a gateway stands in front of, for `midcall status`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Each server by the name that the person gave it, and what it calls itself once it has asked something.
#[derive(Clone, Default)]
pub struct Roster(Arc<Mutex<BTreeMap<String, Option<String>>>>);

impl Roster {
    /// Adds a server that may ask.
    pub fn add(&self, given: &str) {
        self.change(|servers| {
            servers.entry(given.to_owned()).or_default();
        });
    }

    /// Notes the name under which a server asks.
    pub fn asks(&self, given: &str, own: &str) {
        self.change(|servers| {
            servers.insert(given.to_owned(), Some(own.to_owned()));
        });
    }

    /// The names that people see.
    pub fn names(&self) -> Vec<String> {
        self.change(|servers| {
            let mut names: Vec<String> = Vec::new();
            for (given, own) in servers.iter() {
                let name = own.as_ref().unwrap_or(given);
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            names
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Option<String>>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
