//! What happens at a terminal, as the prompts understand it.

use crate::remote::Told;

/// Something happened. There is no `Debug`: keys are what a person types.
pub(crate) enum Event {
    Key(Key),
    /// Several characters at once, pasted.
    Paste(String),
    /// A line was entered, in plain mode.
    Line(String),
    /// There will be no more lines.
    Eof,
    /// Time has passed.
    Tick,
    /// News of the ticket.
    News(Told),
    /// The person's editor has ended, with the text it left, or it couldn't be started.
    Edited(Option<String>),
    /// Whether a browser was started for the link.
    Launched(bool),
}

/// A key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    /// Ctrl+J or Alt+Enter.
    NewLine,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Esc,
}

/// What a prompt wants done.
pub(crate) enum Effect {
    /// Print lines above the prompt, for good.
    Print(Vec<crate::page::Line>),
    /// Let the person edit a text in their editor. A file of this ending has it.
    Edit { text: String, ending: &'static str },
    /// Open this address in a browser.
    Open(String),
    /// The question is over.
    End(End),
}

/// How a prompt ended.
pub(crate) enum End {
    Asked(crate::outcome::Outcome),
    Followed(crate::outcome::Followed),
}
