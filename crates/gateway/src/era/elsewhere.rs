//! Calls that a server can do in one era only, although it speaks both.

use midcall_core::wire::Era;
use tokio::time::Instant;

use super::Step;
use super::beside::Beside;
use super::bridge::Bridge;
use crate::frame::{Frame, Id, Kind};
use crate::session::{Act, Event};

impl Bridge {
    /// The server in the other era says something.
    pub(super) fn beside_says(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        let mut steps = Vec::new();
        if let Some(beside) = &mut self.beside {
            beside.says(now, frame, &mut steps);
            self.speaks_both &= !beside.has_failed();
        }
        self.beside_steps(now, steps, acts);
    }

    /// It is gone.
    pub(super) fn beside_gone(&mut self, now: Instant, acts: &mut Vec<Act>) {
        let mut steps = Vec::new();
        if let Some(beside) = self.beside.take() {
            self.speaks_both &= beside.was_open();
            beside.gone(&mut steps);
        }
        self.beside_steps(now, steps, acts);
    }

    /// The server cannot do a call in this era: it is made in the other one.
    pub(super) fn move_call(
        &mut self,
        now: Instant,
        id: Id,
        request: Frame,
        refusal: Frame,
        acts: &mut Vec<Act>,
    ) {
        if !self.speaks_both {
            return self.tell(now, Event::Server(refusal), acts);
        }
        if let Some(tool) = tool(&request) {
            self.elsewhere.insert(tool, refusal.kept());
        }
        let mut steps = Vec::new();
        self.start_beside(now, acts);
        if let Some(beside) = &mut self.beside {
            beside.call(id, request, refusal, &mut steps);
        }
        self.beside_steps(now, steps, acts);
    }

    /// Opens the server in the other era, if it is not open.
    fn start_beside(&mut self, now: Instant, acts: &mut Vec<Act>) {
        if let (None, Some(initialize)) = (&self.beside, &self.initialize) {
            let other = match self.back {
                Some(_) => Era::Legacy,
                None => Era::Modern,
            };
            tracing::info!(?other, "the server is opened in another era as well");
            let (beside, open) = Beside::new(now, other, initialize.clone(), &mut self.own_ids);
            self.beside = Some(beside);
            acts.push(Act::StartBeside);
            acts.push(Act::ToBeside(open));
        }
    }

    /// Whether a tool, by its name as JSON, can only be called in the other era.
    pub(super) fn is_elsewhere(&self, name: Option<&[u8]>) -> bool {
        let name = name.filter(|_| self.speaks_both && !self.elsewhere.is_empty());
        let name = name.and_then(|name| serde_json::from_slice::<String>(name).ok());
        name.is_some_and(|name| self.elsewhere.contains_key(&name))
    }

    /// Whether what the session says to the server is for the one in the other era.
    pub(super) fn is_for_beside(&self, frame: &Frame) -> bool {
        let knows = |beside: &Beside| beside.is_for(frame);
        let is_call = || match frame.peek() {
            Some((Kind::Request { .. }, members)) => self.is_elsewhere(members.name),
            _ => false,
        };
        self.beside.as_ref().is_some_and(knows) || (!self.elsewhere.is_empty() && is_call())
    }

    pub(super) fn tell_beside(&mut self, now: Instant, frame: Frame, acts: &mut Vec<Act>) {
        self.start_beside(now, acts);
        let mut steps = Vec::new();
        let Some(beside) = &mut self.beside else {
            return acts.push(Act::ToServer(frame));
        };
        let refusal = tool(&frame).and_then(|tool| self.elsewhere.get(&tool));
        match (frame.peek(), refusal) {
            (Some((Kind::Request { id, .. }, _)), Some(refusal)) => {
                let refusal = refusal.with(&["id"], id.as_json());
                let refusal = refusal.unwrap_or_else(|| frame.clone());
                beside.call(id, frame.clone(), refusal, &mut steps);
            }
            _ => beside.session_says(frame, &mut steps),
        }
        self.beside_steps(now, steps, acts);
    }

    pub(super) fn beside_steps(&mut self, now: Instant, steps: Vec<Step>, acts: &mut Vec<Act>) {
        for step in steps {
            match step {
                Step::In(frame) => {
                    // It may have been taken back in the same breath.
                    let asks =
                        |id: &Id| (self.beside.as_ref()).is_some_and(|beside| beside.asks(id));
                    let beside = self.beside.as_ref();
                    match question(&frame) {
                        Some(id) if beside.is_some_and(|it| it.asks_in_round(&id)) => {
                            self.tell_round(now, frame, acts);
                        }
                        Some(id) if !asks(&id) => {}
                        _ => self.tell(now, Event::Server(frame), acts),
                    }
                }
                Step::Out(frame) => acts.push(Act::ToBeside(frame)),
            }
        }
    }
}

/// The tool that a request calls.
pub fn tool(request: &Frame) -> Option<String> {
    let (_, members) = request.peek()?;
    serde_json::from_slice(members.name?).ok()
}

/// The question that a message asks.
pub fn question(frame: &Frame) -> Option<Id> {
    match frame.peek() {
        Some((Kind::Request { id, .. }, _)) => Some(id),
        _ => None,
    }
}
