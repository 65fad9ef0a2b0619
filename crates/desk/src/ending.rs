//! How tickets end: once, and whoever waits is told.
//!
//! Settling, withdrawing and expiring all replace the open version of a record, so that one of
//! them wins. What follows must not be lost: the caller may be cut off at any moment, the store
//! may fail before or after it did its work, and the node that asked may be another one.
//!
//! In: [`Inner::end`], [`Inner::close`]. Out: the outcome, at the ticket.

use std::time::Duration;

use bytes::Bytes;
use midcall_store::{Key, NodeId, Post, PostError, Record, Store, StoreError};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::clock::Stamp;
use crate::desk::SettleError;
use crate::inner::{Errand, Inner};
use crate::outcome::{Closing, Delivery, Lost, Outcome, State, Unavailable};
use crate::record::Stored;
use crate::said::Said;
use crate::ticket::TicketId;

/// How long another node may take to hear of an answer.
const TELLING: Duration = Duration::from_secs(5);

impl<S: Store, P: Post> Inner<S, P> {
    /// Writes down how a ticket ended, and tells whoever waits for it. If the record changed
    /// meanwhile, the outcome comes back: it is not how it ended.
    pub async fn end(
        &self,
        record: &Record,
        stored: Stored<'_>,
        outcome: Outcome,
    ) -> Result<Option<Outcome>, SettleError> {
        let owner = NodeId(stored.owner.to_owned());
        let is_ours = owner == self.node;
        let said = match &outcome {
            Outcome::Answered(answer, _) => Said::of(answer),
            _ => None,
        };
        let key = Key::new(&record.scope.user, &record.id);
        let id: TicketId = record.id.parse().map_err(|_| SettleError::NotFound)?;
        let changed = self.stamp_after(stored.changed);
        // An answer that another node has not heard yet stays as long as it may be waited for.
        let left = stored.deadline.since(self.clock.now());
        let ttl = match said {
            Some(_) if !is_ours => self.rules.memory.saturating_add(left),
            _ => self.rules.memory,
        };
        let bytes = closed(stored, changed, outcome.closing(), said.as_ref());
        if !is_ours {
            let replaced = self.store.replace(&key, record.version, bytes, ttl).await?;
            if replaced && !self.tell(&owner, &key).await {
                return Err(SettleError::Closed(self.bury(&key).await?));
            }
            return Ok(Some(outcome).filter(|_| !replaced));
        }
        // Whoever calls may stop waiting at any moment, also when the store has done it already.
        // Then the desk's own task looks what the record says.
        let mut cut_off = CutOff {
            id,
            errands: Some(&self.errands),
        };
        let replaced = self.store.replace(&key, record.version, bytes, ttl).await?;
        cut_off.errands = None;
        if !replaced {
            return Ok(Some(outcome));
        }
        self.finish(id, outcome);
        Ok(None)
    }

    /// Closes a ticket whose asker is gone: nobody is going to hear what was said, so it goes.
    async fn bury(&self, key: &Key) -> Result<Closing, StoreError> {
        let closing = Outcome::Unavailable(Unavailable::AskerGone).closing();
        if let Some(record) = self.store.get(key).await?
            && let Some(stored) = Stored::read(&record.bytes)
        {
            let changed = self.stamp_after(stored.changed);
            let bytes = closed(stored, changed, closing.clone(), None);
            let ttl = self.rules.memory;
            self.store.replace(key, record.version, bytes, ttl).await?;
        }
        Ok(closing)
    }

    /// Ends a ticket of this node, if it is still open.
    pub async fn close(&self, id: TicketId, mut outcome: Outcome) -> Result<(), StoreError> {
        let Some(user) = self.lock().user(id) else {
            return Ok(());
        };
        let key = Key::new(&*user, id.to_string());
        loop {
            let record = self.store.get(&key).await?;
            let stored = record
                .as_ref()
                .and_then(|record| Stored::read(&record.bytes));
            let (Some(record), Some(stored)) = (&record, stored) else {
                // It never got there, or nobody remembers it.
                self.finish(id, outcome);
                return Ok(());
            };
            if stored.closing.is_some() {
                return self.hear(&key).await; // Somebody else came first.
            }
            match self.end(record, stored, outcome).await {
                Ok(None) => return Ok(()),
                Ok(Some(still)) => outcome = still,
                Err(SettleError::Store(error)) => return Err(error),
                Err(_) => return Ok(()),
            }
        }
    }

