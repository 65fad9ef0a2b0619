//! A client's end of a connection, in raw JSON: what the server really says is what tests see.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio_util::task::AbortOnDropHandle;

/// Requests out, answers in; the server's own requests go to `answers`.
pub(super) struct Wire {
    shared: Arc<Shared>,
    last: AtomicU64,
    _reader: AbortOnDropHandle<()>,
}

struct Shared {
    out: AsyncMutex<WriteHalf<DuplexStream>>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    notes: Mutex<Vec<Value>>,
}

impl Wire {
    /// `answers` gives the result of a request of the server's; None leaves it open.
    pub fn new(
        stream: DuplexStream,
        answers: impl Fn(&Value) -> Option<Value> + Send + 'static,
    ) -> Self {
        let (read, write) = tokio::io::split(stream);
        let shared = Arc::new(Shared {
            out: AsyncMutex::new(write),
            waiting: Mutex::default(),
            notes: Mutex::default(),
        });
        let reader = tokio::spawn(read_all(read, shared.clone(), answers));
        Self {
            shared,
            last: AtomicU64::new(0),
            _reader: AbortOnDropHandle::new(reader),
        }
    }

    /// Sends a request: its id, and the response once it comes.
    pub async fn request(&self, method: &str, params: Value) -> (u64, oneshot::Receiver<Value>) {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = oneshot::channel();
        lock(&self.shared.waiting).insert(id, sender);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.shared.write(&message).await;
        (id, receiver)
    }

    pub async fn notify(&self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.shared.write(&message).await;
    }

    /// The server's notifications so far.
    pub fn notes(&self) -> Vec<Value> {
        lock(&self.shared.notes).clone()
    }
}

impl Shared {
    async fn write(&self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        let mut out = self.out.lock().await;
        let _ = out.write_all(line.as_bytes()).await; // Whoever waits for the answer notices.
    }
}

/// Whoever still waits hears that nothing comes any more: also when what plays the person panics.
struct Ends(Arc<Shared>);

impl Drop for Ends {
    fn drop(&mut self) {
        lock(&self.0.waiting).clear();
    }
}

async fn read_all(
    read: ReadHalf<DuplexStream>,
    shared: Arc<Shared>,
    answers: impl Fn(&Value) -> Option<Value>,
) {
    let _ends = Ends(shared.clone());
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        match (message.get("method"), message.get("id")) {
            (Some(_), Some(id)) => {
                if let Some(answer) = answers(&message) {
                    let mut response = json!({"jsonrpc": "2.0", "id": id});
                    let member = if answer.get("code").is_some() {
                        "error"
                    } else {
                        "result"
                    };
                    response[member] = answer;
                    shared.write(&response).await;
                }
            }
            (Some(_), None) => lock(&shared.notes).push(message),
            (None, Some(id)) => {
                let waiter = id.as_u64().and_then(|id| lock(&shared.waiting).remove(&id));
                if let Some(waiter) = waiter {
                    let _ = waiter.send(message); // Nobody may wait for it any more.
                }
            }
            (None, None) => {}
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
