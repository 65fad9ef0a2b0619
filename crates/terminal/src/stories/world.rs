//! A person at a prompt, in memory.

use std::time::{Duration, Instant};

use jiff::tz::{Offset, TimeZone};
use midcall_core::catalog::Locale;
use midcall_core::{Answer, Asker, Elicitation, Limits};
use serde_json::{Value, json};

use crate::event::{Effect, End, Event, Key};
use crate::look::Look;
use crate::outcome::{Followed, Outcome};
use crate::page::{Line, Screen, Size, Style};
use crate::plain::Plain;
use crate::remote::Told;
use crate::styled::Prompt;

/// A question with such fields.
pub fn form(properties: Value) -> Elicitation {
    question(
        json!({"message": "Please answer", "requestedSchema": {"type": "object", "properties": properties}}),
    )
}

/// A question with one field `x` that must be answered.
pub fn one(field: Value) -> Elicitation {
    question(json!({
        "message": "Please answer",
        "requestedSchema": {"type": "object", "properties": {"x": field}, "required": ["x"]},
    }))
}

/// A question as the wire brings it.
pub fn question(params: Value) -> Elicitation {
    let asker = Asker {
        tool: Some("book".into()),
        ..Asker::named("restaurant")
    };
    let limits = {
        let mut limits = Limits::default();
        limits.options = 10_000;
        limits
    };
    Elicitation::read(&params.to_string(), asker, &limits).unwrap()
}

/// How the tests look at prompts.
#[derive(Clone, Copy)]
pub struct View {
    pub locale: Locale,
    pub columns: usize,
    pub rows: usize,
}

pub const EN: View = View {
    locale: Locale::EnUs,
    columns: 80,
    rows: 24,
};
pub const PT: View = View {
    locale: Locale::PtBr,
    columns: 80,
    rows: 24,
};

impl View {
    pub fn narrow(self) -> Self {
        Self {
            columns: 40,
            ..self
        }
    }

    pub fn size(self) -> Size {
        Size {
            columns: self.columns,
            rows: self.rows,
        }
    }

    pub fn look(self) -> Look {
        Look {
            locale: self.locale,
            zone: TimeZone::fixed(Offset::constant(-3)),
            queue: None,
            has_editor: true,
        }
    }
}

/// Somebody at a prompt of one of both kinds.
pub struct Person<'q> {
    face: Face<'q>,
    pub now: Instant,
    printed: Vec<Line>,
    /// What the prompt wants edited, with the file's ending.
    pub editing: Option<(String, &'static str)>,
    /// The addresses that were opened.
    pub opened: Vec<String>,
    /// Whether there is a browser.
    pub has_browser: bool,
    ends: Vec<End>,
    view: View,
}

