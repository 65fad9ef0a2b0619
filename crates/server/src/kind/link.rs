//! A link to open.

use serde_json::{Map, Value};

use super::{Kind, Wanted, Wants, sealed};
use crate::error::Unaskable;

/// A link that the person opens in their browser: [`Ask::link`](crate::Ask::link).
///
/// ```
/// use midcall_server::kind::Link;
/// use midcall_server::{Ask, Question};
///
/// fn sign_in(ask: &Ask) -> Question<Link> {
///     ask.link("Sign in to the archive", "https://example.com/in?state={id}")
/// }
/// ```
#[derive(Debug)]
pub struct Link {
    url: String,
    id: String,
}

/// The person agreed to open the link. What they do there is not known by that.
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let opened = ask.link("Pay", "https://example.com/pay/{id}").await?.accepted()?;
/// println!("order {} is about to be paid", opened.id());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    id: String,
}

impl Link {
    pub(crate) fn new(url: String, id: String) -> Self {
        Self { url, id }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Also puts the id into the address, where it says `{id}`.
    pub(crate) fn url(&self) -> String {
        self.url.replace("{id}", &self.id)
    }
}

impl Opened {
    /// What the question was known by: `{id}` in the link stood for it.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// let opened = ask.link("Pay", "https://example.com/pay/{id}").await?.accepted()?;
    /// let order = format!("order {}", opened.id()); // The page that it led to knows the same id.
    /// # Ok(()) }
    /// ```
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl sealed::Sealed for Link {}

impl Kind for Link {
    type Value = Opened;

    fn wanted(&self, _: &str) -> Result<Wanted, Unaskable> {
        let url = self.url();
        let link = midcall_core::Link::read(&url, None);
        if link.href().is_none() {
            return Err(Unaskable::Link);
        }
        Ok(Wanted(Wants::Link {
            url,
            id: self.id.clone(),
        }))
    }

    fn read(&self, _: Map<String, Value>) -> Option<Opened> {
        Some(Opened {
            id: self.id.clone(),
        })
    }
}
