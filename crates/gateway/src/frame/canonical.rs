//! JSON in one order: what it takes to know an object again.

use serde_json::Value;

/// The same JSON, its members in one order.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            members
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
