//! JSON objects that do not talk, and taking known members out of them.

use std::{
    fmt,
    ops::{Deref, DerefMut},
};

use serde_json::{Map, Value};

use super::{Revision, Unreadable, Unsayable};

/// A JSON object with its members in the order they came.
pub type JsonObject = Map<String, Value>;

/// A JSON object whose `Debug` prints member names only.
///
/// Answers, `_meta` and members we do not know may hold what a person typed.
/// Wherever the wire carries such an object, this type does, so that no
/// `{:?}` in a log can print it.
#[derive(Clone, Default, PartialEq)]
pub struct Members(pub JsonObject);

impl Deref for Members {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        &self.0
    }
}

impl DerefMut for Members {
    fn deref_mut(&mut self) -> &mut JsonObject {
        &mut self.0
    }
}

impl From<JsonObject> for Members {
    fn from(object: JsonObject) -> Self {
        Members(object)
    }
}

impl From<Members> for Value {
    fn from(members: Members) -> Self {
        Value::Object(members.0)
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Reads a whole message, which is always an object.
pub(super) fn object(json: Value, message: &'static str) -> Result<JsonObject, Unreadable> {
    match json {
        Value::Object(object) => Ok(object),
        _ => Err(Unreadable::Unfit {
            member: message,
            expected: "a JSON object",
        }),
    }
}

/// Takes a member out. `null` counts as absent: many serializers write it so.
pub(super) fn take(from: &mut JsonObject, member: &str) -> Option<Value> {
    // Not `remove`, which would move the last member into the gap.
    from.shift_remove(member).filter(|value| !value.is_null())
}

/// Takes a text out.
pub(super) fn take_text(
    from: &mut JsonObject,
    member: &'static str,
) -> Result<Option<String>, Unreadable> {
    match take(from, member) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Unreadable::Unfit {
            member,
            expected: "a string",
        }),
    }
}

/// Takes an object out.
pub(super) fn take_members(
    from: &mut JsonObject,
    member: &'static str,
) -> Result<Option<Members>, Unreadable> {
    take(from, member)
        .map(|value| object(value, member).map(Members))
        .transpose()
}

/// A whole number that is not negative. `60000.0` is one: JSON does not tell
/// integers from floats, and some peers compute with the latter.
pub(super) fn millis(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        value
            .as_f64()
            .filter(|n| n.fract() == 0.0 && (0.0..9.0e15).contains(n))
            .map(|n| n as u64)
    })
}

/// Takes `_meta` out. One that is not an object says nothing, and is not worth
/// losing a question or an answer for.
pub(super) fn take_meta(from: &mut JsonObject) -> Option<Members> {
    take_members(from, "_meta").unwrap_or_default()
}

/// Puts a member in.
pub(super) fn put(into: &mut JsonObject, member: &str, value: impl Into<Value>) {
    into.insert(member.to_owned(), value.into());
}

/// Puts a member in if there is one.
pub(super) fn put_some<V: Clone + Into<Value>>(
    into: &mut JsonObject,
    member: &str,
    value: &Option<V>,
) {
    if let Some(value) = value {
        put(into, member, value.clone());
    }
}

/// Puts a member in that a revision does not go without.
pub(super) fn put_required<V: Clone + Into<Value>>(
    into: &mut JsonObject,
    member: &'static str,
    value: &Option<V>,
    revision: Revision,
) -> Result<(), Unsayable> {
    let value = value
        .clone()
        .ok_or(Unsayable::Missing { member, revision })?;
    put(into, member, value);
    Ok(())
}

/// Adds the members we do not know, never over one we wrote.
pub(super) fn put_rest(into: &mut JsonObject, rest: &Members) {
    for (member, value) in rest.iter() {
        into.entry(member.as_str()).or_insert_with(|| value.clone());
    }
}

/// The object at a member, put there if there is none.
pub(super) fn object_at<'a>(parent: &'a mut JsonObject, member: &str) -> &'a mut JsonObject {
    let value = parent.entry(member).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(JsonObject::new());
    }
    match value {
        Value::Object(object) => object,
        _ => unreachable!("it was made an object above"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn debug_prints_names_and_no_values() {
        let members = Members(object(json!({"city": "Lisbon", "n": {"x": 1}}), "it").unwrap());
        assert_eq!(format!("{members:?}"), r#"{"city", "n"}"#);
    }

    #[test]
    fn milliseconds_are_whole_and_not_negative() {
        for (json, expected) in [
            (json!(0), Some(0)),
            (json!(u64::MAX), Some(u64::MAX)),
            (json!(60000.0), Some(60000)),
            (json!(0.5), None),
            (json!(-1), None),
            (json!(-1.0), None),
            (json!(1e300), None),
            (json!("60000"), None),
        ] {
            assert_eq!(millis(&json), expected, "{json}");
        }
    }

    #[test]
    fn the_rest_keeps_its_order_and_never_overrides() {
        let mut object = object(json!({"a": 1, "b": null, "c": 3, "d": 4}), "it").unwrap();
        assert_eq!(take(&mut object, "a"), Some(json!(1)));
        assert_eq!(take(&mut object, "b"), None);
        assert_eq!(object.keys().collect::<Vec<_>>(), ["c", "d"]);

        let mut written = JsonObject::new();
        put(&mut written, "d", "ours");
        put_rest(&mut written, &Members(object));
        assert_eq!(Value::Object(written), json!({"d": "ours", "c": 3}));
    }
}
