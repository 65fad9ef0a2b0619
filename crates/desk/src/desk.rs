//! The life of a ticket: asked, settled or taken back, once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use midcall_core::{Answer, Elicitation, FormError, Link, Problem, Scope, Unfit, Values, Words};
use midcall_store::{Key, NodeId, Post, PostError, Record, Store, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::time::{DelayQueue, delay_queue};

use crate::clock::{Clock, Stamp};
use crate::forms::Forms;
use crate::keeper;
use crate::mark::Mark;
use crate::outcome::{By, Closing, Outcome, State, Status, Unavailable, Withdrawn};
use crate::record::{Stored, StoredQuestion, canonical};
use crate::rules::{Limited, Rules};
use crate::said::Said;
use crate::tally::{Share, Tally};
use crate::ticket::{Ticket, TicketId};
use crate::watch::Watch;

/// No question waits longer, whatever the rules say: timers have an end too.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long another node may take to hear of an answer.
const TELLING: Duration = Duration::from_secs(5);

/// Where questions wait. Clones are the same desk; when the last is gone, open tickets end.
pub struct Desk<S: Store, P: Post> {
    pub(crate) inner: Arc<Inner<S, P>>,
}

/// What a person hands in.
#[derive(Clone, Debug, PartialEq)]
pub enum Submission {
    /// Yes, with these values; for a link, to open it.
    Accept(Values),
    /// No, perhaps with a reason.
    Decline(Option<Words>),
    /// Not now.
    Cancel,
}

/// Why a question was not taken.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is too much of something.
    #[error(transparent)]
    Limited(#[from] Limited),
    /// It could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an answer was not taken. Declining is not here: it is an [`Answer`].
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// There is no such ticket, or it is somebody else's: the two look the same.
    #[error("there is no such question")]
    NotFound,
    /// It is closed, and this is how.
    #[error("the question is closed")]
    Closed(Closing),
    /// The values do not fit; the ticket is still open.
    #[error("{} value(s) do not fit the form", .0.len())]
    Unfit(Vec<Problem>),
    /// The link may not be opened.
    #[error("this link is not safe to open")]
    Refused(Box<Link>),
    /// The form cannot be read (any more).
    #[error(transparent)]
    Form(#[from] FormError),
    /// It could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(crate) struct Inner<S, P> {
    pub store: S,
    pub post: P,
    pub rules: Rules,
    pub node: NodeId,
    pub clock: Clock,
    forms: Forms,
    open: Mutex<Open>,
    /// The last stamp given, so that no two changes share one.
    last: AtomicU64,
    pub drops: mpsc::UnboundedSender<Errand>,
}

/// What the desk's own task has to see to.
pub(crate) enum Errand {
    /// A ticket was dropped.
    Dropped(TicketId),
    /// A call was cut off while it closed a ticket: has it?
    Look(TicketId),
}

/// What this node waits for.
#[derive(Default)]
pub(crate) struct Open {
    tickets: HashMap<TicketId, Waiting>,
    tally: Tally,
    pub deadlines: DelayQueue<TicketId>,
}

struct Waiting {
    share: Share,
    /// None while no deadline is set: before the record is there, and once it has fired. Keys
    /// are used again, so a spent one must not be kept.
    timer: Option<delay_queue::Key>,
    /// How often the store failed to close it.
    failures: u8,
    /// How it may have ended: what was being written when a call was cut off, by its stamp.
    pending: Vec<(Stamp, Outcome)>,
    outcome: oneshot::Sender<Box<Outcome>>,
}

impl<S: Store, P: Post> Clone for Desk<S, P> {
    fn clone(&self) -> Self {
        let inner = self.inner.clone();
        Self { inner }
    }
}

impl<S: Store, P: Post> Desk<S, P> {
    /// Opens a desk, a node of its own among those that share the store and the post.
    pub async fn open(store: S, post: P, rules: Rules) -> Result<Self, PostError> {
        let node = NodeId(TicketId::random().to_string());
        let inbox = post.inbox(&node).await?;
        let (drops, dropped) = mpsc::unbounded_channel();
        let clock = Clock::start();
        let inner = Arc::new(Inner {
            store,
            post,
            rules,
            node,
            clock,
            forms: Forms::default(),
            open: Mutex::default(),
            last: AtomicU64::new(0),
            drops,
        });
        tokio::spawn(keeper::keep(Arc::downgrade(&inner), inbox, dropped));
        Ok(Self { inner })
    }

    /// Puts a question where people of a scope see it. `patience` is how long it waits: what
    /// the server wants goes before it, and the desk's own rule behind it.
    pub async fn ask(
        &self,
        scope: &Scope,
        elicitation: &Elicitation,
        patience: Option<Duration>,
    ) -> Result<Ticket, AskError> {
        let inner = &*self.inner;
        let rules = &inner.rules;
        let params = elicitation.params();
        if params.get().len() > rules.question_bytes {
            return Err(Limited::TooLarge(rules.question_bytes).into());
        }
        let wanted = elicitation.timeout_ms.map(Duration::from_millis);
        let patience = wanted.or(patience).unwrap_or(rules.patience);
        let patience = patience.min(rules.longest_patience).min(LONGEST);
        let now = Instant::now();
        let share = inner
            .lock()
            .tally
            .add(scope, &elicitation.asker.server, rules, now)?;

        let id = TicketId::random();
        let (outcome, waiting) = oneshot::channel();
        let entry = Waiting {
            share,
            timer: None,
            failures: 0,
            pending: Vec::new(),
            outcome,
        };
        inner.lock().tickets.insert(id, entry);
        // From here on, dropping the ticket takes the question back, also in the midst of this.
        let ticket = Ticket::new(id, waiting, inner.drops.clone());

        let asked = inner.stamp();
        let deadline = asked.plus(patience);
        let canonical = canonical(params);
        let stored = Stored {
            asked,
            deadline,
            changed: asked,
            owner: inner.node.0.as_str(),
            question: Some(StoredQuestion::new(
                &elicitation.asker,
                canonical.as_deref().unwrap_or(params),
            )),
            opened: false,
            closing: None,
            said: None,
        };
        let ttl = patience.saturating_add(rules.memory);
        let bytes = stored.write();
        if !inner
            .store
            .insert(scope, &id.to_string(), bytes, ttl)
            .await?
        {
            let taken = "a ticket's name was taken".to_owned();
            return Err(StoreError::Unreachable(taken).into());
        }
        inner.set_timer(id, inner.clock.instant(deadline));
        Ok(ticket)
    }

    /// What is open in a scope, then every change.
    pub async fn watch(&self, scope: &Scope) -> Result<Watch<S>, StoreError> {
        Watch::start(self.inner.store.clone(), scope.clone(), None).await
    }

    /// The same, from where a watcher left off: `after` is the [`Watch::mark`] of what it saw
    /// last. A mark that this desk cannot have given yet is none.
    pub async fn watch_after(&self, scope: &Scope, after: &Mark) -> Result<Watch<S>, StoreError> {
        let after = Some(after).filter(|after| !after.is_after(self.inner.clock.now()));
        Watch::start(self.inner.store.clone(), scope.clone(), after).await
    }

    /// Where a ticket stands.
    pub async fn status(&self, scope: &Scope, id: TicketId) -> Result<Status, SettleError> {
        let record = self.inner.find(scope, id).await?;
        let stored = Stored::read(&record.bytes).ok_or(SettleError::NotFound)?;
        // The node that asked may be gone, and nobody has closed it yet.
        let is_late = self.inner.clock.now() >= stored.deadline;
        let state = match stored.state() {
            State::Open if is_late => State::TimedOut,
            state => state,
        };
        Ok(Status {
            id: record.id,
            state,
            deadline: stored.deadline.rfc3339(),
        })
    }

    /// Hands in what a person said. Exactly one hand-in wins; the others hear that the ticket
    /// is closed, and how.
    pub async fn settle(
        &self,
        scope: &Scope,
        id: TicketId,
        submission: Submission,
        by: By,
    ) -> Result<(), SettleError> {
        let inner = &*self.inner;
        loop {
            let record = inner.find(scope, id).await?;
            if let Some(stored) = inner.still_open(&record).await? {
                let answer = inner.answer(&stored, submission.clone())?;
                let outcome = Outcome::Answered(answer, by);
                if inner
                    .end(&record, stored, outcome, Some(&submission))
                    .await?
                {
                    return Ok(());
                }
            }
        }
    }

    /// Notes that the person opened the link, so that every surface shows it.
    pub async fn opened(&self, scope: &Scope, id: TicketId) -> Result<(), SettleError> {
        let inner = &*self.inner;
        loop {
            let record = inner.find(scope, id).await?;
            let Some(mut stored) = inner.still_open(&record).await? else {
                continue;
            };
            if stored.opened {
                return Ok(());
            }
            stored.opened = true;
            stored.changed = inner.stamp_after(stored.changed);
            let key = Key::new(&record.scope.user, &record.id);
            let left = stored.deadline.0.saturating_sub(stored.changed.0);
            let ttl = inner
                .rules
                .memory
                .saturating_add(Duration::from_micros(left));
            if inner
                .store
                .replace(&key, record.version, stored.write(), ttl)
                .await?
            {
                return Ok(());
            }
        }
    }

    /// Takes back a question that this desk asked. Nothing happens if it is closed already.
    pub async fn withdraw(&self, id: TicketId, why: Withdrawn) -> Result<(), StoreError> {
        self.inner.close(id, Outcome::Withdrawn(why)).await
    }

    /// Takes back every question of this desk, because its process ends.
    pub async fn shut_down(&self) {
        let open: Vec<TicketId> = self.inner.lock().tickets.keys().copied().collect();
        for id in open {
            let withdrawn = self.withdraw(id, Withdrawn::Shutdown).await;
            if let Err(error) = withdrawn {
                tracing::warn!(ticket = %id, %error, "a question could not be taken back");
            }
        }
    }

    /// How many tickets of this desk are open.
    pub fn waiting(&self) -> usize {
        self.inner.lock().tickets.len()
    }
}

impl<S: Store, P: Post> Inner<S, P> {
    pub fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stamp that no other change of this node has.
    fn stamp(&self) -> Stamp {
        let now = self.clock.now().0;
        let next = |last: u64| Some(now.max(last + 1));
        let last = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        Stamp(now.max(last.unwrap_or_default() + 1))
    }

    /// A stamp that is later than the last change of a record, whatever another node's clock
    /// says.
    fn stamp_after(&self, Stamp(changed): Stamp) -> Stamp {
        self.last.fetch_max(changed, Ordering::Relaxed);
        self.stamp()
    }

    async fn find(&self, scope: &Scope, id: TicketId) -> Result<Record, SettleError> {
        let key = Key::new(&scope.user, id.to_string());
        let record = self.store.get(&key).await?;
        record
            .filter(|record| scope.covers(&record.scope))
            .ok_or(SettleError::NotFound)
    }

    /// The ticket in a record, if it still waits; nothing if its time is over, but the record
    /// did not say so yet: look again. A late answer must not win because the clock's own task
    /// was slow, or the node that asked is gone.
    async fn still_open<'a>(&self, record: &'a Record) -> Result<Option<Stored<'a>>, SettleError> {
        let stored = Stored::read(&record.bytes).ok_or(SettleError::NotFound)?;
        if let Some(closing) = stored.closing {
            return Err(SettleError::Closed(closing));
        }
        if self.clock.now() < stored.deadline {
            return Ok(Some(stored));
        }
        self.end(record, stored, Outcome::TimedOut, None).await?;
        Ok(None)
    }

    /// Writes down how a ticket ended, and tells whoever waits for it. `false` if the record
    /// changed meanwhile.
    async fn end(
        &self,
        record: &Record,
        stored: Stored<'_>,
        outcome: Outcome,
        submission: Option<&Submission>,
    ) -> Result<bool, SettleError> {
        let owner = NodeId(stored.owner.to_owned());
        let is_ours = owner == self.node;
        let said = submission.filter(|_| !is_ours).and_then(Said::of);
        let key = Key::new(&record.scope.user, &record.id);
        let id: TicketId = record.id.parse().map_err(|_| SettleError::NotFound)?;
        let changed = self.stamp_after(stored.changed);
        // An answer that its asker has not heard yet stays as long as it may be waited for.
        let left = stored.deadline.0.saturating_sub(changed.0);
        let ttl = match said {
            Some(_) => self
                .rules
                .memory
                .saturating_add(Duration::from_micros(left)),
            None => self.rules.memory,
        };
        let bytes = closed(stored, changed, outcome.closing(), said.as_ref());
        if !is_ours {
            let replaced = self.store.replace(&key, record.version, bytes, ttl).await?;
            if replaced && !self.tell(&owner, &key).await {
                return Err(SettleError::Closed(self.bury(&key).await?));
            }
            return Ok(replaced);
        }
        // Whoever calls may stop waiting at any moment, also when the store has done it already.
        // The outcome is kept until that is known, and the desk's own task looks after it.
        self.expect(id, changed, outcome);
        let mut cut_off = CutOff {
            id,
            errands: Some(&self.drops),
        };
        let replaced = self.store.replace(&key, record.version, bytes, ttl).await?;
        cut_off.errands = None;
        self.resolve(id, changed, replaced);
        Ok(replaced)
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

    /// Holds a submission against what was asked.
    fn answer(&self, stored: &Stored<'_>, submission: Submission) -> Result<Answer, SettleError> {
        let values = match submission {
            Submission::Decline(reason) => return Ok(Answer::Declined { reason }),
            Submission::Cancel => return Ok(Answer::Cancelled),
            Submission::Accept(values) => values,
        };
        let question = stored.question.as_ref().ok_or(SettleError::NotFound)?;
        let asked = question.asked().ok_or(SettleError::NotFound)?;
        if let Some(url) = asked.url() {
            let link = Link::read(&url, question.host.as_deref());
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

    /// Ends a ticket of this node, if it is still open.
    pub async fn close(&self, id: TicketId, outcome: Outcome) -> Result<(), StoreError> {
        let user = match self.lock().tickets.get(&id) {
            Some(waiting) => waiting.share.user.clone(),
            None => return Ok(()),
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
            match self.end(record, stored, outcome.clone(), None).await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(SettleError::Store(error)) => return Err(error),
                Err(_) => return Ok(()),
            }
        }
    }

    /// Sees whether a ticket of this node was closed by a call that was cut off.
    pub async fn look(&self, id: TicketId) -> Result<(), StoreError> {
        let user = match self.lock().tickets.get(&id) {
            Some(waiting) => waiting.share.user.clone(),
            None => return Ok(()),
        };
        self.hear(&Key::new(&*user, id.to_string())).await
    }

    /// Takes over how a ticket of this node was closed, by another node or by a call that was
    /// cut off.
    pub async fn hear(&self, key: &Key) -> Result<(), StoreError> {
        let (Ok(id), Some(record)) = (key.id.parse(), self.store.get(key).await?) else {
            return Ok(());
        };
        let Some(mut stored) = Stored::read(&record.bytes) else {
            return Ok(());
        };
        let Some(closing) = stored.closing.clone() else {
            return Ok(());
        };
        if stored.owner != self.node.0 {
            return Ok(());
        }
        // Two nodes may have stamped alike, but only this one writes an answer without what was
        // said.
        if stored.said.is_none()
            && let Some(outcome) = self.pending(id, stored.changed)
            && outcome.closing() == closing
        {
            self.finish(id, outcome);
            return Ok(());
        }
        if closing.state == State::TimedOut {
            self.finish(id, Outcome::TimedOut);
            return Ok(());
        }
        let (Some(said), Some(by)) = (stored.said.take(), closing.by) else {
            // It was heard already, or is just being told.
            return Ok(());
        };
        // What comes out of a store is held against the form again.
        let answer = Said::read(said).and_then(|said| self.answer(&stored, said).ok());
        let outcome = answer.map_or(Outcome::Unavailable(Unavailable::StoreLost), |answer| {
            Outcome::Answered(answer, by)
        });
        // What was said is not kept once it is heard. If that fails, it is only kept longer.
        self.finish(id, outcome);
        stored.question = None;
        let ttl = self.rules.memory;
        self.store
            .replace(key, record.version, stored.write(), ttl)
            .await?;
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

    /// Sets when a ticket is looked at next.
    fn set_timer(&self, id: TicketId, at: Instant) {
        let mut open = self.lock();
        let Open {
            tickets, deadlines, ..
        } = &mut *open;
        if let Some(waiting) = tickets.get_mut(&id) {
            waiting.timer = Some(deadlines.insert_at(id, at));
        }
    }

    /// The next ticket whose time is over, if there is one now.
    pub fn poll_due(&self, context: &mut Context<'_>) -> Poll<TicketId> {
        let mut open = self.lock();
        // Without deadlines the queue is ready with nothing; the next one wakes this task.
        let Poll::Ready(Some(due)) = open.deadlines.poll_expired(context) else {
            return Poll::Pending;
        };
        let id = due.into_inner();
        if let Some(waiting) = open.tickets.get_mut(&id) {
            waiting.timer = None;
        }
        Poll::Ready(id)
    }

    /// The store failed to close a ticket: it is tried again, and in the end the truth is told.
    pub fn try_again(&self, id: TicketId) {
        const TRIES: u8 = 5;
        let mut open = self.lock();
        let Open {
            tickets, deadlines, ..
        } = &mut *open;
        let Some(waiting) = tickets.get_mut(&id) else {
            return;
        };
        waiting.failures += 1;
        if waiting.failures < TRIES {
            if let Some(timer) = waiting.timer.take() {
                deadlines.try_remove(&timer);
            }
            waiting.timer = Some(deadlines.insert(id, Duration::from_secs(1)));
            return;
        }
        drop(open);
        self.finish(id, Outcome::Unavailable(Unavailable::StoreLost));
    }

    /// Remembers how a ticket is about to end.
    fn expect(&self, id: TicketId, changed: Stamp, outcome: Outcome) {
        if let Some(waiting) = self.lock().tickets.get_mut(&id) {
            waiting.pending.push((changed, outcome));
        }
    }

    /// How a ticket was about to end at a stamp.
    fn pending(&self, id: TicketId, changed: Stamp) -> Option<Outcome> {
        let mut open = self.lock();
        let pending = &mut open.tickets.get_mut(&id)?.pending;
        let at = pending.iter().position(|(stamp, _)| *stamp == changed)?;
        Some(pending.swap_remove(at).1)
    }

    /// Ends a ticket as it was about to, or forgets that it was.
    fn resolve(&self, id: TicketId, changed: Stamp, ended: bool) {
        if let Some(outcome) = self.pending(id, changed)
            && ended
        {
            self.finish(id, outcome);
        }
    }

    fn finish(&self, id: TicketId, outcome: Outcome) {
        if let Some(waiting) = self.forget(id) {
            // Whoever does not wait any more has dropped the ticket.
            let _ = waiting.send(Box::new(outcome));
        }
    }

    fn forget(&self, id: TicketId) -> Option<oneshot::Sender<Box<Outcome>>> {
        let mut open = self.lock();
        let Waiting {
            share,
            timer,
            outcome,
            ..
        } = open.tickets.remove(&id)?;
        if let Some(timer) = timer {
            open.deadlines.try_remove(&timer);
        }
        open.tally.remove(share, &self.rules, Instant::now());
        Some(outcome)
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

/// The record of a closed ticket. The question stays in it only as long as the node that waits
/// has to hold an answer against it.
fn closed(stored: Stored<'_>, changed: Stamp, closing: Closing, said: Option<&Said>) -> Bytes {
    Stored {
        changed,
        question: stored.question.filter(|_| said.is_some()),
        closing: Some(closing),
        said: said.map(Said::as_raw),
        ..stored
    }
    .write()
}
