//! Color for people: on a terminal, unless they want none.

use std::env;
use std::io::{self, IsTerminal};

/// Whether a stream is printed in color.
#[derive(Clone, Copy, Debug)]
pub struct Ink(bool);

/// What a text is printed as.
#[derive(Clone, Copy, Debug)]
pub enum Tone {
    Strong,
    Faint,
    Error,
    Warning,
}

impl Ink {
    /// Color for standard output.
    pub fn stdout() -> Self {
        Self::on(&io::stdout())
    }

    /// Color for standard error.
    pub fn stderr() -> Self {
        Self::on(&io::stderr())
    }

    fn on(stream: &impl IsTerminal) -> Self {
        let refuses = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
        Self(!refuses && !is_dumb && stream.is_terminal())
    }

    /// True if there is color.
    pub fn is_colored(self) -> bool {
        self.0
    }

    /// A text in color, if there is any.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Error => "1;31",
            Tone::Warning => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Says on standard error why Midcall can't do what it was asked to.
pub fn complain(why: &str) {
    let who = Ink::stderr().paint(Tone::Error, "midcall:");
    eprintln!("{who} {why}");
}
