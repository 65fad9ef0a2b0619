//! Prompts on a screen: what each key means, and what is shown.
//!
//! A form is asked a field at a time, then reviewed; a form of one field that the person has filled in needs no review.
//! A destructive question is never accepted by Enter: its last step takes the letter for yes.
//!
//! In: [`Prompt::on`]. Out: [`Effect`]s, and [`Prompt::screen`].
//! Not here: the terminal (`tty`), lines of words (`plain`).

mod draw;
mod form;
mod link;

pub(crate) use form::approval;
pub(crate) use link::{renew, said, words};

use std::time::Instant;

use midcall_core::{Answer, Elicitation, Link, Wanted, Words};

use crate::clock::Clock;
use crate::draft::Draft;
use crate::edit::Edit;
use crate::event::{Effect, End, Event, Key};
use crate::intro::{intro, server};
use crate::look::Look;
use crate::outcome::{Closing, Followed, Outcome, state};
use crate::page::{Line, Page, Size, Style};
use crate::remote::Told;

/// One question being asked.
pub(crate) struct Prompt<'q> {
    question: &'q Elicitation,
    look: Look,
    clock: Clock,
    stage: Stage,
    draft: Option<Draft<'q>>,
    /// An opened link's newest address.
    link: Option<Link>,
    /// What the last key led to, if it needs a word.
    notice: Option<String>,
    size: Size,
}

/// Where the person is.
enum Stage {
    /// At a field. `is_change` is true if they came from the review.
    Field { at: usize, is_change: bool },
    /// At the review: a field, or behind those an action.
    Review { at: usize },
    /// At the last step of what destroys something.
    Confirm,
    /// At a question without fields.
    Approve,
    /// At a link.
    Consent(Edit),
    /// At a link that can't be opened.
    Refused { at: usize },
    /// Waiting until a browser was started.
    Launching,
    /// At a link that was opened.
    Opened { at: usize },
    /// At the reason for a refusal.
    Reason { edit: Edit, back: Box<Stage> },
}

impl<'q> Prompt<'q> {
    /// Begins to ask. The effects print the question.
    pub fn ask(
        question: &'q Elicitation,
        look: Look,
        deadline: Option<Instant>,
        size: Size,
    ) -> (Self, Vec<Effect>) {
        let draft = match &question.wanted {
            Wanted::Form(form) => Some(Draft::new(form, look.clone())),
            Wanted::Link(_) => None,
        };
        let stage = match (&draft, &question.wanted) {
            (Some(draft), _) if draft.entries.is_empty() => Stage::Approve,
            (Some(_), _) => Stage::Field {
                at: 0,
                is_change: false,
            },
            (None, Wanted::Link(link)) if link.href().is_none() => Stage::Refused { at: 0 },
            (None, _) => Stage::Consent(Edit::line("")),
        };
        let mut effects = vec![Effect::Print(intro(question, &look, size))];
        let mut prompt = Self {
            question,
            look,
            clock: Clock(deadline),
            stage,
            draft,
            link: None,
            notice: None,
            size,
        };
        effects.extend(prompt.introduce());
        (prompt, effects)
    }

    /// Begins to wait until the person is done with a link that they opened.
    pub fn opened(
        question: &'q Elicitation,
        look: Look,
        deadline: Option<Instant>,
        size: Size,
    ) -> Self {
        let link = match &question.wanted {
            Wanted::Link(link) => Some(link.clone()),
            Wanted::Form(_) => None,
        };
        let stage = Stage::Opened { at: 0 };
        Self {
            question,
            look,
            clock: Clock(deadline),
            stage,
            draft: None,
            link,
            notice: None,
            size,
        }
    }

    /// Takes what happened.
    pub fn on(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        if self.clock.is_over(now) && !matches!(event, Event::News(_)) {
            return self.closed(Closing::TimedOut);
        }
        match event {
            Event::News(told) => self.hear(told),
            Event::Key(Key::Ctrl('c')) => self.cancel(),
            Event::Key(key) => {
                self.notice = None;
                self.key(key)
            }
            Event::Paste(text) => {
                self.notice = None;
                self.paste(&text);
                Vec::new()
            }
            Event::Edited(text) => self.edited(text),
            Event::Launched(is_open) => self.launched(is_open),
            Event::Eof => self.cancel(),
            Event::Tick | Event::Line(_) => Vec::new(),
        }
    }

