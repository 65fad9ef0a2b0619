//! How long Midcall waits where no flag says so, and how a test changes that.
//!
//! A test can't answer within 250 ms or keep a server quiet for exactly 10 s on a machine that is
//! busy. So in debug builds the environment variable `MIDCALL_TEST_TIMES` replaces these times:
//! `fastest_answer=1h,probe=5m`. Release builds don't read it.
//!
//! Not here: times that people set by a flag (`--hold`, `--timeout`).

use std::sync::LazyLock;
use std::time::Duration;

/// An answer that takes less time than this didn't come from a person who read the question.
pub static FASTEST_ANSWER: Time = Time::new("fastest_answer", Duration::from_millis(250));

/// How long a server may take to answer `server/discover` before Midcall sends `initialize`.
pub static PROBE: Time = Time::new("probe", Duration::from_secs(10));

/// A time with the name that tests know it by.
pub struct Time {
    name: &'static str,
    usual: Duration,
}

impl Time {
    const fn new(name: &'static str, usual: Duration) -> Self {
        Self { name, usual }
    }

    /// The usual time, or what `MIDCALL_TEST_TIMES` says in a debug build.
    pub fn get(&self) -> Duration {
        if cfg!(debug_assertions) {
            let replaced = REPLACED.iter().find(|(name, _)| name == self.name);
            return replaced.map_or(self.usual, |(_, time)| *time);
        }
        self.usual
    }
}

/// What `MIDCALL_TEST_TIMES` says. A test with a typing error must not pass by accident, so that panics.
static REPLACED: LazyLock<Vec<(String, Duration)>> = LazyLock::new(|| {
    let text = std::env::var("MIDCALL_TEST_TIMES").unwrap_or_default();
    read(&text).unwrap_or_else(|wrong| panic!("MIDCALL_TEST_TIMES: {wrong}"))
});

fn read(text: &str) -> Result<Vec<(String, Duration)>, String> {
    let times = [&FASTEST_ANSWER, &PROBE];
    let entries = text.split(',').filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (name, time) = entry
                .split_once('=')
                .ok_or(format!("{entry} isn't name=time"))?;
            if !times.iter().any(|known| known.name == name) {
                return Err(format!("there is no time called {name}"));
            }
            let time = crate::duration::read(time).map_err(|usage| format!("{name}: {usage}"))?;
            Ok((name.to_owned(), time))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_replaced_by_name() {
        assert_eq!(read(""), Ok(vec![]));
        let replaced = read("fastest_answer=5m,probe=0ms").unwrap();
        assert_eq!(
            replaced[0],
            ("fastest_answer".to_owned(), Duration::from_secs(300))
        );
        assert_eq!(replaced[1], ("probe".to_owned(), Duration::ZERO));
        for wrong in ["probe", "prob=1s", "probe=1", "probe=1s;fastest_answer=1s"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
