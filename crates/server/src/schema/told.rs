//! A form in the words of a revision, and the way back.
//!
//! It is said once for all who are asked: ten thousand calls that wait for the same form share it.

use std::sync::{Arc, PoisonError};

use midcall_core::catalog::Locale;
use midcall_core::wire::{Era, JsonObject, Revision, Telling};
use midcall_core::{Form, Kind, Unfit, Values};
use serde_json::{Map, Value};

use super::Shape;

/// What a client is told of a form.
pub(crate) struct Told {
    pub schema: Map<String, Value>,
    /// How its texts should be typed.
    pub hints: Option<JsonObject>,
    telling: Telling,
}

/// In which words.
pub(super) type Words = (Revision, Locale);

impl Shape {
    /// Says it in a revision.
    pub fn told(&self, revision: Revision, locale: Locale) -> Arc<Told> {
        let words = (revision, locale);
        let mut known = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, told)) = known.iter().find(|(known, _)| *known == words) {
            return told.clone();
        }
        let told = Arc::new(Told::of(self, words));
        known.push((words, told.clone())); // As many as there are revisions and languages.
        told
    }
}

impl Told {
    fn of(shape: &Shape, (revision, locale): Words) -> Self {
        let mut telling = Telling::of(&shape.form, revision, locale);
        let mut schema = std::mem::take(&mut telling.schema);
        match revision.era() {
            Era::Legacy => keep_rules(&shape.form, &shape.source, &telling, &mut schema),
            Era::Modern => keep_known(&mut schema),
        }
        Self {
            schema,
            hints: telling.hints(&shape.form),
            telling,
        }
    }

    /// What an answer means in the form itself.
    pub fn back(&self, form: &Form, values: Values) -> Result<Values, Unfit> {
        self.telling.back(form, values)
    }
}

/// The keywords that a field may have in 2026-07-28.
const KNOWN: [&str; 14] = [
    "type",
    "title",
    "description",
    "default",
    "enum",
    "oneOf",
    "items",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
];

/// Clients of 2026-07-28 are told what their revision has. Everything else is told in words, or
/// beside the form.
fn keep_known(told: &mut Map<String, Value>) {
    let Some(Value::Object(told)) = told.get_mut("properties") else {
        return;
    };
    for field in told.values_mut().filter_map(Value::as_object_mut) {
        field.retain(|keyword, _| KNOWN.contains(&keyword.as_str()));
    }
}

/// Rules that MCP has no keyword for are told in words. Clients of the revisions before that know
/// more get the keyword too, and others do not stumble over it.
fn keep_rules(
    form: &Form,
    source: &Map<String, Value>,
    telling: &Telling,
    told: &mut Map<String, Value>,
) {
    let Some(Value::Object(told)) = told.get_mut("properties") else {
        return;
    };
    for field in &form.fields {
        let keywords: &[&str] = match field.kind {
            Kind::Text(_) => &["pattern"],
            Kind::Number(_) | Kind::Integer(_) => {
                &["exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
            }
            _ => continue,
        };
        let path = field.name.replace('~', "~0").replace('/', "~1");
        let name = telling.name(&format!("/{path}")).unwrap_or_default();
        let source = &source["properties"][&field.name];
        if let Some(Value::Object(told)) = told.get_mut(name) {
            for keyword in keywords {
                if let Some(rule) = source.get(keyword) {
                    told.insert((*keyword).to_owned(), rule.clone());
                }
            }
        }
    }
}
