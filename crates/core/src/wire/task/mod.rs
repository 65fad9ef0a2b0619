//! Tasks: calls that go on after they were answered, and may ask meanwhile.
//!
//! 2025-11-25 has them in its core: a task that needs input is answered by
//! `tasks/result`, during which the questions come as requests. For 2026-07-28
//! they are the extension [`TASKS_EXTENSION`]: `tasks/get` shows the questions
//! and `tasks/update` brings the answers. [`Task`] reads both shapes and writes
//! either.

mod create;
mod update;

use serde_json::Value;

pub use create::CreateTaskResult;
pub use update::UpdateTaskParams;

use super::{
    Era, InputRequests, JsonObject, Members, Revision, Unreadable, Unsayable,
    fault::only,
    members::{
        millis, object, put, put_required, put_rest, put_some, take, take_members, take_text,
    },
};

/// The extension that has tasks in 2026-07-28.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A task as its server describes it: the result of `tasks/get` and the params
/// of its notification.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The server's name for it.
    pub task_id: String,
    /// How far it is.
    pub state: TaskState,
    /// A word on that for people.
    pub status_message: Option<String>,
    /// When it began (ISO 8601). Every revision requires it, not every server
    /// says it.
    pub created_at: Option<String>,
    /// When it last changed. Required likewise.
    pub last_updated_at: Option<String>,
    /// How long it is kept, from its beginning. `None` is without end.
    pub ttl_ms: Option<u64>,
    /// How often the server wants to be asked.
    pub poll_interval_ms: Option<u64>,
    /// Members we do not know, and `_meta`.
    pub rest: Members,
}

/// How far a task is. What it carries is on the wire in 2026-07-28 only, and
/// never in the result that starts a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskState {
    /// At work.
    Working,
    /// Waiting for these.
    InputRequired(InputRequests),
    /// Ended with a result, that of the call it came from.
    Completed(Option<Members>),
    /// Ended with a JSON-RPC error.
    Failed(Option<Members>),
    /// Ended from outside.
    Cancelled,
}

impl Task {
    /// The request that shows a task.
    pub const GET: &str = "tasks/get";
    /// The request of 2025-11-25 that waits for a task's result and, meanwhile,
    /// lets it ask.
    pub const RESULT: &str = "tasks/result";

    /// The notification that a task has changed.
    pub fn notification(era: Era) -> &'static str {
        match era {
            Era::Legacy => "notifications/tasks/status",
            Era::Modern => "notifications/tasks",
        }
    }

    /// Reads a task of either shape.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut task = object(json, "task")?;
        // Says only that `tasks/get` succeeded; writing knows that by itself.
        take(&mut task, "resultType");
        let status = take_text(&mut task, "status")?.ok_or(Unreadable::Missing("status"))?;
        let state = match status.as_str() {
            "working" => TaskState::Working,
            "input_required" => TaskState::InputRequired(match take(&mut task, "inputRequests") {
                Some(requests) => InputRequests::read(requests)?,
                None => InputRequests::default(),
            }),
            "completed" => TaskState::Completed(take_members(&mut task, "result")?),
            "failed" => TaskState::Failed(take_members(&mut task, "error")?),
            "cancelled" => TaskState::Cancelled,
            _ => {
                return Err(Unreadable::Unfit {
                    member: "status",
                    expected: "a status of tasks, such as \"working\"",
                });
            }
        };
        Ok(Task {
            task_id: take_text(&mut task, "taskId")?.ok_or(Unreadable::Missing("taskId"))?,
            state,
            status_message: take_text(&mut task, "statusMessage")?,
            created_at: take_text(&mut task, "createdAt")?,
            last_updated_at: take_text(&mut task, "lastUpdatedAt")?,
            ttl_ms: take_millis(&mut task, ["ttl", "ttlMs"])?,
            poll_interval_ms: take_millis(&mut task, ["pollInterval", "pollIntervalMs"])?,
            rest: Members(task),
        })
    }

    /// Writes a task as its notification carries it.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        let mut task = self.write_seed(revision)?;
        if revision.era() == Era::Modern {
            match &self.state {
                TaskState::InputRequired(requests) => {
                    put(&mut task, "inputRequests", requests.write(revision)?);
                }
                TaskState::Completed(result) => {
                    put_required(&mut task, "result", result, revision)?
                }
                TaskState::Failed(error) => put_required(&mut task, "error", error, revision)?,
                TaskState::Working | TaskState::Cancelled => {}
            }
        }
        put_rest(&mut task, &self.rest);
        Ok(task)
    }

    /// Writes a task as the result of `tasks/get`.
    pub fn write_result(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        let mut result = self.write(revision)?;
        if revision.era() == Era::Modern {
            put(&mut result, "resultType", "complete");
        }
        Ok(result)
    }

    /// The members that every shape of a task has.
    fn write_seed(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        only(revision >= Revision::V2025_11_25, "tasks", revision)?;
        let (ttl, poll_interval) = match revision.era() {
            Era::Legacy => ("ttl", "pollInterval"),
            Era::Modern => ("ttlMs", "pollIntervalMs"),
        };
        let mut task = JsonObject::new();
        put(&mut task, "taskId", self.task_id.as_str());
        put(&mut task, "status", self.state.as_str());
        put_some(&mut task, "statusMessage", &self.status_message);
        put_required(&mut task, "createdAt", &self.created_at, revision)?;
        put_required(&mut task, "lastUpdatedAt", &self.last_updated_at, revision)?;
        // Required, `null` being "without end".
        put(&mut task, ttl, self.ttl_ms);
        put_some(&mut task, poll_interval, &self.poll_interval_ms);
        Ok(task)
    }
}

