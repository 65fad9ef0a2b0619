//! For tests of your own tools: a scripted person, and every kind of client.
//!
//! Everything runs in memory, over the same JSON as on a pipe.
//!
//! ```
//! use midcall_server::testing::{Person, for_every_client};
//! use midcall_server::{Ask, AskError, WithAsks};
//! use rmcp::{ServerHandler, tool, tool_handler, tool_router};
//! # use serde_json::json;
//!
//! #[derive(Clone)]
//! struct Greeter;
//!
//! #[tool_router]
//! impl Greeter {
//!     #[tool(description = "Say hello")]
//!     async fn hello(&self, ask: Ask) -> Result<String, AskError> {
//!         let name = ask.text("What is your name?").min(1).await?.accepted()?;
//!         Ok(format!("Hello, {name}!"))
//!     }
//! }
//!
//! #[tool_handler]
//! impl ServerHandler for Greeter {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! for_every_client(|client| async move {
//!     let person = Person::answers(json!({"value": "Ana"}));
//!     let got = client.connect(Greeter.with_asks(), &person).await.call("hello", json!({})).await;
//!     assert_eq!(got.text(), "Hello, Ana!");
//!     assert_eq!(person.heard(), ["What is your name?"]);
//! })
//! .await;
//! # }
//! ```
//!
//! A model neither agrees to what may destroy something nor opens links, so such a tool ends with
//! an error for some clients: [`Client::asks`] and [`Client::links`] tell which.
//!
//! # Tools that run again
//!
//! Where your server [lets tools run again](crate::Resume), a client of 2026-07-28 plays each call so: it
//! finds nothing of its call after any round, so the tool runs again from its first line with the answers
//! so far. A tool that asks something else then fails the test, which shows both questions.
//! [`Deeds`] show what else happens twice.
//!
//! # Nobody answers
//!
//! Five minutes pass at once where `tokio`'s clock stands still: with its feature `test-util`, and
//! `#[tokio::test(start_paused = true)]`. Clients that are asked by a request hear that the time is
//! over. The others come back only with an answer, as real ones do, so their call needs a limit of
//! its own; what the tool made of it is what your [observer](crate::Asks::on_answer) and your own
//! state say.
//!
//! ```
//! use midcall_server::testing::{Person, Said, for_every_client};
//! # use midcall_server::{Ask, AskError, WithAsks};
//! # use rmcp::{ServerHandler, tool, tool_handler, tool_router};
//! # use serde_json::json;
//! use std::time::Duration;
//! # #[derive(Clone)] struct Greeter;
//! # #[tool_router]
//! # impl Greeter {
//! #     #[tool(description = "Say hello")]
//! #     async fn hello(&self, ask: Ask) -> Result<String, AskError> {
//! #         let name = ask.text("What is your name?").await?.accepted()?;
//! #         Ok(format!("Hello, {name}!"))
//! #     }
//! # }
//! # #[tool_handler]
//! # impl ServerHandler for Greeter {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # tokio::time::pause();
//! for_every_client(|client| async move {
//!     let person = Person::who(|_| Said::Nothing);
//!     let connected = client.connect(Greeter.with_asks(), &person).await;
//!     let call = connected.call("hello", json!({}));
//!     match tokio::time::timeout(Duration::from_secs(600), call).await {
//!         Ok(got) => assert!(got.text().starts_with("nobody answered within 300 seconds")),
//!         Err(_) => assert!(client.is_modern() || !client.asks()),
//!     }
//! })
//! .await;
//! # }
//! ```

mod client;
mod connected;
mod deeds;
mod got;
mod person;
mod wire;

pub use client::{Client, for_every_client};
pub use connected::Connected;
pub use deeds::Deeds;
pub use got::Got;
pub use person::{Heard, Person, Said};
