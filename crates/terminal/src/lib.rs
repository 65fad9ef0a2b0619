//! Asks a person in a terminal what an MCP server wants to know.
//!
//! [`ask`] puts one [`Elicitation`](midcall_core::Elicitation) to the person at a [`Terminal`] and returns what they
//! said, or why the question was closed before they did. Prompts are drawn inline, a field at a time, with a review
//! before anything is sent. In plain mode ([`Options::plain`]) they are lines of words, for screen readers and dumb
//! terminals. A link that the person has agreed to open is followed up by [`opened`].
//!
//! Whoever asks holds a [`Remote`], by which the prompt hears that its ticket was closed elsewhere or got another
//! deadline. However a prompt ends (an answer, a signal, a panic, a dropped future), the terminal is left as it was.
//!
//! `styled` and `plain` decide what a key or a line means and what is shown. Neither does any I/O, so their tests
//! type keys and read screens in memory. `tty` owns the terminal.
//!
//! Not here: transports, tickets, which browser opens a link ([`Options::open`]).

mod ask;
mod clock;
mod draft;
mod edit;
mod event;
mod field;
mod intro;
mod look;
mod number;
mod options;
mod outcome;
mod page;
mod plain;
mod remote;
#[cfg(test)]
mod stories;
mod styled;
mod text;
mod tty;

pub use ask::{AskError, ask, opened};
pub use options::Options;
pub use outcome::{Closing, Followed, Outcome};
pub use remote::{News, Remote};
pub use tty::Terminal;
