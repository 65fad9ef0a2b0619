//! The report for people: the form as they will see it, then the findings.

use midcall_core::catalog::Locale;
use midcall_core::lint::{Finding, Level};
use midcall_core::{Field, Fields, Form, Format, Kind, Offers, Tags};
use serde_json::Value;

use crate::cmd::paper::{Paper, plain};
use crate::ink::{Ink, Tone};

/// Draws the form.
pub fn form(form: &Form, message: Option<&str>, locale: Locale) -> String {
    let mut page = Page {
        paper: Paper::default(),
        locale,
    };
    let words = [message, form.title.as_deref(), form.description.as_deref()];
    for text in words.into_iter().flatten() {
        page.paper.paragraph(0, text);
    }
    if !page.paper.text.is_empty() {
        page.paper.blank();
    }
    page.fields(&form.fields, 2);
    let action = |name| format!("[ {} ]", locale.say(name, &[]));
    let actions = [
        action("mcp.elicitation.action.accept"),
        action("mcp.elicitation.action.reject"),
        action("mcp.elicitation.action.cancel"),
    ];
    page.paper.blank();
    page.paper.paragraph(2, &actions.join("  "));
    page.paper.text
}

/// Lists the findings, those about the same revisions together.
pub fn findings(found: &[Finding], locale: Locale, ink: Ink) -> String {
    let mut page = Page {
        paper: Paper::default(),
        locale,
    };
    page.paper.blank();
    let mut sections: Vec<(&[_], Vec<&Finding>)> = Vec::new();
    for finding in found {
        let revisions = finding.revisions.as_slice();
        match sections.iter_mut().find(|(known, _)| *known == revisions) {
            Some((_, section)) => section.push(finding),
            None => sections.push((revisions, vec![finding])),
        }
    }
    for (revisions, section) in sections {
        let names: Vec<&str> = revisions.iter().map(|revision| revision.as_str()).collect();
        page.paper.paragraph(0, &names.join(", "));
        for finding in section {
            let (level, tone) = match finding.level {
                Level::Error => ("mcp.elicitation.lint.level.error", Tone::Error),
                Level::Warning => ("mcp.elicitation.lint.level.warning", Tone::Warning),
                Level::Advice => ("mcp.elicitation.lint.level.advice", Tone::Faint),
            };
            let path = if finding.path.is_empty() {
                "/"
            } else {
                &finding.path
            };
            page.paper.paragraph(2, path);
            let level = ink.paint(tone, &locale.say(level, &[]));
            page.paper.append(&format!("  {level}"));
            page.paper.paragraph(6, &finding.message);
        }
        page.paper.blank();
    }
    let count = [("count", found.len().into())];
    let key = match found.is_empty() {
        true => "mcp.elicitation.lint.clean",
        false => "mcp.elicitation.lint.count",
    };
    page.paper.paragraph(0, &locale.say(key, &count));
    page.paper.text
}

struct Page {
    paper: Paper,
    locale: Locale,
}

impl Page {
    fn fields(&mut self, fields: &Fields, indent: usize) {
        let label = |field: &Field| {
            let star = if field.required { " *" } else { "" };
            plain(field.label()) + star
        };
        let labels: Vec<String> = fields.iter().map(label).collect();
        let lengths = labels.iter().map(|label| label.chars().count());
        let column = lengths.filter(|length| *length <= 30).max().unwrap_or(0);
        for (field, label) in fields.iter().zip(labels) {
            let kind = self.kind(field);
            // The options themselves show what is chosen.
            let is_choice = matches!(field.kind, Kind::Choice(_) | Kind::Choices(_));
            let starts = match field.default() {
                Some(value) if !is_choice => format!("  [{}]", plain(&shown(value, self.locale))),
                _ => String::new(),
            };
            self.paper
                .paragraph(indent, &format!("{label:column$}  {kind}{starts}"));
            self.details(field, indent + 4);
        }
    }

    fn details(&mut self, field: &Field, indent: usize) {
        if let Some(description) = &field.description {
            self.paper.paragraph(indent, description);
        }
        let rules = field.rules();
        let mut rules: Vec<String> = rules.iter().map(|rule| rule.say(self.locale)).collect();
        if let Kind::Text(text) | Kind::Tags(Tags { text, .. }) = &field.kind
            && let Some(pattern) = &text.pattern
        {
            rules.push(pattern.say(self.locale));
        }
        if !rules.is_empty() {
            self.paper.paragraph(indent, &rules.join(". "));
        }
        match &field.kind {
            Kind::Choice(offers) => self.options(offers, field.default(), indent, ["(•)", "( )"]),
            Kind::Choices(choices) => {
                self.options(&choices.offers, field.default(), indent, ["[x]", "[ ]"]);
            }
            Kind::Group(fields) => self.fields(fields, indent),
            _ => {}
        }
    }

    fn options(
        &mut self,
        offers: &Offers,
        chosen: Option<&Value>,
        indent: usize,
        marks: [&str; 2],
    ) {
        /// More options than this are a list to scroll, not to print.
        const SHOWN: usize = 12;
        for offer in offers.list.iter().take(SHOWN) {
            let on = chosen.is_some_and(|chosen| match chosen {
                Value::Array(several) => several.iter().any(|value| offer.is(value)),
                one => offer.is(one),
            });
            let mark = if on { marks[0] } else { marks[1] };
            self.paper
                .paragraph(indent, &format!("{mark} {}", offer.label()));
            if let Some(description) = &offer.description {
                self.paper.paragraph(indent + 4, description);
            }
        }
        if let Some(more @ 1..) = offers.list.len().checked_sub(SHOWN) {
            self.paper.paragraph(indent, &format!("… +{more}"));
        }
    }

    /// What people are asked for, in a word or two.
    fn kind(&self, field: &Field) -> String {
        let name = match &field.kind {
            _ if field.secret().is_some() => "secret",
            Kind::Text(text) => match &text.format {
                Some(Format::Textarea) => "textarea",
                Some(Format::Password) => "secret",
                Some(Format::Email) => "email",
                Some(Format::Uri) => "uri",
                Some(Format::Date) => "date",
                Some(Format::DateTime) => "date_time",
                Some(Format::Other(_)) | None => "text",
            },
            other => other.name(),
        };
        self.locale
            .say(&format!("mcp.elicitation.kind.{name}"), &[])
    }
}

fn shown(value: &Value, locale: Locale) -> String {
    match value {
        Value::Bool(true) => locale.say("mcp.elicitation.label.yes", &[]),
        Value::Bool(false) => locale.say("mcp.elicitation.label.no", &[]),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
