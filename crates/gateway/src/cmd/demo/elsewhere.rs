//! The page that the demo's link leads to, and the word that a person is done there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::http::Token;

/// The links that somebody waits for, by their ids.
#[derive(Clone, Default)]
pub struct Elsewhere(Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>);

impl Elsewhere {
    /// A new id, and what tells that the person is done there.
    pub fn expect(&self) -> (String, oneshot::Receiver<()>) {
        let id = Token::random().reveal().to_owned();
        let (done, waiting) = oneshot::channel();
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|_, done| !done.is_closed());
        links.insert(id.clone(), done);
        (id, waiting)
    }

    /// Notes that the person is done; `false` if nobody waits for it.
    pub fn finish(&self, id: &str) -> bool {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.remove(id).is_some_and(|done| done.send(()).is_ok())
    }
}
