//! One of several, and some of several.

use serde_json::{Map, Value, json};

use super::{Kind, Suggest, Wanted, as_content, one, sealed, the};
use crate::error::Unaskable;
use crate::question::Question;

/// One option of a [`Select`] or [`SelectMany`]. A text is one, and so are a value and a title.
///
/// ```
/// use midcall_server::kind::Choice;
///
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// ask.select("Which colour?", ["red", "green"]).await?;
/// ask.select("Which colour?", [("r", "Red as a rose"), ("g", "Green")]).await?;
/// let found_just_now = vec!["garden".to_owned(), "bar".to_owned()];
/// ask.select("Which table?", found_just_now.iter().map(|name| {
///     Choice::new(name).title(format!("In the {name}")).description("Free until nine")
/// })).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    value: String,
    title: Option<String>,
    description: Option<String>,
}

/// One of several options: [`Ask::select`](crate::Ask::select).
///
/// ```
/// use midcall_server::kind::Select;
/// use midcall_server::{Ask, Question};
///
/// fn colour(ask: &Ask) -> Question<Select> {
///     ask.select("Which colour?", ["red", "green"]).default("red")
/// }
/// ```
#[derive(Debug)]
pub struct Select {
    pub(crate) options: Vec<Choice>,
}

/// Some of several options: [`Ask::select_many`](crate::Ask::select_many).
///
/// ```
/// use midcall_server::kind::SelectMany;
/// use midcall_server::{Ask, Question};
///
/// fn extras(ask: &Ask, offered: &[String]) -> Question<SelectMany> {
///     ask.select_many("Which extras?", offered).at_most(3)
/// }
/// ```
#[derive(Debug)]
pub struct SelectMany {
    pub(crate) options: Vec<Choice>,
    pub(crate) rules: Map<String, Value>,
}

impl Choice {
    /// An option that is called what it is.
    ///
    /// ```
    /// use midcall_server::kind::Choice;
    /// assert_eq!(Choice::new("red"), "red".into());
    /// ```
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: None,
            description: None,
        }
    }

    /// What people read instead of the value.
    ///
    /// ```
    /// use midcall_server::kind::Choice;
    /// assert_eq!(Choice::new("r").title("Red as a rose"), ("r", "Red as a rose").into());
    /// ```
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Help for people.
    ///
    /// ```
    /// use midcall_server::kind::Choice;
    /// let garden = Choice::new("garden").title("In the garden").description("If it is warm");
    /// ```
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    fn write(&self) -> Value {
        let mut option =
            json!({"const": self.value, "title": self.title.as_ref().unwrap_or(&self.value)});
        if let Some(description) = &self.description {
            option["description"] = description.as_str().into();
        }
        option
    }
}

impl From<&str> for Choice {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl From<String> for Choice {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl From<&String> for Choice {
    fn from(value: &String) -> Self {
        Self::new(value)
    }
}

impl<V: Into<String>, T: Into<String>> From<(V, T)> for Choice {
    fn from((value, title): (V, T)) -> Self {
        Self::new(value).title(title)
    }
}

/// How many of them.
///
/// ```
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// let extras = ask.select_many("Which extras?", ["dog", "bar", "quiet"])
///     .at_least(1)
///     .at_most(2)
///     .await?
///     .accepted()?;
/// # Ok(()) }
/// ```
impl Question<SelectMany> {
    /// At least so many.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.select_many("Which days?", ["Monday", "Tuesday"]).at_least(1).await?;
    /// # Ok(()) }
    /// ```
    pub fn at_least(mut self, options: u64) -> Self {
        self.kind.rules.insert("minItems".into(), options.into());
        self
    }

    /// At most so many.
    ///
    /// ```
    /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
    /// ask.select_many("Your two favourites?", ["red", "green", "blue"]).at_least(2).at_most(2).await?;
    /// # Ok(()) }
    /// ```
    pub fn at_most(mut self, options: u64) -> Self {
        self.kind.rules.insert("maxItems".into(), options.into());
        self
    }
}

const NAME: &str = "selected";

/// The options as keywords: plain where all are, else with titles.
fn offered(options: &[Choice], titled: &str) -> Result<Map<String, Value>, Unaskable> {
    if options.is_empty() {
        return Err(Unaskable::NoOptions);
    }
    let is_plain = |option: &Choice| option.title.is_none() && option.description.is_none();
    Ok(if options.iter().all(is_plain) {
        let values = options.iter().map(|option| option.value.as_str());
        let values: Vec<&str> = values.collect();
        Map::from_iter([
            ("type".to_owned(), "string".into()),
            ("enum".to_owned(), json!(values)),
        ])
    } else {
        let written = options.iter().map(Choice::write).collect();
        let mut keywords = Map::from_iter([(titled.to_owned(), written)]);
        if titled == "oneOf" {
            keywords.insert("type".into(), "string".into());
        }
        keywords
    })
}

impl sealed::Sealed for Select {}

impl Kind for Select {
    type Value = String;

    fn wanted(&self, message: &str) -> Result<Wanted, Unaskable> {
        one(NAME, message, offered(&self.options, "oneOf")?)
    }

    fn read(&self, content: Map<String, Value>) -> Option<String> {
        the(NAME, content)?.as_str().map(str::to_owned)
    }
}

impl Suggest for Select {
    fn content(&self, value: String) -> Map<String, Value> {
        as_content(NAME, value)
    }
}

impl sealed::Sealed for SelectMany {}

impl Kind for SelectMany {
    type Value = Vec<String>;

    fn wanted(&self, message: &str) -> Result<Wanted, Unaskable> {
        let items = offered(&self.options, "anyOf")?;
        let mut field = Map::from_iter([
            ("type".to_owned(), "array".into()),
            ("items".to_owned(), Value::Object(items)),
        ]);
        field.extend(self.rules.clone());
        one(NAME, message, field)
    }

    fn read(&self, content: Map<String, Value>) -> Option<Vec<String>> {
        serde_json::from_value(the(NAME, content)?).ok()
    }
}

impl Suggest for SelectMany {
    fn content(&self, value: Vec<String>) -> Map<String, Value> {
        as_content(NAME, value)
    }
}
