//! What surfaces are told: what is open, then every change.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use midcall_core::Scope;
use midcall_store::{Change, Changes, Record, Store, StoreError};
use serde::Serialize;

use crate::clock::Stamp;
use crate::mark::Mark;
use crate::outcome::{By, Closing, State};
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
    mark: Mark,
}

/// One thing that happened to a ticket.
#[derive(Clone, Serialize)] // Debug is written by hand: a link may carry a secret
#[serde(untagged)]
pub enum News {
    /// It is open.
    Request(Box<Question>),
    /// The person opened its link, or the link that they opened has another address now.
    Opened {
        /// The ticket.
        id: String,
        /// Who opened it.
        by: By,
        /// Where it leads now, if that isn't what the request said.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
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
            None if stored.opened.is_some() => Self::Opened {
                id,
                by: stored.opened?,
                url: stored.url.map(Into::into),
            },
            None => Self::Request(Box::new(Question::of(record, &stored)?)),
        };
        Some((changed, news))
    }
}

/// A link may hold a secret.
impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(question) => f.debug_tuple("Request").field(question).finish(),
            Self::Opened { id, by, .. } => {
                let mut told = f.debug_struct("Opened");
                told.field("id", id).field("by", by).finish_non_exhaustive()
            }
            Self::Closed { id, closing } => {
                let mut told = f.debug_struct("Closed");
                told.field("id", id).field("closing", closing).finish()
            }
        }
    }
}

impl<S: Store> Watch<S> {
    pub(crate) async fn start(
        store: S,
        scope: Scope,
        after: Option<&Mark>,
    ) -> Result<Self, StoreError> {
        // First listen, then look: what happens in between is heard and seen, never missed.
        let changes = store.changes(&scope).await?;
        let mut watch = Self {
            store,
            scope,
            changes,
            waiting: VecDeque::new(),
            told: HashMap::new(),
            mark: after.cloned().unwrap_or_default(),
        };
        watch.look(after.is_some()).await?;
        Ok(watch)
    }

    /// The next news.
    pub async fn next(&mut self) -> Result<News, StoreError> {
        loop {
            if let Some((changed, news)) = self.waiting.pop_front() {
                self.mark.add(changed);
                return Ok(news);
            }
            match self.changes.next().await {
                Ok(Change::Put(record)) => {
                    if let Some((changed, news)) = News::of(&record) {
                        self.add(changed, record.id, news);
                    }
                }
                Ok(Change::Gone(_)) => {}
                Err(_) => {
                    self.changes = self.store.changes(&self.scope).await?;
                    self.look(true).await?;
                }
            }
        }
    }

    /// Where this watcher stands, for one that comes back later.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Reads what there is: all that is open, or what changed after the mark.
    async fn look(&mut self, resumes: bool) -> Result<(), StoreError> {
        let mut found: Vec<(Stamp, String, News)> = Vec::new();
        for record in self.store.list(&self.scope).await? {
            let Some(stored) = Stored::read(&record.bytes) else {
                continue;
            };
            let is_new = |changed| !(resumes && self.mark.has_told(changed));
            if (!resumes && stored.closing.is_some()) || !is_new(stored.changed) {
                continue;
            }
            // Who has not heard of the question is told of it even if its link is open already.
            if stored.opened.is_some()
                && is_new(stored.asked)
                && let Some(question) = Question::of(&record, &stored)
            {
                let news = News::Request(Box::new(question));
                found.push((stored.asked, record.id.clone(), news));
            }
            if let Some((changed, news)) = News::of(&record) {
                found.push((changed, record.id, news));
            }
        }
        found.sort_by_key(|(changed, ..)| *changed);
        for (changed, id, news) in found {
            self.add(changed, id, news);
        }
        Ok(())
    }

    fn add(&mut self, changed: Stamp, id: String, news: News) {
        if self.told.get(&id).is_some_and(|told| *told >= changed) {
            return;
        }
        if self.told.len() >= MOST_TOLD {
            self.told.clear();
        }
        self.told.insert(id, changed);
        self.waiting.push_back((changed, news));
    }
}
