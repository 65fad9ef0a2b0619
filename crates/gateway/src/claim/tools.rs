//! The added tool as clients see it, and the tools of the server beside it.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::frame::Frame;

/// How long a call of it waits unless it says otherwise: less than the minute after which many
/// clients give up.
pub const WAIT_SECONDS: f64 = 40.0;

/// What the tools are called in this session.
pub struct Tools {
    /// The server's own.
    theirs: HashSet<String>,
    await_: &'static str,
    /// Whether the client has been shown ours. Before that, whatever it calls is the server's.
    shown: bool,
}

const AWAIT: &str = "awaitElicitation";
const AWAIT_OTHERWISE: &str = "midcall_awaitElicitation";

impl Default for Tools {
    fn default() -> Self {
        Self {
            theirs: HashSet::new(),
            await_: AWAIT,
            shown: false,
        }
    }
}

impl Tools {
    /// What the tool is called that collects results. Whoever is told of it may call it.
    pub fn await_name(&mut self) -> &'static str {
        self.shown = true;
        self.await_
    }

    /// Whether a call, by its name as JSON, is one of it.
    pub fn is_await(&self, name: Option<&[u8]>) -> bool {
        let is_ours = |name: &[u8]| {
            let name = name
                .strip_prefix(b"\"")
                .and_then(|name| name.strip_suffix(b"\""));
            name == Some(self.await_.as_bytes())
        };
        self.shown && name.is_some_and(is_ours)
    }

    /// A list of tools as the client is shown it: with ours at its end, and without output
    /// schemas, which a result that says *wait* would not fit.
    pub fn listed(&mut self, frame: &Frame, result: &[u8]) -> Option<Frame> {
        let mut result: Map<String, Value> = serde_json::from_slice(result).ok()?;
        let is_last = result.get("nextCursor").is_none_or(Value::is_null);
        let tools = result.get_mut("tools")?.as_array_mut()?;
        for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
            tool.shift_remove("outputSchema");
            if let Some(name) = tool.get("name").and_then(Value::as_str) {
                self.theirs.insert(name.to_owned());
            }
        }
        if is_last {
            if self.theirs.contains(AWAIT) {
                self.await_ = AWAIT_OTHERWISE;
            }
            self.shown = true;
            tools.push(self.await_tool());
        }
        frame.with(&["result"], &serde_json::to_string(&result).ok()?)
    }

    fn await_tool(&self) -> Value {
        json!({
            "name": self.await_,
            "title": "Wait for a person's answer",
            "description": "Call this only with a claim from a result that says a person has been asked. \
                Waits until the person has answered and returns the result of the call that was waiting, \
                or says that it takes longer: then call it again. It never answers for the person.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "claim": {"type": "string", "description": "The claim, as the waiting result gave it"},
                    "waitSeconds": {"type": "number", "minimum": 0, "default": WAIT_SECONDS,
                        "description": "How long to wait before saying that it takes longer"}
                },
                "required": ["claim"]
            },
            "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
        })
    }
}

/// What is answered to a claim that nobody gave, or that has expired.
pub fn unknown_claim() -> Value {
    json!({"isError": true, "content": [{"type": "text", "text":
        "There is no such claim: it was never given, or its result was kept for ten minutes and is gone."}]})
}
