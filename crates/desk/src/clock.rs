//! Wall-clock time that follows tokio's, so that tests can pause both.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Microseconds since 1970, fine enough that no two changes of a node share one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub(crate) struct Stamp(pub u64);

/// Where the two clocks met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    instant: Instant,
    wall: u64,
}

impl Clock {
    pub fn start() -> Self {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            instant: Instant::now(),
            wall: wall.as_micros() as u64,
        }
    }

    pub fn now(&self) -> Stamp {
        Stamp(self.wall + self.instant.elapsed().as_micros() as u64)
    }

    /// The instant at which this clock shows a stamp.
    pub fn instant(&self, stamp: Stamp) -> Instant {
        self.instant + Duration::from_micros(stamp.0.saturating_sub(self.wall))
    }
}

impl Stamp {
    pub fn plus(self, duration: Duration) -> Self {
        let more = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(more))
    }

    /// As RFC 3339 has it, to the millisecond.
    pub fn rfc3339(self) -> String {
        let at = jiff::Timestamp::from_millisecond((self.0 / 1_000) as i64);
        at.map_or_else(|_| String::new(), |at| format!("{at:.3}"))
    }
}
