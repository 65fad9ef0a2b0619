//! Calls that a person agrees to before the server gets them.

use midcall_core::catalog::Locale;
use midcall_core::model::{self, ToolHints};
use midcall_core::wire::meta;
use midcall_core::{Answer, Asker, Elicitation, is_ambiguous, secret};
use midcall_desk::{Outcome, Withdrawn};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::candidates::Candidates;
use super::errand::Stage;
use super::question::{At, WantedBy};
use super::{Act, Session, Turn};
use crate::frame::{Frame, Id, Members};
use crate::unseen::one_line;

/// Which calls a person agrees to first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// None.
    #[default]
    Never,
    /// Those of tools that may destroy something, as far as their annotations say.
    Destructive,
    /// All.
    All,
}

/// How much of a call's arguments is shown.
const PREVIEW: usize = 2_000;
/// How much of each.
const PREVIEW_EACH: usize = 200;

impl Session {
    /// Asks somebody before a call is passed on, if it needs that; `false` if it does not.
    pub(super) fn confirms(
        &mut self,
        now: Instant,
        call: &Id,
        frame: &Frame,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) -> bool {
        let hints = self.tools.hints(members.name);
        let must = match self.confirm(members.name) {
            Confirm::Never => false,
            Confirm::Destructive => hints.is_destructive(),
            Confirm::All => true,
        };
        if !must {
            return false;
        }
        let Some(elicitation) = self.confirmation(members, hints) else {
            let words = self.say("mcp.elicitation.confirm.unreadable");
            acts.push(Act::ToClient(Frame::result(call, &model::error(&words))));
            self.calls.close(call);
            return true;
        };
        self.errands.add(call.clone(), frame, Stage::Confirmation);
        let wanted_by = WantedBy::Confirmation(call.clone());
        if !self.ask_for(
            now,
            elicitation,
            wanted_by,
            Candidates::Only(call.clone()),
            acts,
        ) {
            let words = self.say("mcp.elicitation.confirm.nobody");
            let error = Frame::result(call, &model::error(&words));
            self.answer(now, call, error, acts);
        }
        true
    }

    /// Somebody agreed to a call, or nobody did.
    pub(super) fn confirmed(
        &mut self,
        now: Instant,
        call: &Id,
        outcome: &Outcome,
        acts: &mut Vec<Act>,
    ) {
        let key = match outcome {
            Outcome::Answered(Answer::Accepted(_), _) => return self.make(call, acts),
            Outcome::Answered(..) => "mcp.elicitation.confirm.refused",
            Outcome::TimedOut => "mcp.elicitation.confirm.timed_out",
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => "mcp.elicitation.confirm.nobody",
        };
        let mut words = self.say(key);
        if let Outcome::Answered(
            Answer::Declined {
                reason: Some(reason),
            },
            _,
        ) = outcome
        {
            words = format!("{words}: {}", reason.as_str());
        }
        self.answer(now, call, Frame::result(call, &model::error(&words)), acts);
    }

    /// Takes back what a call that is held waits for.
    pub(super) fn withdraw_for(&mut self, call: &Id, acts: &mut Vec<Act>) {
        for turn in self.questions.wanted_for(call) {
            self.take_back(turn, Withdrawn::ByClient, acts);
        }
    }

    /// Takes back a question of Midcall's own.
    pub(super) fn take_back(&mut self, turn: Turn, why: Withdrawn, acts: &mut Vec<Act>) {
        let id = self.questions.id(turn).cloned();
        match (self.questions.remove(turn).map(|question| question.at), id) {
            (Some(At::Desk(_)), _) => acts.push(Act::Withdraw(turn, why)),
            (Some(At::Client { .. }), Some(id)) => {
                acts.push(Act::ToClient(Frame::cancelled(&id)));
            }
            _ => {}
        }
    }

    fn confirmation(&self, members: &Members<'_>, hints: ToolHints) -> Option<Elicitation> {
        let params = str::from_utf8(members.params?).ok()?;
        if is_ambiguous(params) {
            return None;
        }
        let params: Value = serde_json::from_str(params).ok()?;
        let tool = params["name"].as_str()?;
        let server = self.server.asker.server.as_str();
        let key = if hints.is_destructive() {
            "mcp.elicitation.confirm.destructive"
        } else {
            "mcp.elicitation.confirm.call"
        };
        let shown = one_line(tool, PREVIEW_EACH);
        let words = [("tool", shown.as_str().into()), ("server", server.into())];
        let mut message = self.rules.locale.say(key, &words);
        match &params["arguments"] {
            Value::Null => {}
            Value::Object(arguments) => message += &preview(arguments, self.rules.locale),
            _ => return None,
        }
        let mut params =
            json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}});
        if hints.is_destructive() {
            params["_meta"] = json!({meta::DESTRUCTIVE: true});
        }
        let asker = Asker {
            tool: Some(tool.to_owned()),
            ..self.asker()
        };
        Elicitation::read(&params.to_string(), asker, &self.rules.limits).ok()
    }
}

