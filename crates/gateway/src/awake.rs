//! Patience that counts while this process runs.
//!
//! On a machine that stands still for some seconds (a virtual one that stutters, a laptop that
//! wakes) whoever is waited for stands still as well. By the clock they would all be late in the
//! moment it goes on.
//!
//! In: whoever waits for others on this machine. Elsewhere: times that people were told (`desk`).

use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

/// It did not come in time.
#[derive(Debug)]
pub struct Late;

/// Standing still costs no more than one of so many parts.
const PARTS: u32 = 20;

/// What comes of some work, unless it takes longer than that while we are there to see it.
pub async fn within<F: Future>(patience: Duration, work: F) -> Result<F::Output, Late> {
    let mut work = pin!(work);
    for _ in 0..PARTS {
        if let Ok(done) = timeout(patience / PARTS, &mut work).await {
            return Ok(done);
        }
    }
    Err(Late)
}

/// A deadline for a loop that waits for several things. Time in which the process stood still doesn't bring it nearer.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    part: Duration,
    left: u32,
    part_ends: Instant,
}

impl Patience {
    /// A deadline `patience` from now.
    pub fn new(patience: Duration) -> Self {
        let part = patience / PARTS;
        Self {
            part,
            left: PARTS,
            part_ends: Instant::now() + part,
        }
    }

    /// True once the deadline has passed. Each call counts at most one part, however long ago the last one was.
    fn is_over(&mut self) -> bool {
        let now = Instant::now();
        if self.part_ends <= now {
            self.left = self.left.saturating_sub(1);
            self.part_ends = now + self.part;
        }
        self.left == 0
    }
}

/// Waits for a deadline, if there is one. What was counted stays counted if the caller stops waiting.
pub async fn late(patience: Option<&mut Patience>) {
    let Some(patience) = patience else {
        return pending().await;
    };
    while !patience.is_over() {
        sleep_until(patience.part_ends).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(2);

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_had_and_what_does_not_is_late() {
        let start = Instant::now();
        let soon = sleep(PATIENCE - Duration::from_millis(10));
        assert!(within(PATIENCE, soon).await.is_ok());
        assert!(within(PATIENCE, pending::<()>()).await.is_err());
        assert!(start.elapsed() >= PATIENCE * 2 - Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_stands_still_makes_nobody_late() {
        let (say, said) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(within(PATIENCE, said));
        tokio::task::yield_now().await;
        advance(Duration::from_secs(60)).await; // nobody had a turn meanwhile
        sleep(PATIENCE / 2).await;
        say.send(()).unwrap();
        assert!(waiting.await.unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn patience_of_a_loop_counts_what_it_saw() {
        let start = Instant::now();
        let mut patience = Patience::new(PATIENCE);
        advance(PATIENCE * 10).await; // The machine stands still.
        assert!(!patience.is_over());
        late(Some(&mut patience)).await;
        assert_eq!((start.elapsed() - PATIENCE * 10).as_millis(), 1_900);
    }
}
