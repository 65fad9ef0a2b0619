//! A list of tools, as clients see it that need the added ones.

use serde_json::{Value, json};

use super::known::TASK_SUPPORT;
use super::{KnownTools, ToolHints};
use crate::wire::{ElicitationPending, JsonObject};

/// A page of `tools/list`, the result with everything around the tools.
///
/// ```
/// use midcall_core::model::{AddedTool, KnownTools, OutputSchemas, ToolList, send_tool};
///
/// let page = br#"{"tools": [{"name": "book", "outputSchema": {"type": "object"}}]}"#;
/// let mut page = ToolList::read(page).unwrap();
/// let mut known = KnownTools::default();
/// page.teach(&mut known);
/// page.change_output_schemas(OutputSchemas::Removed);
/// if page.is_last() {
///     page.add(send_tool(known.name_of(AddedTool::Send)));
/// }
/// let shown = page.into_result();
/// assert_eq!(shown["tools"][0], serde_json::json!({"name": "book"}));
/// assert_eq!(shown["tools"][1]["name"], "sendElicitationResult");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolList {
    result: JsonObject,
}

/// What becomes of the tools' output schemas where a result may also say *wait* or *ask*. Strict
/// clients validate results against them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputSchemas {
    /// They are left out.
    Removed,
    /// They allow for a question, too: see [`widened`].
    Widened,
}

impl ToolList {
    /// Reads a result as JSON, if it has tools.
    pub fn read(result: &[u8]) -> Option<Self> {
        let result: JsonObject = serde_json::from_slice(result).ok()?;
        result.get("tools")?.as_array()?;
        Some(Self { result })
    }

    /// Whether no page follows. The added tools are on the last one.
    pub fn is_last(&self) -> bool {
        let next = self.result.get("nextCursor");
        next.is_none_or(Value::is_null)
    }

    /// Tells what the tools of this page say of themselves.
    pub fn teach(&self, known: &mut KnownTools) {
        let tools = self.result.get("tools").and_then(Value::as_array);
        for tool in tools.into_iter().flatten().filter_map(Value::as_object) {
            if let Some(name) = tool.get("name").and_then(Value::as_str) {
                known.learn(name, ToolHints::read(tool));
            }
        }
    }

    /// Lets tools be called plainly that can only be called as tasks. `true` if there are any.
    pub fn make_tasks_optional(&mut self) -> bool {
        let mut differs = false;
        for tool in self.tools() {
            if ToolHints::read(tool).needs_task {
                tool["execution"][TASK_SUPPORT] = "optional".into();
                differs = true;
            }
        }
        differs
    }

    /// Changes the output schemas of this page.
    pub fn change_output_schemas(&mut self, schemas: OutputSchemas) {
        for tool in self.tools() {
            match schemas {
                OutputSchemas::Removed => drop(tool.shift_remove("outputSchema")),
                OutputSchemas::Widened => {
                    if let Some(Value::Object(schema)) = tool.get_mut("outputSchema") {
                        *schema = widened(schema);
                    }
                }
            }
        }
    }

    /// Adds a tool at the end of this page.
    pub fn add(&mut self, tool: JsonObject) {
        if let Some(Value::Array(tools)) = self.result.get_mut("tools") {
            tools.push(Value::Object(tool));
        }
    }

    /// The whole result.
    pub fn into_result(self) -> JsonObject {
        self.result
    }

    fn tools(&mut self) -> impl Iterator<Item = &mut JsonObject> {
        let tools = self.result.get_mut("tools").and_then(Value::as_array_mut);
        tools.into_iter().flatten().filter_map(Value::as_object_mut)
    }
}

