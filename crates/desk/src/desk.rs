//! The life of a ticket: asked, settled or taken back, once.
//!
//! Elsewhere: how it ends (`ending`), what waits (`open`), what surfaces are told (`watch`).

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use midcall_core::{Answer, Elicitation, FormError, Link, Problem, Scope, Values, Words};
use midcall_store::{Key, NodeId, Post, PostError, Record, Store, StoreError};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::forms::Forms;
use crate::inner::Inner;
use crate::keeper;
use crate::mark::Mark;
use crate::outcome::{By, Closing, Delivery, Lost, Outcome, State, Status, Withdrawn};
use crate::record::{Stored, StoredQuestion};
use crate::rules::{Limited, Rules};
use crate::ticket::{Ticket, TicketId};
use crate::watch::Watch;

/// No question waits longer, whatever the rules say: timers have an end too.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

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

/// What a surface calls one attempt to hand in an answer, so that it can repeat that when it
/// didn't hear whether it was taken. Whoever knows the name can only learn that much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt<'a>(&'a str);

impl<'a> Attempt<'a> {
    /// The most bytes of a name.
    pub const LONGEST: usize = 64;

    /// A name, unless it is empty or too long.
    pub fn named(name: &'a str) -> Option<Self> {
        (1..=Self::LONGEST)
            .contains(&name.len())
            .then_some(Self(name))
    }

    fn has_answered(self, record: &Record) -> bool {
        let Some(stored) = Stored::read(&record.bytes) else {
            return false;
        };
        let is_answered = |closing: Closing| closing.state == State::Answered;
        stored.attempt.as_deref() == Some(self.0) && stored.closing.is_some_and(is_answered)
    }
}

impl From<Answer> for Submission {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Accepted(checked) => Self::Accept(checked.into_values()),
            Answer::Declined { reason } => Self::Decline(reason),
            Answer::Cancelled => Self::Cancel,
        }
    }
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

/// Why an answer was not taken. Declining is not here: it is an
/// [`Answer`].
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

impl<S: Store, P: Post> Clone for Desk<S, P> {
    fn clone(&self) -> Self {
        let inner = self.inner.clone();
        Self { inner }
    }
}

impl<S: Store, P: Post> Desk<S, P> {
    /// Opens a desk, a node of its own among those that share the store and the post.
    pub async fn open(store: S, post: P, rules: Rules) -> Result<Self, PostError> {
        Self::open_by(Clock::start(), store, post, rules).await
    }

    async fn open_by(clock: Clock, store: S, post: P, rules: Rules) -> Result<Self, PostError> {
        let node = NodeId(TicketId::random().to_string());
        let inbox = post.inbox(&node).await?;
        let (errands, running) = mpsc::unbounded_channel();
        let inner = Arc::new(Inner {
            store,
            post,
            rules,
            node,
            clock,
            forms: Forms::default(),
            open: Mutex::default(),
            last: AtomicU64::new(0),
            errands,
        });
        tokio::spawn(keeper::keep(Arc::downgrade(&inner), inbox, running));
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
        self.put(TicketId::random(), scope, elicitation, patience)
            .await
    }

    /// Asks a question under an id that the caller chose. If a ticket with this id exists, because another process asked
    /// the question before, the caller takes that ticket over, even if it has ended meanwhile. Only the new caller gets
    /// the outcome.
    pub async fn ask_as(
        &self,
        id: TicketId,
        scope: &Scope,
        elicitation: &Elicitation,
        patience: Option<Duration>,
    ) -> Result<Ticket, AskError> {
        let key = Key::new(&scope.user, id.to_string());
        loop {
            let Some(record) = self.inner.store.get(&key).await? else {
                return self.put(id, scope, elicitation, patience).await;
            };
            if let Some(ticket) = self.reattach(id, scope, elicitation, &record).await? {
                return Ok(ticket);
            }
        }
    }

