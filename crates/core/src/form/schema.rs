//! A piece of JSON Schema that a form cannot express, kept as it came.
//!
//! The `jsonschema` crate holds values against it. A hostile schema can make a validator
//! recurse or fan out without end through `$ref`, so the fan-out is counted first; what goes
//! in circles, is too large or points outside the schema is not enforced, and says so.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

/// How many schema nodes one value may be held against, `$ref`s followed.
const WIDEST: usize = 10_000;

/// A `pattern` inside takes this much of that: compiling one is dear.
const PATTERN: usize = 500;

/// Bytes of one compiled `pattern` inside.
const LARGEST_PATTERN: usize = 128 * 1024;

/// A schema kept for what a form cannot express.
#[derive(Clone)]
pub struct Schema {
    source: Map<String, Value>,
    /// The `$defs` (or `definitions`) of the whole, for `$ref`s inside.
    shared: Option<Arc<Map<String, Value>>>,
    validator: OnceLock<Option<Validator>>,
}

impl Schema {
    pub(crate) fn new(source: Map<String, Value>, shared: Option<Arc<Map<String, Value>>>) -> Self {
        Self {
            source,
            shared,
            validator: OnceLock::new(),
        }
    }

    /// The schema as it came.
    pub fn source(&self) -> &Map<String, Value> {
        &self.source
    }

    /// Whether values are held against it. If not, every value passes here.
    pub fn is_enforced(&self) -> bool {
        self.validator().is_some()
    }

    pub(crate) fn admits(&self, value: &Value) -> bool {
        self.validator()
            .is_none_or(|validator| validator.is_valid(value))
    }

    fn validator(&self) -> Option<&Validator> {
        self.validator
            .get_or_init(|| {
                let mut whole = self.source.clone();
                for (name, definitions) in self.shared.iter().flat_map(|all| all.iter()) {
                    let place = whole.entry(name.clone());
                    place.or_insert_with(|| definitions.clone());
                }
                let (mut left, mut followed) = (WIDEST, Vec::new());
                for (name, member) in &self.source {
                    width(name, member, &whole, &mut followed, &mut left)?;
                }
                jsonschema::options()
                    .should_validate_formats(true)
                    .with_pattern_options(PatternOptions::regex().size_limit(LARGEST_PATTERN))
                    .build(&Value::Object(whole))
                    .ok()
            })
            .as_ref()
    }
}

/// Counts the nodes of a member with every `$ref` followed; `None` when they are too many, go
/// in circles, or lead out of `whole`.
fn width<'a>(
    name: &str,
    member: &'a Value,
    whole: &'a Map<String, Value>,
    followed: &mut Vec<&'a str>,
    left: &mut usize,
) -> Option<()> {
    *left = left.checked_sub(1)?;
    match (name, member) {
        // Only what is referred to counts, where it is referred to.
        ("$defs" | "definitions", _) => {}
        ("$dynamicRef" | "$recursiveRef" | "$id" | "$anchor", _) => return None,
        ("$ref", Value::String(target)) => {
            if followed.contains(&target.as_str()) {
                return None;
            }
            followed.push(target);
            width("", local(target, whole)?, whole, followed, left)?;
            followed.pop();
        }
        ("pattern", _) => *left = left.checked_sub(PATTERN)?,
        (_, Value::Object(members)) => {
            if name == "patternProperties" {
                *left = left.checked_sub(members.len().saturating_mul(PATTERN))?;
            }
            for (name, member) in members {
                width(name, member, whole, followed, left)?;
            }
        }
        (_, Value::Array(items)) => {
            for item in items {
                width("", item, whole, followed, left)?;
            }
        }
        _ => {}
    }
    Some(())
}

/// What a `$ref` within the same schema points at. The whole itself is no such place: it
/// contains the `$ref`. Percent-encoded pointers exist in theory; nobody sends them.
pub(super) fn local<'a>(target: &str, whole: &'a Map<String, Value>) -> Option<&'a Value> {
    let path = target.strip_prefix("#/")?;
    let end = path.find('/').unwrap_or(path.len());
    whole.get(&path[..end])?.pointer(&path[end..])
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.source).finish()
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.shared == other.shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(source: Value, shared: Value) -> Schema {
        let shared = shared.as_object().cloned().map(Arc::new);
        Schema::new(source.as_object().unwrap().clone(), shared)
    }

    #[test]
    fn values_are_held_against_it() {
        let pairs = schema(
            json!({"type": "array", "items": {"$ref": "#/$defs/pair"}}),
            json!({"$defs": {"pair": {"type": "array", "minItems": 2}}}),
        );
        assert!(pairs.is_enforced());
        assert!(pairs.admits(&json!([[1, 2]])));
        assert!(!pairs.admits(&json!([[1]])));
    }

    #[test]
    fn what_could_run_without_end_is_not_enforced() {
        let mut doubling = Map::new();
        for n in 0..40 {
            let next = format!("#/$defs/d{}", n + 1);
            doubling.insert(
                format!("d{n}"),
                json!({"allOf": [{"$ref": next}, {"$ref": next}]}),
            );
        }
        doubling.insert("d40".into(), json!({"type": "string"}));

        for (source, why) in [
            (json!({"$ref": "#"}), "a circle"),
            (
                json!({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
                "recursion",
            ),
            (json!({"$ref": "https://example.com/schema"}), "elsewhere"),
            (json!({"$ref": "#/$defs/absent"}), "nothing there"),
            (
                json!({"$defs": doubling, "$ref": "#/$defs/d0"}),
                "2^40 paths",
            ),
            (json!({"type": "array", "minItems": "two"}), "not a schema"),
        ] {
            let schema = schema(source, Value::Null);
            assert!(!schema.is_enforced(), "{why}");
            assert!(schema.admits(&json!(1)), "{why}");
        }
    }
}
