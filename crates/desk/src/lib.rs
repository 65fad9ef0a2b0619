//! Where questions wait until a person answers, refuses, or time runs out.
//!
//! A server's question becomes a [`Ticket`] ([`Desk::ask`]), which is a future of an
//! [`Outcome`]. Surfaces see what is open and every change ([`Desk::watch`]) and hand in what
//! a person said ([`Desk::settle`]). Every ticket ends exactly once, and the outcome says how.
//! The asker then says what became of an answer ([`Desk::sent`], [`Desk::delivered`],
//! [`Desk::undelivered`]), so that a person whose answer was taken hears if it was lost.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! use midcall_core::{Asker, Elicitation, Limits, Scope, Values};
//! use midcall_desk::{By, Desk, Outcome, Route, Rules, Submission};
//! use midcall_store::{Mailroom, Memory};
//!
//! let desk = Desk::open(Memory::default(), Mailroom::default(), Rules::default()).await?;
//! let params = r#"{"message": "Name?", "requestedSchema":
//!     {"type": "object", "properties": {"name": {"type": "string"}}}}"#;
//! let question = Elicitation::read(params, Asker::named("crm"), &Limits::default())?;
//! let ana = Scope::user("ana");
//!
//! let ticket = desk.ask(&ana, &question, None).await?;
//! let typed = Values::read(r#"{"name": "Ana"}"#, &Limits::default())?;
//! let by = By { route: Route::Page, human: true };
//! desk.settle(&ana, ticket.id(), Submission::Accept(typed), by).await?;
//! assert!(matches!(ticket.await, Outcome::Answered(..)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! Elsewhere: how records are kept (`midcall-store`), HTTP (`midcall`).

mod clock;
mod desk;
mod ending;
mod forms;
mod inner;
mod keeper;
mod mark;
mod open;
mod outcome;
mod record;
mod rules;
mod said;
mod tally;
mod ticket;
mod watch;

pub use desk::{AskError, Attempt, Desk, SettleError, Submission};
pub use mark::{Mark, NoMark};
pub use outcome::{
    By, Closing, Delivery, Lost, Outcome, Route, State, Status, Unavailable, Withdrawn,
};
pub use record::{Question, Server};
pub use rules::{Limited, Rules};
pub use ticket::{NoTicketId, Ticket, TicketId};
pub use watch::{News, Watch};
