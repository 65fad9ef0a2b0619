//! The tickets that this node waits for.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use foldhash::HashMap;
use midcall_core::Scope;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::time::{DelayQueue, delay_queue};

use crate::outcome::Outcome;
use crate::rules::{Limited, Rules};
use crate::tally::{Share, Tally};
use crate::ticket::TicketId;

/// What this node waits for.
#[derive(Default)]
pub(crate) struct Open {
    tickets: HashMap<TicketId, Waiting>,
    tally: Tally,
    deadlines: DelayQueue<TicketId>,
}

struct Waiting {
    share: Share,
    /// None while no deadline is set: before the record is there, and once it has fired. Keys
    /// are used again, so a spent one must not be kept.
    timer: Option<delay_queue::Key>,
    /// How often the store failed to close it.
    failures: u8,
    outcome: oneshot::Sender<Outcome>,
}

/// How often a store may fail to close a ticket.
const TRIES: u8 = 5;

impl Open {
    /// Counts a ticket and waits for it, unless there are too many.
    pub fn add(
        &mut self,
        id: TicketId,
        scope: &Scope,
        server: &str,
        rules: &Rules,
    ) -> Result<(Arc<str>, oneshot::Receiver<Outcome>), Limited> {
        let share = self.tally.add(scope, server, rules, Instant::now())?;
        let user = share.user.clone();
        let (outcome, waiting) = oneshot::channel();
        let entry = Waiting {
            share,
            timer: None,
            failures: 0,
            outcome,
        };
        self.tickets.insert(id, entry);
        Ok((user, waiting))
    }

    /// Waits for a ticket no more.
    pub fn remove(
        &mut self,
        id: TicketId,
        rules: &Rules,
        now: Instant,
    ) -> Option<(Arc<str>, oneshot::Sender<Outcome>)> {
        let Waiting {
            share,
            timer,
            outcome,
            ..
        } = self.tickets.remove(&id)?;
        if let Some(timer) = timer {
            self.deadlines.try_remove(&timer);
        }
        let user = share.user.clone();
        self.tally.remove(share, rules, now);
        Some((user, outcome))
    }

    /// The user of a ticket that is waited for.
    pub fn user(&self, id: TicketId) -> Option<Arc<str>> {
        self.tickets
            .get(&id)
            .map(|waiting| waiting.share.user.clone())
    }

    /// Every ticket that is waited for.
    pub fn ids(&self) -> Vec<TicketId> {
        self.tickets.keys().copied().collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tickets.len()
    }

    /// Sets when a ticket is looked at next.
    pub fn set_timer(&mut self, id: TicketId, at: Instant) {
        if let Some(waiting) = self.tickets.get_mut(&id) {
            if let Some(timer) = waiting.timer.take() {
                self.deadlines.try_remove(&timer);
            }
            waiting.timer = Some(self.deadlines.insert_at(id, at));
        }
    }

    /// The next ticket whose time is over, if there is one now.
    pub fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<TicketId> {
        // Without deadlines the queue is ready with nothing; the next one wakes the task.
        let Poll::Ready(Some(due)) = self.deadlines.poll_expired(context) else {
            return Poll::Pending;
        };
        let id = due.into_inner();
        if let Some(waiting) = self.tickets.get_mut(&id) {
            waiting.timer = None;
        }
        Poll::Ready(id)
    }

    /// Has a ticket looked at again soon; `false` if that was done often enough.
    pub fn try_again(&mut self, id: TicketId) -> bool {
        let Some(waiting) = self.tickets.get_mut(&id) else {
            return true;
        };
        waiting.failures += 1;
        let again = waiting.failures < TRIES;
        if again {
            self.set_timer(id, Instant::now() + Duration::from_secs(1));
        }
        again
    }
}
