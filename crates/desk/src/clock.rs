//! Wall-clock time as the system tells it, and tokio's where a test has moved that.
//!
//! The monotonic clock under tokio's stands still while a machine sleeps, and the system's can
//! be set. So the time since the start is held against the system's clock whenever somebody
//! asks, and where the two have parted the system is right. What waits, waits on tokio's clock;
//! what is told and compared with what was told is this one.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Microseconds since 1970, fine enough that no two changes of a node share one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub(crate) struct Stamp(pub u64);

/// Where the clocks met.
#[derive(Debug)]
pub(crate) struct Clock {
    instant: Instant,
    /// The same moment on the clock that no test can pause.
    unpaused: std::time::Instant,
    wall: i64,
    /// The system's clock.
    system: fn() -> i64,
    /// How far the system's clock has moved against the monotonic one since.
    moved: AtomicI64,
}

/// Microseconds by which the clocks may differ. Less is not worth a jump.
const SLACK: i64 = 2_000_000;

/// Microseconds by which tokio's clock differs from the one below it only because a test has
/// paused or advanced it. Less than `SLACK`, so that a slow test sees no jump either.
const PAUSED: i64 = 1_000_000;

impl Clock {
    pub fn start() -> Self {
        Self::following(system)
    }

    fn following(system: fn() -> i64) -> Self {
        Self {
            instant: Instant::now(),
            unpaused: std::time::Instant::now(),
            wall: system(),
            system,
            moved: AtomicI64::new(0),
        }
    }

    /// The time of day, which can go back when somebody sets the system's clock.
    pub fn now(&self) -> Stamp {
        let elapsed = micros(self.instant.elapsed());
        let unpaused = micros(self.unpaused.elapsed());
        let expected = self.wall.saturating_add(elapsed);
        let mut moved = self.moved.load(Ordering::Relaxed);
        if elapsed.abs_diff(unpaused) <= PAUSED as u64 {
            let really = (self.system)().saturating_sub(expected);
            if really.abs_diff(moved) > SLACK as u64 {
                self.moved.store(really, Ordering::Relaxed);
                moved = really;
            }
        }
        Stamp(expected.saturating_add(moved).max(0) as u64)
    }
}

fn system() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    micros(since.unwrap_or_default())
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

impl Stamp {
    pub fn plus(self, duration: Duration) -> Self {
        let more = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(more))
    }

    /// How long it is from another stamp to this one; nothing if this is earlier.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// As RFC 3339 has it, to the millisecond.
    pub fn rfc3339(self) -> String {
        let at = jiff::Timestamp::from_millisecond((self.0 / 1_000) as i64);
        at.map_or_else(|_| String::new(), |at| format!("{at:.3}"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::Cell;

    const HOUR: i64 = 3_600_000_000;

    thread_local!(static SYSTEM: Cell<i64> = const { Cell::new(0) });

    /// A clock of a system whose own clock [`turn`] moves, and nothing else.
    pub(crate) fn turnable() -> Clock {
        SYSTEM.set(system());
        Clock::following(|| SYSTEM.get())
    }

    /// What a suspend does to the clocks, or somebody who sets them back.
    pub(crate) fn turn(hours: i64) {
        SYSTEM.set(SYSTEM.get() + hours * HOUR);
    }

    pub(crate) fn system_seconds() -> i64 {
        SYSTEM.get() / 1_000_000
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleep_is_seen_and_a_clock_that_was_set_is_followed() {
        let clock = turnable();
        let start = clock.now();
        for (hours, since_start) in [(1, 1), (0, 1), (3, 4), (-2, 2), (-3, -1)] {
            turn(hours);
            let now = clock.now().0 as i64 - start.0 as i64;
            let off = now.abs_diff(since_start * HOUR);
            assert!(off < SLACK as u64, "{hours} more: {now}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_that_a_test_lets_pass_is_time() {
        let clock = turnable();
        let start = clock.now();
        for _ in 0..3 {
            tokio::time::advance(Duration::from_secs(3_600)).await;
            clock.now();
        }
        let hours = Duration::from_secs(3 * 3_600);
        assert_eq!(clock.now(), start.plus(hours), "to the microsecond");
        assert_eq!(clock.now().since(start), hours);
    }

    #[tokio::test]
    async fn slight_differences_move_nothing() {
        let clock = turnable();
        let start = clock.now();
        SYSTEM.set(SYSTEM.get() - SLACK / 2);
        assert!(clock.now() >= start);
        let real = Clock::start();
        assert!(real.now().0.abs_diff(system() as u64) < SLACK as u64);
    }
}
