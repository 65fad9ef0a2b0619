//! What each stage of a prompt looks like.

use midcall_core::{Checked, Fault, Problem};

use super::form::ACTIONS;
use super::link::{OPENED, REFUSED};
use super::*;
use crate::draft::Entry;
use crate::intro::{rules, secret};
use crate::page::Screen;

/// Lines of a description that are drawn with its field. A longer one is printed once above.
pub(super) const DESCRIPTION: usize = 4;

/// Characters of a value in the review.
const VALUE: usize = 400;

impl Prompt<'_> {
    /// The prompt as it is now.
    pub fn screen(&self, now: Instant) -> Screen {
        let mut page = Page::new(self.size);
        let keys = match (&self.stage, &self.draft) {
            (Stage::Field { at, is_change }, Some(draft)) => {
                self.draw_field(&mut page, draft, *at, *is_change)
            }
            (Stage::Review { at }, Some(draft)) => self.draw_review(&mut page, draft, *at),
            (Stage::Confirm, _) => {
                self.draw_question(&mut page, "prompt.confirm", &["reject", "back"])
            }
            (Stage::Approve, _) => self.draw_question(&mut page, "prompt.approve", &["cancel"]),
            (Stage::Consent(edit), _) => {
                page.text(Style::Strong, "", &self.consent_hint());
                page.edit("> ", edit, false);
                vec!["reject", "cancel"]
            }
            (Stage::Refused { at }, _) => self.draw_menu(&mut page, &REFUSED, *at),
            (Stage::Opened { at }, _) => {
                page.text(Style::Strong, "", &self.look.say("label.link_opened"));
                self.draw_menu(&mut page, &OPENED, *at)
            }
            (Stage::Reason { edit, .. }, _) => {
                page.text(Style::Strong, "", &self.look.say("label.reason"));
                page.text(
                    Style::Muted,
                    "  ",
                    &self.look.say("label.reason_placeholder"),
                );
                page.edit("> ", edit, false);
                vec!["send_refusal", "back"]
            }
            (Stage::Launching | Stage::Field { .. } | Stage::Review { .. }, _) => Vec::new(),
        };
        if let Some(notice) = &self.notice {
            page.foot(Style::Danger, "! ", notice);
        }
        let keys: Vec<String> = keys
            .iter()
            .map(|key| self.look.say(&format!("prompt.key.{key}")))
            .collect();
        if !keys.is_empty() {
            page.keys(&keys);
        }
        if let Some(left) = self.clock.say(now, &self.look) {
            page.foot(Style::Warning, "", &left);
        }
        page.fit()
    }

    fn draw_field(
        &self,
        page: &mut Page,
        draft: &Draft<'_>,
        at: usize,
        is_change: bool,
    ) -> Vec<&'static str> {
        let entry = &draft.entries[at];
        let look = &self.look;
        let problem = draft.problem(at);
        let star = if entry.field.required { " *" } else { "" };
        let place = match draft.entries.len() {
            1 => String::new(),
            total => {
                let params = [("position", (at + 1).into()), ("total", total.into())];
                format!("{} · ", look.fill("label.queue", &params))
            }
        };
        page.text(Style::Strong, "", &format!("{place}{}{star}", entry.label));
        if let Some(description) = &entry.field.description {
            page.beginning(Style::Muted, "  ", description, DESCRIPTION);
        }
        let told = self.told(entry, problem);
        let mut help = rules(entry.field, look);
        help.extend(entry.input.help(look));
        help.retain(|text| told.as_ref().is_none_or(|(_, _, problem)| problem != text));
        if !help.is_empty() {
            page.beginning(Style::Muted, "  ", &help.join(". "), DESCRIPTION);
        }
        if let Some([what, who]) = secret(entry.field, &self.question.asker, look) {
            page.text(Style::Warning, "! ", &what);
            page.text(Style::Warning, "  ", &who);
        }
        entry.input.draw(page, look);
        if let Some((style, mark, problem)) = told {
            page.foot(style, mark, &problem);
        }
        let mut keys = entry.input.keys().to_vec();
        keys.retain(|key| *key != "editor" || self.look.has_editor);
        if at > 0 && !is_change {
            keys.push("previous");
        }
        keys.push("reject");
        keys.push(match draft.is_touched() || is_change {
            true => "review",
            false => "cancel",
        });
        keys
    }

    /// What is said of a problem. It is early to complain aloud while somebody is still on the way.
    fn told(
        &self,
        entry: &Entry<'_>,
        problem: Option<Fault>,
    ) -> Option<(Style, &'static str, String)> {
        let problem = problem?;
        let text = problem.say(self.look.locale);
        match entry.is_seen {
            true => Some((Style::Danger, "! ", text)),
            false if entry.is_touched && problem != Fault::Required => {
                Some((Style::Muted, "… ", text))
            }
            false => None,
        }
    }

    fn draw_review(&self, page: &mut Page, draft: &Draft<'_>, at: usize) -> Vec<&'static str> {
        let look = &self.look;
        let checked = draft.check();
        page.text(Style::Strong, "", &look.say("label.review"));
        for (nth, entry) in draft.entries.iter().enumerate() {
            let (style, mark) = pointer(nth == at);
            let value = short_lines(&draft.shown(nth), VALUE);
            page.entry(style, mark, &format!("{}: {value}", entry.label), 4);
            match &checked {
                Err(problems) => {
                    let own = problems
                        .iter()
                        .filter(|problem| draft.place(problem) == Some(nth));
                    for problem in own.take(1) {
                        page.text(Style::Danger, "    ! ", &problem.fault.say(look.locale));
                    }
                }
                Ok(checked) => self.draw_unchecked(page, draft, nth, checked),
            }
            if nth == at {
                page.focus();
            }
        }
        let whole = |problem: &&Problem| draft.place(problem).is_none();
        for problem in checked.as_ref().err().into_iter().flatten().filter(whole) {
            page.text(Style::Danger, "! ", &problem.fault.say(look.locale));
        }
        for (nth, action) in ACTIONS.iter().enumerate() {
            let is_here = nth + draft.entries.len() == at;
            let (style, mark) = pointer(is_here);
            page.text(style, mark, &format!("[{}]", look.say(action)));
            if is_here {
                page.focus();
            }
        }
        if self.question.destructive {
            page.foot(Style::Danger, "! ", &look.say("label.destructive"));
        }
        match at < draft.entries.len() {
            true => vec!["move", "change", "reject", "back"],
            false => vec!["move", "choose", "reject", "back"],
        }
    }

    fn draw_unchecked(&self, page: &mut Page, draft: &Draft<'_>, at: usize, checked: &Checked) {
        if draft.is_unchecked(at, checked) {
            page.text(Style::Muted, "    ", &self.look.say("label.unchecked"));
        }
    }

    /// A question that takes one letter.
    fn draw_question(
        &self,
        page: &mut Page,
        text: &str,
        keys: &[&'static str],
    ) -> Vec<&'static str> {
        if self.question.destructive {
            page.text(Style::Danger, "! ", &self.look.say("label.destructive"));
        }
        let letters = [
            self.look.say("terminal.yes_letter"),
            self.look.say("terminal.no_letter"),
        ];
        let params = [
            ("yes", letters[0].as_str().into()),
            ("no", letters[1].as_str().into()),
        ];
        page.text(Style::Strong, "", &self.look.fill(text, &params));
        keys.to_vec()
    }

    fn draw_menu(&self, page: &mut Page, actions: &[&str], at: usize) -> Vec<&'static str> {
        for (nth, action) in actions.iter().enumerate() {
            let (style, mark) = pointer(nth == at);
            page.text(style, mark, &format!("[{}]", self.look.say(action)));
        }
        vec!["move", "choose", "cancel"]
    }
}

fn pointer(is_here: bool) -> (Style, &'static str) {
    if is_here {
        (Style::Accent, "> ")
    } else {
        (Style::Plain, "  ")
    }
}

/// The beginning of a text, with its line breaks.
fn short_lines(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
