//! The answer to an elicitation, as the wire carries it.

use serde_json::Value;

use crate::answer::Words;

use super::{
    JsonObject, Members, Unreadable,
    members::{object, put, put_rest, put_some, take, take_members, take_meta, take_text},
    meta,
};

/// What a person did with the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Submitted the form, or consented to open the link.
    Accept,
    /// Said no.
    Decline,
    /// Said nothing: closed it, or left it.
    Cancel,
}

/// The result of `elicitation/create`, the same in every revision that has it.
///
/// Content lives with `accept` alone: reading drops any other, and no refusal
/// with content can be made. `Debug` prints the names of fields, not what
/// people typed.
///
/// ```
/// use midcall_core::wire::{Action, ElicitResult};
/// # use serde_json::json;
///
/// let result = ElicitResult::read(json!({"action": "reject", "content": {"pin": 1234}}))?;
/// assert_eq!(result.action(), Action::Decline);
/// assert_eq!(json!(result.write()), json!({"action": "decline"}));
/// # Ok::<(), midcall_core::wire::Unreadable>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitResult {
    action: Action,
    content: Option<Members>,
    /// The client's `_meta`.
    pub meta: Option<Members>,
    // Private like `content`, which must not come back by this door.
    rest: Members,
}

impl ElicitResult {
    /// The person accepted: a form with its content, a link without.
    pub fn accept(content: Option<JsonObject>) -> Self {
        ElicitResult {
            content: content.map(Members),
            ..Self::without_content(Action::Accept)
        }
    }

    /// The person said no.
    pub fn decline() -> Self {
        Self::without_content(Action::Decline)
    }

    /// The person said nothing.
    pub fn cancel() -> Self {
        Self::without_content(Action::Cancel)
    }

    /// Reads a result. `reject`, which older clients say, is `decline`; any
    /// other unknown action is an error, since it must not pass for consent.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut result = object(json, "result")?;
        let action = match take_text(&mut result, "action")?.as_deref() {
            None => return Err(Unreadable::Missing("action")),
            Some("accept") => Action::Accept,
            Some("decline" | "reject") => Action::Decline,
            Some("cancel") => Action::Cancel,
            // The text is not repeated: it may be something a person typed.
            Some(_) => {
                return Err(Unreadable::Unfit {
                    member: "action",
                    expected: "\"accept\", \"decline\" or \"cancel\"",
                });
            }
        };
        let content = match action {
            Action::Accept => take_members(&mut result, "content")?,
            Action::Decline | Action::Cancel => {
                take(&mut result, "content");
                None
            }
        };
        Ok(ElicitResult {
            action,
            content,
            meta: take_meta(&mut result),
            rest: Members(result),
        })
    }

    /// Writes the result.
    pub fn write(&self) -> JsonObject {
        let mut result = JsonObject::new();
        put(&mut result, "action", self.action.as_str());
        put_some(&mut result, "content", &self.content);
        put_some(&mut result, "_meta", &self.meta);
        put_rest(&mut result, &self.rest);
        result
    }

    /// What the person did.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Why the person said no, if the result says so in its `_meta` ([`REASON`](meta::REASON)). `None` unless declined.
    ///
    /// ```
    /// use midcall_core::wire::ElicitResult;
    /// # use serde_json::json;
    ///
    /// let meta = json!({"dev.midcall/reason": "Too late"});
    /// let no = ElicitResult::read(json!({"action": "decline", "_meta": meta}))?;
    /// assert_eq!(no.reason().unwrap().as_str(), "Too late");
    /// let yes = ElicitResult::read(json!({"action": "accept", "_meta": meta}))?;
    /// assert_eq!(yes.reason(), None);
    /// # Ok::<(), midcall_core::wire::Unreadable>(())
    /// ```
    pub fn reason(&self) -> Option<Words> {
        let meta = self
            .meta
            .as_ref()
            .filter(|_| self.action == Action::Decline)?;
        meta.get(meta::REASON)?.as_str().and_then(Words::new)
    }

    /// What the person filled in. `None` unless accepted.
    pub fn content(&self) -> Option<&JsonObject> {
        self.content.as_deref()
    }

    /// What the person filled in, taken out.
    pub fn into_content(self) -> Option<JsonObject> {
        self.content.map(|content| content.0)
    }

    /// Tells the server how the question ended, in `_meta`.
    pub fn with_outcome(mut self, outcome: Value) -> Self {
        let meta = self.meta.get_or_insert_default();
        put(meta, meta::OUTCOME, outcome);
        self
    }

    fn without_content(action: Action) -> Self {
        ElicitResult {
            action,
            content: None,
            meta: None,
            rest: Members::default(),
        }
    }
}