    /// Sees whether a ticket of this node was closed by a call that was cut off.
    pub async fn look(&self, id: TicketId) -> Result<(), StoreError> {
        let Some(user) = self.lock().user(id) else {
            return Ok(());
        };
        self.hear(&Key::new(&*user, id.to_string())).await
    }

    /// Takes over how a ticket of this node was closed, by another node or by a call that was
    /// cut off.
    pub async fn hear(&self, key: &Key) -> Result<(), StoreError> {
        let (Ok(id), Some(record)) = (key.id.parse(), self.store.get(key).await?) else {
            return Ok(());
        };
        let Some(stored) = Stored::read(&record.bytes) else {
            return Ok(());
        };
        let Some(closing) = &stored.closing else {
            return Ok(());
        };
        if stored.owner != self.node.0 || self.lock().user(id).is_none() {
            return Ok(()); // It was heard already.
        }
        let outcome = self.outcome(&stored, closing);
        let lost = Outcome::Unavailable(Unavailable::StoreLost);
        let is_lost = closing.state == State::Answered && outcome == lost;
        self.finish(id, outcome);
        if is_lost {
            let why = Some(Lost::StoreLost);
            self.deliver(key, Delivery::Lost, why).await?;
        }
        Ok(())
    }

    /// Writes down what became of an answer, unless it is known already. What was said is kept no
    /// longer.
    pub async fn deliver(
        &self,
        key: &Key,
        delivery: Delivery,
        why: Option<Lost>,
    ) -> Result<(), StoreError> {
        while let Some(record) = self.store.get(key).await? {
            let Some(mut stored) = Stored::read(&record.bytes) else {
                return Ok(());
            };
            let closing = stored.closing.as_mut();
            if !closing.is_some_and(|closing| closing.deliver(delivery, why)) {
                return Ok(());
            }
            stored.changed = self.stamp_after(stored.changed);
            (stored.question, stored.said) = (None, None);
            let (bytes, ttl) = (stored.write(), self.rules.memory);
            if self.store.replace(key, record.version, bytes, ttl).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Tells the node that waits; `false` if it is gone, and with it whoever wanted the answer.
    async fn tell(&self, owner: &NodeId, key: &Key) -> bool {
        let letter = serde_json::to_vec(&[&key.user, &key.id]).unwrap_or_default();
        let call = tokio::time::timeout(TELLING, self.post.call(owner, letter.into())).await;
        match call {
            Ok(Ok(_)) => true,
            Ok(Err(PostError::Gone(_))) => false,
            // It finds the answer in the record, at the latest when its time is over.
            Ok(Err(error)) => {
                tracing::warn!(ticket = %key.id, %error, "the node that asked was not told");
                true
            }
            Err(_) => true,
        }
    }

    /// The store failed to close a ticket: it is tried again, and in the end the truth is told.
    pub fn try_again(&self, id: TicketId) {
        let again = self.lock().try_again(id);
        if !again {
            self.finish(id, Outcome::Unavailable(Unavailable::StoreLost));
        }
    }

    /// Ends a ticket for whoever waits for it, if somebody does.
    pub fn finish(&self, id: TicketId, outcome: Outcome) {
        let waiting = self.lock().remove(id, &self.rules, Instant::now());
        let Some((user, waiting)) = waiting else {
            return;
        };
        // The ticket may have been dropped before its answer came.
        if let Err(Outcome::Answered(..)) = waiting.send(outcome) {
            let _ = self.errands.send(Errand::Untaken(user, id));
        }
    }
}

/// A call that closes a ticket. If it is cut off, the desk's own task looks how far it came.
struct CutOff<'a> {
    id: TicketId,
    errands: Option<&'a mpsc::UnboundedSender<Errand>>,
}

impl Drop for CutOff<'_> {
    fn drop(&mut self) {
        if let Some(errands) = self.errands {
            let _ = errands.send(Errand::Look(self.id));
        }
    }
}

/// The record of a closed ticket. The question stays in it only as long as what was said does.
fn closed(stored: Stored<'_>, changed: Stamp, closing: Closing, said: Option<&Said>) -> Bytes {
    Stored {
        changed,
        closed: Some(changed),
        question: stored.question.filter(|_| said.is_some()),
        url: None,
        closing: Some(closing),
        said: said.map(Said::as_raw),
        ..stored
    }
    .write()
}
