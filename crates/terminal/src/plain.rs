//! Prompts as lines of words, for screen readers and terminals that can't move their cursor.
//!
//! The order is that of `styled`. What a key does there is a word here, behind a colon so that it can't be meant as an
//! answer: `:reject`. An empty line keeps what is there.

use std::time::{Duration, Instant};

use midcall_core::{Answer, Elicitation, Link, Wanted, Words};

use crate::clock::Clock;
use crate::draft::Draft;
use crate::event::{Effect, End, Event};
use crate::field::Reply;
use crate::intro::{intro, rules, secret, server};
use crate::look::Look;
use crate::outcome::{Closing, Followed, Outcome, state};
use crate::page::{Page, Size, Style};
use crate::remote::Told;
use crate::styled::{approval, renew, said};
use crate::text::short;

/// One question being asked.
pub(crate) struct Plain<'q> {
    question: &'q Elicitation,
    look: Look,
    clock: Clock,
    stage: Stage,
    draft: Option<Draft<'q>>,
    link: Option<Link>,
    size: Size,
    /// What the next effects print.
    told: Vec<String>,
    /// Whether lines of one answer are still to come.
    wants_more: bool,
    /// Seconds that were told last.
    counted: u64,
}

enum Stage {
    Field { at: usize, is_change: bool },
    Review,
    Confirm,
    Approve,
    Consent,
    Refused,
    Launching,
    Opened,
    Reason(Box<Stage>),
}

/// A word that isn't an answer.
#[derive(Clone, Copy, PartialEq)]
enum Command {
    Reject,
    Cancel,
    Review,
    Back,
    Clear,
}

const COMMANDS: [(Command, &str, &str); 5] = [
    (Command::Reject, "prompt.command.reject", ":reject"),
    (Command::Cancel, "prompt.command.cancel", ":cancel"),
    (Command::Review, "prompt.command.review", ":review"),
    (Command::Back, "prompt.command.back", ":back"),
    (Command::Clear, "prompt.command.clear", ":clear"),
];

/// Characters of a value that Enter keeps.
const VALUE: usize = 200;

/// When the time that is left is told, in seconds.
const COUNTED: [u64; 2] = [30, 10];

impl<'q> Plain<'q> {
    /// Begins to ask. The effects print the question.
    pub fn ask(
        question: &'q Elicitation,
        look: Look,
        deadline: Option<Instant>,
        size: Size,
    ) -> (Self, Vec<Effect>) {
        let (stage, draft) = match &question.wanted {
            Wanted::Form(form) => {
                let draft = Draft::new(form, look.clone());
                let stage = match draft.entries.is_empty() {
                    true => Stage::Approve,
                    false => Stage::Field {
                        at: 0,
                        is_change: false,
                    },
                };
                (stage, Some(draft))
            }
            Wanted::Link(link) if link.href().is_none() => (Stage::Refused, None),
            Wanted::Link(_) => (Stage::Consent, None),
        };
        let mut effects = vec![Effect::Print(intro(question, &look, size))];
        let mut prompt = Self::at(question, look, deadline, size, stage);
        prompt.draft = draft;
        prompt.tell_stage();
        effects.extend(prompt.print());
        (prompt, effects)
    }

    /// Begins to wait until the person is done with a link that they opened.
    pub fn opened(
        question: &'q Elicitation,
        look: Look,
        deadline: Option<Instant>,
        size: Size,
    ) -> (Self, Vec<Effect>) {
        let mut prompt = Self::at(question, look, deadline, size, Stage::Opened);
        if let Wanted::Link(link) = &question.wanted {
            prompt.link = Some(link.clone());
        }
        prompt.tell_stage();
        let effects = prompt.print().into_iter().collect();
        (prompt, effects)
    }

    fn at(
        question: &'q Elicitation,
        look: Look,
        deadline: Option<Instant>,
        size: Size,
        stage: Stage,
    ) -> Self {
        Self {
            question,
            look,
            clock: Clock(deadline),
            stage,
            draft: None,
            link: None,
            size,
            told: Vec::new(),
            wants_more: false,
            counted: u64::MAX,
        }
    }

    /// Takes what happened.
    pub fn on(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        let mut effects = match event {
            Event::News(told) => {
                let effects = self.hear(told);
                if effects.is_empty() {
                    self.count(now);
                }
                effects
            }
            _ if self.clock.is_over(now) => self.closed(Closing::TimedOut),
            Event::Line(line) => self.line(&line),
            Event::Eof => self.cancel(),
            Event::Launched(is_open) => self.launched(is_open),
            Event::Tick => {
                self.count(now);
                Vec::new()
            }
            Event::Key(_) | Event::Paste(_) | Event::Edited(_) => Vec::new(),
        };
        let at = effects
            .iter()
            .position(|effect| !matches!(effect, Effect::Print(_)));
        let printed = self.print();
        let at = at.unwrap_or(effects.len());
        effects.splice(at..at, printed);
        effects
    }

