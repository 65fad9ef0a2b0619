//! The client's requests that the server has not answered yet.

use std::collections::HashMap;

use crate::frame::{Id, Members};

/// Open requests, by their id.
#[derive(Default)]
pub struct Calls {
    open: HashMap<Id, Call>,
    /// How many of them want to hear of progress.
    following: usize,
}

struct Call {
    /// The tool or prompt, as JSON.
    name: Option<Box<[u8]>>,
    /// What the client wants to hear of its progress by, as JSON.
    token: Option<Box<[u8]>>,
    /// How far it is. Every word about it must be further.
    progress: f64,
}

/// How far a word of ours moves a call on: less than any server's own step.
const STEP: f64 = 1e-6;

impl Calls {
    pub fn open(&mut self, id: Id, members: &Members<'_>) {
        let call = Call {
            name: members.name.map(Into::into),
            token: members.progress_token.map(Into::into),
            progress: 0.0,
        };
        self.following += usize::from(call.token.is_some());
        if let Some(replaced) = self.open.insert(id, call) {
            self.following -= usize::from(replaced.token.is_some());
        }
    }

    pub fn close(&mut self, id: &Id) {
        if let Some(call) = self.open.remove(id) {
            self.following -= usize::from(call.token.is_some());
        }
    }

    /// The ids of all that are open.
    pub fn ids(&self) -> Vec<Id> {
        self.open.keys().cloned().collect()
    }

    /// The tool that is being called, if there is no doubt about it.
    pub fn tool(&self) -> Option<String> {
        let mut named = self.open.values().filter_map(|call| call.name.as_deref());
        let name = named.next().filter(|_| named.next().is_none())?;
        serde_json::from_slice(name).ok()
    }

    /// Hears a server's own word about progress.
    pub fn hear(&mut self, members: &Members<'_>) {
        if self.following == 0 {
            return;
        }
        let progress = members
            .progress
            .and_then(|json| serde_json::from_slice(json).ok());
        let (Some(token), Some(progress)) = (members.progress_token, progress) else {
            return;
        };
        let call = self
            .open
            .values_mut()
            .find(|call| call.token.as_deref() == Some(token));
        if let Some(call) = call {
            call.progress = call.progress.max(progress);
        }
    }

    /// Whether somebody wants to hear of progress.
    pub fn are_followed(&self) -> bool {
        self.following > 0
    }

    /// Moves every call that is followed on a little: its token and how far it is.
    pub fn move_on(&mut self) -> impl Iterator<Item = (&[u8], f64)> {
        self.open.values_mut().filter_map(|call| {
            let token = call.token.as_deref()?;
            call.progress += STEP.max(call.progress.abs() * STEP);
            Some((token, call.progress))
        })
    }
}
