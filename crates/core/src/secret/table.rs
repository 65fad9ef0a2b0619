//! The words for secrets, and those that say whether one is meant.
//!
//! `table.json` is the page's file. Its entries are written as people write them, and are split
//! here by the rules for any other text, so that both meet in one form.
//!
//! In: [`TABLE`].

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::sync::LazyLock;

use serde::Deserialize;

use super::ALL;
use super::words::{Reading, Splitter, fold, is_unspaced};

/// The table, split when it is first needed.
pub static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

/// Phrases that mean a secret, and the words around them that matter.
pub struct Table {
    /// By a phrase without its spaces. Sorted, so that a beginning can be looked up too.
    phrases: BTreeMap<String, Vec<Entry>>,
    /// After a phrase: the field holds something about the secret.
    pub about: HashSet<String>,
    /// Right before a phrase: another thing of that name, a switch, or, with "of" and "de"
    /// left out, something about the secret.
    pub other: HashSet<String>,
    /// In the dozen words before a phrase, up to a comma: it is spoken of, not asked for.
    pub denied: HashSet<String>,
    /// Asks for what follows, in prose.
    pub asking: HashSet<String>,
    /// Ends what is asked for: in "a name for the API key", that is the name.
    pub turn: HashSet<String>,
    /// Left out between the words of a phrase, so that `chaveApi` and "chave da API" are one.
    pub silent: HashSet<String>,
    /// Takes texts apart.
    pub splitter: Splitter,
}

/// A phrase that means a secret.
pub struct Entry {
    /// Its words with single spaces, without silent ones.
    pub phrase: String,
    /// The place of its secret among all; the first is the most telling.
    pub rank: usize,
    /// Whether it means the secret anywhere. Other words have more meanings, and count only
    /// where a label ends in them or prose asks for them.
    pub alone: bool,
}

#[derive(Deserialize)]
struct File {
    secrets: serde_json::Map<String, serde_json::Value>,
    about: Vec<String>,
    other: Vec<String>,
    denied: Vec<String>,
    asking: Vec<String>,
    turn: Vec<String>,
    silent: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    phrases: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
}

/// Letters that a word needs before it also counts at the end of another: `userpassword`.
const ENDING: usize = 8;

impl Table {
    fn new() -> Self {
        const TEXT: &str = include_str!("table.json");
        let file: File = serde_json::from_str(TEXT).expect("the table is well-formed");
        let unspaced = TEXT.split('"').flat_map(|text| {
            let letters = fold(text);
            let runs = letters.split(|letter| !is_unspaced(*letter));
            runs.map(|run| run.iter().collect())
                .collect::<Vec<String>>()
        });
        let splitter = Splitter::new(unspaced.filter(|run| !run.is_empty()));
        let words = |list: &[String]| -> HashSet<String> {
            list.iter()
                .flat_map(|entry| split(&splitter, entry))
                .collect()
        };
        let mut table = Self {
            phrases: BTreeMap::new(),
            about: words(&file.about),
            other: words(&file.other),
            denied: words(&file.denied),
            asking: words(&file.asking),
            turn: words(&file.turn),
            silent: words(&file.silent),
            splitter,
        };
        table.turn.insert(",".to_owned());
        for (name, row) in file.secrets {
            let rank = ALL.iter().position(|secret| secret.name() == name);
            let rank = rank.expect("the table names known secrets");
            let row: Row = serde_json::from_value(row).expect("the table is well-formed");
            for (entries, alone) in [(row.phrases, true), (row.words, false)] {
                for entry in entries {
                    table.add(&entry, rank, alone);
                }
            }
        }
        table
    }

    fn add(&mut self, entry: &str, rank: usize, alone: bool) {
        let words = split(&self.splitter, entry);
        let spoken: Vec<_> = words
            .iter()
            .filter(|word| !self.silent.contains(*word))
            .cloned()
            .collect();
        let phrase = spoken.join(" ");
        if alone {
            self.splitter.known.extend(spoken.iter().cloned());
        } else {
            self.splitter.known.remove(&phrase);
        }
        let joined: HashSet<String> = [spoken.concat(), words.concat()].into();
        for joined in joined {
            let is_long = joined.chars().count() >= ENDING;
            if alone && is_long && joined == phrase && joined.chars().all(char::is_alphabetic) {
                self.splitter.endings.push(joined.clone());
            }
            let phrase = phrase.clone();
            let entry = Entry {
                phrase,
                rank,
                alone,
            };
            self.phrases.entry(joined).or_default().push(entry);
        }
    }

    /// The phrases that have these letters.
    pub fn entries(&self, joined: &str) -> &[Entry] {
        self.phrases.get(joined).map_or(&[], Vec::as_slice)
    }

    /// Whether a phrase begins with these letters.
    pub fn goes_on(&self, letters: &str) -> bool {
        let from = (Bound::Included(letters), Bound::Unbounded);
        let next = self.phrases.range::<str, _>(from).next();
        next.is_some_and(|(joined, _)| joined.starts_with(letters))
    }

    /// The last words, at most so many, without the silent ones.
    pub fn last_spoken<'a>(&self, words: &'a [String], most: usize) -> Vec<&'a String> {
        let backwards = words.iter().rev();
        let spoken = backwards.filter(|word| !self.silent.contains(*word));
        let mut last: Vec<_> = spoken.take(most).collect();
        last.reverse();
        last
    }
}

fn split(splitter: &Splitter, entry: &str) -> Vec<String> {
    let clauses = splitter.clauses(&fold(entry), Reading::default());
    clauses.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looking at all words each time would take 10^10 steps: every phrase of a hostile text is one such time.
    #[test]
    fn words_far_before_a_phrase_are_not_looked_at() {
        let words = vec!["pin".to_owned(); 100_000];
        for _ in 0..100_000 {
            assert_eq!(TABLE.last_spoken(&words, 12).len(), 12);
        }
        let silent = TABLE.silent.iter().next().unwrap().clone();
        let words = ["pin".to_owned(), silent, "code".to_owned()];
        assert_eq!(TABLE.last_spoken(&words, 12), [&words[0], &words[2]]);
    }
}
