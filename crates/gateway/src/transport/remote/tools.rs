//! Which arguments of which tools stand in headers too (`x-mcp-header`).

use std::collections::{HashMap, HashSet};

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::frame::{Frame, Members};

/// The tools that mark some of their arguments.
#[derive(Default)]
pub struct Tools(HashMap<String, Vec<Mark>>);

/// A marked argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What its header is called, after `Mcp-Param-`.
    pub name: String,
    /// The names that lead to it.
    pub path: Vec<String>,
}

/// How deep a schema is looked through.
const DEEPEST: usize = 128;

/// How many tools are remembered.
const MOST: usize = 10_000;

/// What holds other schemas, as one, as a list, or by name.
const BESIDE: &[&str] = &[
    "items",
    "prefixItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contentSchema",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
];
const BY_NAME: &[&str] = &[
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

impl Tools {
    /// What a call of this tool says in headers.
    pub fn marked(&self, tool: &str) -> Option<&Vec<Mark>> {
        self.0.get(tool)
    }

    /// Nothing is known any more.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// Learns from a list of tools. One whose marks are wrong is taken out of it: nobody can
    /// call it, and the others are not to suffer from it.
    pub fn learn(&mut self, list: &Frame, members: &Members<'_>) -> Option<Frame> {
        #[derive(Deserialize)]
        struct List<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
        }
        let result = members.result?;
        memmem::find(result, b"x-mcp-header")?;
        let tools = serde_json::from_slice::<List<'_>>(result).ok()?.tools;
        let before = tools.len();
        let tools: Vec<&RawValue> = tools.into_iter().filter(|tool| self.takes(tool)).collect();
        if tools.len() == before {
            return None;
        }
        let tools: Vec<&str> = tools.iter().map(|tool| tool.get()).collect();
        list.with(&["result", "tools"], &format!("[{}]", tools.join(",")))
    }

    fn takes(&mut self, tool: &RawValue) -> bool {
        #[derive(Deserialize)]
        struct Tool {
            name: String,
            #[serde(rename = "inputSchema", default)]
            schema: Value,
        }
        let Ok(tool) = serde_json::from_str::<Tool>(tool.get()) else {
            return true; // What is wrong with it is for its receiver to say.
        };
        match marks(&tool.schema) {
            Ok(marks) if marks.is_empty() => {
                self.0.remove(&tool.name);
            }
            Ok(marks) if self.0.len() < MOST => {
                self.0.insert(tool.name, marks);
            }
            Ok(_) => {}
            Err(why) => {
                self.0.remove(&tool.name);
                tracing::warn!(tool = ?tool.name, "a tool is left out: its x-mcp-header {why}");
                return false;
            }
        }
        true
    }
}

/// The marked arguments of a schema, or what is wrong with a mark.
fn marks(schema: &Value) -> Result<Vec<Mark>, &'static str> {
    let mut found = Vec::new();
    look(schema, &mut Vec::new(), true, 0, &mut found)?;
    let mut names = HashSet::new();
    if !found
        .iter()
        .all(|mark| names.insert(mark.name.to_ascii_lowercase()))
    {
        return Err("names the same header twice");
    }
    Ok(found)
}

fn look(
    schema: &Value,
    path: &mut Vec<String>,
    is_reachable: bool,
    depth: usize,
    found: &mut Vec<Mark>,
) -> Result<(), &'static str> {
    let Some(members) = schema.as_object() else {
        return Ok(());
    };
    if depth > DEEPEST {
        return Err("may stand deeper than is looked");
    }
    if let Some(mark) = members.get("x-mcp-header") {
        if !is_reachable || path.is_empty() {
            return Err("stands where no argument is");
        }
        let name = mark.as_str().filter(|name| is_token(name));
        let name = name.ok_or("is no name of a header")?;
        let kind = members.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Err("stands on what is no string, integer or boolean");
        }
        found.push(Mark {
            name: name.to_owned(),
            path: path.clone(),
        });
    }
    let mut hidden =
        |schema: &Value, path: &mut Vec<String>| look(schema, path, false, depth + 1, found);
    for name in BESIDE {
        match members.get(*name) {
            Some(Value::Array(all)) => {
                all.iter().try_for_each(|schema| hidden(schema, path))?;
            }
            Some(schema) => hidden(schema, path)?,
            None => {}
        }
    }
    for name in BY_NAME {
        let all = members.get(*name).and_then(Value::as_object);
        for schema in all.into_iter().flat_map(|all| all.values()) {
            hidden(schema, path)?;
        }
    }
    let properties = members.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        path.push(name.clone());
        look(schema, path, is_reachable, depth + 1, found)?;
        path.pop();
    }
    Ok(())
}

