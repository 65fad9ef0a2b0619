//! How often somebody may call.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

/// A bucket of calls. Each takes one out, and it refills steadily.
pub struct Pace {
    per_second: f64,
    bucket: Mutex<Bucket>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

/// Seconds' worth of calls that may come at once.
const BURST: f64 = 4.0;

impl Pace {
    pub fn new(per_second: u32) -> Self {
        let per_second = f64::from(per_second);
        let bucket = Bucket {
            left: per_second * BURST,
            at: Instant::now(),
        };
        Self {
            per_second,
            bucket: Mutex::new(bucket),
        }
    }

    /// Whether one more call may come now.
    pub fn allows(&self) -> bool {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let refill = now.duration_since(bucket.at).as_secs_f64() * self.per_second;
        bucket.left = (bucket.left + refill).min(self.per_second * BURST);
        bucket.at = now;
        let allowed = bucket.left >= 1.0;
        if allowed {
            bucket.left -= 1.0;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn a_burst_then_a_steady_pace() {
        let pace = Pace::new(50);
        assert_eq!((0..500).filter(|_| pace.allows()).count(), 200);
        advance(Duration::from_secs(1)).await;
        assert_eq!((0..500).filter(|_| pace.allows()).count(), 50);
        advance(Duration::from_secs(3_600)).await;
        assert_eq!((0..500).filter(|_| pace.allows()).count(), 200);
    }
}
