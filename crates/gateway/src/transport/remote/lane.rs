//! What wants no answer goes out one after the other, in the order it was said.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::body::Load;
use super::stream::{Ending, News, Stream};

/// Where it queues.
pub struct Lane {
    queue: UnboundedSender<Item>,
    going: JoinHandle<()>,
}

/// One message.
pub struct Item {
    pub stream: Stream,
    pub message: Bytes,
    pub load: Arc<Load>,
    /// What has to be gone before it.
    pub after: Option<CancellationToken>,
}

/// How long a server may take to take one: the others wait for it.
const PATIENCE: Duration = Duration::from_secs(30);

impl Lane {
    pub fn new() -> Self {
        let (queue, items) = unbounded_channel();
        let going = tokio::spawn(go(items));
        Self { queue, going }
    }

    pub fn push(&self, item: Item) {
        let _ = self.queue.send(item); // It goes on for as long as we are here.
    }

    /// Waits until everything is out, for as long as is given.
    pub async fn close(self, within: Duration) {
        drop(self.queue);
        let stop = self.going.abort_handle();
        if timeout(within, self.going).await.is_err() {
            stop.abort();
        }
    }
}

async fn go(mut items: UnboundedReceiver<Item>) {
    while let Some(item) = items.recv().await {
        if let Some(after) = item.after {
            after.cancelled().await;
        }
        let (tag, told) = (item.stream.tag, item.stream.told.clone());
        let sending = item.stream.request(item.message, item.load);
        if timeout(PATIENCE, sending).await.is_err() {
            let why = "it was not taken in time".to_owned();
            told.tell(tag, News::Ended(Ending::Broken { why, came: None }));
        }
    }
}
