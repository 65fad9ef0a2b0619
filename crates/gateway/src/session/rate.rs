//! How many questions were asked within the last minute.

use std::collections::VecDeque;
use std::time::Duration;

use crate::moment::Moment;

/// When questions were asked lately, the oldest first.
#[derive(Default)]
pub struct RateLimit(VecDeque<Moment>);

const A_MINUTE: Duration = Duration::from_secs(60);

impl RateLimit {
    /// True if one more isn't too many. It counts as asked then.
    pub fn allows(&mut self, most: u32, now: Moment) -> bool {
        if most == u32::MAX {
            return true;
        }
        let is_past = |asked: &Moment| now.duration_since(*asked) >= A_MINUTE;
        while self.0.front().is_some_and(is_past) {
            self.0.pop_front();
        }
        let allows = self.0.len() < most as usize;
        if allows {
            self.0.push_back(now);
        }
        allows
    }
}