impl TaskState {
    /// The protocol's word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            TaskState::Working => "working",
            TaskState::InputRequired(_) => "input_required",
            TaskState::Completed(_) => "completed",
            TaskState::Failed(_) => "failed",
            TaskState::Cancelled => "cancelled",
        }
    }

    /// Whether it will never change again.
    pub fn is_ended(&self) -> bool {
        matches!(
            self,
            TaskState::Completed(_) | TaskState::Failed(_) | TaskState::Cancelled
        )
    }
}

/// Takes a duration out, under whichever of its two names it has.
fn take_millis(task: &mut JsonObject, names: [&'static str; 2]) -> Result<Option<u64>, Unreadable> {
    let mut found = None;
    for member in names {
        let Some(value) = take(task, member) else {
            continue;
        };
        found = Some(millis(&value).ok_or(Unreadable::Unfit {
            member,
            expected: "a whole number of milliseconds",
        })?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task(more: Value) -> Value {
        let mut task = json!({
            "taskId": "t-1", "status": "working",
            "createdAt": "2026-08-01T10:00:00Z", "lastUpdatedAt": "2026-08-01T10:00:05Z",
        });
        for (member, value) in more.as_object().unwrap() {
            task[member] = value.clone();
        }
        task
    }

    #[test]
    fn one_task_is_read_and_written_in_two_shapes() {
        let legacy = task(json!({"ttl": 60000, "pollInterval": 500, "x": 1}));
        let modern = task(json!({"ttlMs": 60000, "pollIntervalMs": 500, "x": 1}));
        let read = Task::read(legacy.clone()).unwrap();
        assert_eq!(read, Task::read(modern.clone()).unwrap());
        for (revision, expected) in [
            (Revision::V2025_11_25, legacy),
            (Revision::V2026_07_28, modern),
        ] {
            assert_eq!(Value::Object(read.write(revision).unwrap()), expected);
        }
    }

    #[test]
    fn what_a_task_carries_is_said_in_the_modern_shape_only() {
        for (state, member, value, ended) in [
            ("input_required", "inputRequests", json!({}), false),
            ("completed", "result", json!({"content": []}), true),
            ("failed", "error", json!({"code": -32603}), true),
        ] {
            let json = task(json!({"status": state, "ttlMs": 1, member: value}));
            let read = Task::read(json.clone()).unwrap();
            assert_eq!(read.state.is_ended(), ended);
            let modern = read.write_result(Revision::V2026_07_28).unwrap();
            assert_eq!(modern[member], json[member]);
            assert_eq!(modern["resultType"], "complete");
            let legacy = read.write_result(Revision::V2025_11_25).unwrap();
            assert!(!legacy.contains_key(member) && !legacy.contains_key("resultType"));
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (json, expected) in [
            (json!(1), "`task` must be a JSON object"),
            (json!({"taskId": "t"}), "`status` is missing"),
            (json!({"status": "working"}), "`taskId` is missing"),
            (
                task(json!({"status": "paused"})),
                "`status` must be a status of tasks, such as \"working\"",
            ),
            (
                task(json!({"ttl": "1h"})),
                "`ttl` must be a whole number of milliseconds",
            ),
        ] {
            let unreadable = Task::read(json).unwrap_err();
            assert_eq!(unreadable.to_string(), expected);
        }
    }

    #[test]
    fn what_a_revision_has_no_words_for_is_refused() {
        let bare = Task::read(json!({"taskId": "t", "status": "working"})).unwrap();
        let ended = Task::read(task(json!({"status": "completed"}))).unwrap();
        for (written, expected) in [
            (
                bare.write(Revision::V2025_06_18),
                "MCP 2025-06-18 has no tasks",
            ),
            (
                bare.write(Revision::V2025_11_25),
                "MCP 2025-11-25 requires `createdAt`, which was not given",
            ),
            (
                ended.write(Revision::V2026_07_28),
                "MCP 2026-07-28 requires `result`, which was not given",
            ),
        ] {
            assert_eq!(written.unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn results_of_tasks_are_not_printed() {
        let json = task(json!({"status": "completed", "result": {"pin": "s3cr3t"}}));
        let printed = format!("{:?}", Task::read(json).unwrap());
        assert!(
            printed.contains("pin") && !printed.contains("s3cr3t"),
            "{printed}"
        );
    }
}
