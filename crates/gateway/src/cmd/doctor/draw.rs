//! The report for people.

use std::os::unix::process::ExitStatusExt;

use midcall_core::catalog::{Locale, Param};

use super::look::{Asks, Failure, Found, Tool};
use super::peer::{Noise, Trouble};
use super::who::{Asked, Client, Question};
use crate::cmd::paper::{Paper, short};
use crate::route::{Part, Route, Routes};
use crate::transport::child::StartError;

/// Longer names are cut.
const NAME: usize = 60;
/// More tools than this are counted, not listed.
const LISTED: usize = 50;

/// What was found out about a server.
pub fn found(
    found: &Found,
    asked: &[(Question, Vec<Asked>)],
    routes: &Routes,
    clients: &[Client<'_>],
    locale: Locale,
) -> String {
    let mut page = Page {
        paper: Paper::default(),
        locale,
    };
    page.server(found);
    page.tools(&found.tools);
    page.asks(found);
    page.who(asked, routes, clients);
    page.paper.text
}

/// Why nothing was found out, and what to try.
pub fn failure(failure: &Failure, locale: Locale) -> String {
    let mut page = Page {
        paper: Paper::default(),
        locale,
    };
    page.paper.paragraph(0, &reason(&failure.trouble, locale));
    let is_started = !matches!(failure.trouble, Trouble::NotStarted(_));
    if is_started && failure.remains.errors.is_empty() {
        page.head("mcp.elicitation.doctor.no_errors");
    } else if is_started {
        page.head("mcp.elicitation.doctor.errors");
        for line in &failure.remains.errors {
            page.paper.paragraph(2, &short(line, 200));
        }
    }
    page.head("mcp.elicitation.doctor.advice");
    let key = match &failure.trouble {
        Trouble::NotStarted(StartError::NotFound(_)) => "mcp.elicitation.doctor.advice.not_found",
        Trouble::NotStarted(_) => "mcp.elicitation.doctor.advice.not_allowed",
        Trouble::Ended(_) => "mcp.elicitation.doctor.advice.ended",
        Trouble::Silent => "mcp.elicitation.doctor.advice.silent",
        Trouble::Refused { .. } => "mcp.elicitation.doctor.advice.refused",
        Trouble::TooLong | Trouble::Unreadable => "mcp.elicitation.doctor.advice.unreadable",
    };
    let noise = &failure.remains.noise;
    if noise.lines > 0 {
        let text = page.noise(noise);
        page.paper.paragraph(2, &text);
    }
    page.paper.paragraph(2, &locale.say(key, &[]));
    page.paper.text
}

/// Why there is no answer, in a sentence.
pub fn reason(trouble: &Trouble, locale: Locale) -> String {
    let say = |key, params: &[(&str, Param<'_>)]| locale.say(key, params);
    match trouble {
        Trouble::NotStarted(error) => {
            let (key, program) = match error {
                StartError::NotFound(program) => {
                    ("mcp.elicitation.doctor.failed.not_found", program)
                }
                StartError::NotAllowed(program) => {
                    ("mcp.elicitation.doctor.failed.not_allowed", program)
                }
                StartError::Io(program, _) => {
                    ("mcp.elicitation.doctor.failed.not_started", program)
                }
            };
            let program = program.to_string_lossy();
            say(key, &[("program", (&*program).into())])
        }
        Trouble::Ended(None) => say("mcp.elicitation.doctor.failed.closed", &[]),
        Trouble::Ended(Some(status)) => match status.signal() {
            Some(signal) => {
                let params = [("signal", signal.into())];
                say("mcp.elicitation.doctor.failed.signal", &params)
            }
            None => {
                let params = [("status", status.code().unwrap_or_default().into())];
                say("mcp.elicitation.doctor.failed.ended", &params)
            }
        },
        Trouble::Silent => say("mcp.elicitation.doctor.failed.silent", &[]),
        Trouble::TooLong => say("mcp.elicitation.doctor.failed.too_long", &[]),
        Trouble::Unreadable => say("mcp.elicitation.doctor.failed.unreadable", &[]),
        Trouble::Refused { code, message } => {
            let message = short(message, 300);
            let params = [("code", (*code).into()), ("message", (&*message).into())];
            say("mcp.elicitation.doctor.failed.refused", &params)
        }
    }
}

struct Page {
    paper: Paper,
    locale: Locale,
}

impl Page {
    fn say(&self, key: &str) -> String {
        self.locale.say(key, &[])
    }

    fn head(&mut self, key: &str) {
        self.paper.blank();
        self.paper.paragraph(0, &self.say(key));
    }

    fn server(&mut self, found: &Found) {
        let name = match &found.name {
            Some(name) => short(name, NAME),
            None => self.say("mcp.elicitation.doctor.nameless"),
        };
        let version = short(found.version.as_deref().unwrap_or_default(), NAME);
        self.paper.paragraph(0, format!("{name} {version}").trim());
        self.paper.blank();

        let revisions = short(&found.revisions.join(", "), 3 * NAME);
        let key = match (found.legacy, found.modern) {
            (Some(true), Some(true)) => "mcp.elicitation.doctor.speaks.both",
            (Some(true), Some(false)) => "mcp.elicitation.doctor.speaks.legacy",
            (Some(true), None) => "mcp.elicitation.doctor.speaks.perhaps",
            (_, _) => "mcp.elicitation.doctor.speaks.modern",
        };
        let speaks = self.locale.say(key, &[("revisions", (&*revisions).into())]);
        let offers = match found.capabilities.is_empty() {
            true => self.say("mcp.elicitation.doctor.offers.nothing"),
            false => short(&found.capabilities.join(", "), 5 * NAME),
        };
        let count = |is: fn(&Tool) -> bool| found.tools.iter().filter(|tool| is(tool)).count();
        let params = [
            ("all", found.tools.len().into()),
            (
                "read_only",
                count(|tool| tool.hints.says_read_only()).into(),
            ),
            (
                "destructive",
                count(|tool| tool.hints.says_destructive()).into(),
            ),
            ("schemas", count(|tool| tool.has_output_schema).into()),
        ];
        let tools = match found.tools.is_empty() {
            true => self.say("mcp.elicitation.doctor.tools.none"),
            false => self
                .locale
                .say("mcp.elicitation.doctor.tools.count", &params),
        };
        let mut rows = vec![
            ("mcp.elicitation.doctor.speaks", speaks),
            ("mcp.elicitation.doctor.offers", offers),
            ("mcp.elicitation.doctor.tools", tools),
        ];
        if found.noise.lines > 0 {
            rows.push(("mcp.elicitation.doctor.prints", self.noise(&found.noise)));
        }
        let labels: Vec<String> = rows.iter().map(|(key, _)| self.say(key)).collect();
        let column = width(&labels);
        for (label, (_, text)) in labels.iter().zip(&rows) {
            self.paper.entry(2, label, column, text);
        }
    }

    fn noise(&self, noise: &Noise) -> String {
        let params = [
            ("count", noise.lines.into()),
            ("first", (&*noise.first).into()),
        ];
        self.locale.say("mcp.elicitation.doctor.noise", &params)
    }

    fn tools(&mut self, tools: &[Tool]) {
        if tools.is_empty() {
            return;
        }
        self.head("mcp.elicitation.doctor.tools");
        let listed = &tools[..tools.len().min(LISTED)];
        let names: Vec<String> = listed.iter().map(|tool| short(&tool.name, NAME)).collect();
        let column = width(&names);
        for (tool, name) in listed.iter().zip(&names) {
            let marks = [
                (
                    tool.hints.says_read_only(),
                    "mcp.elicitation.doctor.tool.read_only",
                ),
                (
                    tool.hints.says_destructive(),
                    "mcp.elicitation.doctor.tool.destructive",
                ),
                (
                    tool.has_output_schema,
                    "mcp.elicitation.doctor.tool.output_schema",
                ),
                (
                    tool.needs_asking,
                    "mcp.elicitation.doctor.tool.needs_asking",
                ),
            ];
            let marks = marks.into_iter().filter(|(is, _)| *is);
            let marks: Vec<String> = marks.map(|(_, key)| self.say(key)).collect();
            self.paper.entry(2, name, column, &marks.join(", "));
        }
        if let Some(more @ 1..) = tools.len().checked_sub(LISTED) {
            self.paper.paragraph(2, &format!("… +{more}"));
        }
    }

    fn asks(&mut self, found: &Found) {
        self.head("mcp.elicitation.doctor.asks");
        let count = found.tools.iter().filter(|tool| tool.needs_asking).count();
        let key = match found.asks {
            Asks::Yes => "mcp.elicitation.doctor.asks.yes",
            Asks::No => "mcp.elicitation.doctor.asks.no",
            Asks::NotSeen => "mcp.elicitation.doctor.asks.not_seen",
            Asks::NotKnown => "mcp.elicitation.doctor.asks.not_known",
        };
        let text = self.locale.say(key, &[("count", count.into())]);
        self.paper.paragraph(2, &text);
    }

    fn who(&mut self, asked: &[(Question, Vec<Asked>)], routes: &Routes, clients: &[Client<'_>]) {
        let routes = routes.to_string();
        let params = [("routes", (&*routes).into())];
        self.paper.blank();
        let head = self.locale.say("mcp.elicitation.doctor.who", &params);
        self.paper.paragraph(0, &head);
        let labels: Vec<String> = asked
            .iter()
            .map(|(question, _)| self.question(*question))
            .collect();
        let column = width(&labels);
        let heads: Vec<String> = clients.iter().map(|client| self.client(*client)).collect();
        let rows: Vec<Vec<String>> = (asked.iter())
            .map(|(_, asked)| asked.iter().map(|asked| self.asked(asked)).collect())
            .collect();
        let first = width(rows.iter().chain([&heads]).map(|row| &row[0]));
        let line = |cells: &[String]| match cells {
            [one, other] => format!("{one:first$}{other}"),
            cells => cells.join("  "),
        };
        self.paper.entry(2, "", column, &line(&heads));
        for (label, row) in labels.iter().zip(&rows) {
            self.paper.entry(2, label, column, &line(row));
        }
        let mut notes = Vec::new();
        if (asked.iter().flat_map(|(_, asked)| asked)).any(|asked| asked.route.is_none()) {
            notes.push(self.say("mcp.elicitation.doctor.note.nobody"));
        }
        for client in clients {
            if let Client::Named(profile) = client {
                notes.push(profile.why(self.locale).to_owned());
            }
        }
        for note in notes {
            self.paper.blank();
            self.paper.paragraph(2, &note);
        }
    }

    fn question(&self, question: Question) -> String {
        self.say(match question {
            Question::Form => "mcp.elicitation.doctor.question.form",
            Question::Link => "mcp.elicitation.doctor.question.link",
            Question::LinkFirst => "mcp.elicitation.doctor.question.link_first",
            Question::Confirmation => "mcp.elicitation.doctor.question.confirmation",
        })
    }

    fn client(&self, client: Client<'_>) -> String {
        match client {
            Client::Asks => self.say("mcp.elicitation.doctor.client.asks"),
            Client::DoesNotAsk => self.say("mcp.elicitation.doctor.client.does_not_ask"),
            Client::Named(profile) => short(&profile.name, NAME),
        }
    }

    fn asked(&self, asked: &Asked) -> String {
        let route = self.route(asked.route);
        if asked.unless.is_empty() {
            return route;
        }
        let parts: Vec<&str> = asked.unless.iter().map(|part| Part::name(*part)).collect();
        let (parts, otherwise) = (parts.join(", "), self.route(asked.otherwise));
        let params = [
            ("route", (&*route).into()),
            ("otherwise", (&*otherwise).into()),
            ("parts", (&*parts).into()),
        ];
        self.locale.say("mcp.elicitation.doctor.unless", &params)
    }

    fn route(&self, route: Option<Route>) -> String {
        self.say(match route {
            Some(Route::Client) => "mcp.elicitation.doctor.route.client",
            Some(Route::Page) => "mcp.elicitation.doctor.route.page",
            Some(Route::Api) => "mcp.elicitation.doctor.route.api",
            Some(Route::Model) => "mcp.elicitation.doctor.route.model",
            None => "mcp.elicitation.doctor.route.nobody",
        })
    }
}

/// The width of a column that holds these.
fn width<'a>(texts: impl IntoIterator<Item = &'a String>) -> usize {
    let lengths = texts.into_iter().map(|text| text.chars().count());
    lengths.max().unwrap_or(0) + 2
}
