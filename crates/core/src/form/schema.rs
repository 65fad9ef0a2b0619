//! A piece of JSON Schema that a form cannot express, kept as it came.
//!
//! The `jsonschema` crate holds values against it. A hostile schema can make a validator
//! recurse or fan out without end through `$ref`, so the fan-out is counted first; what goes
//! in circles, is too large or points outside the schema is not enforced, and says so.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use super::format::addresses;

/// How many schema nodes one value may be held against, `$ref`s followed.
const WIDEST: usize = 10_000;

/// How deep those may lie: a validator goes down by recursion.
const DEEPEST: usize = 128;

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
                let mut walk = Walk {
                    whole: &whole,
                    followed: Vec::new(),
                    left: WIDEST,
                };
                for (name, member) in &self.source {
                    walk.visit(name, member, 0)?;
                }
                jsonschema::options()
                    .should_validate_formats(true)
                    .with_email_options(addresses())
                    .with_pattern_options(PatternOptions::regex().size_limit(LARGEST_PATTERN))
                    .build(&Value::Object(whole))
                    .ok()
            })
            .as_ref()
    }
}

/// Counts the nodes of a schema with every `$ref` followed.
struct Walk<'a> {
    whole: &'a Map<String, Value>,
    followed: Vec<&'a str>,
    left: usize,
}

impl<'a> Walk<'a> {
    /// `None` when the nodes are too many or too deep, go in circles, or lead out of the whole.
    fn visit(&mut self, name: &str, member: &'a Value, depth: usize) -> Option<()> {
        self.spend(1)?;
        let depth = (depth < DEEPEST).then_some(depth + 1)?;
        match (name, member) {
            // Only what is referred to counts, where it is referred to.
            ("$defs" | "definitions", _) => {}
            ("$dynamicRef" | "$recursiveRef" | "$id" | "$anchor", _) => return None,
            ("$ref", Value::String(target)) => {
                if self.followed.contains(&target.as_str()) {
                    return None;
                }
                self.followed.push(target);
                self.visit("", local(target, self.whole)?, depth)?;
                self.followed.pop();
            }
            ("pattern", _) => self.spend(PATTERN)?,
            (_, Value::Object(members)) => {
                if name == "patternProperties" {
                    self.spend(members.len().saturating_mul(PATTERN))?;
                }
                for (name, member) in members {
                    self.visit(name, member, depth)?;
                }
            }
            (_, Value::Array(items)) => {
                for item in items {
                    self.visit("", item, depth)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn spend(&mut self, nodes: usize) -> Option<()> {
        self.left = self.left.checked_sub(nodes)?;
        Some(())
    }
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
