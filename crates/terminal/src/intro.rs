//! What is said once, before anything is asked: who asks, what, and what to be careful about.

use midcall_core::link::Verdict;
use midcall_core::{Asker, Elicitation, Field, Kind, Link, Tags, Wanted};

use crate::look::Look;
use crate::page::{Line, Page, Size, Style};
use crate::text::short;

/// Characters of a name.
const NAME: usize = 60;

/// Who asks, as people call it.
pub(crate) fn server(asker: &Asker) -> String {
    short(&asker.server, NAME)
}

/// The whole question, but for its fields.
pub(crate) fn intro(question: &Elicitation, look: &Look, size: Size) -> Vec<Line> {
    let mut page = Page::new(size);
    let server = server(&question.asker);
    let tool = question.asker.tool.as_deref().map(|tool| short(tool, NAME));
    let mut who = match &tool {
        Some(tool) => look.fill(
            "label.asks_for_tool",
            &[
                ("server", server.as_str().into()),
                ("tool", tool.as_str().into()),
            ],
        ),
        None => look.fill("label.asks", &[("server", server.as_str().into())]),
    };
    if let Some((position, total)) = look.queue.filter(|(_, total)| *total > 1) {
        let params = [("position", position.into()), ("total", total.into())];
        who = format!("{who} ({})", look.fill("label.queue", &params));
    }
    page.text(Style::Muted, "", &who);
    if question.destructive {
        page.text(Style::Danger, "! ", &look.say("label.destructive"));
    }
    if let Wanted::Form(form) = &question.wanted
        && let Some(title) = &form.title
    {
        page.text(Style::Strong, "", title);
    }
    page.text(Style::Strong, "", &question.message);
    match &question.wanted {
        Wanted::Form(form) => {
            if let Some(description) = &form.description {
                page.text(Style::Muted, "", description);
            }
        }
        Wanted::Link(link) => about(link, look, &mut page),
    }
    page.blank();
    page.into_lines()
}

/// A link: its host on a line of its own, the whole address, and what is odd about it.
fn about(link: &Link, look: &Look, page: &mut Page) {
    let is_refused = matches!(link.verdict(), Verdict::Refuse(_));
    let label = if is_refused {
        "label.link_host"
    } else {
        "label.about_to_open"
    };
    page.blank();
    if let Some(host) = link.host() {
        page.text(Style::Muted, "", &look.say(label));
        page.text(Style::Strong, "  ", &host.shown);
    }
    page.text(Style::Muted, "", &look.say("label.link_address"));
    page.text(Style::Plain, "  ", link.href().unwrap_or(link.sent()));
    let reasons = link.verdict().reasons();
    if !reasons.is_empty() {
        let (style, title) = match is_refused {
            true => (Style::Danger, "label.link_refused"),
            false => (Style::Warning, "label.link_warnings"),
        };
        page.text(style, "! ", &look.say(title));
        for reason in reasons {
            let params = reason.params();
            let params: Vec<_> = params
                .iter()
                .map(|(name, value)| (*name, value.as_str().into()))
                .collect();
            page.text(style, "  - ", &look.locale.say(reason.key(), &params));
        }
    }
}

/// What a field's rules say before anything is wrong.
pub(crate) fn rules(field: &Field, look: &Look) -> Vec<String> {
    let mut said: Vec<String> = field
        .rules()
        .iter()
        .map(|rule| rule.say(look.locale))
        .collect();
    if let Kind::Text(text) | Kind::Tags(Tags { text, .. }) = &field.kind
        && let Some(pattern) = &text.pattern
    {
        said.push(pattern.say(look.locale));
    }
    said
}

/// What to say about a field that asks for a secret, if it does.
pub(crate) fn secret(field: &Field, asker: &Asker, look: &Look) -> Option<[String; 2]> {
    let secret = look.locale.say(field.secret()?.key(), &[]);
    let server = server(asker);
    Some([
        look.fill("label.secret_field", &[("secret", secret.as_str().into())]),
        look.fill(
            "label.secret_warning",
            &[("server", server.as_str().into())],
        ),
    ])
}
