//! Texts, and what is typed as one: dates, addresses, tags.

use serde_json::{Map, Value, json};

use super::{Kind, Suggest, Wanted, as_content, one, sealed, the};
use crate::error::Unaskable;
use crate::question::Question;

/// A text: [`Ask::text`](crate::Ask::text).
///
/// ```
/// use midcall_server::kind::Text;
/// use midcall_server::{Ask, Question};
///
/// fn name(ask: &Ask) -> Question<Text> {
///     ask.text("What is your name?").min(1).max(80)
/// }
/// ```
#[derive(Debug, Default)]
pub struct Text {
    rules: Map<String, Value>,
}

/// A day of the calendar, `2026-07-28`: [`Ask::date`](crate::Ask::date).
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let day: String = ask.date("For which day?").default("2026-12-24").await?.accepted()?;
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Date(());

/// A day and time with an offset, `2026-07-28T09:30:00Z`: [`Ask::date_time`](crate::Ask::date_time).
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let when: String = ask.date_time("When does it start?").await?.accepted()?;
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct DateTime(());

/// An e-mail address: [`Ask::email`](crate::Ask::email).
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let to: String = ask.email("Who should get it?").await?.accepted()?;
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Email(());

/// Any number of free texts: [`Ask::tags`](crate::Ask::tags). No revision has a field for that:
/// clients show a text, and people put commas between tags.
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let tags: Vec<String> = ask.tags("Which tags?").default(vec!["new".into()]).await?.accepted()?;
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Tags {
    rules: Map<String, Value>,
}

/// Rules for a text.
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let code = ask.text("Which code is on the back?")
///     .min(4)
///     .max(8)
///     .pattern("^[A-Z0-9]+$")
///     .placeholder("AB12")
///     .await?
///     .accepted()?;
/// let story = ask.text("What happened?").multiline().await?;
/// # Ok(()) }
/// ```
///
/// Only texts have them:
///
/// ```compile_fail,E0599
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// ask.confirm("Sure?").multiline().await?;
/// # Ok(()) }
/// ```
impl Question<Text> {
    /// At least so many characters.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.text("Which country code?").min(2).max(2).await?;
    /// # Ok(()) }
    /// ```
    pub fn min(self, characters: u64) -> Self {
        self.rule("minLength", characters)
    }

    /// At most so many characters.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.text("A title").max(60).await?;
    /// # Ok(()) }
    /// ```
    pub fn max(self, characters: u64) -> Self {
        self.rule("maxLength", characters)
    }

    /// What the text must match, as in JSON Schema: anywhere in it, unless `^` and `$` say
    /// otherwise. Clients that cannot check it show it; answers are held against it here.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.text("Which flight?").pattern("^[A-Z]{2}[0-9]{1,4}$").await?;
    /// # Ok(()) }
    /// ```
    pub fn pattern(self, pattern: impl Into<String>) -> Self {
        self.rule("pattern", pattern.into())
    }

    /// An example that clients may show while nothing is typed.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.text("Which flight?").placeholder("TP1364").await?;
    /// # Ok(()) }
    /// ```
    pub fn placeholder(self, example: impl Into<String>) -> Self {
        self.rule("examples", json!([example.into()]))
    }

    /// Several lines. The protocol has no word for it: clients that know none show one line.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.text("What happened?").multiline().await?;
    /// # Ok(()) }
    /// ```
    pub fn multiline(self) -> Self {
        self.rule("format", "textarea")
    }

    fn rule(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.kind.rules.insert(keyword.to_owned(), value.into());
        self
    }
}

/// How many tags.
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let tags: Vec<String> = ask.tags("Which tags?").at_least(1).at_most(5).await?.accepted()?;
/// # Ok(()) }
/// ```
impl Question<Tags> {
    /// At least so many.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.tags("Which tags?").at_least(1).await?;
    /// # Ok(()) }
    /// ```
    pub fn at_least(mut self, tags: u64) -> Self {
        self.kind.rules.insert("minItems".into(), tags.into());
        self
    }

    /// At most so many.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.tags("Which tags?").at_most(5).await?;
    /// # Ok(()) }
    /// ```
    pub fn at_most(mut self, tags: u64) -> Self {
        self.kind.rules.insert("maxItems".into(), tags.into());
        self
    }
}

const NAME: &str = "value";

/// A kind that is a text with a format.
macro_rules! formatted {
    ($kind:ident, $format:literal) => {
        impl sealed::Sealed for $kind {}

        impl Kind for $kind {
            type Value = String;

            fn wanted(&self, message: &str) -> Result<Wanted, Unaskable> {
                let field = [("type", "string"), ("format", $format)];
                let field = field.map(|(keyword, value)| (keyword.to_owned(), value.into()));
                one(NAME, message, Map::from_iter(field))
            }

            fn read(&self, content: Map<String, Value>) -> Option<String> {
                the(NAME, content)?.as_str().map(str::to_owned)
            }
        }

        impl Suggest for $kind {
            fn content(&self, value: String) -> Map<String, Value> {
                as_content(NAME, value)
            }
        }
    };
}

formatted!(Date, "date");
formatted!(DateTime, "date-time");
formatted!(Email, "email");

impl sealed::Sealed for Text {}

impl Kind for Text {
    type Value = String;

    fn wanted(&self, message: &str) -> Result<Wanted, Unaskable> {
        let mut field = Map::from_iter([("type".to_owned(), "string".into())]);
        field.extend(self.rules.clone());
        one(NAME, message, field)
    }

    fn read(&self, content: Map<String, Value>) -> Option<String> {
        the(NAME, content)?.as_str().map(str::to_owned)
    }
}

impl Suggest for Text {
    fn content(&self, value: String) -> Map<String, Value> {
        as_content(NAME, value)
    }
}

impl sealed::Sealed for Tags {}

impl Kind for Tags {
    type Value = Vec<String>;

    fn wanted(&self, message: &str) -> Result<Wanted, Unaskable> {
        let mut field = Map::from_iter([
            ("type".to_owned(), "array".into()),
            (
                "items".to_owned(),
                json!({"type": "string", "minLength": 1}),
            ),
        ]);
        field.extend(self.rules.clone());
        one(NAME, message, field)
    }

    fn read(&self, content: Map<String, Value>) -> Option<Vec<String>> {
        serde_json::from_value(the(NAME, content)?).ok()
    }
}

impl Suggest for Tags {
    fn content(&self, value: Vec<String>) -> Map<String, Value> {
        as_content(NAME, value)
    }
}