/// A call's arguments, a line each, as far as people read them. Secrets are not shown.
fn preview(arguments: &Map<String, Value>, locale: Locale) -> String {
    let mut text = String::new();
    for (nth, (name, value)) in arguments.iter().enumerate() {
        let shown = masked(name, value, locale);
        let line = format!(
            "\n{}: {}",
            one_line(name, PREVIEW_EACH),
            one_line(&shown, PREVIEW_EACH)
        );
        if text.len() + line.len() > PREVIEW {
            let more = [("count", (arguments.len() - nth).into())];
            let more = locale.say("mcp.elicitation.confirm.more", &more);
            text += &format!("\n… ({more})");
            break;
        }
        text += &line;
    }
    text
}

/// A value as it is shown: secrets, at any depth, are not. What nobody sees anyway is left out.
fn masked(name: &str, value: &Value, locale: Locale) -> String {
    /// `left` is how many more values are looked at. Each takes a character, so the rest would be cut off.
    fn mask(name: &str, value: &Value, depth: usize, left: &mut usize, locale: Locale) -> Value {
        *left = left.saturating_sub(1);
        if depth > 32 || secret::asks(name, None, None, None).is_some() {
            return hidden(value, locale).into();
        }
        match value {
            Value::Object(members) => {
                let mut shown = Map::new();
                for (name, value) in members {
                    shown.insert(name.clone(), mask(name, value, depth + 1, left, locale));
                    if *left == 0 {
                        break;
                    }
                }
                shown.into()
            }
            Value::Array(items) => {
                let mut shown = Vec::new();
                for value in items {
                    shown.push(mask("", value, depth + 1, left, locale)); // Its name is no secret's.
                    if *left == 0 {
                        break;
                    }
                }
                shown.into()
            }
            other => other.clone(),
        }
    }
    match mask(name, value, 0, &mut (PREVIEW_EACH + 1), locale) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// That something is there which isn't shown, and how much of it.
fn hidden(value: &Value, locale: Locale) -> String {
    let characters = match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    };
    let hidden = locale.say(
        "mcp.elicitation.confirm.hidden",
        &[("count", characters.into())],
    );
    format!("({hidden})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_shown_as_far_as_people_read_them_and_secrets_are_not() {
        let arguments = json!({"path": "/a\nb", "apiKey": "s3cret", "deep": {"list": [{"password": "s3cret"}], "n": 1},
            "long": "x".repeat(10_000)});
        let shown = preview(arguments.as_object().unwrap(), Locale::EnUs);
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.starts_with(
            "\npath: /a b\napiKey: (hidden, 6 characters)\ndeep: {\"list\":[{\"password\":\"(hidden, 6 characters)\"}],\"n\":1}\nlong: x"
        ));
        let odd = json!({"a\u{202e}b": "1\u{2028}2\u{1b}[31m\u{200b}"});
        let shown = preview(odd.as_object().unwrap(), Locale::EnUs);
        assert_eq!(shown, "\na<U+202E>b: 1<U+2028>2<U+001B>[31m<U+200B>");
        let many: Map<String, Value> = (0..1_000).map(|n| (n.to_string(), n.into())).collect();
        let shown = preview(&many, Locale::EnUs);
        let (lines, more) = shown.rsplit_once('\n').unwrap();
        assert!(lines.len() <= PREVIEW);
        let left = 1_000 - lines.trim_start().lines().count();
        assert_eq!(more, format!("… ({left} more arguments)"));
    }

    /// Looking at the name for each of the entries would take 10^12 steps, and at each entry alone minutes.
    #[test]
    fn what_nobody_sees_costs_nothing() {
        let name = "\u{200b}".repeat(1_000_000);
        let long = json!({name: vec![0; 1_000_000], "then": vec![json!({"a": 1}); 1_000_000]});
        let shown = preview(long.as_object().unwrap(), Locale::EnUs);
        let lines: Vec<&str> = shown.trim_start().lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with('…') && lines[1] == "… (1 more argument)");
    }
}
