//! What the calls of a desk have in common: finding a ticket, and holding answers against it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midcall_core::{Answer, Link, Scope, Unfit};
use midcall_store::{Key, NodeId, Post, Record, Store, StoreError};
use tokio::sync::mpsc;

use crate::clock::{Clock, Stamp};
use crate::desk::{SettleError, Submission};
use crate::forms::Forms;
use crate::open::Open;
use crate::outcome::{Closing, Outcome, State, Unavailable};
use crate::record::Stored;
use crate::rules::Rules;
use crate::said::Said;
use crate::ticket::TicketId;

/// A desk itself, of which [`Desk`](crate::Desk)s are handles.
pub(crate) struct Inner<S, P> {
    pub store: S,
    pub post: P,
    pub rules: Rules,
    pub node: NodeId,
    pub clock: Clock,
    pub forms: Forms,
    pub open: Mutex<Open>,
    /// The last stamp given, so that no two changes share one.
    pub last: AtomicU64,
    pub errands: mpsc::UnboundedSender<Errand>,
}

/// What the desk's own task has to see to.
pub(crate) enum Errand {
    /// A ticket was dropped.
    Dropped(TicketId),
    /// A user's ticket was answered, but dropped before anybody took the answer.
    Untaken(Arc<str>, TicketId),
    /// A call was cut off while it closed a ticket: has it?
    Look(TicketId),
}

impl<S: Store, P: Post> Inner<S, P> {
    pub fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest stamp that this node may have given. The clock can have been turned back.
    pub fn latest(&self) -> Stamp {
        let last = Stamp(self.last.load(Ordering::Relaxed));
        self.clock.now().max(last)
    }

    /// A stamp that no other change of this node has, and that is later than all before.
    pub fn stamp(&self) -> Stamp {
        let now = self.clock.now().0;
        let next = |last: u64| Some(now.max(last + 1));
        let last = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        Stamp(now.max(last.unwrap_or_default() + 1))
    }

    /// A stamp that is later than the last change of a record, whatever another node's clock
    /// says.
    pub fn stamp_after(&self, Stamp(changed): Stamp) -> Stamp {
        self.last.fetch_max(changed, Ordering::Relaxed);
        self.stamp()
    }

    /// The record of a ticket, if this scope covers it. Whose it is else, nobody is told.
    pub async fn find(&self, scope: &Scope, id: TicketId) -> Result<Record, SettleError> {
        let key = Key::new(&scope.user, id.to_string());
        let record = self.store.get(&key).await?;
        record
            .filter(|record| scope.covers(&record.scope))
            .ok_or(SettleError::NotFound)
    }

    /// The ticket in a record, if it still waits; nothing if its time is over, but the record
    /// did not say so yet: look again. A late answer must not win because the clock's own task
    /// was slow, the node that asked is gone, or the machine slept: what counts is the deadline
    /// that surfaces were told, by the time of day.
    pub async fn still_open<'a>(
        &self,
        record: &'a Record,
    ) -> Result<Option<Stored<'a>>, SettleError> {
        let stored = Stored::read(&record.bytes).ok_or(SettleError::NotFound)?;
        if let Some(closing) = stored.closing {
            return Err(SettleError::Closed(closing));
        }
        if self.clock.now() < stored.deadline {
            return Ok(Some(stored));
        }
        self.end(record, stored, Outcome::TimedOut).await?;
        Ok(None)
    }

    /// Whether it is a link, and one that may be opened.
    pub fn is_link(&self, stored: &Stored<'_>) -> Result<bool, SettleError> {
        let question = stored.question.as_ref().ok_or(SettleError::NotFound)?;
        let asked = question.asked().ok_or(SettleError::NotFound)?;
        let Some(url) = asked.url() else {
            return Ok(false);
        };
        let link = Link::read_allowing(&url, question.host.as_deref(), &question.links);
        match link.consent() {
            Some(_) => Ok(true),
            None => Err(SettleError::Refused(Box::new(link))),
        }
    }

    /// Writes a ticket that stays open, unless its record has changed since it was read.
    pub async fn replace(&self, record: &Record, stored: &Stored<'_>) -> Result<bool, StoreError> {
        let key = Key::new(&record.scope.user, &record.id);
        let left = stored.deadline.since(self.clock.now());
        let ttl = self.rules.memory.saturating_add(left);
        let bytes = stored.write();
        self.store.replace(&key, record.version, bytes, ttl).await
    }

    /// Whether a ticket is a link that has another address now, of the same origin.
    pub fn may_renew(&self, stored: &Stored<'_>, url: &str) -> Result<bool, SettleError> {
        let question = stored.question.as_ref().ok_or(SettleError::NotFound)?;
        let asked = question.asked().ok_or(SettleError::NotFound)?;
        let Some(first) = asked.url() else {
            return Ok(false);
        };
        let read = |url: &str| Link::read_allowing(url, question.host.as_deref(), &question.links);
        let new = read(url);
        if new.origin().is_none() || new.origin() != read(&first).origin() {
            return Err(SettleError::Refused(Box::new(new)));
        }
        let latest = stored.url.as_deref().unwrap_or(&first);
        Ok(latest != url)
    }

    /// How a ticket ended, as its record has it. What comes out of a store is validated again.
    pub fn outcome(&self, stored: &Stored<'_>, closing: &Closing) -> Outcome {
        let lost = Outcome::Unavailable(Unavailable::StoreLost);
        if closing.state != State::Answered {
            return closing.without_answer().unwrap_or(lost);
        }
        let said = stored.said.and_then(Said::read);
        let answer = said.and_then(|said| self.answer(stored, said).ok());
        match answer.zip(closing.by) {
            Some((answer, by)) => Outcome::Answered(answer, by),
            None => lost,
        }
    }

    /// Holds a submission against what was asked.
    pub fn answer(
        &self,
        stored: &Stored<'_>,
        submission: Submission,
    ) -> Result<Answer, SettleError> {
        let values = match submission {
            Submission::Decline(reason) => return Ok(Answer::Declined { reason }),
            Submission::Cancel => return Ok(Answer::Cancelled),
            Submission::Accept(values) => values,
        };
        let question = stored.question.as_ref().ok_or(SettleError::NotFound)?;
        let asked = question.asked().ok_or(SettleError::NotFound)?;
        if let Some(url) = asked.url() {
            let link = Link::read_allowing(&url, question.host.as_deref(), &question.links);
            return match link.consent() {
                Some(consent) => Ok(Answer::Accepted(consent)),
                None => Err(SettleError::Refused(Box::new(link))),
            };
        }
        let schema = asked.schema().map_or("{}", |schema| schema.get());
        let form = self.forms.read(schema)?;
        let checked = form.check(form.trim(values));
        checked
            .map(Answer::Accepted)
            .map_err(|Unfit { problems }| SettleError::Unfit(problems))
    }
}