    /// How long nothing is to be said.
    pub fn until_tick(&self, now: Instant) -> Option<Duration> {
        let left = self.clock.0?.saturating_duration_since(now);
        let next = COUNTED
            .into_iter()
            .map(Duration::from_secs)
            .find(|at| *at < left);
        Some(left - next.unwrap_or_default())
    }

    /// Whether what is typed now must not be seen.
    pub fn is_hidden(&self) -> bool {
        match (&self.stage, &self.draft) {
            (Stage::Field { at, .. }, Some(draft)) => draft.entries[*at].input.is_hidden(),
            _ => false,
        }
    }

    fn print(&mut self) -> Option<Effect> {
        if self.told.is_empty() {
            return None;
        }
        let mut page = Page::new(self.size);
        for text in self.told.drain(..) {
            page.text(Style::Plain, "", &text);
        }
        Some(Effect::Print(page.into_lines()))
    }

    fn say(&mut self, name: &str) {
        let said = self.look.say(name);
        self.told.push(said);
    }

    fn count(&mut self, now: Instant) {
        if let Some(seconds) = self.clock.seconds(now)
            && COUNTED
                .iter()
                .any(|told| seconds <= *told && *told < self.counted)
        {
            self.counted = COUNTED
                .into_iter()
                .filter(|told| seconds <= *told)
                .min()
                .unwrap_or(0);
            self.told.extend(self.clock.say(now, &self.look));
        }
    }

    fn line(&mut self, line: &str) -> Vec<Effect> {
        if let Stage::Reason(_) = self.stage
            && self.command(line).is_none()
        {
            let reason = Words::new(line);
            return self.answer(Answer::Declined { reason });
        }
        if let Some(command) = self.command(line) {
            return self.obey(command);
        }
        match self.stage {
            Stage::Field { at, is_change } => self.answer_field(at, is_change, line),
            Stage::Review => self.review(line.trim()),
            Stage::Confirm => match said(line, &self.look) {
                Some(true) => self.send(),
                Some(false) => self.decline(),
                None => self.again(),
            },
            Stage::Approve => self.approve(line),
            Stage::Consent => match (said(line, &self.look), &self.question.wanted) {
                (Some(true), Wanted::Link(link)) => {
                    let address = link.href().unwrap_or_default().to_owned();
                    self.open(address)
                }
                (Some(false), _) => self.decline(),
                _ => self.again(),
            },
            Stage::Opened => self.answer_opened(line.trim()),
            Stage::Refused => self.again(),
            Stage::Launching | Stage::Reason(_) => Vec::new(),
        }
    }

    fn command(&self, line: &str) -> Option<Command> {
        let line = line.trim().to_lowercase();
        let command = COMMANDS
            .iter()
            .find(|(_, name, english)| line == *english || line == self.look.say(name));
        command.map(|(command, ..)| *command)
    }

    fn obey(&mut self, command: Command) -> Vec<Effect> {
        self.wants_more = false;
        match (command, &mut self.stage, &mut self.draft) {
            (Command::Cancel, ..) => return self.cancel(),
            (Command::Reject, Stage::Opened | Stage::Reason(_), _) => {}
            (Command::Reject, ..) => return self.decline(),
            (Command::Back, Stage::Reason(back), _) => {
                self.stage = std::mem::replace(back, Stage::Review)
            }
            (
                Command::Back,
                Stage::Field {
                    at,
                    is_change: false,
                },
                _,
            ) if *at > 0 => *at -= 1,
            (Command::Back, Stage::Review, Some(draft)) => {
                self.stage = Stage::Field {
                    at: draft.entries.len() - 1,
                    is_change: true,
                };
            }
            (Command::Back | Command::Review, Stage::Field { .. } | Stage::Confirm, _) => {
                self.stage = Stage::Review
            }
            (Command::Clear, Stage::Field { at, .. }, Some(draft)) => draft.clear(*at),
            _ => {}
        }
        self.tell_stage();
        Vec::new()
    }

    /// Says once more what can be said here.
    fn again(&mut self) -> Vec<Effect> {
        self.tell_stage();
        Vec::new()
    }

    fn answer_field(&mut self, at: usize, is_change: bool, line: &str) -> Vec<Effect> {
        let Some(draft) = &mut self.draft else {
            return Vec::new();
        };
        if line.is_empty() && !self.wants_more {
            return self.leave(at, is_change);
        }
        match draft.line(at, line) {
            Reply::Done => {
                self.wants_more = false;
                self.leave(at, is_change)
            }
            Reply::More => {
                self.wants_more = true;
                Vec::new()
            }
            Reply::Say(told) => {
                self.told.extend(told);
                Vec::new()
            }
        }
    }

