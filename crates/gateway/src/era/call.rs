//! A call of a modern client in which something can be asked: who waits for it, and what the
//! client is told in it.

use std::collections::VecDeque;
use std::time::Duration;

use midcall_core::wire::InputRequiredResult;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::ask::Ask;
use crate::frame::{Frame, Id};
use crate::token::Token;

/// A call, as long as it is not over.
pub struct Call {
    /// How old it is among the others.
    pub nth: u64,
    pub digest: [u8; 32],
    pub is_cacheable: bool,
    pub is_loud: bool,
    /// What the session follows its progress by.
    pub token: Option<Box<[u8]>>,
    /// The client's request that waits for it; none while the client was told to come back.
    pub waiter: Option<Waiter>,
    /// What the client comes back with, the newest last.
    pub states: VecDeque<Token>,
    /// What it was asked, and what it is still to be asked.
    pub asked: Vec<Ask>,
    pub untold: Vec<Ask>,
    pub asks: usize,
    /// When the client has been away too long.
    pub until: Option<Instant>,
    /// The result, if it came while the client was away.
    pub result: Option<Frame>,
}

/// A request of the client that waits for its call.
pub struct Waiter {
    pub id: Id,
    pub since: Instant,
    pub token: Option<Box<[u8]>>,
}

/// By how many of its last states a call is known.
const STATES: usize = 4;

impl Call {
    /// Asks the client what it has not been asked yet, if it waits.
    pub fn tell(&mut self, now: Instant, patience: Duration) -> Option<(Id, Frame)> {
        if self.untold.is_empty() {
            return None;
        }
        let waiter = self.waiter.take()?;
        let mut requests = Map::new();
        for ask in &self.untold {
            let mut request = json!({"method": ask.method});
            if let Some(params) = &ask.params {
                request["params"] = serde_json::from_str(params.get()).unwrap_or_default();
            }
            requests.insert(ask.key.clone(), request);
        }
        self.asked.append(&mut self.untold);
        // The session takes back what people do not answer in time, and nothing else.
        let is_for_people = |ask: &Ask| ask.elicitation.is_some();
        let until = (!self.asked.iter().all(is_for_people)).then(|| now + patience);
        Some(self.leaves(waiter.id, Some(requests), until))
    }

    /// Tells the client to come back, with nothing to ask.
    pub fn come_back(&mut self, until: Instant) -> Option<(Id, Frame)> {
        let waiter = self.waiter.take()?;
        Some(self.leaves(waiter.id, None, Some(until)))
    }

    fn leaves(
        &mut self,
        waiter: Id,
        requests: Option<Map<String, Value>>,
        until: Option<Instant>,
    ) -> (Id, Frame) {
        let state = Token::random();
        let mut told = json!({"resultType": InputRequiredResult::RESULT_TYPE});
        if let Some(requests) = requests {
            told["inputRequests"] = Value::Object(requests);
        }
        told["requestState"] = state.reveal().into();
        if self.states.len() == STATES {
            self.states.pop_front();
        }
        self.states.push_back(state);
        self.until = until;
        let frame = Frame::result(&waiter, &told);
        (waiter, frame)
    }
}
