//! The questions of a call that its client has not been told of yet.
//!
//! A channel would do, and takes a kilobyte and a half before anything is in it: ten thousand calls
//! may wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, oneshot};

use crate::asking::{Asking, Misfit, Reply};
use crate::call::Call;
use crate::observe::Carrier;

/// A question for which the call is parked.
pub(crate) struct Open {
    pub asking: Arc<Asking>,
    pub carrier: Carrier,
    pub reply: oneshot::Sender<Said>,
}

/// What its client or its model makes of a question.
pub(crate) type Said = Box<Result<Reply, Misfit>>;

/// Where the tool puts them.
#[derive(Default)]
pub(crate) struct Inbox {
    open: Mutex<Vec<Open>>,
    came: Notify,
    /// How many questions are about to be answered by what is known of them.
    replaying: AtomicUsize,
}

/// A question is about to be answered by what is known of it, as long as this is there. What the tool
/// asks next belongs to the same round as what it asks beside it.
pub(crate) struct Replaying<'a>(&'a Inbox);

/// Where they are taken from. Once it is dropped the call is over: whoever still asks in it, or waits
/// for an answer, hears that.
pub(crate) struct Questions(pub Arc<Call>);

impl Inbox {
    pub fn put(&self, open: Open) {
        let mut waiting = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.reserve_exact(1);
        waiting.push(open);
        drop(waiting);
        self.came.notify_one();
    }

    pub fn replays(&self) -> Replaying<'_> {
        self.replaying.fetch_add(1, Ordering::SeqCst);
        Replaying(self)
    }

    fn take(&self) -> Vec<Open> {
        if self.replaying.load(Ordering::SeqCst) > 0 {
            return Vec::new();
        }
        let mut waiting = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *waiting)
    }
}

impl Drop for Replaying<'_> {
    fn drop(&mut self) {
        self.0.replaying.fetch_sub(1, Ordering::SeqCst);
        self.0.came.notify_one();
    }
}

impl Questions {
    /// What has come up since; waits for it. Nothing is lost if that is given up.
    pub async fn next(&self) -> Vec<Open> {
        let inbox = &self.0.inbox;
        loop {
            let open = inbox.take();
            if !open.is_empty() {
                return open;
            }
            inbox.came.notified().await;
        }
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        self.0.over.cancel();
        let open = &self.0.inbox.open;
        open.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