    /// The screen has another size.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
    }

    /// How long nothing changes by itself.
    pub fn until_tick(&self, now: Instant) -> Option<std::time::Duration> {
        self.clock.until_tick(now)
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        match &mut self.stage {
            Stage::Reason { edit, back } => match key {
                Key::Enter => {
                    let reason = Words::new(edit.text());
                    self.answer(Answer::Declined { reason })
                }
                Key::Esc => {
                    self.stage = std::mem::replace(back, Stage::Confirm);
                    Vec::new()
                }
                key => {
                    edit.key(key);
                    Vec::new()
                }
            },
            Stage::Opened { .. } | Stage::Launching => self.opened_key(key),
            _ if key == Key::Ctrl('d') => {
                self.decline();
                Vec::new()
            }
            Stage::Consent(_) => self.consent_key(key),
            Stage::Refused { .. } => self.refused_key(key),
            Stage::Field { at, is_change } => {
                let (at, is_change) = (*at, *is_change);
                self.field_key(key, at, is_change)
            }
            Stage::Review { at } => {
                let at = *at;
                self.review_key(key, at)
            }
            Stage::Confirm => self.confirm_key(key),
            Stage::Approve => self.approve_key(key),
        }
    }

    fn paste(&mut self, text: &str) {
        match (&mut self.stage, &mut self.draft) {
            (Stage::Field { at, .. }, Some(draft)) => draft.paste(*at, text),
            (Stage::Reason { edit, .. }, _) => edit.insert(text),
            // Consent is typed: a paste may bring what the person never read.
            _ => {}
        }
    }

    /// Asks for the reason of a refusal.
    fn decline(&mut self) {
        let back = std::mem::replace(&mut self.stage, Stage::Confirm);
        self.stage = Stage::Reason {
            edit: Edit::line(""),
            back: Box::new(back),
        };
    }

    fn hear(&mut self, told: Told) -> Vec<Effect> {
        match told {
            Told::Closed(why) => return self.closed(why),
            Told::Deadline(deadline) => self.clock = Clock(deadline),
            Told::Link(newer) => renew(&mut self.link, newer),
        }
        Vec::new()
    }

    fn is_opened(&self) -> bool {
        matches!(self.stage, Stage::Opened { .. })
            || (matches!(self.stage, Stage::Launching) && self.link.is_some())
    }

    fn cancel(&mut self) -> Vec<Effect> {
        if self.is_opened() {
            return self.follow(Followed::Cancelled, "state.cancelled");
        }
        self.answer(Answer::Cancelled)
    }

    fn closed(&mut self, why: Closing) -> Vec<Effect> {
        let said = self.look.locale.say(why.key(), &[]);
        let end = match self.is_opened() {
            true => End::Followed(Followed::Closed(why)),
            false => End::Asked(Outcome::Closed(why)),
        };
        self.end(said, end)
    }

    fn answer(&mut self, answer: Answer) -> Vec<Effect> {
        let said = state(&answer);
        self.end(self.look.say(said), End::Asked(Outcome::Answered(answer)))
    }

    fn follow(&mut self, followed: Followed, said: &str) -> Vec<Effect> {
        self.end(self.look.say(said), End::Followed(followed))
    }

    /// Says how it ended. What was typed isn't among it.
    fn end(&self, said: String, end: End) -> Vec<Effect> {
        let text = format!("{}: {said}", server(&self.question.asker));
        vec![
            Effect::Print(self.line(Style::Muted, &text)),
            Effect::End(end),
        ]
    }

    fn line(&self, style: Style, text: &str) -> Vec<Line> {
        let mut page = Page::new(self.size);
        page.text(style, "", text);
        page.into_lines()
    }
}

/// Moves in a menu of so many entries.
fn moved(at: usize, key: Key, entries: usize) -> usize {
    match key {
        Key::Up | Key::BackTab => at.saturating_sub(1),
        Key::Down | Key::Tab => (at + 1).min(entries.saturating_sub(1)),
        Key::PageUp => at.saturating_sub(10),
        Key::PageDown => (at + 10).min(entries.saturating_sub(1)),
        Key::Home => 0,
        Key::End => entries.saturating_sub(1),
        _ => at,
    }
}
