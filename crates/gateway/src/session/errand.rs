//! Calls as the client made them, kept for as long as they may have to be made, or made again.

use std::collections::{HashMap, HashSet};

use super::task::Task;
use super::{Act, Session};
use crate::frame::{Frame, Id, Members};
use crate::leg::wrong_era::refuses_era;
use tokio::time::Instant;

/// Errands by the client's ids.
#[derive(Default)]
pub struct Errands {
    open: HashMap<Id, Errand>,
    /// The client's ids, by those of ours that the server knows the calls by.
    ours: HashMap<Id, Id>,
    /// How many calls the server runs each task for.
    tasks: HashMap<String, usize>,
    /// Tasks that nobody wants any more, by the ids of ours that start them.
    pub starting: HashSet<Id>,
}

/// A call as the client made it.
pub struct Errand {
    pub request: Frame,
    pub stage: Stage,
    /// The addresses that a person was sent to for it.
    pub followed: Vec<String>,
    /// Whether it was made in another era, because the server could not do it in this one.
    pub moved: bool,
    /// The task that the server makes of it, unknown to the client.
    pub task: Option<Task>,
}

/// Where a call is.
pub enum Stage {
    /// At the server, by an id of ours if it was made again.
    Server(Option<Id>),
    /// With whoever may agree to it.
    Confirmation,
    /// With whoever follows the links that it needs: how many are left, and the error that
    /// named them.
    Links { left: usize, error: Frame },
}

impl Errand {
    /// The tool that is called.
    pub fn tool(&self) -> Option<String> {
        let (_, members) = self.request.peek()?;
        serde_json::from_slice(members.name?).ok()
    }
}

impl Errands {
    pub fn add(&mut self, call: Id, request: &Frame, stage: Stage) {
        let errand = Errand {
            request: request.kept(),
            stage,
            followed: Vec::new(),
            moved: false,
            task: None,
        };
        self.open.insert(call, errand);
    }

    pub fn get(&self, call: &Id) -> Option<&Errand> {
        self.open.get(call)
    }

    pub fn get_mut(&mut self, call: &Id) -> Option<&mut Errand> {
        self.open.get_mut(call)
    }

    /// The client's id of a call that the server knows by one of ours.
    pub fn call(&self, ours: &Id) -> Option<&Id> {
        self.ours.get(ours)
    }

    /// The id by which the server knows a call, if it is not the client's.
    pub fn id_at_server(&self, call: &Id) -> Option<&Id> {
        match &self.open.get(call)?.stage {
            Stage::Server(ours) => ours.as_ref(),
            _ => None,
        }
    }

    /// Whether a call waits for somebody, and the server does not have it.
    pub fn is_held(&self, call: &Id) -> bool {
        (self.open.get(call)).is_some_and(|errand| !matches!(errand.stage, Stage::Server(_)))
    }

    /// The server has a call, by an id of ours, and maybe as a task.
    pub fn at_server(&mut self, call: &Id, ours: Id, task: Option<Task>) {
        self.hold(call, Stage::Server(Some(ours.clone())));
        if let Some(errand) = self.open.get_mut(call) {
            if let Some(Task::Running(task)) = &task {
                *self.tasks.entry(task.clone()).or_default() += 1;
            }
            let before = std::mem::replace(&mut errand.task, task);
            self.ours.insert(ours, call.clone());
            self.forget(before.as_ref());
        }
    }

    fn forget(&mut self, task: Option<&Task>) {
        if let Some(Task::Running(task)) = task
            && let Some(calls) = self.tasks.get_mut(task)
        {
            *calls -= 1;
            if *calls == 0 {
                self.tasks.remove(task);
            }
        }
    }

    /// Whether the server runs a task for a call.
    pub fn runs(&self, task: &str) -> bool {
        self.tasks.contains_key(task)
    }

    /// The server has answered a call, but that is not the end of it.
    pub fn hold(&mut self, call: &Id, stage: Stage) {
        if let Some(errand) = self.open.get_mut(call)
            && let Stage::Server(Some(ours)) = std::mem::replace(&mut errand.stage, stage)
        {
            self.ours.remove(&ours);
        }
    }

    /// A call is over.
    pub fn remove(&mut self, call: &Id) -> Option<Errand> {
        let errand = self.open.remove(call)?;
        if let Stage::Server(Some(ours)) = &errand.stage {
            self.ours.remove(ours);
        }
        self.forget(errand.task.as_ref());
        Some(errand)
    }

    pub fn clear(&mut self) {
        self.open.clear();
        self.ours.clear();
        self.tasks.clear();
        self.starting.clear();
    }
}

impl Session {
    /// Makes a call that was held.
    pub(super) fn make(&mut self, call: &Id, acts: &mut Vec<Act>) {
        if self.starts_task(call, acts) {
            return;
        }
        let again = self.own_ids.fresh();
        let Some(errand) = self.errands.open.get_mut(call) else {
            return;
        };
        // The server has answered the first of them, and no id may be used twice.
        let is_again = matches!(errand.stage, Stage::Links { .. });
        let request = if is_again {
            self.errands.ours.insert(again.clone(), call.clone());
            errand.request.with(&["id"], again.as_json())
        } else {
            Some(errand.request.clone())
        };
        errand.stage = Stage::Server(is_again.then_some(again));
        acts.extend(request.map(Act::ToServer));
    }

    /// Makes a call in the other era if the server says that it cannot do it in this one.
    pub(super) fn moves(
        &mut self,
        call: &Id,
        refusal: &Frame,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) -> bool {
        if !refuses_era(members) {
            return false;
        }
        let Some(errand) = self.errands.open.get_mut(call) else {
            return false;
        };
        if errand.moved || !matches!(errand.stage, Stage::Server(None)) {
            return false;
        }
        errand.moved = true;
        let request = errand.request.clone();
        acts.push(Act::Elsewhere(call.clone(), request, refusal.clone()));
        true
    }

    /// Answers a call, now or when its result is collected.
    pub(super) fn answer(&mut self, now: Instant, call: &Id, frame: Frame, acts: &mut Vec<Act>) {
        self.errands.remove(call);
        let wanted = self.closed(call);
        if self.claims.has(call) {
            let told = self.claims.result(call, frame, now);
            self.collected(told, acts);
        } else if wanted.is_some() {
            acts.push(Act::ToClient(frame));
        }
    }
}
