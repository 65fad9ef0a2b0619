//! The way back: from what was told to what the server asked for.

use serde_json::{Map, Value};

use crate::form::Fault;

/// Where the value of one told field belongs, and how it is read.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The name it was told by.
    pub told: String,
    /// Its own name, and those of the groups around it.
    pub path: Vec<String>,
    pub read: Read,
    /// What an empty answer means, where the person was told so.
    pub default: Option<Value>,
    /// Whether a group around it may be absent as a whole.
    pub optional: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Read {
    /// As it is.
    Plain,
    /// A text that stands for one of these values.
    Option(Vec<(String, Value)>),
    /// `true` adds this value to the list.
    Member(Value),
    /// Texts between commas.
    Commas,
    /// JSON in a text.
    Json,
}

impl Read {
    pub fn value(&self, given: Value) -> Result<Option<Value>, Fault> {
        Ok(match (self, given) {
            (Self::Option(values), Value::String(text)) => {
                let meant = values.iter().find(|(told, _)| *told == text);
                Some(meant.map_or(Value::String(text), |(_, value)| value.clone()))
            }
            (Self::Member(value), Value::Bool(true)) => Some(Value::Array(vec![value.clone()])),
            (Self::Member(_), Value::Bool(false)) => Some(Value::Array(Vec::new())),
            (Self::Member(_), _) => return Err(Fault::NotBoolean),
            (Self::Commas, Value::String(text)) => {
                let parts = text.split(',').map(str::trim);
                let list: Vec<Value> = parts
                    .filter(|part| !part.is_empty())
                    .map(Value::from)
                    .collect();
                (!list.is_empty()).then_some(Value::Array(list))
            }
            (Self::Json, Value::String(text)) if text.trim().is_empty() => None,
            (Self::Json, Value::String(text)) => {
                Some(serde_json::from_str(&text).map_err(|_| Fault::NotJson)?)
            }
            (_, value) => Some(value),
        })
    }
}

impl Way {
    /// Whether a value says something. Programs send `null` for an empty answer, and an empty
    /// text where the person was told what that means.
    pub fn is_said(&self, given: &Value) -> bool {
        let is_empty = given.as_str() == Some("");
        !(given.is_null() || is_empty && self.default.is_some())
    }

    /// Puts a value where it belongs. One switch after the other, a list grows.
    pub fn place(&self, value: Value, values: &mut Map<String, Value>) {
        let Some((last, group)) = self.group(values, true) else {
            return;
        };
        match (group.get_mut(last), value) {
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
            (_, value) => {
                group.insert(last.to_owned(), value);
            }
        }
    }

    /// Puts the default where no value is. A group that nobody touched stays away.
    pub fn place_default(&self, values: &mut Map<String, Value>) {
        if let Some(default) = &self.default
            && let Some((last, group)) = self.group(values, !self.optional)
        {
            group.entry(last).or_insert_with(|| default.clone());
        }
    }

    fn group<'a>(
        &self,
        values: &'a mut Map<String, Value>,
        create: bool,
    ) -> Option<(&str, &'a mut Map<String, Value>)> {
        let (last, groups) = self.path.split_last()?;
        let mut inner = values;
        for group in groups {
            if create {
                inner
                    .entry(group)
                    .or_insert_with(|| Value::Object(Map::new()));
            }
            inner = inner.get_mut(group)?.as_object_mut()?;
        }
        Some((last, inner))
    }
}

/// A value as a text that people read and options are named by.
pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A path as a JSON Pointer.
pub(super) fn pointer(path: &[String]) -> String {
    let escaped = path
        .iter()
        .map(|name| name.replace('~', "~0").replace('/', "~1"));
    escaped.flat_map(|name| ["/".to_owned(), name]).collect()
}
