//! Who has the page open.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;

use super::peers::Standing;

/// The pages of a person that follow the events, and whether one is on its way.
#[derive(Clone, Default)]
pub struct Visits(Arc<watch::Sender<Count>>);

/// A page that is connected. It has gone when this is dropped.
pub struct Visit(Visits);

/// A page that a browser was told to show. It is not waited for any longer when this is dropped.
pub struct Expected(Visits);

#[derive(Default)]
struct Count {
    open: usize,
    expected: usize,
    /// When a page was last given the means to come.
    invited: Option<Instant>,
    /// How many there have been.
    seen: usize,
}

impl Visits {
    /// A page has connected.
    pub fn enter(&self) -> Visit {
        self.0.send_modify(|count| {
            count.open += 1;
            count.seen += 1;
        });
        Visit(self.clone())
    }

    /// A browser is about to be told.
    pub fn expect(&self) -> Expected {
        self.0.send_modify(|count| count.expected += 1);
        Expected(self.clone())
    }

    /// A page was given the means to come.
    pub fn invite(&self) {
        let now = Instant::now();
        self.0.send_modify(|count| count.invited = Some(now));
    }

    pub fn standing(&self) -> Standing {
        let count = self.0.borrow();
        match (count.open, count.expected) {
            (0, 0) => Standing::Closed,
            (0, _) => Standing::Coming,
            _ => Standing::Open,
        }
    }

    /// Waits until a page is open, or was given the means to come since then.
    pub async fn sign(&self, since: Instant) {
        let mut counts = self.0.subscribe();
        let is_one = |count: &Count| count.open > 0 || count.invited.is_some_and(|at| at >= since);
        // The counts go on for as long as this is waited for.
        let _ = counts.wait_for(is_one).await;
    }

    /// Waits until a page is open, or comes.
    pub async fn next(&self) {
        let mut counts = self.0.subscribe();
        let before = counts.borrow().seen;
        let _ = counts
            .wait_for(|count| count.open > 0 || count.seen > before)
            .await;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| count.open -= 1);
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| count.expected -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn a_page_is_expected_then_open_then_gone() {
        let visits = Visits::default();
        assert_eq!(visits.standing(), Standing::Closed);
        let expected = visits.expect();
        assert_eq!(visits.standing(), Standing::Coming);
        let mut waiting = Box::pin(visits.next());
        assert!((&mut waiting).now_or_never().is_none());
        let visit = visits.enter();
        drop(expected);
        assert_eq!(visits.standing(), Standing::Open);
        visits.next().await;
        drop(visit);
        assert_eq!(visits.standing(), Standing::Closed);
        waiting.await; // It came, though it has gone.
    }

    #[tokio::test(start_paused = true)]
    async fn an_invitation_is_a_sign_for_whoever_waits_for_one() {
        let visits = Visits::default();
        visits.invite();
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        let start = Instant::now();
        let mut waiting = Box::pin(visits.sign(start));
        assert!((&mut waiting).now_or_never().is_none(), "that was before");
        visits.invite();
        waiting.await;
        assert_eq!(visits.standing(), Standing::Closed);
    }
}
