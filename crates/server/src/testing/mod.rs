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

mod client;
mod connected;
mod got;
mod person;
mod wire;

pub use client::{Client, for_every_client};
pub use connected::Connected;
pub use got::Got;
pub use person::{Heard, Person, Said};
