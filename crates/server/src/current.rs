//! The requests of a client that belong to one call, and the signs of life they get.
//!
//! Many clients give up on a request after a minute, however long its person thinks. Those that
//! wanted to hear of progress hear that the call goes on.
//!
//! Elsewhere: how a modern client is told to come back meanwhile (`layer::resume`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken, RequestId};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::call::Call;

/// While somebody thinks, clients hear this often that their call goes on. Most give up after a
/// minute, some after half of one.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// How far a sign of life moves on what the tool said: progress must grow with each notification.
const STEP: f64 = 1e-6;

/// A request of the client that belongs to the call: the first, or one that came back to it.
pub(crate) struct Current {
    pub peer: Peer<RoleServer>,
    pub id: RequestId,
    token: Option<ProgressToken>,
    heard: Mutex<Heard>,
}

/// What the client of a request heard last.
struct Heard {
    at: Instant,
    progress: Option<f64>,
    total: Option<f64>,
}

/// The requests of a call.
#[derive(Default)]
pub(crate) struct Requests {
    /// Which came last; it may be over. None where there is no client.
    last: Option<Arc<Current>>,
    /// Those that the client waits for.
    open: Vec<Arc<Current>>,
}

/// A request that the client waits for, as long as this is there.
pub(crate) struct Here {
    call: Arc<Call>,
    current: Arc<Current>,
}

/// Whether a tool waits for what a person does outside of their client, such as a sign-in.
#[derive(Default)]
pub(crate) struct Outside {
    waits: AtomicUsize,
    begun: Notify,
}

/// A tool waits for that, as long as this is there.
pub(crate) struct Waits<'a>(&'a Outside);

impl Outside {
    pub fn waits(&self) -> Waits<'_> {
        self.waits.fetch_add(1, Ordering::SeqCst);
        self.begun.notify_waiters();
        Waits(self)
    }

    /// Ends once a tool waits for it; at once if one does already.
    pub async fn begun(&self) {
        loop {
            let begun = self.begun.notified();
            tokio::pin!(begun);
            begun.as_mut().enable();
            if self.waits.load(Ordering::SeqCst) > 0 {
                return;
            }
            begun.await;
        }
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.waits.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Current {
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            id: context.id.clone(),
            token: context.meta.get_progress_token(),
            heard: Mutex::new(Heard {
                at: Instant::now(),
                progress: None,
                total: None,
            }),
        }
    }

    /// When its client has to hear again that the call goes on. None if it did not ask to hear.
    fn next_sign(&self) -> Option<Instant> {
        self.token.as_ref()?;
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        Some(heard.at + SIGN_OF_LIFE)
    }

    /// The notification that says so, moved on a little where the client has heard as much already.
    fn progress(&self, done: Option<f64>, total: Option<f64>) -> Option<ProgressNotificationParam> {
        let token = self.token.clone()?;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let least = heard.progress.map_or(0.0, |last| last + STEP);
        let done = done.map_or(least, |done| done.max(least));
        heard.at = Instant::now();
        heard.progress = Some(done);
        heard.total = total.or(heard.total);
        let mut progress = ProgressNotificationParam::new(token, done);
        progress.total = heard.total;
        Some(progress)
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        let mut requests = self.call.requests();
        requests
            .open
            .retain(|open| !Arc::ptr_eq(open, &self.current));
    }
}

impl Call {
    /// The client waits for a request in which the call goes on.
    pub fn here(self: &Arc<Self>, current: Current) -> Here {
        let current = Arc::new(current);
        let mut requests = self.requests();
        requests.last = Some(current.clone());
        requests.open.push(current.clone());
        drop(requests);
        let call = self.clone();
        Here { call, current }
    }

    /// The request that came last.
    pub fn current(&self) -> Option<Arc<Current>> {
        self.requests().last.clone()
    }

    /// Tells the client how far the tool is, in every request that wants to know.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        let open = self.requests().open.clone();
        for current in open {
            say(&current, Some(done), total, message.clone()).await;
        }
    }

    /// Waits for a person, and tells the client meanwhile that its call goes on.
    pub async fn kept_alive<F: Future>(&self, waiting: F) -> F::Output {
        tokio::pin!(waiting);
        loop {
            let open = self.requests().open.clone();
            let next = open.iter().filter_map(|current| current.next_sign()).min();
            let next = next.unwrap_or_else(|| Instant::now() + SIGN_OF_LIFE);
            tokio::select! {
                biased;
                done = &mut waiting => return done,
                () = sleep_until(next) => self.sign_of_life().await,
            }
        }
    }

    async fn sign_of_life(&self) {
        let now = Instant::now();
        let open = self.requests().open.clone();
        for current in open {
            if current.next_sign().is_some_and(|next| next <= now) {
                let words = self.asks.settings.locale.say(
                    "mcp.elicitation.wait.person",
                    &[("server", (&*self.server).into())],
                );
                say(&current, None, None, Some(words)).await;
            }
        }
    }
}

async fn say(current: &Current, done: Option<f64>, total: Option<f64>, message: Option<String>) {
    if let Some(mut progress) = current.progress(done, total) {
        progress.message = message;
        let _ = current.peer.notify_progress(progress).await; // Nobody may be listening any more.
    }
}
