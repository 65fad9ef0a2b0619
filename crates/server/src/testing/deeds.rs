//! What a tool does beside asking, counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What a tool does beside asking: a test hands it to what stands for the mail, the bank or the database,
/// and sees afterwards what a tool that [runs again](crate::Resume) did more than once. Clones count
/// together.
///
/// ```
/// use midcall_server::testing::{Client, Deeds, Person};
/// use midcall_server::{Ask, AskError, Asks, Resume};
/// use rmcp::{ServerHandler, tool, tool_handler, tool_router};
/// # use serde_json::json;
///
/// #[derive(Clone)]
/// struct Shop(Deeds);
///
/// #[tool_router]
/// impl Shop {
///     #[tool(description = "Sell something")]
///     async fn sell(&self, ask: Ask) -> Result<String, AskError> {
///         self.0.happens("reserve");
///         ask.text("In whose name?").await?.accepted()?;
///         ask.once("charge", async || self.0.happens("charge")).await?;
///         ask.confirm("Mail the receipt?").await?.accepted()?;
///         Ok("Sold".into())
///     }
/// }
///
/// #[tool_handler]
/// impl ServerHandler for Shop {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let deeds = Deeds::default();
/// let server = Asks::new().resume(Resume::ReplayOnly).around(Shop(deeds.clone()));
/// let person = Person::answers(json!({"value": "Ana"})).then_answers(json!({"confirmed": true}));
/// Client::V2026_07_28.connect(server, &person).await.call("sell", json!({})).await;
/// assert_eq!(deeds.repeated(), [("reserve".to_owned(), 3)], "it belongs into `once`");
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deeds(Arc<Mutex<BTreeMap<String, u32>>>);

impl Deeds {
    /// Something of this name happens.
    ///
    /// ```
    /// let deeds = midcall_server::testing::Deeds::default();
    /// deeds.happens("mail");
    /// assert!(deeds.repeated().is_empty());
    /// ```
    pub fn happens(&self, name: impl Into<String>) {
        let mut deeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *deeds.entry(name.into()).or_default() += 1;
    }

    /// What happened more than once, and how often.
    ///
    /// ```
    /// let deeds = midcall_server::testing::Deeds::default();
    /// deeds.happens("mail");
    /// deeds.happens("mail");
    /// assert_eq!(deeds.repeated(), [("mail".to_owned(), 2)]);
    /// ```
    pub fn repeated(&self) -> Vec<(String, u32)> {
        let deeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let repeated = deeds.iter().filter(|(_, times)| **times > 1);
        repeated
            .map(|(name, times)| (name.clone(), *times))
            .collect()
    }
}
