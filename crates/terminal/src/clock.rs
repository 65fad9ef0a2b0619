//! The time that is left. It is told in the last seconds only: earlier it would hurry people for nothing.

use std::time::{Duration, Instant};

use crate::look::Look;

/// From how many seconds on the time is told, as on the page.
const LAST: Duration = Duration::from_secs(30);

/// When a question closes by itself.
pub(crate) struct Clock(pub Option<Instant>);

impl Clock {
    /// Whether the time is up.
    pub fn is_over(&self, now: Instant) -> bool {
        self.0.is_some_and(|deadline| deadline <= now)
    }

    /// The seconds that are left, once they are told.
    pub fn seconds(&self, now: Instant) -> Option<u64> {
        let left = self.0?.saturating_duration_since(now);
        (left <= LAST).then(|| left.as_millis().div_ceil(1000) as u64)
    }

    /// What the person is told of it.
    pub fn say(&self, now: Instant, look: &Look) -> Option<String> {
        let seconds = self.seconds(now)?;
        Some(look.fill("timeout_warning", &[("seconds", seconds.into())]))
    }

    /// How long nothing changes.
    pub fn until_tick(&self, now: Instant) -> Option<Duration> {
        let left = self.0?.saturating_duration_since(now);
        match left.checked_sub(LAST) {
            Some(silent) if !silent.is_zero() => Some(silent),
            // Whole seconds from the deadline, so that each is told as it begins.
            _ => Some(Duration::from_millis(
                match left.as_millis() as u64 % 1000 {
                    0 if left.is_zero() => 0,
                    0 => 1000,
                    part => part + 1,
                },
            )),
        }
    }
}
