//! The answer to a call that goes on as a task.

use serde_json::Value;

use super::Task;
use crate::wire::{
    Era, JsonObject, Members, Revision, Unreadable, Unsayable,
    members::{object, put, put_rest, take},
};

/// The result of a call that goes on as a task.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTaskResult {
    /// The task as it begins.
    pub task: Task,
    /// Members we do not know, and `_meta`.
    pub rest: Members,
}

impl CreateTaskResult {
    /// The `resultType` of such a result in 2026-07-28.
    pub const RESULT_TYPE: &str = "task";

    /// Whether a modern result is such a one. A legacy client knows it by
    /// having asked for a task.
    pub fn is(result: &JsonObject) -> bool {
        result.get("resultType").and_then(Value::as_str) == Some(Self::RESULT_TYPE)
    }

    /// Reads a result: modern by its `resultType`, else with a `task` inside.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut result = object(json, "result")?;
        if !Self::is(&result) {
            let task = take(&mut result, "task").ok_or(Unreadable::Missing("task"))?;
            return Ok(CreateTaskResult {
                task: Task::read(task)?,
                rest: Members(result),
            });
        }
        let mut task = Task::read(Value::Object(result))?;
        let rest = std::mem::take(&mut task.rest);
        Ok(CreateTaskResult { task, rest })
    }

    /// Writes the result.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        let mut task = self.task.write_seed(revision)?;
        put_rest(&mut task, &self.task.rest);
        let mut result = match revision.era() {
            Era::Legacy => JsonObject::from_iter([("task".to_owned(), task.into())]),
            Era::Modern => {
                put(&mut task, "resultType", Self::RESULT_TYPE);
                task
            }
        };
        put_rest(&mut result, &self.rest);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_task_that_starts_moves_between_the_shapes() {
        let legacy = json!({
            "task": {
                "taskId": "t-1", "status": "working", "ttl": null,
                "createdAt": "2026-08-01T10:00:00Z", "lastUpdatedAt": "2026-08-01T10:00:05Z",
            },
            "_meta": {"m": 1},
        });
        let modern = json!({
            "resultType": "task",
            "taskId": "t-1", "status": "working", "ttlMs": null,
            "createdAt": "2026-08-01T10:00:00Z", "lastUpdatedAt": "2026-08-01T10:00:05Z",
            "_meta": {"m": 1},
        });
        for json in [&legacy, &modern] {
            let created = CreateTaskResult::read(json.clone()).unwrap();
            for (revision, expected) in [
                (Revision::V2025_11_25, &legacy),
                (Revision::V2026_07_28, &modern),
            ] {
                let written = created.write(revision).unwrap();
                assert_eq!(&Value::Object(written), expected);
            }
        }
    }

    #[test]
    fn a_result_without_a_task_is_refused() {
        for json in [
            json!({}),
            json!({"resultType": "complete", "taskId": "t-1"}),
        ] {
            assert_eq!(
                CreateTaskResult::read(json),
                Err(Unreadable::Missing("task"))
            );
        }
    }
}
