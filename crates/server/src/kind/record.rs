//! A whole form, typed.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Kind, Suggest, Wanted, Wants, sealed};
use crate::error::Unaskable;
use crate::schema;

/// A struct that a person can fill in: [`Ask::form`](crate::Ask::form).
///
/// ```
/// use midcall_server::kind::Record;
/// use midcall_server::{Ask, Question};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Address {
///     street: String,
///     city: Option<String>,
/// }
///
/// fn address(ask: &Ask) -> Question<Record<Address>> {
///     ask.form("Where should it go?")
/// }
/// ```
pub struct Record<T>(pub(crate) PhantomData<fn() -> T>);

/// What can be asked for as a form: structs that `serde` can read and `schemars` can describe.
///
/// ```compile_fail,E0277
/// struct Delete {
///     sure: bool, // `Delete` derives neither `Deserialize` nor `JsonSchema`.
/// }
///
/// async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
///     ask.form::<Delete>("Delete 3 files?").await?;
///     Ok(())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be asked for as a form",
    label = "not a form",
    note = "derive both on it: `#[derive(serde::Deserialize, schemars::JsonSchema)]`",
    note = "for one value there is `ask.text(..)`, `ask.confirm(..)`, `ask.select(..)` and more"
)]
pub trait Typed: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Typed for T {}

impl<T> sealed::Sealed for Record<T> {}

impl<T: Typed> Kind for Record<T> {
    type Value = T;

    fn wanted(&self, _: &str) -> Result<Wanted, Unaskable> {
        Ok(Wanted(Wants::Form(schema::of::<T>()?)))
    }

    fn read(&self, content: Map<String, Value>) -> Option<T> {
        serde_json::from_value(Value::Object(content)).ok()
    }
}

impl<T: Typed + Serialize> Suggest for Record<T> {
    fn content(&self, value: T) -> Map<String, Value> {
        match serde_json::to_value(value) {
            Ok(Value::Object(content)) => content,
            _ => Map::new(), // It was read as an object, so it is written as one.
        }
    }
}
