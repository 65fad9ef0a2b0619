//! Asking by the model: for clients that cannot ask by themselves.
//!
//! The call returns what to ask the person, and an added tool hands in what they said.
//!
//! Elsewhere: the rules and the words, which are the same as the gateway's
//! (`midcall_core::model`), and the call that waits meanwhile (`park`).

use std::borrow::Cow;

use midcall_core::catalog::Locale;
use midcall_core::model::{self, AddedTool, KnownTools, Pending, QuestionFacts, ToolHints};
use rmcp::model::Tool;
use serde_json::{Value, json};

use crate::asking::Asking;
use crate::kind::Wants;
use crate::running::Outcome;

/// The handler's tools, as far as a model matters to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools(KnownTools);

impl Tools {
    pub fn learn(&mut self, tools: &[Tool]) {
        for tool in tools {
            self.0.learn(&tool.name, hints_of(tool));
        }
    }

    pub fn hints(&self, tool: &str) -> ToolHints {
        self.0.hints(tool)
    }

    /// What the added tool is called here: the handler may have one of that name.
    pub fn send_name(&self) -> Cow<'static, str> {
        self.0.name_of(AddedTool::Send)
    }

    /// The added tool.
    pub fn send_tool(&self) -> Tool {
        let tool = Value::Object(model::send_tool(&self.send_name()));
        serde_json::from_value(tool).expect("a tool that clients can read, rmcp can read as well")
    }
}

/// What decides whether a model may be asked.
pub(crate) fn facts(asking: &Asking) -> QuestionFacts {
    match &asking.wants {
        Wants::Form(shape) => QuestionFacts::of_form(&shape.form, asking.dangerous),
        Wants::Link { .. } => QuestionFacts::of_link(asking.dangerous),
    }
}

/// The result of a call in which a question came up, for a model to ask the person.
pub(crate) fn pending(
    asking: &Asking,
    id: &str,
    tool: &str,
    server: &str,
    structured: bool,
    locale: Locale,
) -> Value {
    let schema = match &asking.wants {
        Wants::Form(shape) => Value::Object(shape.source.clone()),
        Wants::Link { .. } => Value::Null,
    };
    let pending = Pending {
        elicit_id: id,
        server,
        tool,
        message: &asking.words(locale),
        schema,
        is_structured: structured,
    };
    pending.result(locale)
}

/// What became of a call, after words about an answer that came too late.
pub(crate) fn after(late: &str, next: Outcome) -> Value {
    let Ok(Value::Object(mut next)) =
        next.map(|next| serde_json::to_value(next).unwrap_or_default())
    else {
        return model::error(late);
    };
    if let Some(Value::Array(content)) = next.get_mut("content") {
        content.insert(0, json!({"type": "text", "text": late}));
    }
    Value::Object(next)
}

fn hints_of(tool: &Tool) -> ToolHints {
    let said = tool.annotations.as_ref();
    ToolHints {
        read_only: said.and_then(|said| said.read_only_hint),
        idempotent: said.and_then(|said| said.idempotent_hint),
        destructive: said.and_then(|said| said.destructive_hint),
        is_structured: tool.output_schema.is_some(),
        ..ToolHints::default()
    }
}
