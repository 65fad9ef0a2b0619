//! What an MCP elicitation is.
//!
//! A server asks a person something in the middle of a tool call: an [`Elicitation`], which is
//! a [`Form`] to fill or a [`Link`] to open. The person's [`Answer`] goes back, and only values
//! that [`Form::check`] has seen can be in it. How the revisions of the protocol say all this
//! is told in [`wire`].
//!
//! ```
//! use midcall_core::{Form, Limits, Values};
//!
//! let limits = Limits::default();
//! let form = Form::read(
//!     r#"{"type":"object","properties":{"day":{"type":"string","format":"date"}},"required":["day"]}"#,
//!     &limits,
//! )?;
//!
//! let refused = form.check(Values::read(r#"{"day":"2026-02-30"}"#, &limits)?).unwrap_err();
//! assert_eq!(refused.problems[0].path, "/day");
//! assert_eq!(refused.problems[0].key(), "mcp.elicitation.problem.date");
//!
//! assert!(form.check(Values::read(r#"{"day":"2026-02-28"}"#, &limits)?).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Elsewhere: where questions wait (`midcall-desk`), how they reach a person (`midcall`).
//! Nothing here reads a clock, draws a random number, opens a file or awaits.

mod ambiguous;
mod answer;
pub mod catalog;
mod elicitation;
mod form;
mod limits;
pub mod link;
pub mod lint;
pub mod model;
mod scope;
pub mod seal;
pub mod secret;
mod unseen;
mod values;
pub mod wire;

pub use ambiguous::is_ambiguous;
pub use answer::{Answer, Refused, Words};
pub use elicitation::{Asker, Elicitation, ElicitationError, Wanted};
pub use form::*;
pub use limits::Limits;
pub use link::Link;
pub use scope::Scope;
pub use secret::Secret;
pub use unseen::is_unseen;
pub use values::{Checked, Unfit, Values, ValuesError};
