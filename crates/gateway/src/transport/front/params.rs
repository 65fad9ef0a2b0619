//! `Mcp-Param-*`: arguments that a modern client repeats in headers, because the tool's schema
//! says so with `x-mcp-header`. What they say must be what the body says.
//!
//! A tool's schema is known once a client has listed it.

use std::collections::HashMap;

use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::Value;

use super::headers::{decoded, only};
use crate::frame::Members;

const KEY: &str = "x-mcp-header";

/// The tools that have such arguments.
#[derive(Default)]
pub struct HeaderParams(HashMap<String, Vec<Param>>);

#[derive(Clone, Debug, PartialEq)]
struct Param {
    header: String,
    path: Vec<String>,
    is_number: bool,
}

/// How many tools, and how deep their schemas, are looked at.
const MOST_TOOLS: usize = 10_000;
const DEEPEST: usize = 32;

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(rename = "inputSchema", default)]
    schema: Value,
}

impl HeaderParams {
    /// Learns from the answer to `tools/list`.
    pub fn learn(&mut self, members: &Members<'_>) {
        let Some(result) = members.result else {
            return;
        };
        let is_known = !self.0.is_empty();
        if !is_known && memchr::memmem::find(result, KEY.as_bytes()).is_none() {
            return;
        }
        let Ok(listed) = serde_json::from_slice::<Listed>(result) else {
            return;
        };
        for tool in listed.tools {
            let mut params = Vec::new();
            find(&tool.schema, &mut Vec::new(), &mut params);
            if params.is_empty() {
                self.0.remove(&tool.name);
            } else if self.0.len() < MOST_TOOLS {
                self.0.insert(tool.name, params);
            }
        }
    }

    /// Whether a tool has such arguments.
    pub fn has(&self, tool: &str) -> bool {
        self.0.contains_key(tool)
    }

    /// What is wrong with the headers of a call, if anything is.
    pub fn mismatch(&self, tool: &str, arguments: &Value, headers: &HeaderMap) -> Option<String> {
        let params = self.0.get(tool)?;
        params
            .iter()
            .find_map(|param| param.mismatch(arguments, headers))
    }
}

impl Param {
    fn mismatch(&self, arguments: &Value, headers: &HeaderMap) -> Option<String> {
        let mut body = arguments;
        for name in &self.path {
            body = body.get(name)?;
        }
        let written = match body {
            Value::String(text) => text.clone(),
            Value::Bool(is) => is.to_string(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let header = format!("Mcp-Param-{}", self.header);
        let name = header.to_ascii_lowercase();
        let Some(value) = headers.contains_key(&name).then(|| only(headers, &name)) else {
            return Some(format!("the header {header} is missing"));
        };
        let Some(value) = value.and_then(decoded) else {
            return Some(format!("the header {header} cannot be read"));
        };
        let same_number = || {
            let (one, other) = (value.parse::<f64>(), written.parse::<f64>());
            self.is_number && body.is_number() && one.is_ok() && one == other
        };
        let fits = value == written || same_number();
        (!fits).then(|| format!("the header {header} and the body say different things"))
    }
}

fn find(schema: &Value, path: &mut Vec<String>, params: &mut Vec<Param>) {
    if path.len() > DEEPEST {
        return;
    }
    if let Some(header) = schema[KEY].as_str().filter(|_| !path.is_empty()) {
        params.push(Param {
            header: header.to_owned(),
            path: path.clone(),
            is_number: matches!(schema["type"].as_str(), Some("integer" | "number")),
        });
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        path.push(name.clone());
        find(inner, path, params);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use serde_json::json;

    fn tools(listed: &Value) -> HeaderParams {
        let mut tools = HeaderParams::default();
        let frame = Frame::write(&json!({"jsonrpc": "2.0", "id": 1, "result": listed}));
        tools.learn(&frame.peek().unwrap().1);
        tools
    }

    #[test]
    fn headers_say_what_the_body_says() {
        let tools = tools(
            &json!({"tools": [{"name": "book", "inputSchema": {"properties": {
                "town": {"type": "string", "x-mcp-header": "Town"},
                "more": {"properties": {"guests": {"type": "integer", "x-mcp-header": "Guests"}}},
                "plain": {"type": "string"},
            }}}]}),
        );
        for (arguments, headers, fits) in [
            (json!({}), &[][..], true),
            (json!({"town": null, "plain": "x"}), &[], true),
            (json!({"town": "Olinda"}), &[], false),
            (
                json!({"town": "Olinda"}),
                &[("mcp-param-town", "Olinda")],
                true,
            ),
            (
                json!({"town": "Olinda"}),
                &[("mcp-param-town", "olinda")],
                false,
            ),
            (
                json!({"town": "Belém"}),
                &[("mcp-param-town", "=?base64?QmVsw6lt?=")],
                true,
            ),
            (
                json!({"town": "Belém"}),
                &[("mcp-param-town", "=?base64?QmVsw6l?=")],
                false,
            ),
            (
                json!({"town": "Olinda"}),
                &[("mcp-param-town", "Olinda"), ("mcp-param-town", "Olinda")],
                false,
            ),
            (
                json!({"more": {"guests": 4}}),
                &[("mcp-param-guests", "4.0")],
                true,
            ),
            (
                json!({"more": {"guests": 4}}),
                &[("mcp-param-guests", "5")],
                false,
            ),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            let wrong = tools.mismatch("book", &arguments, &map);
            assert_eq!(wrong.is_none(), fits, "{arguments} {headers:?} {wrong:?}");
        }
        assert!(!tools.has("other"));
    }

    #[test]
    fn a_tool_that_is_listed_again_is_known_as_it_is_now() {
        let mut tools = tools(&json!({"tools": [{"name": "book", "inputSchema":
            {"properties": {"town": {"type": "string", "x-mcp-header": "Town"}}}}]}));
        assert!(tools.has("book"));
        let now = Frame::write(&json!({"id": 2, "result": {"tools": [{"name": "book"}]}}));
        tools.learn(&now.peek().unwrap().1);
        assert!(!tools.has("book"));
    }
}