impl Action {
    /// The protocol's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Accept => "accept",
            Action::Decline => "decline",
            Action::Cancel => "cancel",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_read_leniently_and_written_strictly() {
        for (read, written) in [
            (
                json!({"action": "accept", "content": {"n": 1.5}}),
                json!({"action": "accept", "content": {"n": 1.5}}),
            ),
            (
                json!({"action": "accept", "content": null}),
                json!({"action": "accept"}),
            ),
            (json!({"action": "reject"}), json!({"action": "decline"})),
            (
                json!({"action": "decline", "content": {"n": 1}}),
                json!({"action": "decline"}),
            ),
            (
                json!({"action": "cancel", "content": "junk", "x": [1], "_meta": {}}),
                json!({"action": "cancel", "x": [1], "_meta": {}}),
            ),
            (
                json!({"action": "accept", "content": {}, "_meta": "junk"}),
                json!({"action": "accept", "content": {}}),
            ),
        ] {
            let result = ElicitResult::read(read.clone()).unwrap();
            assert_eq!(json!(result.write()), written, "{read}");
        }
    }

    #[test]
    fn what_is_not_clearly_an_answer_is_an_error() {
        for (json, expected) in [
            (json!(null), "`result` must be a JSON object"),
            (json!({"content": {}}), "`action` is missing"),
            (json!({"action": true}), "`action` must be a string"),
            (
                json!({"action": "Accept"}),
                r#"`action` must be "accept", "decline" or "cancel""#,
            ),
            (
                json!({"action": "accept", "content": []}),
                "`content` must be a JSON object",
            ),
        ] {
            let unreadable = ElicitResult::read(json.clone()).unwrap_err();
            assert_eq!(unreadable.to_string(), expected, "{json}");
        }
    }

    #[test]
    fn the_outcome_joins_the_meta_that_is_there() {
        let outcome = json!({"state": "timed_out"});
        let bare = ElicitResult::cancel().with_outcome(outcome.clone());
        assert_eq!(bare.write()["_meta"], json!({meta::OUTCOME: outcome}));

        let read = ElicitResult::read(json!({"action": "cancel", "_meta": {"a": 1}})).unwrap();
        assert_eq!(
            read.with_outcome(outcome.clone()).write()["_meta"],
            json!({"a": 1, meta::OUTCOME: outcome})
        );
    }

    #[test]
    fn what_a_person_typed_is_never_printed() {
        let secret = "s3cr3t";
        let json = json!({
            "action": "accept", "content": {"pin": secret},
            "_meta": {"m": secret}, "x": secret,
        });
        let printed = format!("{:?}", ElicitResult::read(json).unwrap());
        assert!(
            printed.contains("pin") && !printed.contains(secret),
            "{printed}"
        );

        for json in [
            json!({"action": secret}),
            json!({"action": {"a": secret}}),
            json!({"action": "accept", "content": secret}),
            json!(secret),
        ] {
            let unreadable = ElicitResult::read(json).unwrap_err();
            assert!(!format!("{unreadable} {unreadable:?}").contains(secret));
        }
    }
}
