//! Patience that counts while this process runs.
//!
//! On a machine that stands still for some seconds (a virtual one that stutters, a laptop that
//! wakes) whoever is waited for stands still as well. By the clock they would all be late in the
//! moment it goes on.
//!
//! In: whoever waits for others on this machine. Elsewhere: times that people were told (`desk`).

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

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

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, advance, sleep};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(2);

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_had_and_what_does_not_is_late() {
        let start = Instant::now();
        let soon = sleep(PATIENCE - Duration::from_millis(10));
        assert!(within(PATIENCE, soon).await.is_ok());
        assert!(
            within(PATIENCE, std::future::pending::<()>())
                .await
                .is_err()
        );
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
}
