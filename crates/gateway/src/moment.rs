//! Points in time that can be written down.
//!
//! A [`Moment`] is read off the system's clock once, when the process starts, and then advanced by the monotonic clock.
//! So it never jumps when somebody sets the clock, and it still means something in a record.
//!
//! In: what knows the time (`relay`). Elsewhere: deadlines that people see, which follow the system's clock (`desk`).

use std::ops::{Add, Sub};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// A point in time, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment(u64);

/// What both clocks said at the start.
static START: LazyLock<(Instant, Duration)> = LazyLock::new(|| {
    let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    (Instant::now(), wall.unwrap_or_default())
});

impl Moment {
    pub fn now() -> Self {
        Self::of(Instant::now())
    }

    /// The moment at which the monotonic clock says this.
    pub fn of(instant: Instant) -> Self {
        let (start, wall) = *START;
        let since = match instant.checked_duration_since(start) {
            Some(after) => wall + after,
            None => wall.saturating_sub(start - instant),
        };
        Self(micros(since))
    }

    /// What the monotonic clock says then.
    pub fn instant(self) -> Instant {
        let (start, wall) = *START;
        let since = Duration::from_micros(self.0);
        match since.checked_sub(wall) {
            Some(after) => start + after,
            None => start.checked_sub(wall - since).unwrap_or(start),
        }
    }

    /// This moment of another process in the time of this one: `then` there was `here`.
    pub fn rebased(self, then: Self, here: Self) -> Self {
        match self.0.checked_sub(then.0) {
            Some(later) => Self(here.0.saturating_add(later)),
            None => Self(here.0.saturating_sub(then.0 - self.0)),
        }
    }

    /// How long ago `earlier` was; nothing if it is still to come.
    pub fn duration_since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(micros(later)))
    }
}

impl Sub<Duration> for Moment {
    type Output = Self;

    fn sub(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(micros(earlier)))
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_and_an_instant_are_the_same_time() {
        let now = Instant::now();
        for at in [
            now,
            now + Duration::from_secs(300),
            now - Duration::from_millis(20),
        ] {
            let back = Moment::of(at).instant();
            let apart = back.max(at) - back.min(at);
            assert!(apart <= Duration::from_micros(1), "{apart:?}");
        }
        let later = Moment::of(now) + Duration::from_secs(5);
        assert_eq!(
            later.duration_since(Moment::of(now)),
            Duration::from_secs(5)
        );
        assert_eq!(Moment::of(now).duration_since(later), Duration::ZERO);
    }
}
