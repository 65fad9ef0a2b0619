//! What a person typed, before and after it was checked.
//!
//! Neither type shows a value in `Debug`: what people type stays out of logs.

use std::fmt;

use serde_json::{Map, Value};

use crate::form::Problem;
use crate::limits::Limits;

/// Values by field name, not yet checked.
#[derive(Clone, Default, PartialEq)]
pub struct Values(pub(crate) Map<String, Value>);

/// Values that fit their form. Only [`Form::check`](crate::Form::check) makes one, and an
/// accepted answer holds nothing else: unchecked input has no road to the wire.
///
/// ```compile_fail
/// let forged = midcall_core::Checked { values: Default::default(), unchecked: Vec::new() };
/// ```
#[derive(Clone, PartialEq)]
pub struct Checked {
    values: Values,
    unchecked: Vec<String>,
}

/// Values that do not fit their form, told field by field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{} value(s) do not fit the form: {}", .problems.len(), paths(.problems))]
pub struct Unfit {
    /// What is wrong, in the order of the form.
    pub problems: Vec<Problem>,
}

/// Why a text could not be read as values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValuesError {
    /// More bytes than [`Limits::content_bytes`].
    #[error("the content is {bytes} bytes long; at most {limit} are taken")]
    TooLong {
        /// How long it was.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Not JSON, or not an object. The position is told, the text is not.
    #[error("the content is not a JSON object (line {line}, column {column})")]
    NotAnObject {
        /// Where reading stopped.
        line: usize,
        /// Where reading stopped.
        column: usize,
    },
}

impl Values {
    /// Reads a JSON object.
    pub fn read(text: &str, limits: &Limits) -> Result<Self, ValuesError> {
        if text.len() > limits.content_bytes {
            return Err(ValuesError::TooLong {
                bytes: text.len(),
                limit: limits.content_bytes,
            });
        }
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| ValuesError::NotAnObject {
                line: error.line(),
                column: error.column(),
            })
    }

    /// The value of a field, if there is one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The names that have a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The JSON object itself.
    pub fn into_object(self) -> Map<String, Value> {
        self.0
    }
}

impl From<Map<String, Value>> for Values {
    fn from(object: Map<String, Value>) -> Self {
        Self(object)
    }
}

impl Checked {
    pub(crate) fn new(values: Values, unchecked: Vec<String>) -> Self {
        Self { values, unchecked }
    }

    /// Consent to open a link, which has no values.
    pub(crate) fn consent() -> Self {
        Self::new(Values::default(), Vec::new())
    }

    /// The values, to be read.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The values, to be sent.
    pub fn into_values(self) -> Values {
        self.values
    }

    /// The JSON Pointers of fields whose value met a rule that couldn't be run on it, sorted; the
    /// first 50 that were found. Only the server can tell whether these values are what it wants.
    pub fn unchecked(&self) -> &[String] {
        &self.unchecked
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Values")?;
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Checked")?;
        f.debug_set().entries(self.values.0.keys()).finish()
    }
}

fn paths(problems: &[Problem]) -> String {
    // Names may be a stranger's, and an error may be printed to a terminal.
    let shown = |problem: &Problem| problem.path.escape_debug().take(100).collect();
    let mut paths: Vec<String> = problems.iter().map(shown).collect();
    paths.dedup();
    paths.join(", ")
}
