//! The added tools as clients see them, and the tools of the server beside them.

use midcall_core::model::{
    AddedTool, KnownTools, ModelAnswer, OutputSchemas, ToolHints, ToolList, WAIT_SECONDS,
    await_tool, send_tool,
};
use midcall_core::wire::{Mode, Modes};
use ring::digest;
use serde_json::Value;

use super::Session;
use crate::frame::Frame;
use crate::route::Route;

/// What the tools are called in this session.
pub struct Tools {
    /// The server's own, and what they say of themselves.
    theirs: KnownTools,
    await_: &'static str,
    send: &'static str,
    /// Whether the client has been shown ours. Before that, whatever it calls is the server's.
    shown: bool,
}

/// Which tools are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    pub await_: bool,
    pub send: bool,
    /// How long a call of one waits unless it says otherwise, in seconds.
    pub wait: f64,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            theirs: KnownTools::default(),
            await_: AddedTool::Await.name(),
            send: AddedTool::Send.name(),
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
    pub fn hints(&self, name: Option<&[u8]>) -> ToolHints {
        let name = name.and_then(|name| serde_json::from_slice::<String>(name).ok());
        name.map(|name| self.theirs.hints(&name))
            .unwrap_or_default()
    }

    /// A list of tools as the client is shown it, if that differs: with ours at its end, and then
    /// without output schemas, which a result that says *wait* would not fit. A tool that is
    /// called as a task for clients that cannot do so need not be one for them.
    pub fn listed(&mut self, frame: &Frame, result: &[u8], added: Added) -> Option<Frame> {
        let mut list = ToolList::read(result)?;
        list.teach(&mut self.theirs);
        let adds = added.await_ || added.send;
        if !list.make_tasks_optional() && !adds {
            return None;
        }
        if adds {
            list.change_output_schemas(OutputSchemas::Removed);
        }
        if adds && list.is_last() {
            self.await_ = self.theirs.name_of(AddedTool::Await);
            self.send = self.theirs.name_of(AddedTool::Send);
            self.shown = true;
            if added.await_ {
                list.add(await_tool(self.await_, added.wait));
            }
            if added.send {
                list.add(send_tool(self.send));
            }
        }
        let result = serde_json::to_string(&list.into_result()).ok()?;
        frame.with(&["result"], &result)
    }
}

/// What a call of the tool that answers for a person says.
pub fn model_answer(params: Option<&[u8]>) -> ModelAnswer {
    let params = params.and_then(|params| serde_json::from_slice::<Value>(params).ok());
    let arguments = params.and_then(|mut params| match params["arguments"].take() {
        Value::Object(arguments) => Some(arguments),
        _ => None,
    });
    ModelAnswer::read(arguments.unwrap_or_default(), |arguments| {
        let written = serde_json::to_vec(arguments).unwrap_or_default();
        let digest = digest::digest(&digest::SHA256, &written);
        digest.as_ref().try_into().unwrap_or_default()
    })
}

fn is_named(json: Option<&[u8]>, name: &str) -> bool {
    let json = json.and_then(|json| json.strip_prefix(b"\""));
    json.and_then(|json| json.strip_suffix(b"\"")) == Some(name.as_bytes())
}

impl Session {
    /// The tools that a client which can ask in these modes is shown besides the server's.
    pub(super) fn added_tools(&self, modes: Option<Modes>) -> Added {
        let leaves_forms = modes.is_some_and(|modes| self.setup.leaves_one(Mode::Form, modes));
        let send = leaves_forms && self.setup.may_ask(Route::Model);
        Added {
            await_: send || self.may_let_go(),
            send,
            wait: self.wait_seconds(),
        }
    }

    /// How long a call of one of them waits. A client that is let go early gives up early.
    pub(super) fn wait_seconds(&self) -> f64 {
        let hold = self.setup.hold.map(|hold| hold.as_secs_f64());
        hold.map_or(WAIT_SECONDS, |hold| hold.clamp(1.0, WAIT_SECONDS))
    }

    /// True if it matters what tools there are.
    pub(super) fn reads_tools(&self, modes: Option<Modes>) -> bool {
        self.added_tools(modes).await_
            || self.servers.first.facts.runs_tasks
            || self.setup.needs_hints()
    }
}
