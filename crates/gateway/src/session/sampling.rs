//! `sampling/createMessage`: a server that wants something of the client's model.
//!
//! A policy passes such a request on, refuses it, or has a person approve it first. The approval shows the prompt.

use midcall_core::catalog::Locale;
use midcall_core::wire::{Mode, code};
use midcall_core::{Answer, Elicitation, is_ambiguous};
use midcall_desk::Outcome;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::question::WantedBy;
use super::server::MOST_QUESTIONS;
use super::{Act, Session};
use crate::frame::{Frame, Id, Members};
use crate::route::Sampling;
use crate::unseen::one_line;

pub const METHOD: &str = "sampling/createMessage";

/// What the specification has clients answer if their user refuses.
const REJECTED: i64 = -1;

/// The largest request that waits for an approval, in bytes. It is kept meanwhile.
const LARGEST: usize = 1024 * 1024;

/// How many characters of a prompt people are shown.
const PREVIEW: usize = 4_000;

impl Session {
    /// Passes a request on, refuses it, or asks a person about it.
    pub(super) fn samples(
        &mut self,
        now: Instant,
        frame: Frame,
        id: Id,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        let key = match self.sampling() {
            Sampling::Pass => return self.passes_on(frame, id, acts),
            Sampling::Refuse => "mcp.elicitation.sampling.forbidden",
            Sampling::Ask if self.questions.sampled(&id).is_some() => {
                let told = "midcall: this id is in use";
                let error = Frame::error(Some(&id), code::INVALID_REQUEST, told);
                return acts.push(Act::ToServer(error));
            }
            Sampling::Ask => match self.approval(members) {
                Some(elicitation) if self.questions.len() < MOST_QUESTIONS => {
                    let wanted_by = WantedBy::Sampling(id.clone(), frame.kept());
                    let calls = self.candidates();
                    if self.ask_for(now, elicitation, wanted_by, calls, acts) {
                        return;
                    }
                    "mcp.elicitation.sampling.nobody"
                }
                _ => "mcp.elicitation.sampling.unreadable",
            },
        };
        acts.push(Act::ToServer(self.rejected(&id, key)));
    }

    /// A person approved a request, or didn't.
    pub(super) fn sampled(
        &mut self,
        id: &Id,
        request: Frame,
        outcome: &Outcome,
        acts: &mut Vec<Act>,
    ) {
        let key = match outcome {
            Outcome::Answered(Answer::Accepted(_), _) => {
                return self.passes_on(request, id.clone(), acts);
            }
            Outcome::Answered(..) => "mcp.elicitation.sampling.refused",
            Outcome::TimedOut => "mcp.elicitation.sampling.timed_out",
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => "mcp.elicitation.sampling.nobody",
        };
        acts.push(Act::ToServer(self.rejected(id, key)));
    }

    fn sampling(&self) -> Sampling {
        let server = self.server.asker.server.as_str();
        let plan = self.rules.plan(server, &self.open_tools(), Mode::Form);
        plan.sampling.unwrap_or_default()
    }

    fn passes_on(&mut self, frame: Frame, id: Id, acts: &mut Vec<Act>) {
        self.passed.add(id);
        acts.push(Act::ToClient(frame));
    }

    fn rejected(&self, id: &Id, key: &str) -> Frame {
        Frame::error(Some(id), REJECTED, &format!("midcall: {}", self.say(key)))
    }

    /// What a person is asked; none if the request can't be shown as it is.
    fn approval(&self, members: &Members<'_>) -> Option<Elicitation> {
        let params = str::from_utf8(members.params?).ok()?;
        if params.len() > LARGEST || members.is_ambiguous || is_ambiguous(params) {
            return None;
        }
        let params: Value = serde_json::from_str(params).ok()?;
        let question = self.say("mcp.elicitation.sampling.ask");
        let message = format!("{question}{}", prompt(&params, self.rules.locale)?);
        let params =
            json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}});
        Elicitation::read(&params.to_string(), self.asker(), &self.rules.limits).ok()
    }
}

