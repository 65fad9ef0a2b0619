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
        self.trim(Values(self.fields.fill(values.0)))
    }

    /// Takes out what only stands there because a program put it there: `null` where no value
    /// is, an empty list where none is allowed, a group in which nothing but defaults is. What
    /// must be there and says nothing is put in: a group without values, `null` where it may.
    pub fn trim(&self, mut values: Values) -> Values {
        self.fields.trim(&mut values.0);
        values
    }
}

impl Fields {
    fn fill(&self, mut values: Map<String, Value>) -> Map<String, Value> {
        let mut filled = Map::new();
        for field in self {
            let given = values.shift_remove(&field.name);
            let value = match given.filter(|value| !field.is_blank(value)) {
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

    fn trim(&self, values: &mut Map<String, Value>) {
        for field in self {
            if let (Kind::Group(inner), Some(Value::Object(group))) =
                (&field.kind, values.get_mut(&field.name))
            {
                inner.trim(group);
            }
            match values.get(&field.name) {
                Some(value) if field.is_noise(value) => {
                    values.shift_remove(&field.name);
                }
                None if field.required && field.nullable => {
                    values.insert(field.name.clone(), Value::Null);
                }
                None if field.required && matches!(field.kind, Kind::Group(_)) => {
                    let mut group = Map::new();
                    if let Kind::Group(inner) = &field.kind {
                        inner.trim(&mut group);
                    }
                    values.insert(field.name.clone(), group.into());
                }
                _ => {}
            }
        }
    }

    /// Whether a group of these fields is as a program leaves it that nobody answered.
    fn is_untouched(&self, values: &Map<String, Value>) -> bool {
        let lacks = |field: &Field| field.required && !values.contains_key(&field.name);
        self.iter().any(lacks)
            && values.iter().all(|(name, value)| {
                is_empty(value) || self.get(name).and_then(Field::default) == Some(value)
            })
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
        (!filled.is_empty()).then_some(Value::Object(filled))
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

    /// Whether an empty text or list is an answer here.
    fn offers_empty(&self, empty: &Value) -> bool {
        match &self.kind {
            Kind::Choice(offers) => offers.list.iter().any(|offer| offer.is(empty)),
            // "None of these" is an answer where there must be one, or where leaving it out
            // would mean the default.
            Kind::Choices(_) | Kind::Tags(_) => {
                self.required || (self.suggested.is_some() && self.takes(empty))
            }
            Kind::Json(_) => true,
            _ => self.default() == Some(empty),
        }
    }

    /// Whether a value is a program's way to say that there is none.
    fn is_blank(&self, value: &Value) -> bool {
        value.is_null() && !self.nullable && !matches!(self.kind, Kind::Json(_))
    }

    /// Whether a value of this optional field only stands there because a program put it there.
    fn is_noise(&self, value: &Value) -> bool {
        if self.required {
            return false;
        }
        match (&self.kind, value) {
            (_, value) if self.is_blank(value) => true,
            (Kind::Group(fields), Value::Object(values)) => fields.is_untouched(values),
            // Where an empty text is no answer, it is how many clients say that there is none.
            (_, value) => is_empty(value) && !self.takes(value),
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
            json!({"note": "", "age": 0, "news": false, "size": "", "extras": [], "agree": false,
                   "prefs": {"dark": true}, "other": 1}),
        );
        assert_eq!(
            fill(json!({"address": {"street": "Rua A"}}))["address"],
            json!({"street": "Rua A", "country": "PT"}),
        );
    }
}
