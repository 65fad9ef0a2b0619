//! The params of a question that were read before, for those who need a part of them as it came.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Parts of the params of an `elicitation/create`, unread. Only [`Elicitation::read`](crate::Elicitation::read) judges
/// them.
#[derive(Deserialize)]
pub struct RawParams<'a> {
    #[serde(default, borrow)]
    mode: Option<&'a RawValue>,
    #[serde(default, borrow)]
    message: Option<&'a RawValue>,
    #[serde(default, borrow, rename = "requestedSchema")]
    schema: Option<&'a RawValue>,
    #[serde(default, borrow)]
    url: Option<&'a RawValue>,
}

impl<'a> RawParams<'a> {
    /// Finds the parts. None if the params aren't an object.
    pub fn find(params: &'a RawValue) -> Option<Self> {
        serde_json::from_str(params.get()).ok()
    }

    /// What the server says to the person; empty if it says nothing.
    pub fn message(&self) -> Cow<'a, str> {
        self.message.and_then(text).unwrap_or_default()
    }

    /// The address, if it is a link.
    pub fn url(&self) -> Option<Cow<'a, str>> {
        let mode = self.mode?;
        let is_url = mode.get() == "\"url\"" || text(mode).as_deref() == Some("url");
        self.url.filter(|_| is_url).and_then(text)
    }

    /// The schema, whatever the mode.
    pub fn schema(&self) -> Option<&'a RawValue> {
        self.schema
    }
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    // Serde copies the text unless `borrow` is set.
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(raw.get())
        .ok()
        .map(|text| text.0)
}
