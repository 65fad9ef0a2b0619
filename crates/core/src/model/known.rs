//! What the tools of a server say of themselves.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::AddedTool;
use crate::wire::JsonObject;

/// What a tool says of itself, in its annotations and beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// Whether it only reads (`readOnlyHint`), if it says so.
    pub read_only: Option<bool>,
    /// Whether it does no more if it is called again (`idempotentHint`), if it says so.
    pub idempotent: Option<bool>,
    /// Whether it may destroy something (`destructiveHint`), if it says so.
    pub destructive: Option<bool>,
    /// Whether it can only be called as a task.
    pub needs_task: bool,
    /// Whether it promises structured content that fits a schema.
    pub is_structured: bool,
}

/// The tools of a server that are known, at most 10,000.
#[derive(Clone, Debug, Default)]
pub struct KnownTools(HashMap<String, ToolHints>);

/// How many tools are remembered.
const MOST: usize = 10_000;

impl ToolHints {
    /// Reads them from a tool as `tools/list` has it. What isn't what it should be isn't said.
    pub fn read(tool: &JsonObject) -> Self {
        let hint = |name| tool.get("annotations")?.get(name)?.as_bool();
        let task = tool.get("execution").and_then(|it| it.get(TASK_SUPPORT));
        Self {
            read_only: hint("readOnlyHint"),
            idempotent: hint("idempotentHint"),
            destructive: hint("destructiveHint"),
            needs_task: task.is_some_and(|task| task == "required"),
            is_structured: tool.get("outputSchema").is_some_and(Value::is_object),
        }
    }

    /// Whether it may destroy something: a tool that says nothing of that may, as MCP has it.
    pub fn is_destructive(self) -> bool {
        self.read_only != Some(true) && self.destructive != Some(false)
    }

    /// Whether it says that it changes nothing.
    pub fn says_read_only(self) -> bool {
        self.read_only == Some(true)
    }

    /// Whether it says that it may destroy something.
    pub fn says_destructive(self) -> bool {
        self.read_only != Some(true) && self.destructive == Some(true)
    }

    /// Whether it doesn't say if it destroys something. A tool that only reads doesn't need to.
    pub fn says_nothing(self) -> bool {
        self.read_only != Some(true) && self.destructive.is_none()
    }
}

impl KnownTools {
    /// Learns what a tool says of itself, which may differ from what it said before. Beyond the limit,
    /// no further tools are remembered, but for those that have the name of an added one.
    pub fn learn(&mut self, name: &str, hints: ToolHints) {
        let collides = |tool: &AddedTool| name == tool.name() || name == tool.other_name();
        if let Some(known) = self.0.get_mut(name) {
            *known = hints;
        } else if self.0.len() < MOST || AddedTool::ALL.iter().any(collides) {
            self.0.insert(name.to_owned(), hints);
        }
    }

    /// What a tool says of itself: nothing, if it isn't known.
    pub fn hints(&self, name: &str) -> ToolHints {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Whether a tool is known by this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether a tool promises structured content: one that isn't known may do so.
    pub fn may_be_structured(&self, name: &str) -> bool {
        self.0.get(name).is_none_or(|hints| hints.is_structured)
    }

    /// What an added tool is called beside these. None of them is called so.
    pub fn name_of(&self, tool: AddedTool) -> Cow<'static, str> {
        let mut names = [tool.name(), tool.other_name()].into_iter();
        if let Some(name) = names.find(|name| !self.has(name)) {
            return name.into();
        }
        let mut numbered = (2..).map(|nth| format!("{}_{nth}", tool.other_name()));
        let free = numbered.find(|name| !self.has(name));
        free.expect("there are more numbers than tools").into()
    }
}

/// Where a tool says whether it can be called as a task, within its `execution`.
pub(super) const TASK_SUPPORT: &str = "taskSupport";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hints_are_read_leniently() {
        let nothing = ToolHints::default();
        for (tool, expected) in [
            (json!({}), nothing),
            (json!({"annotations": null, "execution": []}), nothing),
            (json!({"annotations": {"readOnlyHint": "yes"}}), nothing),
            (
                json!({"annotations": {"readOnlyHint": true, "destructiveHint": false}}),
                ToolHints {
                    read_only: Some(true),
                    destructive: Some(false),
                    ..nothing
                },
            ),
            (json!({"execution": {"taskSupport": "optional"}}), nothing),
            (
                json!({"execution": {"taskSupport": "required"}}),
                ToolHints {
                    needs_task: true,
                    ..nothing
                },
            ),
            (json!({"outputSchema": null}), nothing),
            (
                json!({"outputSchema": {}}),
                ToolHints {
                    is_structured: true,
                    ..nothing
                },
            ),
        ] {
            let read = ToolHints::read(tool.as_object().unwrap());
            assert_eq!(read, expected, "{tool}");
        }
    }

    #[test]
    fn what_a_tool_does_not_say_is_as_mcp_has_it() {
        // read-only, destructive: may destroy, says so, says nothing
        for (read_only, destructive, expected) in [
            (None, None, (true, false, true)),
            (None, Some(true), (true, true, false)),
            (None, Some(false), (false, false, false)),
            (Some(false), None, (true, false, true)),
            (Some(true), None, (false, false, false)),
            (Some(true), Some(true), (false, false, false)),
        ] {
            let hints = ToolHints {
                read_only,
                destructive,
                ..ToolHints::default()
            };
            let said = (
                hints.is_destructive(),
                hints.says_destructive(),
                hints.says_nothing(),
            );
            assert_eq!(said, expected, "{hints:?}");
            assert_eq!(hints.says_read_only(), read_only == Some(true));
        }
    }

    #[test]
    fn known_tools_are_bounded_and_may_change() {
        let looks = ToolHints {
            read_only: Some(true),
            ..ToolHints::default()
        };
        let mut known = KnownTools::default();
        (0..MOST).for_each(|n| known.learn(&n.to_string(), ToolHints::default()));
        known.learn("one more", looks);
        known.learn("7", looks);
        assert_eq!(known.hints("one more"), ToolHints::default());
        assert_eq!(known.hints("7"), looks);
        // No number of tools hides one that is called like ours.
        known.learn("awaitElicitation", looks);
        assert_eq!(known.name_of(AddedTool::Await), "midcall_awaitElicitation");
    }

    #[test]
    fn an_added_tool_has_a_name_of_its_own() {
        let mut known = KnownTools::default();
        assert_eq!(known.name_of(AddedTool::Await), "awaitElicitation");
        known.learn("sendElicitationResult", ToolHints::default());
        assert_eq!(known.name_of(AddedTool::Await), "awaitElicitation");
        let send = known.name_of(AddedTool::Send);
        assert_eq!(send, "midcall_sendElicitationResult");
        known.learn("awaitElicitation", ToolHints::default());
        let await_ = known.name_of(AddedTool::Await);
        assert_eq!(await_, "midcall_awaitElicitation");
        known.learn("midcall_awaitElicitation", ToolHints::default());
        known.learn("midcall_awaitElicitation_2", ToolHints::default());
        let await_ = known.name_of(AddedTool::Await);
        assert_eq!(await_, "midcall_awaitElicitation_3");
    }

    #[test]
    fn a_tool_that_is_not_known_may_promise_structured_content() {
        let mut known = KnownTools::default();
        known.learn("plain", ToolHints::default());
        known.learn(
            "priced",
            ToolHints {
                is_structured: true,
                ..ToolHints::default()
            },
        );
        let structured = ["plain", "priced", "unheard"].map(|tool| known.may_be_structured(tool));
        assert_eq!(structured, [false, true, true]);
    }
}
