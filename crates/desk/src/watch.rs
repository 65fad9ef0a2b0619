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
    /// More is known of what became of its answer.
    Delivery {
        /// The ticket.
        id: String,
        /// How it closed, with the newer delivery.
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
            Self::Delivery { .. } => "elicitation/delivery",
        }
    }

    /// What a record says, as far as it is new: each with the stamp of its change, the earlier
    /// first.
    fn of(
        record: &Record,
        stored: &Stored<'_>,
        is_new: impl Fn(Stamp) -> bool,
    ) -> Vec<(Stamp, Self)> {
        let id = || record.id.clone();
        let request = || Question::of(record, stored).map(|it| Self::Request(Box::new(it)));
        let mut news = Vec::new();
        let mut add = |at: Stamp, said: &dyn Fn() -> Option<Self>| {
            if is_new(at) {
                news.extend(said().map(|said| (at, said)));
            }
        };
        match (&stored.closing, stored.opened) {
            (Some(closing), _) => {
                let closed = stored.closed.unwrap_or(stored.changed);
                let closing = || closing.clone();
                add(closed, &|| {
                    Some(Self::Closed {
                        id: id(),
                        closing: closing(),
                    })
                });
                if closed < stored.changed {
                    add(stored.changed, &|| {
                        Some(Self::Delivery {
                            id: id(),
                            closing: closing(),
                        })
                    });
                }
            }
            // Who has not heard of the question is told of it even if its link is open already.
            (None, Some(by)) => {
                add(stored.asked, &request);
                let url = || stored.url.as_deref().map(str::to_owned);
                add(stored.changed, &|| {
                    Some(Self::Opened {
                        id: id(),
                        by,
                        url: url(),
                    })
                });
            }
            (None, None) => add(stored.changed, &request),
        }
        news
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
            Self::Closed { id, closing } | Self::Delivery { id, closing } => {
                let mut told = f.debug_struct(self.event());
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
                Ok(Change::Put(record)) => self.hear(&record),
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
            if !resumes && stored.closing.is_some() {
                continue;
            }
            let is_new = |stamp| !(resumes && self.mark.has_told(stamp));
            let news = News::of(&record, &stored, is_new).into_iter();
            found.extend(news.map(|(stamp, news)| (stamp, record.id.clone(), news)));
        }
        found.sort_by_key(|(changed, ..)| *changed);
        for (changed, id, news) in found {
            self.add(changed, id, news);
        }
        Ok(())
    }

    /// A record changed. Of a ticket that was never told, the change itself is news, and not
    /// what was before.
    fn hear(&mut self, record: &Record) {
        let Some(stored) = Stored::read(&record.bytes) else {
            return;
        };
        let told = self.told.get(&record.id).copied();
        let is_new = |stamp| match told {
            Some(told) => told < stamp,
            None => stamp == stored.changed,
        };
        for (stamp, news) in News::of(record, &stored, is_new) {
            self.add(stamp, record.id.clone(), news);
        }
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
