//! Keys at a form: its fields, the review, the last step.

use midcall_core::{Answer, Form, Values, Wanted};

use super::*;
use crate::field::Heard;

/// What can be done at the review, behind its fields.
pub(super) const ACTIONS: [&str; 3] = ["action.accept", "action.reject", "action.cancel"];

impl Prompt<'_> {
    pub(super) fn field_key(&mut self, key: Key, at: usize, is_change: bool) -> Vec<Effect> {
        let Some(draft) = &mut self.draft else {
            return Vec::new();
        };
        if key == Key::Ctrl('g')
            && self.look.has_editor
            && let Some((text, ending)) = draft.entries[at].input.text()
        {
            return vec![Effect::Edit {
                text: text.to_owned(),
                ending,
            }];
        }
        match draft.key(at, key) {
            Heard::Done => return self.leave(at, is_change),
            Heard::Changed | Heard::Moved => return Vec::new(),
            Heard::Ignored => {}
        }
        match key {
            Key::Enter | Key::Tab => return self.leave(at, is_change),
            Key::Esc if draft.is_touched() || is_change => {
                draft.entries[at].is_seen = true;
                self.stage = Stage::Review { at };
            }
            Key::Esc => return self.cancel(),
            Key::BackTab | Key::Up if at > 0 && !is_change => {
                self.stage = Stage::Field {
                    at: at - 1,
                    is_change,
                };
            }
            _ => {}
        }
        Vec::new()
    }

    /// Goes on from a field, if its value fits.
    fn leave(&mut self, at: usize, is_change: bool) -> Vec<Effect> {
        let Some(draft) = &mut self.draft else {
            return Vec::new();
        };
        draft.entries[at].is_seen = true;
        if draft.problem(at).is_some() {
            return Vec::new();
        }
        let is_last = at + 1 == draft.entries.len();
        if is_change || is_last {
            let is_whole =
                draft.entries.len() == 1 && draft.is_touched() && !self.question.destructive;
            self.stage = Stage::Review {
                at: draft.entries.len(),
            };
            return if is_whole { self.submit() } else { Vec::new() };
        }
        self.stage = Stage::Field {
            at: at + 1,
            is_change,
        };
        self.introduce()
    }

    /// Prints a field's description if it is too long to be drawn with it.
    pub(super) fn introduce(&mut self) -> Vec<Effect> {
        let (Stage::Field { at, .. }, Some(draft)) = (&self.stage, &self.draft) else {
            return Vec::new();
        };
        let entry = &draft.entries[*at];
        let mut page = Page::new(self.size);
        let is_whole = entry.field.description.as_ref().is_none_or(|description| {
            page.beginning(Style::Muted, "  ", description, draw::DESCRIPTION)
        });
        if is_whole || entry.is_seen {
            return Vec::new();
        }
        let mut page = Page::new(self.size);
        page.text(Style::Strong, "", &entry.label);
        page.text(
            Style::Muted,
            "  ",
            entry.field.description.as_deref().unwrap_or_default(),
        );
        vec![Effect::Print(page.into_lines())]
    }

    pub(super) fn review_key(&mut self, key: Key, at: usize) -> Vec<Effect> {
        let fields = self.draft.as_ref().map_or(0, |draft| draft.entries.len());
        match key {
            Key::Enter if at < fields => {
                self.stage = Stage::Field {
                    at,
                    is_change: true,
                }
            }
            Key::Enter => {
                return match ACTIONS[at - fields] {
                    "action.accept" => self.submit(),
                    "action.reject" => {
                        self.decline();
                        Vec::new()
                    }
                    _ => self.cancel(),
                };
            }
            Key::Esc => {
                self.stage = Stage::Field {
                    at: at.min(fields - 1),
                    is_change: true,
                }
            }
            key => {
                self.stage = Stage::Review {
                    at: moved(at, key, fields + ACTIONS.len()),
                }
            }
        }
        Vec::new()
    }

    /// Sends what was typed, if it fits.
    fn submit(&mut self) -> Vec<Effect> {
        let Some(draft) = &mut self.draft else {
            return Vec::new();
        };
        match draft.check() {
            Ok(_) if self.question.destructive => self.stage = Stage::Confirm,
            Ok(checked) => return self.answer(Answer::Accepted(checked)),
            Err(problems) => {
                draft
                    .entries
                    .iter_mut()
                    .for_each(|entry| entry.is_seen = true);
                let first = problems.iter().find_map(|problem| draft.place(problem));
                self.stage = Stage::Review {
                    at: first.unwrap_or(draft.entries.len()),
                };
                self.notice = Some(
                    self.look
                        .fill("label.problems", &[("count", problems.len().into())]),
                );
            }
        }
        Vec::new()
    }

    /// The letter for yes, and no other key, goes on.
    pub(super) fn confirm_key(&mut self, key: Key) -> Vec<Effect> {
        let checked = self.draft.as_ref().map(Draft::check);
        match (key, checked) {
            (Key::Char(letter), Some(Ok(checked)))
                if self.look.is_word(&letter.to_string(), true) =>
            {
                return self.answer(Answer::Accepted(checked));
            }
            (Key::Esc, _) | (Key::Char(_), Some(Err(_))) => {
                let at = self.draft.as_ref().map_or(0, |draft| draft.entries.len());
                self.stage = Stage::Review { at };
            }
            (Key::Char(letter), _) if self.look.is_word(&letter.to_string(), false) => {
                self.decline()
            }
            _ => self.notice = Some(self.look.say("prompt.no_enter")),
        }
        Vec::new()
    }

    pub(super) fn approve_key(&mut self, key: Key) -> Vec<Effect> {
        match (key, &self.question.wanted) {
            (Key::Char(letter), Wanted::Form(form))
                if self.look.is_word(&letter.to_string(), true) =>
            {
                return match approval(form) {
                    Ok(checked) => self.answer(Answer::Accepted(checked)),
                    Err(said) => {
                        self.notice = Some(said.fault.say(self.look.locale));
                        Vec::new()
                    }
                };
            }
            (Key::Char(letter), _) if self.look.is_word(&letter.to_string(), false) => {
                self.decline()
            }
            (Key::Esc, _) => return self.cancel(),
            _ => self.notice = Some(self.look.say("prompt.no_enter")),
        }
        Vec::new()
    }

    pub(super) fn edited(&mut self, text: Option<String>) -> Vec<Effect> {
        match (&self.stage, &mut self.draft, text) {
            (Stage::Field { at, .. }, Some(draft), Some(text)) => draft.rewrite(*at, &text),
            (_, _, None) => self.notice = Some(self.look.say("prompt.no_editor")),
            _ => {}
        }
        Vec::new()
    }
}

/// What approving a form without fields sends.
pub(crate) fn approval(form: &Form) -> Result<midcall_core::Checked, midcall_core::Problem> {
    let nothing = form.trim(Values::default());
    form.check(nothing)
        .map_err(|mut unfit| unfit.problems.remove(0))
}
