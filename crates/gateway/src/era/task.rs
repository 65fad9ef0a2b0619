//! A call that a modern server makes a task of, for a client that knows nothing of tasks.
//!
//! A server that makes tasks is told that it may, since it could run a call that it then refuses.
//! The task is asked again and again how far it is. What it needs is asked by requests of ours,
//! each question once however often the task names it, and every answer is sent at once. Its
//! result is that of the call.

use std::collections::HashSet;
use std::time::Duration;

use memchr::memmem;
use midcall_core::wire::{InputRequiredResult, InputResponses, JsonObject, Members, code, meta};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Step;
use super::back::{Back, Call};
use crate::frame::{Frame, Id, Members as Peeked};

/// The extension that tasks are.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How a result says that it is a task.
const RESULT_TYPE: &str = "task";

/// How often a task is asked unless it says so, and within which bounds.
const PAUSE: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A task at the server.
pub(super) struct Task {
    id: String,
    pause: Duration,
    /// What it has asked, by its keys.
    asked: HashSet<String>,
    /// How often in a row nobody could say how far it is.
    misses: u32,
}

/// What of a task is known of at once.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    task_id: String,
    status: String,
    poll_interval_ms: Option<u64>,
    input_requests: Option<Value>,
    result: Option<Value>,
    error: Option<Value>,
}

/// What is sent about a task.
pub(super) enum About {
    HowFar,
    /// And how often they were sent before.
    Answers(JsonObject, u32),
}

/// How often in a row a server may fail to say how far a task is, or to take answers.
const MOST_MISSES: u32 = 3;

/// How many calls are remembered that were taken back before anybody knew whether they are tasks.
const MOST_DROPPED: usize = 1_000;

impl Back {
    /// The server makes a task of a call.
    pub(super) fn task(&mut self, now: Instant, id: &Id, result: &[u8], steps: &mut Vec<Step>) {
        let Ok(told) = serde_json::from_slice::<Told>(result) else {
            return self.fail(id, &refused("the server's task cannot be read"), steps);
        };
        if let Some(call) = self.calls.get_mut(id) {
            let pause = pause(&told);
            call.again = Some(now + pause);
            self.due.insert((now + pause, id.clone()));
            call.task = Some(Task {
                id: told.task_id,
                pause,
                asked: HashSet::new(),
                misses: 0,
            });
        }
    }

