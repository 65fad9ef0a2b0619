//! Ask the person from a Rust tool: the same code for every client.

mod answers;
mod ask;
mod asking;
mod asks;
mod call;
mod error;
pub mod kind;
mod layer;
mod live;
mod model;
mod observe;
mod park;
mod place;
mod question;
mod schema;
pub mod testing;
mod together;
mod token;

pub use answers::{Answers, AnswersError};
pub use ask::Ask;
pub use asks::{Asks, WithAsks};
pub use error::{AskError, Nobody, Unaskable};
pub use layer::Layer;
pub use midcall_core::catalog::Locale;
pub use midcall_core::{Answer, Refused, Words};
pub use observe::{Answered, Asked, Carrier, How};
pub use question::Question;
pub use together::Together;

/// Whether a type can be asked for as a form: for a test of yours, since the compiler cannot tell
/// all of it.
///
/// ```
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Booking {
///     name: String,
///     guests: Option<u8>,
/// }
/// assert!(midcall_server::check::<Booking>().is_ok());
/// ```
pub fn check<T: kind::Typed>() -> Result<(), Unaskable> {
    schema::of::<T>().map(drop)
}
