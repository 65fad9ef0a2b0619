//! Yes or no.

use serde_json::{Map, Value};

use super::{Kind, Suggest, Wanted, as_content, one, sealed, the};
use crate::error::Unaskable;
use crate::question::Question;

/// Yes or no: [`Ask::confirm`](crate::Ask::confirm).
#[derive(Debug, Default)]
pub struct Confirm(());

impl Question<Confirm> {
    /// What is agreed to cannot be undone. Surfaces may warn, and no model may agree to it.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// if ask.confirm("Delete 3 files?").dangerous().await?.agreed() {
    ///     // They accepted, and said yes: an accepted form may still say no.
    /// }
    /// # Ok(()) }
    /// ```
    pub fn dangerous(mut self) -> Self {
        self.dangerous = true;
        self
    }
}

const NAME: &str = "confirmed";

impl sealed::Sealed for Confirm {}

impl Kind for Confirm {
    type Value = bool;

    fn wanted(&self, message: &str) -> Result<Wanted, Unaskable> {
        let field = Map::from_iter([("type".to_owned(), "boolean".into())]);
        one(NAME, message, field)
    }

    fn read(&self, content: Map<String, Value>) -> Option<bool> {
        the(NAME, content)?.as_bool()
    }
}

impl Suggest for Confirm {
    fn content(&self, value: bool) -> Map<String, Value> {
        as_content(NAME, value)
    }
}
