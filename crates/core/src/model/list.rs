//! A list of tools, as clients see it that need the added ones.

use serde_json::{Value, json};

use super::known::TASK_SUPPORT;
use super::{KnownTools, ToolHints};
use crate::wire::{ElicitationPending, JsonObject, meta};

/// A page of `tools/list`, the result with everything around the tools.
///
/// ```
/// use midcall_core::model::{AddedTool, KnownTools, ToolList, send_tool};
///
/// let page = br#"{"tools": [{"name": "book", "outputSchema": {"type": "object"}}]}"#;
/// let mut page = ToolList::read(page).unwrap();
/// let mut known = KnownTools::default();
/// page.teach(&mut known);
/// page.widen_output_schemas();
/// if page.is_last() {
///     page.add(send_tool(&known.name_of(AddedTool::Send)));
/// }
/// let shown = page.into_result();
/// assert!(shown["tools"][0]["outputSchema"]["anyOf"].is_array());
/// assert_eq!(shown["tools"][1]["name"], "sendElicitationResult");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolList {
    result: JsonObject,
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

    /// What the next page is asked for by, if there is one.
    pub fn next(&self) -> Option<&str> {
        self.result.get("nextCursor")?.as_str()
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

    /// Has the output schemas of this page allow for a result that asks or waits, too: see [`widened`].
    pub fn widen_output_schemas(&mut self) {
        for tool in self.tools() {
            if let Some(Value::Object(schema)) = tool.get_mut("outputSchema") {
                *schema = widened(schema);
            }
        }
    }

    /// Has nobody keep this page or show it to another client. Only modern revisions have words for that: where
    /// `has_hints` is false, it is said only if the list says the opposite.
    pub fn make_private(&mut self, has_hints: bool) {
        for (hint, value) in [("ttlMs", json!(0)), ("cacheScope", json!("private"))] {
            if has_hints || self.result.contains_key(hint) {
                self.result.insert(hint.to_owned(), value);
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

/// An output schema that takes what it took, a question for a model, and word that a person has been asked. Strict
/// clients validate results against it, and a call may return either of these instead of its result.
pub fn widened(schema: &JsonObject) -> JsonObject {
    let mut result = schema.clone();
    let mut widened = JsonObject::from_iter([("type".to_owned(), Value::from("object"))]);
    // Where the schema has a name, its references start there. Else they start at the top, which is ours now.
    let is_named = result.get("$id").is_some_and(Value::is_string);
    if is_named {
        let dialect = result.get("$schema").cloned();
        widened.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
    } else {
        move_references(&mut result);
        for shared in ["$schema", "$defs", "definitions"] {
            if let Some(value) = result.shift_remove(shared) {
                widened.insert(shared.to_owned(), value);
            }
        }
        // Some readers look for fields and extensions at the top alone, as FastMCP's client does.
        let is_read = |name: &str| name == "properties" || name.starts_with("x-");
        let read = result.iter().filter(|(name, _)| is_read(name));
        widened.extend(read.map(|(name, value)| (name.clone(), value.clone())));
    }
    let with = |member: &str| json!({"type": "object", "properties": {member: {"type": "object"}}, "required": [member]});
    let asks = with(ElicitationPending::MEMBER);
    let waits = with(meta::WAITING);
    widened.insert("anyOf".to_owned(), json!([result, asks, waits]));
    widened
}

/// Has the references of a schema that is the first of [`widened`]'s lead where they led. What is shared stays at the top.
fn move_references(schema: &mut JsonObject) {
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            ("$ref" | "$dynamicRef", Value::String(reference)) => {
                let is_shared = ["#/$defs/", "#/definitions/"].iter();
                let is_shared = is_shared.into_iter().any(|at| reference.starts_with(at));
                if reference == "#" || (reference.starts_with("#/") && !is_shared) {
                    reference.insert_str(1, "/anyOf/0");
                }
            }
            // Values, not schemas.
            ("const" | "enum" | "default" | "examples", _) => {}
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                | "dependencies",
                Value::Object(named),
            ) => named.values_mut().for_each(move_references_in),
            (_, value) => move_references_in(value),
        }
    }
}

fn move_references_in(value: &mut Value) {
    match value {
        Value::Array(schemas) => schemas.iter_mut().for_each(move_references_in),
        Value::Object(schema) if !schema.get("$id").is_some_and(Value::is_string) => {
            move_references(schema);
        }
        _ => {}
    }
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

        let mut page = page;
        assert!(page.make_tasks_optional());
        assert!(!page.make_tasks_optional());
        page.widen_output_schemas();
        page.add(JsonObject::new());
        page.make_private(false);
        let widened = r#"{"type":"object","$defs":{},"anyOf":[{"type":"object"},{"type":"object","properties":{"elicitationPending":{"type":"object"}},"required":["elicitationPending"]},{"type":"object","properties":{"dev.midcall/waiting":{"type":"object"}},"required":["dev.midcall/waiting"]}]}"#;
        assert_eq!(
            json!(page.into_result()).to_string(),
            format!(
                r#"{{"a":1,"tools":[{{"name":"a","execution":{{"taskSupport":"optional","y":1}},"outputSchema":{widened},"x":1}},{{"outputSchema":true,"name":3}},7,{{}}],"b":2}}"#
            )
        );
    }

    #[test]
    fn a_page_that_is_for_one_client_says_so() {
        for (said, has_hints, expected) in [
            (
                json!({"tools": []}),
                true,
                json!({"tools": [], "ttlMs": 0, "cacheScope": "private"}),
            ),
            (json!({"tools": []}), false, json!({"tools": []})),
            (
                json!({"ttlMs": 9, "tools": [], "cacheScope": "public"}),
                true,
                json!({"ttlMs": 0, "tools": [], "cacheScope": "private"}),
            ),
            (
                json!({"ttlMs": 9, "tools": []}),
                false,
                json!({"ttlMs": 0, "tools": []}),
            ),
        ] {
            let mut page = list(said);
            page.make_private(has_hints);
            assert_eq!(Value::Object(page.into_result()), expected);
        }
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
        assert!(widened.is_valid(&json!({"dev.midcall/waiting": {"claim": "c"}})));
        assert!(!widened.is_valid(&json!({"day": 3})));
    }

    #[test]
    fn what_readers_look_for_at_the_top_stays_there() {
        let schema = json!({"type": "object", "x-fastmcp-wrap-result": true, "required": ["result"],
            "properties": {"result": {"type": "string"}}});
        let widened = Value::Object(widened(schema.as_object().unwrap()));
        assert_eq!(widened["x-fastmcp-wrap-result"], true);
        assert_eq!(widened["properties"], schema["properties"]);
        let widened = jsonschema::validator_for(&widened).unwrap();
        assert!(widened.is_valid(&json!({"result": "x"})));
        assert!(widened.is_valid(&json!({"elicitationPending": {}})));
        assert!(!widened.is_valid(&json!({"result": 7, "elicitationPending": {}})));
        assert!(!widened.is_valid(&json!({})));
    }

    #[test]
    fn references_of_a_widened_schema_lead_where_they_led() {
        let inner = json!({
            "type": "object",
            "properties": {
                "day": {"type": "string"},
                "again": {"$ref": "#/properties/day"},
                "next": {"$ref": "#"},
                "all": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "$ref": {"const": {"$ref": "#"}},
                "own": {"$id": "urn:own", "$defs": {"n": {"type": "number"}}, "anyOf": [{"$ref": "#/$defs/n"}]}
            },
            "required": ["day"],
            "$defs": {"node": {"properties": {"day": {"$ref": "#/properties/day"}}}}
        });
        let mut named = inner.clone();
        named["$id"] = "urn:tool".into();
        named["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        for schema in [inner, named] {
            let widened = widened(schema.as_object().unwrap());
            let widened = jsonschema::validator_for(&Value::Object(widened)).unwrap();
            let same = jsonschema::validator_for(&schema).unwrap();
            for result in [
                json!({"day": "x", "again": "y", "next": {"day": "z"}, "all": [{"day": "x"}], "own": 7, "$ref": {"$ref": "#"}}),
                json!({"day": "x", "again": 7}),
                json!({"day": "x", "next": {}}),
                json!({"day": "x", "all": [{"day": 7}]}),
                json!({"day": "x", "own": "7"}),
                json!({"day": "x", "$ref": {"$ref": "#/anyOf/0"}}),
            ] {
                assert_eq!(
                    widened.is_valid(&result),
                    same.is_valid(&result),
                    "{result}"
                );
            }
        }
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
