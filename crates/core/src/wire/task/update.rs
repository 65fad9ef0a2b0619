//! `tasks/update`: answers to what a task asked.

use serde_json::Value;

use crate::wire::{
    Era, InputResponses, JsonObject, Members, Revision, Unreadable, Unsayable,
    fault::only,
    members::{object, put, put_rest, take, take_text},
};

/// The params of `tasks/update`: answers to what a task asked. 2026-07-28 only.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateTaskParams {
    /// The task that asked.
    pub task_id: String,
    /// The answers, by the keys `tasks/get` showed.
    pub input_responses: InputResponses,
    /// Members we do not know, and `_meta`.
    pub rest: Members,
}

impl UpdateTaskParams {
    /// The method these are the params of.
    pub const METHOD: &str = "tasks/update";

    /// Reads them.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut params = object(json, "params")?;
        let responses = take(&mut params, "inputResponses");
        Ok(UpdateTaskParams {
            task_id: take_text(&mut params, "taskId")?.ok_or(Unreadable::Missing("taskId"))?,
            input_responses: InputResponses::read(
                responses.ok_or(Unreadable::Missing("inputResponses"))?,
            )?,
            rest: Members(params),
        })
    }

    /// Writes them.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        only(revision.era() == Era::Modern, Self::METHOD, revision)?;
        let mut params = JsonObject::new();
        put(&mut params, "taskId", self.task_id.as_str());
        put(&mut params, "inputResponses", self.input_responses.write());
        put_rest(&mut params, &self.rest);
        Ok(params)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_name_their_task_and_only_modern_ones_travel_so() {
        let json = json!({"taskId": "t-1", "inputResponses": {"k": {}}, "_meta": {"m": 1}});
        let update = UpdateTaskParams::read(json.clone()).unwrap();
        let written = update.write(Revision::V2026_07_28).unwrap();
        assert_eq!(Value::Object(written), json);
        assert_eq!(
            update.write(Revision::V2025_11_25).unwrap_err().to_string(),
            "MCP 2025-11-25 has no tasks/update"
        );
    }

    #[test]
    fn answers_without_a_task_or_a_task_without_answers_are_refused() {
        for (json, missing) in [
            (json!({"inputResponses": {}}), "taskId"),
            (json!({"taskId": "t-1"}), "inputResponses"),
        ] {
            let unreadable = UpdateTaskParams::read(json).unwrap_err();
            assert_eq!(unreadable, Unreadable::Missing(missing));
        }
    }
}