fn is_token(name: &str) -> bool {
    let is_sign = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && (name.bytes()).all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mark_is_right_or_its_tool_is_left_out() {
        let at = |names: &[&str], name: &str| Mark {
            name: name.to_owned(),
            path: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let argument = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        for (schema, expected) in [
            (json!({}), Ok(vec![])),
            (
                argument(json!({"type": "string", "x-mcp-header": "Region"})),
                Ok(vec![at(&["a"], "Region")]),
            ),
            (
                argument(json!({"properties": {"b": {"type": "integer", "x-mcp-header": "B"}}})),
                Ok(vec![at(&["a", "b"], "B")]),
            ),
            // It is data there, not a mark.
            (
                argument(json!({"default": {"x-mcp-header": ""}})),
                Ok(vec![]),
            ),
            (
                argument(json!({"type": "string", "x-mcp-header": ""})),
                Err("is no name of a header"),
            ),
            (
                argument(json!({"type": "string", "x-mcp-header": "a b"})),
                Err("is no name of a header"),
            ),
            (
                argument(json!({"type": "string", "x-mcp-header": 1})),
                Err("is no name of a header"),
            ),
            (
                argument(json!({"type": "number", "x-mcp-header": "N"})),
                Err("stands on what is no string, integer or boolean"),
            ),
            (
                argument(json!({"items": {"type": "string", "x-mcp-header": "N"}})),
                Err("stands where no argument is"),
            ),
            (
                argument(
                    json!({"anyOf": [{"properties": {"b": {"type": "string", "x-mcp-header": "N"}}}]}),
                ),
                Err("stands where no argument is"),
            ),
            (
                json!({"$defs": {"d": {"type": "string", "x-mcp-header": "N"}}}),
                Err("stands where no argument is"),
            ),
            (
                json!({"type": "string", "x-mcp-header": "N"}),
                Err("stands where no argument is"),
            ),
            (
                json!({"properties": {
                    "a": {"type": "string", "x-mcp-header": "N"},
                    "b": {"type": "string", "x-mcp-header": "n"},
                }}),
                Err("names the same header twice"),
            ),
        ] {
            assert_eq!(marks(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_list_loses_what_is_wrong_in_it_and_nothing_else() {
        let good = r#"{ "name": "good", "inputSchema": {"properties":{"a":{"type":"string","x-mcp-header":"A"}}}, "x": 1.0 }"#;
        let bad = r#"{"name":"bad","inputSchema":{"x-mcp-header":"A"}}"#;
        let line = |tools: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{tools},"nextCursor":"c"}}}}"#)
        };
        let mut tools = Tools::default();
        let mut learn = |line: &str| {
            let frame = Frame::new(line.to_owned().into());
            let edited = tools.learn(&frame, &frame.peek().unwrap().1);
            edited.map(|it| String::from_utf8(it.into_bytes().to_vec()).unwrap())
        };
        assert_eq!(learn(&line(&format!("[{good}]"))), None);
        let edited = learn(&line(&format!("[{bad}, {good}]")));
        assert_eq!(edited, Some(line(&format!("[{good}]"))));
        assert_eq!(tools.marked("good").unwrap()[0].name, "A");
        assert!(tools.marked("bad").is_none());
    }
}