    fn leave(&mut self, at: usize, is_change: bool) -> Vec<Effect> {
        let Some(draft) = &self.draft else {
            return Vec::new();
        };
        if let Some(problem) = draft.problem(at) {
            self.told.push(problem.say(self.look.locale));
            return Vec::new();
        }
        let fields = draft.entries.len();
        if fields == 1 && draft.is_touched() && !self.question.destructive {
            return self.send();
        }
        self.stage = match is_change || at + 1 == fields {
            true => Stage::Review,
            false => Stage::Field {
                at: at + 1,
                is_change,
            },
        };
        self.again()
    }

    fn review(&mut self, line: &str) -> Vec<Effect> {
        let Some(draft) = &self.draft else {
            return Vec::new();
        };
        let fields = draft.entries.len();
        if let Some(at) = line
            .parse()
            .ok()
            .and_then(|number: usize| number.checked_sub(1))
            && at < fields
        {
            self.stage = Stage::Field {
                at,
                is_change: true,
            };
            return self.again();
        }
        let is = |name: &str, english: &str| {
            let line = line.to_lowercase();
            line == english || line == self.look.say(name).to_lowercase()
        };
        if is("action.reject", "reject") {
            return self.decline();
        }
        if is("action.cancel", "cancel") {
            return self.cancel();
        }
        if !is("action.accept", "submit") {
            return self.again();
        }
        if draft.check().is_ok() && self.question.destructive {
            self.stage = Stage::Confirm;
            return self.again();
        }
        self.send()
    }

    /// Sends what was typed, if it fits; else says what is wrong.
    fn send(&mut self) -> Vec<Effect> {
        match self.draft.as_ref().map(Draft::check) {
            Some(Ok(checked)) => self.answer(Answer::Accepted(checked)),
            Some(Err(problems)) => {
                let count = [("count", problems.len().into())];
                self.told.push(self.look.fill("label.problems", &count));
                self.stage = Stage::Review;
                self.again()
            }
            None => Vec::new(),
        }
    }

    fn approve(&mut self, line: &str) -> Vec<Effect> {
        let is_said = |is_yes| match self.question.destructive {
            true => said(line, &self.look) == Some(is_yes),
            false => self.look.is_word(line, is_yes),
        };
        match &self.question.wanted {
            Wanted::Form(form) if is_said(true) => match approval(form) {
                Ok(checked) => self.answer(Answer::Accepted(checked)),
                Err(problem) => {
                    self.told.push(problem.fault.say(self.look.locale));
                    Vec::new()
                }
            },
            _ if is_said(false) => self.decline(),
            _ => self.again(),
        }
    }

    fn answer_opened(&mut self, line: &str) -> Vec<Effect> {
        match line {
            "1" => {
                let said = self.look.say("state.answered");
                self.end(said, End::Followed(Followed::Finished))
            }
            "2" => match self.link.as_ref().and_then(Link::href) {
                Some(address) => self.open(address.to_owned()),
                None => Vec::new(),
            },
            "3" => self.cancel(),
            _ => self.again(),
        }
    }

    fn open(&mut self, address: String) -> Vec<Effect> {
        self.stage = Stage::Launching;
        self.say("url_mode.opening");
        vec![Effect::Open(address)]
    }

    fn launched(&mut self, is_open: bool) -> Vec<Effect> {
        let Wanted::Link(link) = &self.question.wanted else {
            return Vec::new();
        };
        if !is_open {
            let address = self
                .link
                .as_ref()
                .unwrap_or(link)
                .href()
                .unwrap_or_default()
                .to_owned();
            self.say("terminal.no_browser");
            self.told.push(address);
        }
        if self.link.is_some() {
            self.stage = Stage::Opened;
            return self.again();
        }
        let end = |consent| Effect::End(End::Asked(Outcome::Answered(Answer::Accepted(consent))));
        link.consent().map(end).into_iter().collect()
    }

    fn decline(&mut self) -> Vec<Effect> {
        let back = std::mem::replace(&mut self.stage, Stage::Review);
        self.stage = Stage::Reason(Box::new(back));
        self.again()
    }

    fn hear(&mut self, told: Told) -> Vec<Effect> {
        match told {
            Told::Closed(why) => return self.closed(why),
            Told::Deadline(deadline) => {
                self.clock = Clock(deadline);
                self.counted = u64::MAX;
            }
            Told::Link(newer) => renew(&mut self.link, newer),
        }
        Vec::new()
    }

    fn cancel(&mut self) -> Vec<Effect> {
        if self.link.is_some() {
            let said = self.look.say("state.cancelled");
            return self.end(said, End::Followed(Followed::Cancelled));
        }
        self.answer(Answer::Cancelled)
    }

