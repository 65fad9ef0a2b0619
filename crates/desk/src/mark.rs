//! Where a watcher stands, so that it can go on from there.

use std::fmt;
use std::str::FromStr;

use crate::clock::Stamp;

/// Where a watcher stands: the newest change it was told, and those shortly before.
///
/// Changes can become visible a little out of the order of their stamps, so the newest alone
/// would not do: what was told and what was not are both known for the last moments. Its text
/// is `newest-age-age…`, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    newest: u64,
    /// How much older the others are.
    ages: Vec<u64>,
}

/// For how long a change may stay hidden behind newer ones: as far as the clocks of several
/// nodes may differ.
const MOMENT: u64 = 60_000_000;

/// How many changes are remembered one by one. In a greater rush some are told again.
const MOST: usize = 128;

impl Mark {
    /// Notes a change as told.
    pub(crate) fn add(&mut self, Stamp(told): Stamp) {
        if told <= self.newest {
            self.ages.push(self.newest - told);
        } else {
            let older = told - self.newest;
            self.ages.iter_mut().for_each(|age| *age += older);
            if self.newest > 0 {
                self.ages.push(older);
            }
            self.newest = told;
        }
        self.ages.retain(|age| *age < MOMENT);
        let many = self.ages.len().saturating_sub(MOST);
        self.ages.drain(..many);
    }

    /// Whether it lies in the future, further than clocks of several nodes differ.
    pub(crate) fn is_after(&self, Stamp(now): Stamp) -> bool {
        self.newest > now.saturating_add(MOMENT)
    }

    /// Whether a change was told before this mark was made.
    pub(crate) fn has_told(&self, Stamp(changed): Stamp) -> bool {
        match self.newest.checked_sub(changed) {
            None => false,
            Some(age) => age == 0 || age >= MOMENT || self.ages.contains(&age),
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.newest)?;
        self.ages.iter().try_for_each(|age| write!(f, "-{age}"))
    }
}

/// Not where any watcher stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the mark of a watcher")]
pub struct NoMark;

impl FromStr for Mark {
    type Err = NoMark;

    fn from_str(text: &str) -> Result<Self, NoMark> {
        let mut parts = text.split('-').map(|part| part.parse().map_err(|_| NoMark));
        let newest = parts.next().ok_or(NoMark)??;
        let ages: Vec<u64> = parts.take(MOST + 1).collect::<Result<_, _>>()?;
        (ages.len() <= MOST)
            .then_some(Self { newest, ages })
            .ok_or(NoMark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_what_was_told_from_what_was_not() {
        let mut mark = Mark::default();
        for told in [5_000_000, 5_000_010, 5_000_004, 90_000_000, 89_999_999] {
            mark.add(Stamp(told));
        }
        let text = mark.to_string();
        assert_eq!(text, "90000000-1");
        let read: Mark = text.parse().unwrap();
        assert_eq!(read, mark);
        for (changed, told) in [
            (90_000_001, false),
            (90_000_000, true),
            (89_999_999, true),
            (89_999_998, false),
            (5_000_004, true),
        ] {
            assert_eq!(read.has_told(Stamp(changed)), told, "{changed}");
        }
    }

    #[test]
    fn garbage_is_no_mark() {
        for text in ["", "x", "1-", "-1", "1--2", "1-x", &"1-1".repeat(200)] {
            assert!(text.parse::<Mark>().is_err(), "{text}");
        }
    }
}
