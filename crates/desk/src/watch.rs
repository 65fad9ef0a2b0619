//! What surfaces are told: what is open, then every change.

use std::collections::{HashMap, VecDeque};

use midcall_core::Scope;
use midcall_store::{Change, Changes, Record, Store, StoreError};
use serde::Serialize;

use crate::clock::Stamp;
use crate::outcome::{Closing, State};
use crate::record::{Question, Stored};

/// The news of a scope, without end.
pub struct Watch<S> {
    store: S,
    scope: Scope,
    changes: Changes,
    /// News that are known and not told yet.
    waiting: VecDeque<(Stamp, News)>,
    /// The last told change of each ticket, so that none is told twice.
    told: HashMap<String, Stamp>,
    mark: Stamp,
}

/// One thing that happened to a ticket.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum News {
    /// It is open.
    Request(Box<Question>),
    /// The person opened its link.
    Opened {
        /// The ticket.
        id: String,
    },
    /// It closed.
    Closed {
        /// The ticket.
        id: String,
        /// How.
        #[serde(flatten)]
        closing: Closing,
    },
}

/// How far a watcher that comes back is told again what it may have heard: changes of several
/// nodes do not arrive in the order of their stamps.
const OVERLAP: u64 = 50_000;

/// How many tickets are remembered as told.
const MOST_TOLD: usize = 10_000;

impl News {
    /// The name of its event.
    pub fn event(&self) -> &'static str {
        match self {
            Self::Request(_) => "elicitation/request",
            Self::Opened { .. } => "elicitation/opened",
            Self::Closed { closing, .. } if closing.state == State::TimedOut => {
                "elicitation/timeout"
            }
            Self::Closed { .. } => "elicitation/closed",
        }
    }

    fn of(record: &Record) -> Option<(Stamp, Self)> {
        let stored = Stored::read(&record.bytes)?;
        let id = record.id.clone();
        let changed = stored.changed;
        let news = match stored.closing {
            Some(closing) => Self::Closed { id, closing },
            None if stored.opened => Self::Opened { id },
            None => Self::Request(Box::new(Question::of(&id, &stored)?)),
        };
        Some((changed, news))
    }
}

impl<S: Store> Watch<S> {
    pub(crate) async fn start(
        store: S,
        scope: Scope,
        after: Option<u64>,
    ) -> Result<Self, StoreError> {
        // First listen, then look: what happens in between is heard and seen, never missed.
        let changes = store.changes(&scope).await?;
        let mut watch = Self {
            store,
            scope,
            changes,
            waiting: VecDeque::new(),
            told: HashMap::new(),
            mark: Stamp(after.unwrap_or_default()),
        };
        watch.look(after.map(Stamp)).await?;
        Ok(watch)
    }

    /// The next news.
    pub async fn next(&mut self) -> Result<News, StoreError> {
        loop {
            if let Some((changed, news)) = self.waiting.pop_front() {
                self.mark = self.mark.max(changed);
                return Ok(news);
            }
            match self.changes.next().await {
                Ok(Change::Put(record)) => self.add(News::of(&record), &record.id),
                Ok(Change::Gone(_)) => {}
                Err(_) => self.look(Some(self.mark)).await?,
            }
        }
    }

    /// Where this watcher stands, for one that comes back later.
    pub fn mark(&self) -> u64 {
        self.mark.0
    }

    /// Reads what there is: all that is open, or what changed after a stamp.
    async fn look(&mut self, after: Option<Stamp>) -> Result<(), StoreError> {
        let mut records: Vec<(Stamp, Record)> = Vec::new();
        for record in self.store.list(&self.scope).await? {
            let Some(stored) = Stored::read(&record.bytes) else {
                continue;
            };
            let wanted = match after {
                None => stored.closing.is_none(),
                Some(after) => stored.changed.0 + OVERLAP > after.0,
            };
            if wanted {
                // A newcomer is told of the question itself, even if its link is open.
                let unseen = after.is_none_or(|after| stored.asked.0 + OVERLAP > after.0);
                if unseen
                    && stored.opened
                    && let Some(question) = Question::of(&record.id, &stored)
                {
                    let news = News::Request(Box::new(question));
                    self.waiting.push_back((stored.asked, news));
                }
                records.push((stored.changed, record));
            }
        }
        records.sort_by_key(|(changed, _)| *changed);
        for (_, record) in records {
            self.add(News::of(&record), &record.id);
        }
        Ok(())
    }

    fn add(&mut self, news: Option<(Stamp, News)>, id: &str) {
        let Some((changed, news)) = news else {
            return;
        };
        if self.told.get(id).is_some_and(|told| *told >= changed) {
            return;
        }
        if self.told.len() >= MOST_TOLD {
            self.told.clear();
        }
        self.told.insert(id.to_owned(), changed);
        self.waiting.push_back((changed, news));
    }
}
