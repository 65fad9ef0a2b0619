//! A form, said in a revision that knows less.
//!
//! Each revision allows a subset of JSON Schema. What a form has beyond it is said another
//! way: options with titles become `enumNames`, a choice of several becomes switches, a group
//! becomes fields with longer names. Rules that get lost on the way are told to the person as
//! a hint, and the answer, once mapped back, is still held against the whole form.
//!
//! In: [`Telling::of`]. Out: the schema to send, and [`Telling::back`] for what comes back.
//! Elsewhere: the messages around the schema ([`ElicitRequestParams`](super::ElicitRequestParams)).

mod change;
mod teller;
mod way;

use serde_json::{Map, Value};

use super::Revision;
use crate::catalog::Locale;
use crate::form::{Form, Problem};
use crate::values::{Unfit, Values};
use teller::{Teller, Within};
use way::{Way, pointer};

pub use change::{Change, Changed};

/// A form as one revision says it, and the way back.
///
/// ```
/// use midcall_core::catalog::Locale;
/// use midcall_core::wire::{Revision, Telling};
/// use midcall_core::{Form, Limits, Values};
///
/// let limits = Limits::default();
/// let form = Form::read(
///     r#"{"type": "object", "properties": {"extras": {"type": "array", "items": {"anyOf": [
///         {"const": "dog", "title": "A dog comes along"},
///         {"const": "bar", "title": "At the bar"}]}}}}"#,
///     &limits,
/// )?;
/// let telling = Telling::of(&form, Revision::V2025_06_18, Locale::EnUs);
/// assert_eq!(telling.schema["properties"]["extras.dog"]["type"], "boolean");
///
/// let typed = Values::read(r#"{"extras.dog": true, "extras.bar": false}"#, &limits)?;
/// assert_eq!(telling.back(&form, typed)?.get("extras"), Some(&serde_json::json!(["dog"])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Telling {
    /// The `requestedSchema` to send.
    pub schema: Map<String, Value>,
    /// What is said otherwise than the server said it; nothing if the revision says it all.
    pub changes: Vec<Change>,
    ways: Vec<Way>,
}

impl Telling {
    /// Says a form in a revision. Hints for the person are in their language.
    pub fn of(form: &Form, revision: Revision, locale: Locale) -> Self {
        let mut teller = Teller {
            since_2025_11_25: revision >= Revision::V2025_11_25,
            locale,
            properties: Map::new(),
            required: Vec::new(),
            changes: Vec::new(),
            ways: Vec::new(),
        };
        teller.fields(&form.fields, Within::default());
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        for (keyword, text) in [("title", &form.title), ("description", &form.description)] {
            if let Some(text) = text {
                schema.insert(keyword.to_owned(), text.as_str().into());
            }
        }
        schema.insert("properties".into(), teller.properties.into());
        if !teller.required.is_empty() {
            schema.insert("required".into(), teller.required.into());
        }
        Self {
            schema,
            changes: teller.changes,
            ways: teller.ways,
        }
    }

    /// The name by which a field is told, by its JSON Pointer.
    pub fn name(&self, path: &str) -> Option<&str> {
        let way = self.ways.iter().find(|way| pointer(&way.path) == path);
        way.map(|way| way.told.as_str())
    }

    /// What the person's answer means in the server's own form, which is the one that was told.
    /// It is not checked yet.
    pub fn back(&self, form: &Form, values: Values) -> Result<Values, Unfit> {
        let mut told = values.into_object();
        let mut values = Map::new();
        let mut problems = Vec::new();
        for way in &self.ways {
            let Some(given) = told
                .shift_remove(&way.told)
                .filter(|given| way.is_said(given))
            else {
                continue;
            };
            match way.read.value(given) {
                Ok(None) => {}
                Ok(Some(value)) => way.place(value, &mut values),
                Err(fault) => problems.push(Problem::new(pointer(&way.path), fault)),
            }
        }
        if !problems.is_empty() {
            return Err(Unfit { problems });
        }
        for way in &self.ways {
            way.place_default(&mut values);
        }
        // What was not asked for is the form's to judge, under the name it came with.
        for (name, value) in told {
            values.entry(name).or_insert(value);
        }
        Ok(form.trim(Values::from(values)))
    }
}
