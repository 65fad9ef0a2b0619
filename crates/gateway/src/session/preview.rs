//! What people are shown of a call's arguments and of a prompt, before they approve it.

use midcall_core::catalog::Locale;
use midcall_core::secret;
use serde_json::{Map, Value};

use crate::unseen::one_line;

/// How much of a call's arguments is shown.
const ARGUMENTS: usize = 2_000;
/// How much of each.
pub const EACH: usize = 200;

/// How many characters of a prompt people are shown.
const PROMPT: usize = 4_000;

/// A call's arguments, a line each, as far as people read them. Secrets are not shown.
pub fn arguments(all: &Map<String, Value>, locale: Locale) -> String {
    let mut text = String::new();
    for (nth, (name, value)) in all.iter().enumerate() {
        let shown = masked(name, value, locale);
        let line = format!("\n{}: {}", one_line(name, EACH), one_line(&shown, EACH));
        if text.len() + line.len() > ARGUMENTS {
            let more = [("count", (all.len() - nth).into())];
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
    match mask(name, value, 0, &mut (EACH + 1), locale) {
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

/// A prompt as people read it: who says what, line by line, and how much isn't shown. None if it isn't what the
/// specification says.
pub fn prompt(params: &Value, locale: Locale) -> Option<String> {
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
    let (mut left, mut hidden) = (PROMPT, 0);
    for (role, text) in context.into_iter().chain(tools).chain(system).chain(said) {
        let length = text.chars().count();
        let cut: String = text.chars().take(left).collect();
        hidden += length.saturating_sub(left);
        left = left.saturating_sub(length);
        if cut.is_empty() && length > 0 {
            continue;
        }
        // Further lines are set in, so that none of them looks like another message.
        let lines: Vec<String> = cut.lines().map(|line| one_line(line, PROMPT)).collect();
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
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_shown_as_far_as_people_read_them_and_secrets_are_not() {
        let some = json!({"path": "/a\nb", "apiKey": "s3cret", "deep": {"list": [{"password": "s3cret"}], "n": 1},
            "long": "x".repeat(10_000)});
        let shown = arguments(some.as_object().unwrap(), Locale::EnUs);
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.starts_with(
            "\npath: /a b\napiKey: (hidden, 6 characters)\ndeep: {\"list\":[{\"password\":\"(hidden, 6 characters)\"}],\"n\":1}\nlong: x"
        ));
        let odd = json!({"a\u{202e}b": "1\u{2028}2\u{1b}[31m\u{200b}"});
        let shown = arguments(odd.as_object().unwrap(), Locale::EnUs);
        assert_eq!(shown, "\na<U+202E>b: 1<U+2028>2<U+001B>[31m<U+200B>");
        let many: Map<String, Value> = (0..1_000).map(|n| (n.to_string(), n.into())).collect();
        let shown = arguments(&many, Locale::EnUs);
        let (lines, more) = shown.rsplit_once('\n').unwrap();
        assert!(lines.len() <= ARGUMENTS);
        let left = 1_000 - lines.trim_start().lines().count();
        assert_eq!(more, format!("… ({left} more arguments)"));
    }

    /// Looking at the name for each of the entries would take 10^12 steps, and at each entry alone minutes.
    #[test]
    fn what_nobody_sees_costs_nothing() {
        let name = "\u{200b}".repeat(1_000_000);
        let long = json!({name: vec![0; 1_000_000], "then": vec![json!({"a": 1}); 1_000_000]});
        let shown = arguments(long.as_object().unwrap(), Locale::EnUs);
        let lines: Vec<&str> = shown.trim_start().lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with('…') && lines[1] == "… (1 more argument)");
    }

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