    /// Waits for a question that was asked before; none if its record has changed meanwhile.
    async fn reattach(
        &self,
        id: TicketId,
        scope: &Scope,
        elicitation: &Elicitation,
        record: &Record,
    ) -> Result<Option<Ticket>, AskError> {
        let inner = &*self.inner;
        let taken = || AskError::Store(StoreError::Unreachable("a ticket's name was taken".into()));
        let mut stored = Stored::read(&record.bytes).filter(|_| scope.covers(&record.scope));
        let stored = stored.as_mut().ok_or_else(taken)?;
        inner.lock().remove(id, &inner.rules, Instant::now());
        let server = &elicitation.asker.server;
        if stored.owner != inner.node.0 {
            stored.owner = &inner.node.0;
            if !inner.replace(record, stored).await? {
                return Ok(None);
            }
        }
        let waiting = inner.lock().add(id, scope, server, &inner.rules)?;
        let ticket = Ticket::new(id, waiting, inner.errands.clone());
        if let Some(closing) = &stored.closing {
            // An answer that was sent is kept no longer, and nothing more is known of it here.
            inner.finish(id, inner.outcome(stored, closing));
        } else {
            let left = stored.deadline.since(inner.clock.now());
            inner.lock().set_timer(id, Instant::now() + left);
        }
        Ok(Some(ticket))
    }

    /// Leaves an open question to another process: it is neither waited for here nor taken back.
    pub fn detach(&self, id: TicketId) {
        let inner = &*self.inner;
        inner.lock().remove(id, &inner.rules, Instant::now());
    }

