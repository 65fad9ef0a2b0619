//! The list of clients, their files and servers, for people.

use std::path::Path;

use midcall_core::catalog::Locale;

use super::client::CLIENTS;
use super::entry::{Entry, Reason};
use super::scan::{Content, Found, Home, Program, State};
use crate::cmd::paper::{Paper, plain, short};

/// Longer names are cut.
const NAME: usize = 40;

/// Where a list is written, and in which language.
pub struct List<'a> {
    pub paper: Paper,
    pub locale: Locale,
    pub home: &'a Home,
    pub program: &'a Path,
}

impl<'a> List<'a> {
    pub fn new(locale: Locale, home: &'a Home, program: &'a Path) -> Self {
        Self {
            paper: Paper::default(),
            locale,
            home,
            program,
        }
    }

    /// That no client has a file here, and which clients Midcall knows.
    pub fn nothing(&mut self) {
        let titles: Vec<_> = CLIENTS.iter().map(|client| client.title).collect();
        let titles = titles.join(", ");
        let text = self.say("mcp.elicitation.install.nothing", &[("clients", &titles)]);
        self.paper.paragraph(0, &text);
    }

    /// Every file with its servers. `mark` tells what stands in front of a server, or that it's left out.
    pub fn files(
        &mut self,
        found: &[Found],
        mark: impl Fn(usize, &Entry<'_>, State) -> Option<String>,
    ) {
        let mut is_first = true;
        for (index, one) in found.iter().enumerate() {
            let content = match &one.content {
                Err(trouble) => {
                    self.head(one, &mut is_first);
                    let text = trouble.say(self.locale);
                    self.paper.paragraph(2, &text);
                    continue;
                }
                Ok(content) => content,
            };
            let entries = content.document.entries();
            let marked = entries.iter().filter_map(|entry| {
                let state = content.state(entry, self.program);
                Some((mark(index, entry, state)?, entry, state))
            });
            let rows: Vec<_> = marked.collect();
            if rows.is_empty() {
                continue;
            }
            self.head(one, &mut is_first);
            let label =
                |mark: &str, entry: &Entry<'_>| format!("{mark}{}", short(&name(entry), NAME));
            let widths = rows
                .iter()
                .map(|(mark, entry, _)| label(mark, entry).chars().count());
            let column = widths.max().unwrap_or(0) + 2;
            for (mark, entry, state) in &rows {
                let text = self.row(entry, *state);
                self.paper.entry(2, &label(mark, entry), column, &text);
            }
        }
    }

    fn head(&mut self, found: &Found, is_first: &mut bool) {
        if !std::mem::take(is_first) {
            self.paper.blank();
        }
        let path = self.home.show(&found.path);
        self.paper
            .paragraph(0, &format!("{}  {path}", found.client.title));
    }

    /// What a server is, and what there is to say about it.
    fn row(&self, entry: &Entry<'_>, state: State) -> String {
        let label = short(&entry.start.label(), 2 * NAME);
        let named = match &entry.start {
            super::entry::Start::Wrapped { program, .. } => program.as_str(),
            _ => "",
        };
        let text = match key(state) {
            Some(key) => self.say(key, &[("program", named)]),
            None => return label,
        };
        match label.is_empty() {
            true => text,
            false => format!("{label} ({text})"),
        }
    }

    /// A line with a path, which is easier to copy if it isn't wrapped.
    pub fn line(&mut self, text: &str) {
        self.paper.text.push_str(&plain(text));
        self.paper.text.push('\n');
    }

    /// A text of the catalog.
    pub fn say(&self, key: &str, params: &[(&str, &str)]) -> String {
        let params: Vec<_> = params
            .iter()
            .map(|(name, text)| (*name, (*text).into()))
            .collect();
        self.locale.say(key, &params)
    }
}

/// A server's name, with the project that it's for.
pub fn name(entry: &Entry<'_>) -> String {
    match &*entry.path {
        [first, project, .., name] if first == "projects" => format!("{name} [{project}]"),
        [.., name] => name.clone(),
        [] => String::new(),
    }
}

/// What there is to say about a server, unless it's plain.
fn key(state: State) -> Option<&'static str> {
    Some(match state {
        State::Open => return None,
        State::MayWantLogin => "mcp.elicitation.install.state.may_want_login",
        State::Wrapped {
            program: Program::Gone,
            ..
        } => "mcp.elicitation.install.state.gone",
        State::Wrapped {
            by_us: true,
            program: Program::Other,
        } => "mcp.elicitation.install.state.moved",
        State::Wrapped { by_us: true, .. } => "mcp.elicitation.install.state.wrapped",
        State::Wrapped { by_us: false, .. } => "mcp.elicitation.install.state.by_hand",
        State::Alone(Reason::OAuth) => "mcp.elicitation.install.alone.oauth",
        State::Alone(Reason::Sse) => "mcp.elicitation.install.alone.sse",
        State::Alone(Reason::Headers) => "mcp.elicitation.install.alone.headers",
        State::Alone(Reason::Twice) => "mcp.elicitation.install.alone.twice",
        State::Alone(Reason::Unusual) => "mcp.elicitation.install.alone.unusual",
    })
}

/// The state as scripts read it.
pub fn word(state: State) -> &'static str {
    match state {
        State::Open => "not_wrapped",
        State::MayWantLogin => "may_want_login",
        State::Wrapped {
            program: Program::Gone,
            ..
        } => "program_gone",
        State::Wrapped {
            by_us: true,
            program: Program::Other,
        } => "program_moved",
        State::Wrapped { by_us: true, .. } => "wrapped",
        State::Wrapped { by_us: false, .. } => "wrapped_by_hand",
        State::Alone(_) => "left_alone",
    }
}

/// The files that can be read.
pub fn readable(found: &[Found]) -> impl Iterator<Item = (usize, &Content)> {
    let contents = found.iter().enumerate();
    contents.filter_map(|(index, one)| Some((index, one.content.as_ref().ok()?)))
}
