//! What a model hands in.

use serde_json::Value;

use crate::wire::{ElicitResult, JsonObject, Unreadable, pending::ELICIT_ID};

/// What a call of [`AddedTool::Send`](super::AddedTool::Send) says.
#[derive(Clone)] // No Debug: the id is a secret
pub struct ModelAnswer {
    /// The question it is about. Empty if the call doesn't say.
    pub elicit_id: String,
    /// What the person said, or why that can't be read.
    pub result: Result<ElicitResult, Unreadable>,
    /// What all arguments amount to, to know the same call when it is made again.
    pub digest: [u8; 32],
}

impl ModelAnswer {
    /// Reads the arguments of a call. `digest` is computed of all of them.
    ///
    /// ```
    /// use midcall_core::model::ModelAnswer;
    /// use midcall_core::wire::Action;
    /// # use serde_json::json;
    ///
    /// let arguments = json!({"elicitId": "x7", "action": "decline"});
    /// let answer = ModelAnswer::read(arguments.as_object().unwrap().clone(), |_| [0; 32]);
    /// assert_eq!(answer.elicit_id, "x7");
    /// assert_eq!(answer.result.unwrap().action(), Action::Decline);
    /// ```
    pub fn read(mut arguments: JsonObject, digest: impl FnOnce(&JsonObject) -> [u8; 32]) -> Self {
        let digest = digest(&arguments);
        let elicit_id = match arguments.shift_remove(ELICIT_ID) {
            Some(Value::String(id)) => id,
            _ => String::new(),
        };
        // Nothing else that a model says belongs in a result.
        arguments.retain(|name, _| matches!(name.as_str(), "action" | "content"));
        Self {
            elicit_id,
            result: ElicitResult::read(Value::Object(arguments)),
            digest,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_what_the_tool_takes_and_nothing_else() {
        for (arguments, id, result) in [
            (
                json!({"elicitId": "x", "action": "accept", "content": {"n": 1}, "_meta": {"a": 1}, "z": 2}),
                "x",
                Ok(json!({"action": "accept", "content": {"n": 1}})),
            ),
            (
                json!({"content": {"n": 1}, "action": "cancel", "elicitId": 7}),
                "",
                Ok(json!({"action": "cancel"})),
            ),
            (json!({}), "", Err("`action` is missing")),
            (
                json!({"elicitId": "x", "action": "yes"}),
                "x",
                Err(r#"`action` must be "accept", "decline" or "cancel""#),
            ),
            (
                json!({"elicitId": "x", "action": "accept", "content": 7}),
                "x",
                Err("`content` must be a JSON object"),
            ),
        ] {
            let mut seen = None;
            let given = arguments.as_object().unwrap().clone();
            let answer = ModelAnswer::read(given, |all| {
                seen = Some(Value::Object(all.clone()));
                [7; 32]
            });
            assert_eq!(seen.as_ref(), Some(&arguments), "all of it counts");
            assert_eq!((answer.elicit_id.as_str(), answer.digest), (id, [7; 32]));
            let read = answer.result.map(|result| json!(result.write()));
            let read = read.map_err(|why| why.to_string());
            assert_eq!(read, result.map_err(str::to_owned), "{arguments}");
        }
    }
}
