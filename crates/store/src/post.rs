//! Messages between nodes.
//!
//! A node is one running process that shares a store with others. A record may name the node
//! that owns it; the post reaches that node.
//!
//! In: [`Post::call`]. Out: [`Post::inbox`].

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

/// How many letters wait in an inbox before callers wait to hand in theirs.
const QUEUE: usize = 256;

/// Letters to nodes, and their replies.
///
/// A letter reaches the inbox of its node at most once. Its caller hears the reply to that very
/// letter, or that there will be none. Letters may overtake each other. The post sets no
/// deadline: a node that keeps a letter keeps its caller waiting.
pub trait Post: Clone + Send + Sync + 'static {
    /// Delivers to a node's inbox and waits for the reply.
    fn call(
        &self,
        to: &NodeId,
        body: Bytes,
    ) -> impl Future<Output = Result<Bytes, PostError>> + Send;

    /// Opens the inbox of a node, which lives until the inbox is dropped. A second inbox for the
    /// same node replaces the first, which then ends after the letters it has.
    fn inbox(
        &self,
        node: &NodeId,
    ) -> impl Future<Output = Result<mpsc::Receiver<Letter>, PostError>> + Send;

    /// Whether a node has an inbox now.
    fn alive(&self, node: &NodeId) -> impl Future<Output = Result<bool, PostError>> + Send;
}

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub String);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a letter has no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// No such node lives, or it dropped the letter unanswered.
    #[error("node {0} is gone, or dropped the letter unanswered")]
    Gone(NodeId),
    /// The post itself does not work.
    #[error("the post is unreachable: {0}")]
    Unreachable(String),
}

/// A message to this node. Dropping it tells the caller that there will be no reply.
/// `Debug` prints its length only.
pub struct Letter {
    /// What it says.
    pub body: Bytes,
    reply: oneshot::Sender<Bytes>,
}

impl Letter {
    /// A letter, and where its reply arrives: an error there means that it was dropped. Posts
    /// make these.
    pub fn new(body: Bytes) -> (Self, oneshot::Receiver<Bytes>) {
        let (reply, replied) = oneshot::channel();
        (Self { body, reply }, replied)
    }

    /// Answers it. A caller that no longer waits hears nothing.
    pub fn reply(self, body: Bytes) {
        let _ = self.reply.send(body);
    }
}

impl fmt::Debug for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Letter")
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// The post of nodes that live in one process. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Mailroom(Arc<Mutex<HashMap<NodeId, mpsc::Sender<Letter>>>>);

impl Mailroom {
    fn lock(&self) -> MutexGuard<'_, HashMap<NodeId, mpsc::Sender<Letter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Post for Mailroom {
    async fn call(&self, to: &NodeId, body: Bytes) -> Result<Bytes, PostError> {
        let gone = || PostError::Gone(to.clone());
        let slot = self.lock().get(to).cloned().ok_or_else(gone)?;
        let (letter, replied) = Letter::new(body);
        slot.send(letter).await.map_err(|_| gone())?;
        // A kept sender would keep a replaced inbox open.
        drop(slot);
        replied.await.map_err(|_| gone())
    }

    async fn inbox(&self, node: &NodeId) -> Result<mpsc::Receiver<Letter>, PostError> {
        let (slot, inbox) = mpsc::channel(QUEUE);
        let mut nodes = self.lock();
        nodes.retain(|_, slot| !slot.is_closed());
        nodes.insert(node.clone(), slot);
        Ok(inbox)
    }

    async fn alive(&self, node: &NodeId) -> Result<bool, PostError> {
        Ok(self.lock().get(node).is_some_and(|slot| !slot.is_closed()))
    }
}
