//! Ask the person from a Rust tool: the same code for every MCP client.
//!
//! A tool often needs to know something in the middle of its work. MCP calls that *elicitation*, and
//! its revisions and clients disagree about it: some take requests from the server, some want the
//! call to end and be made again, some cannot ask at all. Here a tool awaits an answer, and the way
//! there is not its business.
//!
//! # One tool from nothing
//!
//! ```toml
//! [dependencies]
//! midcall-server = "0.1"
//! rmcp = "3.8" # with `transport-streamable-http-server` over HTTP
//! schemars = "1"
//! serde = { version = "1", features = ["derive"] }
//! tokio = { version = "1", features = ["io-std", "macros", "rt-multi-thread"] }
//! ```
//!
//! A server on [`rmcp`] that deletes files. It has a name, since people are told who asks them:
//!
//! ```
//! use rmcp::{ServerHandler, tool, tool_handler, tool_router};
//!
//! #[derive(Clone)]
//! struct Files;
//!
//! #[tool_router]
//! impl Files {
//!     #[tool(description = "Deletes old files")]
//!     async fn delete_old(&self) -> String {
//!         "Deleted 3 files".into()
//!     }
//! }
//!
//! #[tool_handler(name = "files")]
//! impl ServerHandler for Files {}
//! ```
//!
//! It should ask first. The tool takes [`Ask`], like any other part of its request (beside its
//! `Parameters`, for one), and asks. What
//! comes back is an [`Answer`]: accepted, declined or cancelled. [`Answer::agreed`] is true for a yes
//! alone, [`Answer::accepted`] takes a refusal for an error, and [`AskError`] is a result that the client
//! can read. A tool or prompt may also return `rmcp`'s `ErrorData`, or an [error of your
//! own](AskError#an-error-of-your-own).
//!
//! ```
//! # use rmcp::{ServerHandler, tool, tool_handler, tool_router};
//! use midcall_server::{Ask, AskError};
//! # #[derive(Clone)] struct Files;
//!
//! # #[tool_router]
//! # impl Files {
//! #[tool(description = "Deletes old files")]
//! async fn delete_old(&self, ask: Ask) -> Result<String, AskError> {
//!     if ask.confirm("Delete 3 files?").dangerous().await?.agreed() {
//!         Ok("Deleted 3 files".into())
//!     } else {
//!         Ok("Nothing was deleted".into())
//!     }
//! }
//! # }
//! ```
//!
//! The layer goes around the handler where it is served. That is all:
//!
//! ```no_run
//! # use rmcp::{ServerHandler, ServiceExt};
//! use midcall_server::WithAsks;
//! # #[derive(Clone)] struct Files;
//! # impl ServerHandler for Files {}
//!
//! # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
//! let stdio = (tokio::io::stdin(), tokio::io::stdout());
//! Files.with_asks().serve(stdio).await?.waiting().await?;
//! # Ok(()) }
//! ```
//!
//! More than one thing at a time is a struct, read by `serde` and described by `schemars`:
//!
//! ```
//! # use midcall_server::{Ask, AskError};
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Cleanup {
//!     /// Older than so many days
//!     #[schemars(range(min = 1, max = 3650))]
//!     days: u16,
//!     what: Vec<Sort>,
//!     folder: Option<String>,
//! }
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! enum Sort {
//!     /// Pictures and films
//!     Media,
//!     /// Everything that was downloaded
//!     Downloads,
//! }
//!
//! # async fn tool(ask: Ask) -> Result<(), AskError> {
//! let cleanup = ask.form::<Cleanup>("What may go?").await?.accepted()?;
//! println!("{} days", cleanup.days);
//! # Ok(()) }
//! ```
//!
//! And a test of yours plays it with every kind of client: see [`testing`].
//!
//! # How a question travels
//!
//! | the client | [`Carrier`] | |
//! |---|---|---|
//! | of 2025-06-18 or 2025-11-25, with elicitation | [`Live`](Carrier::Live) | a request, while the call is open |
//! | of 2026-07-28, with elicitation | [`Round`](Carrier::Round) | the call returns what is asked; the tool waits, and goes on when the client calls again |
//! | without elicitation | [`Model`](Carrier::Model) | the call returns words for the model, and the added tool `sendElicitationResult` hands in what the person said |
//! | none: a command line | [`Script`](Carrier::Script) | [`Answers`] from a file: [`Asks::without_client`] |
//!
//! The tool's code runs once from its first line to its last, in all of them, unless you let it [run
//! again](replay) after a restart or in another process. What a person typed is
//! held against the form before the tool sees it; what does not fit is asked again, and at last is an
//! error. No model agrees to what may destroy something, hears a secret or opens a link.
//!
//! Clients of 2026-07-28 often stop after ten rounds: [`Ask::together`] asks several things in one.
//!
//! # How long clients wait
//!
//! A question waits five minutes, unless [`Question::within`] or [`Asks::within`] says otherwise. Many
//! clients don't: those on the TypeScript SDK give up on a request after 60 seconds, also while their
//! own person is still typing. What helps depends on the client:
//!
//! - A client that sends a progress token hears every ten seconds that its call goes on, while a
//!   question is open or [`Question::until`] waits. On the TypeScript SDK it has to pass `onprogress`
//!   and `resetTimeoutOnProgress: true`, or a longer `timeout`.
//! - A client of 2026-07-28 has no request open while its person thinks. While `until` waits it is
//!   told every 45 seconds to call again, which starts a new minute.
//! - For any other client, ask with a `within` of less than a minute and handle
//!   [`AskError::TimedOut`], or put `midcall wrap --` in front of the server's command.
//!
//! # Several processes, and restarts
//!
//! A call waits in the memory of its process. A client of 2026-07-28 that comes back to another one, or
//! after a restart, is told to call again. If your tools may run again with the answers so far, any
//! process can go on with any call: they need the same keys, and for effects that must not happen twice
//! a store. [Which tools may](replay) is the question to answer first.
//!
//! ```no_run
//! use midcall_server::{Asks, Resume};
//!
//! # fn main_() -> Result<(), midcall_server::KeysError> {
//! let asks = Asks::new().keys_from_env("ASKS_KEYS")?.resume(Resume::ParkThenReplay);
//! # Ok(()) }
//! ```
//!
//! What people type is in none of this crate's errors, `Debug` texts and observers. `rmcp` itself logs
//! whole messages at its level `debug`: leave that off where answers are private.

mod answer;
mod answers;
mod ask;
mod asking;
mod asks;
mod call;
mod current;
mod error;
mod handler;
mod inbox;
mod journal;
mod keys;
pub mod kind;
mod layer;
mod links;
mod live;
mod model;
mod observe;
mod once;
mod park;
mod place;
mod question;
pub mod replay;
mod replicas;
mod running;
mod schema;
mod shared;
pub mod testing;
mod together;
mod token;

pub use answer::Answer;
pub use answers::{Answers, AnswersError};
pub use ask::Ask;
pub use asks::{Asks, WithAsks};
pub use error::{AskError, Divergence, Nobody, OnceError, Unaskable};
pub use handler::Handler;
pub use keys::KeysError;
pub use layer::Layer;
pub use midcall_core; // Its types are in what this crate takes and gives: keys, modes, what does not fit.
pub use midcall_core::Words;
pub use midcall_core::catalog::Locale;
pub use observe::{Answered, Asked, Carrier, How};
pub use question::Question;
pub use replicas::Resume;
pub use shared::SharedError;
pub use together::Together;

/// Whether a type can be asked for as a form: for a test of yours, since the compiler cannot tell
/// all of it.
///
/// ```
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Booking {
///     name: String,
///     guests: Option<u8>,
/// }
/// assert!(midcall_server::check::<Booking>().is_ok());
/// ```
pub fn check<T: kind::Typed>() -> Result<(), Unaskable> {
    schema::of::<T>().map(drop)
}