/// An output schema that takes what it took, and a question for a model.
pub fn widened(schema: &JsonObject) -> JsonObject {
    let mut result = schema.clone();
    let mut widened = JsonObject::from_iter([("type".to_owned(), Value::from("object"))]);
    // `#/$defs/…` is meant from the top.
    for shared in ["$schema", "$defs", "definitions"] {
        if let Some(value) = result.shift_remove(shared) {
            widened.insert(shared.to_owned(), value);
        }
    }
    let pending = json!({
        "type": "object",
        "properties": {ElicitationPending::MEMBER: {"type": "object"}},
        "required": [ElicitationPending::MEMBER]
    });
    widened.insert("anyOf".to_owned(), json!([result, pending]));
    widened
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{await_tool, send_tool};

    fn list(result: Value) -> ToolList {
        ToolList::read(result.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_list_is_one_with_tools_and_its_last_page_has_no_cursor() {
        for nothing in [
            "",
            "7",
            "[]",
            "{}",
            r#"{"tools": null}"#,
            r#"{"tools": {}}"#,
        ] {
            assert_eq!(ToolList::read(nothing.as_bytes()), None, "{nothing}");
        }
        assert!(list(json!({"tools": []})).is_last());
        assert!(list(json!({"tools": [], "nextCursor": null})).is_last());
        assert!(!list(json!({"tools": [], "nextCursor": "2"})).is_last());
    }

    #[test]
    fn only_what_is_meant_is_changed() {
        let output = json!({"$defs": {}, "type": "object"});
        let tools = json!([
            {"name": "a", "execution": {"taskSupport": "required", "y": 1}, "outputSchema": output, "x": 1},
            {"outputSchema": true, "name": 3},
            7,
        ]);
        let page = list(json!({"a": 1, "tools": tools, "b": 2}));

        let mut known = KnownTools::default();
        page.teach(&mut known);
        let hints = known.hints("a");
        assert!(hints.needs_task && hints.is_structured);

        let mut removed = page.clone();
        assert!(removed.make_tasks_optional());
        removed.change_output_schemas(OutputSchemas::Removed);
        assert!(!removed.make_tasks_optional());
        removed.add(JsonObject::new());
        assert_eq!(
            json!(removed.into_result()).to_string(),
            r#"{"a":1,"tools":[{"name":"a","execution":{"taskSupport":"optional","y":1},"x":1},{"name":3},7,{}],"b":2}"#
        );

        let mut widened = page;
        widened.change_output_schemas(OutputSchemas::Widened);
        assert_eq!(
            json!(widened.into_result()["tools"][0]["outputSchema"]).to_string(),
            r#"{"type":"object","$defs":{},"anyOf":[{"type":"object"},{"type":"object","properties":{"elicitationPending":{"type":"object"}},"required":["elicitationPending"]}]}"#
        );
    }

    #[test]
    fn a_widened_schema_takes_a_result_and_a_question() {
        let schema = json!({
            "$defs": {"day": {"type": "string"}},
            "type": "object",
            "properties": {"day": {"$ref": "#/$defs/day"}},
            "required": ["day"]
        });
        let widened = widened(schema.as_object().unwrap());
        assert_eq!(widened["type"], "object");
        assert_eq!(widened["$defs"], json!({"day": {"type": "string"}}));
        let widened = jsonschema::validator_for(&Value::Object(widened)).unwrap();
        assert!(widened.is_valid(&json!({"day": "Monday"})));
        assert!(widened.is_valid(&json!({"elicitationPending": {"elicitId": "x"}})));
        assert!(!widened.is_valid(&json!({"day": 3})));
    }

    #[test]
    fn added_tools_say_what_they_take() {
        let waits = await_tool("x", 5.0);
        let sends = send_tool("x");
        for (listed, properties, required) in [
            (&waits, vec!["claim", "waitSeconds"], json!(["claim"])),
            (
                &sends,
                vec!["elicitId", "action", "content"],
                json!(["elicitId", "action"]),
            ),
        ] {
            assert_eq!(listed["name"], "x");
            let takes = &listed["inputSchema"];
            let names = takes["properties"].as_object().unwrap().keys();
            assert_eq!(names.collect::<Vec<_>>(), properties);
            assert_eq!(takes["required"], required);
            let hints = ToolHints::read(listed);
            assert!(!hints.is_destructive() && !hints.needs_task && !hints.is_structured);
        }
        let default = waits["inputSchema"]["properties"]["waitSeconds"]["default"].as_f64();
        assert_eq!(default, Some(5.0));
    }
}
