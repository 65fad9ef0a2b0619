//! The added tools as clients see them, and the tools of the server beside them.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::frame::Frame;

/// How long a call of one waits at most, unless it says otherwise: less than the minute after
/// which many clients give up.
pub const WAIT_SECONDS: f64 = 40.0;

/// What the tools are called in this session.
pub struct Tools {
    /// The server's own, and what they say of themselves.
    theirs: HashMap<String, Hints>,
    await_: &'static str,
    send: &'static str,
    /// Whether the client has been shown ours. Before that, whatever it calls is the server's.
    shown: bool,
}

/// What a tool says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hints {
    read_only: Option<bool>,
    destructive: Option<bool>,
    /// Whether it can only be called as a task.
    pub needs_task: bool,
}

/// Which tools are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    pub await_: bool,
    pub send: bool,
    /// How long a call of one waits unless it says otherwise, in seconds.
    pub wait: f64,
}

const AWAIT: &str = "awaitElicitation";
const AWAIT_OTHERWISE: &str = "midcall_awaitElicitation";
const SEND: &str = "sendElicitationResult";
const SEND_OTHERWISE: &str = "midcall_sendElicitationResult";

/// Where a tool says whether it can be called as a task.
const TASK_SUPPORT: &str = "taskSupport";

/// How many tools are remembered.
const MOST: usize = 10_000;

impl Default for Tools {
    fn default() -> Self {
        Self {
            theirs: HashMap::new(),
            await_: AWAIT,
            send: SEND,
            shown: false,
        }
    }
}

impl Hints {
    pub fn read(tool: &Map<String, Value>) -> Self {
        let hint = |name| tool.get("annotations")?.get(name)?.as_bool();
        Self {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            needs_task: (tool.get("execution")).is_some_and(|it| it[TASK_SUPPORT] == "required"),
        }
    }

    /// Whether it may destroy something. What a tool does not say is so, as MCP has it.
    pub fn is_destructive(self) -> bool {
        self.read_only != Some(true) && self.destructive != Some(false)
    }

    /// Whether it says that it changes nothing.
    pub fn says_read_only(self) -> bool {
        self.read_only == Some(true)
    }

    /// Whether it says that it may.
    pub fn says_destructive(self) -> bool {
        self.read_only != Some(true) && self.destructive == Some(true)
    }

    /// Whether it says nothing of that: a tool that writes may destroy, unless it says that it
    /// does not.
    pub fn says_nothing(self) -> bool {
        self.read_only != Some(true) && self.destructive.is_none()
    }
}

impl Tools {
    /// What the tool is called that collects results. Whoever is told of it may call it.
    pub fn await_name(&mut self) -> &'static str {
        self.shown = true;
        self.await_
    }

    /// What the tool is called that answers for a person.
    pub fn send_name(&mut self) -> &'static str {
        self.shown = true;
        self.send
    }

    /// Whether a call, by its name as JSON, is one of the first.
    pub fn is_await(&self, name: Option<&[u8]>) -> bool {
        self.shown && is_named(name, self.await_)
    }

    /// Whether it is one of the second.
    pub fn is_send(&self, name: Option<&[u8]>) -> bool {
        self.shown && is_named(name, self.send)
    }

    /// What a tool of the server says of itself, by its name as JSON.
    pub fn hints(&self, name: Option<&[u8]>) -> Hints {
        let name = name.and_then(|name| serde_json::from_slice::<String>(name).ok());
        let hints = name.and_then(|name| self.theirs.get(&name));
        hints.copied().unwrap_or_default()
    }

    /// A list of tools as the client is shown it, if that differs: with ours at its end, and then
    /// without output schemas, which a result that says *wait* would not fit. A tool that is
    /// called as a task for clients that cannot do so need not be one for them.
    pub fn listed(&mut self, frame: &Frame, result: &[u8], added: Added) -> Option<Frame> {
        let mut result: Map<String, Value> = serde_json::from_slice(result).ok()?;
        let is_last = result.get("nextCursor").is_none_or(Value::is_null);
        let tools = result.get_mut("tools")?.as_array_mut()?;
        let adds = added.await_ || added.send;
        let mut differs = adds;
        for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
            if adds {
                tool.shift_remove("outputSchema");
            }
            let hints = Hints::read(tool);
            if hints.needs_task {
                tool["execution"][TASK_SUPPORT] = "optional".into();
                differs = true;
            }
            if let Some(name) = tool.get("name").and_then(Value::as_str)
                && (self.theirs.len() < MOST || self.theirs.contains_key(name))
            {
                self.theirs.insert(name.to_owned(), hints);
            }
        }
        if !differs {
            return None;
        }
        if is_last && adds {
            if self.theirs.contains_key(AWAIT) {
                self.await_ = AWAIT_OTHERWISE;
            }
            if self.theirs.contains_key(SEND) {
                self.send = SEND_OTHERWISE;
            }
            self.shown = true;
            tools.extend(added.await_.then(|| self.await_tool(added.wait)));
            tools.extend(added.send.then(|| self.send_tool()));
        }
        frame.with(&["result"], &serde_json::to_string(&result).ok()?)
    }

    fn send_tool(&self) -> Value {
        json!({
            "name": self.send,
            "title": "Hand in a person's answer",
            "description": "Call this only for a question that the result of another tool told you to ask the person, \
                and only with what the person said to it: never answer for them. Use decline if they say no, cancel if \
                they do not answer. Returns the result of the call in which the question came up, or the next question.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "elicitId": {"type": "string", "description": "The question, as the result named it"},
                    "action": {"type": "string", "enum": ["accept", "decline", "cancel"]},
                    "content": {"type": "object",
                        "description": "With accept: what the person said, as the question's schema wants it"}
                },
                "required": ["elicitId", "action"]
            },
            "annotations": {"readOnlyHint": false, "destructiveHint": false, "openWorldHint": false}
        })
    }

    fn await_tool(&self, wait: f64) -> Value {
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
                    "waitSeconds": {"type": "number", "minimum": 0, "default": wait,
                        "description": "How long to wait before saying that it takes longer"}
                },
                "required": ["claim"]
            },
            "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
        })
    }
}

fn is_named(json: Option<&[u8]>, name: &str) -> bool {
    let json = json.and_then(|json| json.strip_prefix(b"\""));
    json.and_then(|json| json.strip_suffix(b"\"")) == Some(name.as_bytes())
}

/// What is answered to a claim that nobody gave, or that has expired.
pub fn unknown_claim() -> Value {
    json!({"isError": true, "content": [{"type": "text", "text":
        "There is no such claim: it was never given, or its result was kept for ten minutes and is gone."}]})
}