enum Face<'q> {
    Styled(Prompt<'q>),
    Plain(Plain<'q>),
}

impl<'q> Person<'q> {
    /// Somebody who sees a drawn prompt.
    pub fn at(question: &'q Elicitation, view: View) -> Self {
        let (prompt, effects) = Prompt::ask(question, view.look(), None, view.size());
        Self::with(Face::Styled(prompt), effects, view)
    }

    /// Somebody who hears lines.
    pub fn hearing(question: &'q Elicitation, view: View) -> Self {
        let (plain, effects) = Plain::ask(question, view.look(), None, view.size());
        Self::with(Face::Plain(plain), effects, view)
    }

    /// Somebody who has opened a link.
    pub fn after(question: &'q Elicitation, view: View) -> Self {
        let prompt = Prompt::opened(question, view.look(), None, view.size());
        Self::with(Face::Styled(prompt), Vec::new(), view)
    }

    /// Somebody who has opened a link, and hears lines.
    pub fn hearing_after(question: &'q Elicitation, view: View) -> Self {
        let (plain, effects) = Plain::opened(question, view.look(), None, view.size());
        Self::with(Face::Plain(plain), effects, view)
    }

    fn with(face: Face<'q>, effects: Vec<Effect>, view: View) -> Self {
        let mut person = Self {
            face,
            now: Instant::now(),
            printed: Vec::new(),
            editing: None,
            opened: Vec::new(),
            has_browser: true,
            ends: Vec::new(),
            view,
        };
        person.perform(effects);
        person
    }

    /// Types keys: letters as they are, others as `<enter>`, `<c-c>`; see [`key`].
    pub fn types(mut self, keys: &str) -> Self {
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let (pressed, after) =
                match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
                    Some((name, after)) => (key(name), after),
                    None => (Key::Char(first), &rest[first.len_utf8()..]),
                };
            self.on(Event::Key(pressed));
            rest = after;
        }
        self
    }

    /// Enters lines, in plain mode.
    pub fn says(mut self, lines: &[&str]) -> Self {
        lines
            .iter()
            .for_each(|line| self.on(Event::Line((*line).to_owned())));
        self
    }

    pub fn pastes(mut self, text: &str) -> Self {
        self.on(Event::Paste(text.to_owned()));
        self
    }

    /// Saves a text in their editor, or leaves it with an error.
    pub fn edits(mut self, text: Option<&str>) -> Self {
        self.on(Event::Edited(text.map(str::to_owned)));
        self
    }

    pub fn hears(mut self, told: Told) -> Self {
        self.on(Event::News(told));
        self
    }

    /// Does nothing for a while.
    pub fn waits(mut self, seconds: u64) -> Self {
        let until = self.now + Duration::from_secs(seconds);
        while self.ends.is_empty() {
            let tick = match &self.face {
                Face::Styled(prompt) => prompt.until_tick(self.now),
                Face::Plain(plain) => plain.until_tick(self.now),
            };
            match tick
                .map(|tick| self.now + tick)
                .filter(|next| *next <= until)
            {
                Some(next) => self.now = next,
                None => break,
            }
            self.on(Event::Tick);
        }
        self.now = until;
        self
    }

    pub fn resizes(mut self, columns: usize, rows: usize) -> Self {
        self.view = View {
            columns,
            rows,
            ..self.view
        };
        if let Face::Styled(prompt) = &mut self.face {
            prompt.resize(Size { columns, rows });
        }
        self
    }

    fn on(&mut self, event: Event) {
        assert!(self.ends.is_empty(), "the prompt has ended already");
        let effects = match &mut self.face {
            Face::Styled(prompt) => prompt.on(event, self.now),
            Face::Plain(plain) => plain.on(event, self.now),
        };
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Print(lines) => {
                    fit(&lines, self.view);
                    self.printed.extend(lines);
                }
                Effect::Edit { text, ending } => self.editing = Some((text, ending)),
                Effect::Open(address) => {
                    self.opened.push(address);
                    self.on(Event::Launched(self.has_browser));
                }
                Effect::End(end) => self.ends.push(end),
            }
        }
        assert!(self.ends.len() <= 1, "a prompt ends once");
    }

    /// How the question ended, in short: what would go to the server.
    pub fn said(&self) -> String {
        match self.ends.first() {
            None => "still asking".to_owned(),
            Some(End::Asked(Outcome::Answered(answer))) => match answer {
                Answer::Accepted(content) => {
                    Value::Object(content.clone().into_values().into_object()).to_string()
                }
                Answer::Declined { reason: None } => "declined".to_owned(),
                Answer::Declined {
                    reason: Some(words),
                } => format!("declined: {}", words.as_str()),
                Answer::Cancelled => "cancelled".to_owned(),
            },
            Some(End::Asked(Outcome::Closed(why))) => format!("closed: {why:?}"),
            Some(End::Followed(Followed::Closed(why))) => format!("closed: {why:?}"),
            Some(End::Followed(followed)) => format!("{followed:?}"),
        }
    }

    pub fn is_hidden(&self) -> bool {
        matches!(&self.face, Face::Plain(plain) if plain.is_hidden())
    }

    /// What was printed, and below a line, the prompt with its cursor.
    pub fn sees(&self) -> String {
        let mut text = self.printed.iter().map(drawn).collect::<String>();
        if let (Face::Styled(_), true) = (&self.face, self.ends.is_empty()) {
            text.push_str("────\n");
            let screen = self.screen();
            for (row, line) in screen.lines.iter().enumerate() {
                let at = screen
                    .cursor
                    .filter(|(at, _)| *at == row)
                    .map(|(_, column)| column);
                text.push_str(&with_cursor(&drawn(line), at));
            }
        }
        self.fits();
        text
    }

    /// The prompt alone.
    pub fn screen(&self) -> Screen {
        match &self.face {
            Face::Styled(prompt) => prompt.screen(self.now),
            Face::Plain(_) => panic!("plain mode has no screen"),
        }
    }

    /// No prompt is higher than the screen.
    fn fits(&self) {
        if let Face::Styled(_) = self.face {
            let screen = self.screen();
            assert!(
                screen.lines.len() < self.view.rows.max(3),
                "{} lines",
                screen.lines.len()
            );
            fit(&screen.lines, self.view);
        }
    }
}

/// No line is wider than the screen, and a terminal obeys nothing in it.
fn fit(lines: &[Line], view: View) {
    for line in lines {
        let is_address = line.text.starts_with("http");
        let width = crate::text::width(&line.text);
        assert!(width < view.columns || is_address, "{width}: {}", line.text);
        assert!(!line.text.chars().any(char::is_control), "{:?}", line.text);
    }
}

fn key(name: &str) -> Key {
    match name {
        "enter" => Key::Enter,
        "esc" => Key::Esc,
        "tab" => Key::Tab,
        "back" => Key::BackTab,
        "up" => Key::Up,
        "down" => Key::Down,
        "left" => Key::Left,
        "right" => Key::Right,
        "home" => Key::Home,
        "end" => Key::End,
        "pagedown" => Key::PageDown,
        "pageup" => Key::PageUp,
        "bs" => Key::Backspace,
        "del" => Key::Delete,
        "newline" => Key::NewLine,
        name => match name
            .strip_prefix("c-")
            .and_then(|letter| letter.chars().next())
        {
            Some(letter) => Key::Ctrl(letter),
            None => panic!("no key is called {name}"),
        },
    }
}

/// A line with a letter for its style.
fn drawn(line: &Line) -> String {
    let style = match line.style {
        Style::Plain => ' ',
        Style::Strong => 's',
        Style::Accent => 'a',
        Style::Muted => 'm',
        Style::Warning => 'w',
        Style::Danger => 'd',
    };
    format!("{style}│{}\n", line.text)
}

fn with_cursor(line: &str, column: Option<usize>) -> String {
    let Some(column) = column else {
        return line.to_owned();
    };
    let line = line.trim_end_matches('\n');
    let mut width = 0;
    let column = column + 2; // the style and its bar
    for (at, character) in line.char_indices() {
        if width >= column {
            return format!("{}▏{}\n", &line[..at], &line[at..]);
        }
        width += crate::text::width(&character.to_string());
    }
    format!("{line}{}▏\n", " ".repeat(column.saturating_sub(width)))
}
