//! What can be asked: one file per kind.
//!
//! A kind has the rules that make sense for it, and no others: the compiler knows that a date has
//! no step. Each becomes a form with one field, except a [`Record`], which is a form of its own,
//! and a [`Link`], which is none. The field's name is what [`Answers`](crate::Answers) and
//! [`Person`](crate::testing::Person) write:
//!
//! | kind | content |
//! |---|---|
//! | [`Text`], [`Date`], [`DateTime`], [`Email`] | `{"value": "Ana"}` |
//! | [`Number`], [`Integer`] | `{"value": 3}` |
//! | [`Tags`] | `{"value": ["new", "blue"]}` |
//! | [`Select`] | `{"selected": "red"}` |
//! | [`SelectMany`] | `{"selected": ["dog", "bar"]}` |
//! | [`Confirm`] | `{"confirmed": true}` |
//! | [`Record`] | its fields: `{"name": "Ana", "guests": 3}` |
//!
//! ```
//! use midcall_server::kind::{Confirm, Text};
//! use midcall_server::{Ask, Question};
//!
//! // What tools share can take and give questions by their kinds.
//! fn name(ask: &Ask) -> Question<Text> {
//!     ask.text("What is your name?").min(1).max(80)
//! }
//! fn careful(question: Question<Confirm>) -> Question<Confirm> {
//!     question.dangerous().within(std::time::Duration::from_secs(60))
//! }
//! ```

mod choice;
mod confirm;
mod link;
mod number;
mod record;
mod text;

use std::sync::Arc;

use midcall_core::secret;
use serde_json::{Map, Value, json};

use crate::error::Unaskable;
use crate::schema::Shape;

pub use choice::{Choice, Select, SelectMany};
pub use confirm::Confirm;
pub use link::{Link, Opened};
pub use number::{Integer, Number};
pub use record::{Record, Typed};
pub use text::{Date, DateTime, Email, Tags, Text};

/// Something a person can be asked for. The kinds are in this module; there is no need to write
/// others, since a [`Record`] is any form.
///
/// ```
/// use midcall_server::Question;
/// use midcall_server::kind::Kind;
///
/// fn briefly<K: Kind>(question: Question<K>) -> Question<K> {
///     question.within(std::time::Duration::from_secs(30))
/// }
/// ```
pub trait Kind: sealed::Sealed + Send + 'static {
    /// What the tool gets.
    type Value: Send + 'static;

    /// What the client is told to ask for.
    #[doc(hidden)]
    fn wanted(&self, message: &str) -> Result<Wanted, Unaskable>;

    /// What a person's checked answer means.
    #[doc(hidden)]
    fn read(&self, content: Map<String, Value>) -> Option<Self::Value>;
}

/// A kind whose form can start with something.
///
/// ```
/// use midcall_server::Question;
/// use midcall_server::kind::Suggest;
///
/// fn as_last_time<K: Suggest>(question: Question<K>, last: Option<K::Value>) -> Question<K> {
///     match last {
///         Some(value) => question.default(value),
///         None => question,
///     }
/// }
/// ```
///
/// A link cannot:
///
/// ```compile_fail,E0599
/// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
/// ask.link("Sign in", "https://example.com/in").default("yes").await?;
/// # Ok(()) }
/// ```
pub trait Suggest: Kind {
    /// That value, as content of the form.
    #[doc(hidden)]
    fn content(&self, value: Self::Value) -> Map<String, Value>;
}

/// What a client is told to ask for.
#[derive(Clone)]
#[doc(hidden)]
pub struct Wanted(pub(crate) Wants);

#[derive(Clone)]
pub(crate) enum Wants {
    Form(Arc<Shape>),
    Link { url: String, id: String },
}

pub(crate) mod sealed {
    /// Kinds are this crate's own.
    pub trait Sealed {}
}

/// A form with one field, under the name that everybody uses for it.
pub(crate) fn one(
    name: &str,
    message: &str,
    mut field: Map<String, Value>,
) -> Result<Wanted, Unaskable> {
    /// What is longer stands above the field only.
    const LABEL: usize = 80;
    if !field.contains_key("title") && message.chars().count() <= LABEL {
        field.insert("title".into(), message.into());
    }
    // Also where the message is too long for a title. What is chosen or agreed to is no secret.
    let is_typed = match field.get("type").and_then(Value::as_str) {
        Some("string") => !field.contains_key("enum") && !field.contains_key("oneOf"),
        Some("number" | "integer") => true,
        _ => false,
    };
    if let Some(secret) = secret::asks(name, None, Some(message), None)
        && is_typed
    {
        let path = format!("/{name}");
        return Err(Unaskable::Secret { path, secret });
    }
    let form = json!({"type": "object", "properties": {name: field}, "required": [name]});
    let Value::Object(form) = form else {
        unreachable!("it was written as an object")
    };
    Ok(Wanted(Wants::Form(Shape::shared(form)?)))
}

/// The value of such a form.
pub(crate) fn the(name: &str, mut content: Map<String, Value>) -> Option<Value> {
    content.remove(name)
}

/// Content of such a form.
pub(crate) fn as_content(name: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value.into())])
}