    /// Asks how far a task is.
    pub(super) fn poll(&mut self, id: &Id, steps: &mut Vec<Step>) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        call.again = None;
        let params = about(call, JsonObject::new());
        let at = self.own_ids.fresh();
        steps.push(Step::Out(Frame::request(&at, "tasks/get", &params)));
        self.tasks.insert(at, (id.clone(), About::HowFar));
    }

    /// The server answers what it was asked or told about a task.
    pub(super) fn told_of_task(
        &mut self,
        now: Instant,
        (id, what): (Id, About),
        members: &Peeked<'_>,
        steps: &mut Vec<Step>,
    ) {
        if let Some(error) = members.error {
            let error = serde_json::from_slice(error).unwrap_or_default();
            return self.missed(now, &id, what, &error, steps);
        }
        if matches!(what, About::Answers(..)) {
            return;
        }
        let told = members.result.map(serde_json::from_slice::<Told>);
        let Some(Ok(told)) = told else {
            return self.fail(&id, &refused("the server's task cannot be read"), steps);
        };
        match &*told.status {
            "completed" => {
                let result = told.result.unwrap_or_else(|| json!({}));
                if self.calls.remove(&id).is_some() {
                    self.take_back(&id, steps);
                    steps.push(Step::In(Frame::result(&id, &result)));
                }
            }
            "failed" => {
                let error = told
                    .error
                    .unwrap_or_else(|| refused("the server's task failed"));
                self.over(&id, &error, steps);
            }
            "cancelled" => self.over(&id, &refused("the server took its task back"), steps),
            _ => self.goes_on(now, &id, told, steps),
        }
    }

    /// The server did not say how far a task is, or did not take answers. It may just not have
    /// been reached, and answers that it has already are not counted twice.
    fn missed(&mut self, now: Instant, id: &Id, what: About, error: &Value, steps: &mut Vec<Step>) {
        let may_pass = error["code"] == code::INTERNAL_ERROR;
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        match (what, &mut call.task) {
            (About::HowFar, Some(task)) if may_pass && task.misses < MOST_MISSES => {
                task.misses += 1;
                call.again = Some(now + task.pause);
                self.due.insert((now + task.pause, id.clone()));
            }
            (About::Answers(params, misses), Some(_)) if may_pass && misses < MOST_MISSES => {
                self.send(id, params, misses + 1, steps);
            }
            _ => self.fail(id, error, steps),
        }
    }

    /// A task needs answers, or time.
    fn goes_on(&mut self, now: Instant, id: &Id, told: Told, steps: &mut Vec<Step>) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let Some(task) = &mut call.task else { return };
        task.pause = pause(&told);
        task.misses = 0;
        call.again = Some(now + task.pause);
        self.due.insert((now + task.pause, id.clone()));
        let mut wanted = told.input_requests.unwrap_or_else(|| json!({}));
        if let Some(wanted) = wanted.as_object_mut() {
            let open: HashSet<&String> = wanted.keys().collect();
            // It does not want to know that any more.
            let gone = self
                .asked
                .extract_if(|_, (of, key)| of == id && !open.contains(key));
            let gone: Vec<Id> = gone.map(|(ask, _)| ask).collect();
            call.left -= gone.len();
            steps.extend(gone.iter().map(|ask| Step::In(Frame::cancelled(ask))));
            wanted.retain(|key, _| task.asked.insert(key.clone()));
            if wanted.is_empty() {
                return;
            }
        }
        let round =
            json!({"resultType": InputRequiredResult::RESULT_TYPE, "inputRequests": wanted});
        match InputRequiredResult::read(round) {
            Ok(round) => {
                let wants = self.wanted(id, round);
                self.ask(id, wants, steps);
                self.update(id, steps); // Some may need nobody.
            }
            Err(why) => {
                let why = format!("what the server asks cannot be read: {why}");
                self.fail(id, &refused(&why), steps);
            }
        }
    }

    /// Sends a task the answers that there are.
    pub(super) fn update(&mut self, id: &Id, steps: &mut Vec<Step>) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let answers = std::mem::take(&mut call.answers);
        if answers.is_empty() {
            return;
        }
        let mut members = JsonObject::new();
        let responses = InputResponses(Members(answers));
        members.insert("inputResponses".to_owned(), responses.write().into());
        let outcomes = std::mem::take(&mut call.outcomes);
        let mut params = about(call, members);
        for (key, outcome) in outcomes {
            meta::put_outcome(&mut params, &key, outcome);
        }
        self.send(id, params, 0, steps);
    }

    /// Ends the task of a call that nobody waits for.
    pub(super) fn end_task(&mut self, call: &Call, steps: &mut Vec<Step>) {
        if call.task.is_some() {
            let params = about(call, JsonObject::new());
            let request = Frame::request(&self.own_ids.fresh(), "tasks/cancel", &params);
            steps.push(Step::Out(request));
        }
    }

    /// The server has ended the task of a call by itself.
    fn over(&mut self, id: &Id, error: &Value, steps: &mut Vec<Step>) {
        if let Some(call) = self.calls.get_mut(id) {
            call.task = None;
        }
        self.fail(id, error, steps);
    }

    fn send(&mut self, id: &Id, params: JsonObject, misses: u32, steps: &mut Vec<Step>) {
        let at = self.own_ids.fresh();
        steps.push(Step::Out(Frame::request(&at, "tasks/update", &params)));
        let what = About::Answers(params, misses);
        self.tasks.insert(at, (id.clone(), what));
    }

    /// A call was taken back that the server may be making a task of right now.
    pub(super) fn drop_call(&mut self, call: Call) {
        if self.makes_tasks() && self.dropped.len() < MOST_DROPPED {
            self.dropped.insert(call.at.clone(), call);
        }
    }

    /// The server answers a call that was taken back; if that is a task by now, it is ended.
    pub(super) fn answered_late(&mut self, at: &Id, members: &Peeked<'_>, steps: &mut Vec<Step>) {
        let Some(mut call) = self.dropped.remove(at) else {
            return;
        };
        let result = members.result.filter(|result| is_task(result));
        let told = result.and_then(|result| serde_json::from_slice::<Told>(result).ok());
        if let Some(told) = told {
            let pause = pause(&told);
            call.task = Some(Task {
                id: told.task_id,
                pause,
                asked: HashSet::new(),
                misses: 0,
            });
            self.end_task(&call, steps);
        }
    }

    /// Whether the server may make tasks of calls.
    pub fn makes_tasks(&self) -> bool {
        self.discovered["capabilities"]["extensions"][EXTENSION].is_object()
    }
}

/// Whether a server makes a task of a call.
pub(super) fn is_task(result: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed {
        result_type: Option<String>,
    }
    memmem::find(result, b"\"task\"").is_some()
        && serde_json::from_slice::<Typed>(result)
            .is_ok_and(|typed| typed.result_type.as_deref() == Some(RESULT_TYPE))
}

/// Says that a client knows tasks, which are kept from it.
pub(super) fn declare(capabilities: &mut Value) {
    capabilities["extensions"][EXTENSION] = json!({});
}

/// Whether a modern request says that its client knows tasks.
pub(super) fn knows_tasks(params: &Value) -> bool {
    params["_meta"][meta::CLIENT_CAPABILITIES]["extensions"][EXTENSION].is_object()
}

/// What a message about a call's task says.
fn about(call: &Call, mut params: JsonObject) -> JsonObject {
    if let Some(task) = &call.task {
        params.insert("taskId".to_owned(), task.id.clone().into());
    }
    let mut told = call.params.get("_meta").cloned().unwrap_or_default();
    if let Some(told) = told.as_object_mut() {
        told.shift_remove("progressToken"); // It is the call's.
    }
    params.insert("_meta".to_owned(), told);
    params
}

fn pause(told: &Told) -> Duration {
    let pause = told.poll_interval_ms.map_or(PAUSE, Duration::from_millis);
    pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

fn refused(why: &str) -> Value {
    json!({"code": code::INTERNAL_ERROR, "message": format!("midcall: {why}")})
}
