//! What is sent for fields that a person left alone.

use serde_json::{Map, Value};

use super::{Field, Fields, Form, Kind};
use crate::values::Values;

impl Form {
    /// Completes what a person typed.
    ///
    /// A field without a value gets its default, also when that is `false`, `0` or `""`. A text
    /// or list that the person emptied is left out: whether that is a problem is for
    /// [`Form::check`] to say. An empty text is kept only where the form itself offers it.
    pub fn fill(&self, values: Values) -> Values {
        Values(self.fields.fill(values.0))
    }
}

impl Fields {
    fn fill(&self, mut values: Map<String, Value>) -> Map<String, Value> {
        let mut filled = Map::new();
        for field in self {
            let value = match values.shift_remove(&field.name) {
                Some(value) => field.tidy(value),
                None => field.untouched(),
            };
            if let Some(value) = value {
                filled.insert(field.name.clone(), value);
            }
        }
        filled.append(&mut values);
        filled
    }
}

impl Field {
    fn untouched(&self) -> Option<Value> {
        let default = self.default().cloned();
        let Kind::Group(fields) = &self.kind else {
            return default;
        };
        let filled = match default {
            Some(Value::Object(values)) => fields.fill(values),
            _ => fields.fill(Map::new()),
        };
        // An optional group that nobody touched is absent, rather than half filled in with its
        // required fields missing.
        let complete = fields
            .iter()
            .all(|field| !field.required || filled.contains_key(&field.name));
        (self.required || (complete && !filled.is_empty())).then_some(Value::Object(filled))
    }

    fn tidy(&self, value: Value) -> Option<Value> {
        match (&self.kind, value) {
            (Kind::Group(fields), Value::Object(values)) => {
                let filled = fields.fill(values);
                (self.required || !filled.is_empty()).then_some(Value::Object(filled))
            }
            (_, value) if is_empty(&value) && !self.offers_empty(&value) => None,
            (_, value) => Some(value),
        }
    }

    fn offers_empty(&self, empty: &Value) -> bool {
        match &self.kind {
            Kind::Choice(offers) => offers.list.iter().any(|offer| offer.value == *empty),
            // A required list may be empty: "none of these" is an answer.
            Kind::Choices(_) | Kind::Tags(_) if self.required => true,
            Kind::Json(_) => true,
            _ => self.default() == Some(empty),
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use serde_json::json;

    #[test]
    fn what_was_left_alone_is_filled_and_what_was_emptied_is_left_out() {
        let form = Form::from_value(
            json!({"type": "object", "properties": {
                "name": {"type": "string"},
                "note": {"type": "string", "default": ""},
                "city": {"type": "string", "default": "Lisbon"},
                "age": {"type": "integer", "default": 0},
                "news": {"type": "boolean", "default": false},
                "size": {"enum": ["", "S"], "type": "string"},
                "extras": {"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": ["a"]},
                "wrong": {"type": "integer", "default": "seven"},
                "agree": {"type": "boolean"},
                "address": {"type": "object", "properties": {
                    "street": {"type": "string"},
                    "country": {"type": "string", "default": "PT"},
                }, "required": ["street"]},
                "prefs": {"type": "object", "properties": {"dark": {"type": "boolean", "default": true}}},
            }, "required": ["name"]}),
            &Limits::default(),
        )
        .unwrap();
        let fill =
            |typed: Value| Value::Object(form.fill(Values(typed.as_object().unwrap().clone())).0);

        assert_eq!(
            fill(json!({})),
            json!({"note": "", "city": "Lisbon", "age": 0, "news": false, "extras": ["a"],
                   "prefs": {"dark": true}}),
            "a required switch left untouched is not a no, and an untouched group stays away"
        );
        assert_eq!(
            fill(
                json!({"other": 1, "city": "", "name": "", "size": "", "extras": [], "agree": false})
            ),
            json!({"note": "", "age": 0, "news": false, "size": "", "agree": false,
                   "prefs": {"dark": true}, "other": 1}),
        );
        assert_eq!(
            fill(json!({"address": {"street": "Rua A"}}))["address"],
            json!({"street": "Rua A", "country": "PT"}),
        );
    }
}