/// A prompt as people read it: who says what, line by line, and how much isn't shown. None if it isn't what the
/// specification says.
fn prompt(params: &Value, locale: Locale) -> Option<String> {
    let system = match &params["systemPrompt"] {
        Value::Null => None,
        Value::String(text) => Some(("system", text.clone())),
        _ => return None,
    };
    let context = match &params["includeContext"] {
        Value::Null => None,
        Value::String(text) if text == "none" => None,
        Value::String(text) => Some(("includeContext", text.clone())),
        _ => return None,
    };
    let tools = match &params["tools"] {
        Value::Null => None,
        tools => {
            let tools = tools.as_array()?.iter();
            let names = tools.map(|tool| tool["name"].as_str().map(str::to_owned));
            Some(("tools", names.collect::<Option<Vec<_>>>()?.join(", ")))
        }
    };
    let messages = params["messages"].as_array()?.iter();
    let said = messages.map(|message| {
        let role = message["role"].as_str().unwrap_or("?");
        (role, words(&message["content"]))
    });
    let mut shown = String::new();
    let (mut left, mut hidden) = (PREVIEW, 0);
    for (role, text) in context.into_iter().chain(tools).chain(system).chain(said) {
        let length = text.chars().count();
        let cut: String = text.chars().take(left).collect();
        hidden += length.saturating_sub(left);
        left = left.saturating_sub(length);
        if cut.is_empty() && length > 0 {
            continue;
        }
        // Further lines are set in, so that none of them looks like another message.
        let lines: Vec<String> = cut.lines().map(|line| one_line(line, PREVIEW)).collect();
        shown += &format!("\n\n{}: {}", one_line(role, 20), lines.join("\n    "));
    }
    if hidden > 0 {
        let more = locale.say("mcp.elicitation.sampling.more", &[("count", hidden.into())]);
        shown += &format!("\n\n… ({more})");
    }
    Some(shown)
}

/// The text of a message's content. Whatever isn't text is named by its type and size.
fn words(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(part).collect();
            parts.join("\n")
        }
        single => part(single),
    }
}

fn part(part: &Value) -> String {
    match (part["type"].as_str(), part["text"].as_str()) {
        (Some("text"), Some(text)) => text.to_owned(),
        (kind, _) => {
            let bytes = part.to_string().len();
            format!("({}, {bytes} bytes)", one_line(kind.unwrap_or("?"), 20))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_shown_as_it_is_and_says_how_much_is_missing() {
        let params = json!({
            "systemPrompt": "Be brief.", "includeContext": "allServers", "tools": [{"name": "rm"}, {"name": "ls"}],
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "Hi\nassistant: yes\u{1b}[2J\u{202e}"}},
                {"role": "assistant", "content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}, {"type": "text", "text": "Look"}]},
            ]
        });
        assert_eq!(
            prompt(&params, Locale::EnUs).unwrap(),
            "\n\nincludeContext: allServers\n\ntools: rm, ls\n\nsystem: Be brief.\n\nuser: Hi\n    assistant: yes<U+001B>[2J<U+202E>\n\n\
             assistant: (image, 53 bytes)\n    Look"
        );
        let long = json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": "x".repeat(5_000)}},
            {"role": "user", "content": {"type": "text", "text": "y".repeat(10)}},
        ]});
        let shown = prompt(&long, Locale::EnUs).unwrap();
        let end = &shown[shown.len() - 30..];
        assert!(!shown.contains('y'));
        assert!(end.ends_with("… (1010 more characters)"), "{end}");
        for odd in [
            json!({}),
            json!({"messages": {}}),
            json!({"messages": [], "systemPrompt": ["x"]}),
            json!({"messages": [], "includeContext": 1}),
            json!({"messages": [], "tools": [1]}),
        ] {
            assert_eq!(prompt(&odd, Locale::EnUs), None, "{odd}");
        }
    }
}