    async fn put(
        &self,
        id: TicketId,
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
        let server = &elicitation.asker.server;
        let waiting = inner.lock().add(id, scope, server, rules)?;
        // From here on, dropping the ticket takes the question back, also in the midst of this.
        let ticket = Ticket::new(id, waiting, inner.errands.clone());

        // The timer counts the time that this machine is awake, the deadline is told in the time
        // of day; whichever is over first ends it.
        let timer = Instant::now() + patience;
        let deadline = inner.clock.now().plus(patience);
        let asked = inner.stamp();
        let stored = Stored {
            asked,
            deadline,
            changed: asked,
            closed: None,
            owner: inner.node.0.as_str(),
            question: Some(StoredQuestion::new(&elicitation.asker, params)),
            opened: None,
            url: None,
            closing: None,
            attempt: None,
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
        inner.lock().set_timer(id, timer);
        Ok(ticket)
    }

    /// What is open in a scope, then every change.
    pub async fn watch(&self, scope: &Scope) -> Result<Watch<S>, StoreError> {
        Watch::start(self.inner.store.clone(), scope.clone(), None).await
    }

    /// The same, from where a watcher left off: `after` is the [`Watch::mark`] of what it saw
    /// last. A mark that this desk cannot have given yet is none.
    pub async fn watch_after(&self, scope: &Scope, after: &Mark) -> Result<Watch<S>, StoreError> {
        let after = Some(after).filter(|after| !after.is_after(self.inner.latest()));
        Watch::start(self.inner.store.clone(), scope.clone(), after).await
    }

    /// Where a ticket stands, and how it closed if it did.
    pub async fn status(&self, scope: &Scope, id: TicketId) -> Result<Status, SettleError> {
        let record = self.inner.find(scope, id).await?;
        let stored = Stored::read(&record.bytes).ok_or(SettleError::NotFound)?;
        // The node that asked may be gone, and nobody has closed it yet.
        let is_late = self.inner.clock.now() >= stored.deadline;
        let late = is_late.then(|| Outcome::TimedOut.closing());
        let closing = stored.closing.or(late);
        Ok(Status::new(record.id, stored.deadline.rfc3339(), closing))
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
        self.settle_once(scope, id, submission, by, None).await
    }

    /// The same, for a surface that may repeat it: an attempt that has won, wins again.
    pub async fn settle_once(
        &self,
        scope: &Scope,
        id: TicketId,
        mut submission: Submission,
        by: By,
        attempt: Option<Attempt<'_>>,
    ) -> Result<(), SettleError> {
        let inner = &*self.inner;
        loop {
            let record = inner.find(scope, id).await?;
            let mut stored = match inner.still_open(&record).await {
                Ok(Some(stored)) => stored,
                Ok(None) => continue,
                Err(SettleError::Closed(closing)) => {
                    let is_again = attempt.is_some_and(|attempt| attempt.has_answered(&record));
                    return match is_again {
                        true => Ok(()),
                        false => Err(SettleError::Closed(closing)),
                    };
                }
                Err(error) => return Err(error),
            };
            let answer = inner.answer(&stored, submission)?;
            stored.attempt = attempt.map(|Attempt(name)| name.into());
            let outcome = Outcome::Answered(answer, by);
            match inner.end(&record, stored, outcome).await? {
                Some(Outcome::Answered(answer, _)) => submission = answer.into(),
                _ => return Ok(()),
            }
        }
    }

    /// Notes that somebody opened the link, so that every surface shows it. One that must not be
    /// opened is refused here too; a form has none and is left as it is.
    pub async fn opened(&self, scope: &Scope, id: TicketId, by: By) -> Result<(), SettleError> {
        let inner = &*self.inner;
        loop {
            let record = inner.find(scope, id).await?;
            let Some(mut stored) = inner.still_open(&record).await? else {
                continue;
            };
            if stored.opened.is_some() || !inner.is_link(&stored)? {
                return Ok(());
            }
            stored.opened = Some(by);
            stored.changed = inner.stamp_after(stored.changed);
            if inner.replace(&record, &stored).await? {
                return Ok(());
            }
        }
    }

    /// Gives a link that somebody opened another address, which is where it leads when it is opened again: some servers
    /// create a new one whenever they are asked whether the old one is done. It must be of the same origin. Any other
    /// ticket is left as it is.
    pub async fn renew(&self, scope: &Scope, id: TicketId, url: &str) -> Result<(), SettleError> {
        let inner = &*self.inner;
        loop {
            let record = inner.find(scope, id).await?;
            let Some(mut stored) = inner.still_open(&record).await? else {
                continue;
            };
            if stored.opened.is_none() || !inner.may_renew(&stored, url)? {
                return Ok(());
            }
            stored.url = Some(url.into());
            stored.changed = inner.stamp_after(stored.changed);
            if inner.replace(&record, &stored).await? {
                return Ok(());
            }
        }
    }

    /// Notes that the asker has sent an answer on. What was said is kept no longer. Like what
    /// follows, it changes nothing about a ticket without an answer, or whose end is known.
    pub async fn sent(&self, scope: &Scope, id: TicketId) -> Result<(), StoreError> {
        self.deliver(scope, id, Delivery::Sent, None).await
    }

    /// Notes that what waited for an answer went on.
    pub async fn delivered(&self, scope: &Scope, id: TicketId) -> Result<(), StoreError> {
        self.deliver(scope, id, Delivery::Delivered, None).await
    }

    /// Notes that an answer didn't arrive, or may not have.
    pub async fn undelivered(
        &self,
        scope: &Scope,
        id: TicketId,
        why: Lost,
    ) -> Result<(), StoreError> {
        self.deliver(scope, id, Delivery::Lost, Some(why)).await
    }

    async fn deliver(
        &self,
        scope: &Scope,
        id: TicketId,
        delivery: Delivery,
        why: Option<Lost>,
    ) -> Result<(), StoreError> {
        let key = Key::new(&scope.user, id.to_string());
        self.inner.deliver(&key, delivery, why).await
    }

    /// Takes back a question that this desk asked. Nothing happens if it is closed already.
    pub async fn withdraw(&self, id: TicketId, why: Withdrawn) -> Result<(), StoreError> {
        self.inner.close(id, Outcome::Withdrawn(why)).await
    }

    /// Takes back every question of this desk, because its process ends.
    pub async fn shut_down(&self) {
        let open: Vec<TicketId> = self.inner.lock().ids();
        for id in open {
            let withdrawn = self.withdraw(id, Withdrawn::Shutdown).await;
            if let Err(error) = withdrawn {
                tracing::warn!(ticket = %id, %error, "a question could not be taken back");
            }
        }
    }

    /// How many tickets of this desk are open.
    pub fn waiting(&self) -> usize {
        self.inner.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::tests::{system_seconds, turn, turnable};
    use crate::outcome::Route;
    use midcall_core::{Asker, Limits};
    use midcall_store::{Mailroom, Memory};

    async fn desk() -> Desk<Memory, Mailroom> {
        let (store, post) = (Memory::default(), Mailroom::default());
        let desk = Desk::open_by(turnable(), store, post, Rules::default()).await;
        desk.unwrap()
    }

    fn ana() -> Scope {
        Scope::user("ana")
    }

    async fn ask(desk: &Desk<Memory, Mailroom>) -> Ticket {
        let params = r#"{"message": "Sure?", "requestedSchema": {"type": "object"}}"#;
        let asked = Elicitation::read(params, Asker::named("crm"), &Limits::default()).unwrap();
        desk.ask(&ana(), &asked, None).await.unwrap()
    }

    /// Seconds from now, as the system has it, until the deadline that is told.
    async fn left(desk: &Desk<Memory, Mailroom>, id: TicketId) -> i64 {
        let status = desk.status(&ana(), id).await.unwrap();
        let deadline: jiff::Timestamp = status.deadline.parse().unwrap();
        deadline.as_second() - system_seconds()
    }

    const HUMAN: By = By {
        route: Route::Page,
        human: true,
    };

    #[tokio::test(start_paused = true)]
    async fn deadlines_told_after_a_sleep_lie_ahead_and_after_a_turn_back_not_too_far() {
        let desk = desk().await;
        let patience = desk.inner.rules.patience;
        let start = Instant::now();
        let (mut tickets, mut changes) = (Vec::new(), Vec::new());
        for hours in [0, 1, -3] {
            turn(hours);
            let ticket = ask(&desk).await;
            let told = left(&desk, ticket.id()).await;
            let off = told.abs_diff(patience.as_secs() as i64);
            assert!(off <= 2, "{hours}: {told}");
            let record = desk.inner.find(&ana(), ticket.id()).await.unwrap();
            changes.push(Stored::read(&record.bytes).unwrap().changed);
            tickets.push(ticket);
        }
        assert!(changes.is_sorted(), "no stamp goes back: {changes:?}");
        for ticket in tickets {
            assert_eq!(ticket.await, Outcome::TimedOut);
            let waited = start.elapsed();
            assert!(waited.abs_diff(patience) < Duration::from_secs(1));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_after_the_deadline_that_was_told_is_late_though_the_machine_slept() {
        let desk = desk().await;
        let ticket = ask(&desk).await;
        turn(1);
        let status = desk.status(&ana(), ticket.id()).await.unwrap();
        assert_eq!(status.state, State::TimedOut);
        let late = desk
            .settle(&ana(), ticket.id(), Submission::Cancel, HUMAN)
            .await;
        assert!(matches!(late, Err(SettleError::Closed(_))));
        assert_eq!(ticket.await, Outcome::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_mark_still_counts_when_the_clock_is_turned_back() {
        let desk = desk().await;
        let _ticket = ask(&desk).await;
        let mut watch = desk.watch(&ana()).await.unwrap();
        watch.next().await.unwrap();
        let mark = watch.mark().clone();
        turn(-1);
        let mut again = desk.watch_after(&ana(), &mark).await.unwrap();
        let soon = Duration::from_millis(1);
        assert!(tokio::time::timeout(soon, again.next()).await.is_err());
    }
}