    fn closed(&mut self, why: Closing) -> Vec<Effect> {
        let said = self.look.locale.say(why.key(), &[]);
        let end = match self.link.is_some() {
            true => End::Followed(Followed::Closed(why)),
            false => End::Asked(Outcome::Closed(why)),
        };
        self.end(said, end)
    }

    fn answer(&mut self, answer: Answer) -> Vec<Effect> {
        let said = state(&answer);
        let said = self.look.say(said);
        self.end(said, End::Asked(Outcome::Answered(answer)))
    }

    fn end(&mut self, said: String, end: End) -> Vec<Effect> {
        self.told
            .push(format!("{}: {said}", server(&self.question.asker)));
        vec![Effect::End(end)]
    }

    /// Says what is asked now, and how to answer.
    fn tell_stage(&mut self) {
        let (yes, no) = crate::styled::words(&self.look);
        let params = [("yes", yes.as_str().into()), ("no", no.as_str().into())];
        match &self.stage {
            Stage::Field { at, .. } => {
                let at = *at;
                self.tell_field(at);
            }
            Stage::Review => self.tell_review(),
            Stage::Confirm => {
                self.say("label.destructive");
                self.told
                    .push(self.look.fill("prompt.type_to_submit", &params));
            }
            Stage::Approve => self
                .told
                .push(self.look.fill("prompt.type_to_approve", &params)),
            Stage::Consent => self.told.push(self.look.fill("prompt.consent", &params)),
            Stage::Reason(_) => {
                self.say("label.reason");
                self.say("prompt.reason_hint");
            }
            Stage::Refused => self.say("prompt.commands"),
            Stage::Opened => {
                self.say("label.link_opened");
                for (nth, action) in ["finished", "open_again", "cancel"].iter().enumerate() {
                    let said = self.look.say(&format!("action.{action}"));
                    self.told.push(format!("{}. {said}", nth + 1));
                }
            }
            Stage::Launching => {}
        }
    }

    fn tell_field(&mut self, at: usize) {
        let Some(draft) = &self.draft else {
            return;
        };
        let look = &self.look;
        let entry = &draft.entries[at];
        let place = match draft.entries.len() {
            1 => String::new(),
            total => {
                let params = [("position", (at + 1).into()), ("total", total.into())];
                look.fill("label.queue", &params) + ". "
            }
        };
        let need = look.say(if entry.field.required {
            "field_required"
        } else {
            "label.optional"
        });
        let mut told = vec![String::new(), format!("{place}{} ({need})", entry.label)];
        told.extend(entry.field.description.clone());
        told.extend(rules(entry.field, look));
        told.extend(entry.input.help(look));
        told.extend(
            secret(entry.field, &self.question.asker, look)
                .into_iter()
                .flatten(),
        );
        told.extend(entry.input.options(look));
        let is_filled = entry.is_touched || draft.default(at).is_some();
        if is_filled {
            let value = short(&draft.shown(at), VALUE);
            told.push(look.fill("terminal.keep_hint", &[("value", value.as_str().into())]));
        } else if !entry.field.required {
            told.push(look.say("terminal.skip_hint"));
        }
        if at == 0 && !draft.is_touched() {
            told.push(look.say("prompt.commands"));
        }
        told.dedup();
        self.told.extend(told);
    }

    fn tell_review(&mut self) {
        let Some(draft) = &self.draft else {
            return;
        };
        let look = &self.look;
        let mut told = vec![String::new(), look.say("label.review")];
        let checked = draft.check();
        for (at, entry) in draft.entries.iter().enumerate() {
            // Further lines are indented, so that none looks like another answer.
            let value = draft.shown(at).replace('\n', "\n    ");
            told.push(format!("{}. {}: {value}", at + 1, entry.label));
            if checked
                .as_ref()
                .is_ok_and(|checked| draft.is_unchecked(at, checked))
            {
                told.push(look.say("label.unchecked"));
            }
            let problems = checked.as_ref().err().into_iter().flatten();
            let own = problems.filter(|problem| draft.place(problem) == Some(at));
            told.extend(own.take(1).map(|problem| problem.fault.say(look.locale)));
        }
        let problems = checked.as_ref().err().into_iter().flatten();
        let whole = problems.filter(|problem| draft.place(problem).is_none());
        told.extend(whole.map(|problem| problem.fault.say(look.locale)));
        told.push(look.fill(
            "prompt.review_hint",
            &[
                (
                    "submit",
                    look.say("action.accept").to_lowercase().as_str().into(),
                ),
                (
                    "reject",
                    look.say("action.reject").to_lowercase().as_str().into(),
                ),
                (
                    "cancel",
                    look.say("action.cancel").to_lowercase().as_str().into(),
                ),
            ],
        ));
        self.told.extend(told);
    }
}
