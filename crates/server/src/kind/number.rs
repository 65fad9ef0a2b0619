//! Numbers.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::{Kind, Suggest, Wanted, as_content, one, sealed, the};
use crate::error::Unaskable;
use crate::question::Question;

/// A number: [`Ask::number`](crate::Ask::number).
///
/// ```
/// use midcall_server::kind::Number;
/// use midcall_server::{Ask, Question};
///
/// fn price(ask: &Ask) -> Question<Number> {
///     ask.number("How much?").range(0.0..=99.5).step(0.5)
/// }
/// ```
#[derive(Debug, Default)]
pub struct Number {
    rules: Map<String, Value>,
}

/// A whole number: [`Ask::integer`](crate::Ask::integer).
///
/// ```
/// use midcall_server::kind::Integer;
/// use midcall_server::{Ask, Question};
///
/// fn port(ask: &Ask) -> Question<Integer> {
///     ask.integer("Which port?").range(1..=65_535).default(8080)
/// }
/// ```
#[derive(Debug, Default)]
pub struct Integer {
    rules: Map<String, Value>,
}

const NAME: &str = "value";

/// The two kinds differ in their type alone.
macro_rules! number {
    ($kind:ident, $type:ty, $word:literal, $read:expr) => {
        /// Bounds for a number.
        ///
        /// ```
        /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
        /// let guests: i64 = ask.integer("How many?").range(1..=12).await?.accepted()?;
        /// let price: f64 = ask.number("How much?").range(0.0..=99.5).step(0.5).await?.accepted()?;
        /// # Ok(()) }
        /// ```
        impl Question<$kind> {
            /// From, and up to.
            ///
            /// ```
            /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
            /// ask.integer("How many guests?").range(1..=12).await?;
            /// ask.number("How warm?").range(-40.0..=60.0).await?;
            /// # Ok(()) }
            /// ```
            pub fn range(mut self, range: RangeInclusive<$type>) -> Self {
                let rules = &mut self.kind.rules;
                rules.insert("minimum".into(), (*range.start()).into());
                rules.insert("maximum".into(), (*range.end()).into());
                self
            }

            /// What it must be a multiple of. Clients that cannot check it say it.
            ///
            /// ```
            /// # async fn tool(ask: midcall_server::Ask) -> Result<(), midcall_server::AskError> {
            /// ask.integer("How many eggs?").step(6).await?;
            /// ask.number("Which shoe size?").step(0.5).await?;
            /// # Ok(()) }
            /// ```
            pub fn step(mut self, step: $type) -> Self {
                self.kind.rules.insert("multipleOf".into(), step.into());
                self
            }
        }

        impl sealed::Sealed for $kind {}

        impl Kind for $kind {
            type Value = $type;

            fn wanted(&self, message: &str) -> Result<Wanted, Unaskable> {
                let mut field = Map::from_iter([("type".to_owned(), $word.into())]);
                field.extend(self.rules.clone());
                one(NAME, message, field)
            }

            fn read(&self, content: Map<String, Value>) -> Option<$type> {
                let read: fn(&Value) -> Option<$type> = $read;
                read(&the(NAME, content)?)
            }
        }

        impl Suggest for $kind {
            fn content(&self, value: $type) -> Map<String, Value> {
                as_content(NAME, value)
            }
        }
    };
}

number!(Number, f64, "number", |value| value.as_f64());
number!(Integer, i64, "integer", |value| value
    .as_i64()
    .or_else(|| whole(value)));

/// `3.0` is a whole number: JSON does not tell the two apart.
fn whole(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = value.as_f64()?;
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}
