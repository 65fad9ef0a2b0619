//! Tools that a server runs only as tasks, for clients that know nothing of tasks.
//!
//! Such a call is made as a task, and its result is waited for: until then the server puts its
//! questions as requests. A client that makes a task of a call by itself does so as before, and
//! its tasks are its own.

use serde_json::{Value, json};

use super::{Act, Session};
use crate::frame::{Frame, Id, Members};

/// A task that is the server's own business: the client made a call.
pub enum Task {
    /// The server has not said yet what it is called.
    Starting,
    Running(String),
}

impl Session {
    /// Makes a call as a task, if its tool can only be called so and the client does not do it
    /// by itself.
    pub(super) fn starts_task(&mut self, call: &Id, acts: &mut Vec<Act>) -> bool {
        let Some(errand) = self.errands.get(call) else {
            return false;
        };
        let Some((_, members)) = errand.request.peek() else {
            return false;
        };
        let is_task = |params: &Value| params.get("task").is_some();
        if !self.tools.hints(members.name).needs_task
            || read(members.params).is_none_or(|it| is_task(&it))
        {
            return false;
        }
        let at = self.own_ids.fresh();
        let request = errand.request.with(&["id"], at.as_json());
        let request = request.and_then(|request| request.with(&["params", "task"], "{}"));
        self.errands.at_server(call, at, Some(Task::Starting));
        acts.extend(request.map(Act::ToServer));
        true
    }

    /// The server has answered a call: `true` if it only said that its task was started.
    pub(super) fn task_started(
        &mut self,
        call: &Id,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) -> bool {
        let errand = self.errands.get(call);
        if !errand.is_some_and(|errand| matches!(errand.task, Some(Task::Starting))) {
            return false;
        }
        let Some(task) = task_id(members) else {
            return false; // It has done it at once, or refused.
        };
        let at = self.own_ids.fresh();
        let params = json!({"taskId": task});
        acts.push(Act::ToServer(Frame::request(&at, "tasks/result", &params)));
        self.errands.at_server(call, at, Some(Task::Running(task)));
        true
    }

    /// The client has taken a call back, and with it its task. `at` is the id by which the server
    /// knows the call.
    pub(super) fn cancel_task(&mut self, task: Option<Task>, at: Option<Id>, acts: &mut Vec<Act>) {
        match task {
            Some(Task::Running(task)) => self.end_task(&task, acts),
            Some(Task::Starting) => self.errands.starting.extend(at),
            None => {}
        }
    }

    /// The server says, too late, what a task is called.
    pub(super) fn task_started_late(
        &mut self,
        at: &Id,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        if self.errands.starting.remove(at)
            && let Some(task) = task_id(members)
        {
            self.end_task(&task, acts);
        }
    }

    /// Whether it is news of a task that the client knows nothing of.
    pub(super) fn is_own_task(&self, members: &Members<'_>) -> bool {
        let params = read(members.params);
        let told = params.as_ref().and_then(|params| params["taskId"].as_str());
        told.is_some_and(|told| self.errands.runs(told))
    }

    fn end_task(&mut self, task: &str, acts: &mut Vec<Act>) {
        let params = json!({"taskId": task});
        let cancel = Frame::request(&self.own_ids.fresh(), "tasks/cancel", &params);
        acts.push(Act::ToServer(cancel));
    }
}

/// What a task is called that was started.
fn task_id(members: &Members<'_>) -> Option<String> {
    let result = read(members.result)?;
    result["task"]["taskId"].as_str().map(str::to_owned)
}

fn read(json: Option<&[u8]>) -> Option<Value> {
    json.and_then(|json| serde_json::from_slice(json).ok())
}
