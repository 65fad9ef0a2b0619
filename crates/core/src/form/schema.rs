//! A piece of JSON Schema that a form cannot express, kept as it came.
//!
//! The `jsonschema` crate holds values against it. A hostile schema can make a validator
//! recurse or fan out without end through `$ref`, so the fan-out is counted first; what goes
//! in circles, is too large or points outside the schema is not enforced, and says so.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use super::format::addresses;

/// How many schema nodes one value may be held against, `$ref`s followed.
const WIDEST: usize = 10_000;

/// How deep those may lie: a validator goes down by recursion.
const DEEPEST: usize = 128;

/// Bytes of a `$ref`. Looking up a long one costs much each time that it is followed.
const LONGEST_REF: usize = 1_000;

/// A `pattern` inside takes this much of that: compiling one is dear.
const PATTERN: usize = 500;

/// The same for all rules of a form together. Those beyond it are not enforced.
pub(super) const MOST_RULES: usize = WIDEST;

/// Nodes of a schema times nodes of a value: what the rules of a form may cost in one check.
/// What is beyond it passes here, and the server looks at it itself.
const EFFORT: usize = 3_000_000;

/// What holding one field's own default against its rules may cost: each field has one.
const DEFAULT_EFFORT: usize = 30_000;

/// Bytes of one compiled `pattern` inside.
const LARGEST_PATTERN: usize = 128 * 1024;

/// What may still be spent on rules.
#[derive(Debug)]
pub(crate) struct Effort(usize);

impl Default for Effort {
    fn default() -> Self {
        Self(EFFORT)
    }
}

impl Effort {
    /// As much as one default is worth.
    pub fn of_a_default() -> Self {
        Self(DEFAULT_EFFORT)
    }
}

/// A schema kept for what a form cannot express.
#[derive(Clone)]
pub struct Schema {
    source: Map<String, Value>,
    /// The `$defs` (or `definitions`) of the whole, for `$ref`s inside.
    shared: Option<Arc<Map<String, Value>>>,
    compiled: OnceLock<Option<Compiled>>,
}

impl Schema {
    pub(crate) fn new(source: Map<String, Value>, shared: Option<Arc<Map<String, Value>>>) -> Self {
        Self {
            source,
            shared,
            compiled: OnceLock::new(),
        }
    }

    /// The same, taking its nodes off what all rules of a form may have. One that finds too few
    /// left is not enforced; what was spent on seeing that is gone too.
    pub(crate) fn within(
        source: Map<String, Value>,
        shared: Option<Arc<Map<String, Value>>>,
        left: &mut usize,
    ) -> Self {
        let schema = Self::new(source, shared);
        let most = WIDEST.min(*left);
        let nothing = Map::new();
        let mut walk = Walk::new(schema.shared.as_deref().unwrap_or(&nothing), most);
        let bearable = walk.keywords(&schema.source, 0).is_some();
        *left -= most - walk.left;
        if !bearable {
            let _ = schema.compiled.set(None);
        }
        schema
    }

    /// The schema as it came.
    pub fn source(&self) -> &Map<String, Value> {
        &self.source
    }

    /// Whether values are held against it. If not, every value passes here.
    pub fn is_enforced(&self) -> bool {
        self.compiled().is_some()
    }

    /// Whether a value fits; `None` if this schema can't be run, or not on this value with what
    /// is left.
    pub(crate) fn admits(&self, value: &Value, effort: &mut Effort) -> Option<bool> {
        let ready = self.compiled()?;
        (ready.can_bear(value, effort)).then(|| ready.validator.is_valid(value))
    }

    fn compiled(&self) -> Option<&Compiled> {
        self.compiled
            .get_or_init(|| {
                let nothing = Map::new();
                let mut walk = Walk::new(self.shared.as_deref().unwrap_or(&nothing), WIDEST);
                walk.keywords(&self.source, 0)?;
                // `#` is the whole schema, so its definitions go before those that a part has.
                let mut whole = self.source.clone();
                for (place, name) in &walk.used {
                    let mut found = whole.shift_remove(*place).unwrap_or_default();
                    if !found.is_object() {
                        found = Map::new().into();
                    }
                    found[*name] = walk.shared[*place][*name].clone();
                    whole.insert((*place).to_owned(), found);
                }
                let validator = jsonschema::options()
                    .should_validate_formats(true)
                    .with_email_options(addresses())
                    .with_pattern_options(PatternOptions::regex().size_limit(LARGEST_PATTERN))
                    .build(&Value::Object(whole))
                    .ok()?;
                Some(Compiled {
                    validator,
                    nodes: WIDEST - walk.left,
                    patterns: walk.patterns,
                })
            })
            .as_ref()
    }
}

/// A schema ready to run, and what it costs.
#[derive(Clone)]
struct Compiled {
    validator: Validator,
    nodes: usize,
    patterns: bool,
}

impl Compiled {
    /// Whether holding a value against it takes a bearable time, which is then spent.
    fn can_bear(&self, value: &Value, effort: &mut Effort) -> bool {
        let nodes = self.nodes.max(1);
        let most = effort.0 / nodes;
        let mut left = most;
        let bearable = weigh(value, self.patterns, &mut left).is_some();
        if bearable {
            effort.0 -= (most - left) * nodes;
        }
        bearable
    }
}

/// Takes the weight of a value off what is left; `None` when nothing is.
fn weigh(value: &Value, patterns: bool, left: &mut usize) -> Option<()> {
    let weight = match value {
        Value::String(text) if patterns => 1 + text.len(),
        Value::String(text) => 1 + text.len() / 64,
        _ => 1,
    };
    *left = left.checked_sub(weight)?;
    match value {
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| weigh(item, patterns, left)),
        Value::Object(members) => members
            .values()
            .try_for_each(|item| weigh(item, patterns, left)),
        _ => Some(()),
    }
}

/// Counts the nodes of a schema with every `$ref` followed.
struct Walk<'a> {
    shared: &'a Map<String, Value>,
    followed: Vec<&'a str>,
    /// The definitions that are referred to, by the keyword that holds them.
    used: BTreeSet<(&'a str, &'a str)>,
    left: usize,
    patterns: bool,
}

impl<'a> Walk<'a> {
    fn new(shared: &'a Map<String, Value>, left: usize) -> Self {
        Self {
            shared,
            followed: Vec::new(),
            used: BTreeSet::new(),
            left,
            patterns: false,
        }
    }

    /// `None` when the nodes are too many or too deep, go in circles, or lead elsewhere.
    fn schema(&mut self, schema: &'a Value, depth: usize) -> Option<()> {
        self.spend(1)?;
        match schema {
            Value::Object(keywords) => self.keywords(keywords, depth),
            _ => Some(()),
        }
    }

    fn keywords(&mut self, keywords: &'a Map<String, Value>, depth: usize) -> Option<()> {
        let depth = (depth < DEEPEST).then_some(depth + 1)?;
        keywords
            .iter()
            .try_for_each(|(keyword, rule)| match (keyword.as_str(), rule) {
                // Only what is referred to counts, where it is referred to.
                ("$defs" | "definitions", _) => Some(()),
                ("$dynamicRef" | "$recursiveRef" | "$id" | "$anchor" | "$dynamicAnchor", _) => None,
                ("$ref", Value::String(target)) => self.follow(target, depth),
                ("pattern", _) => self.pattern(),
                // What is in here has names, not keywords.
                (
                    "properties" | "patternProperties" | "dependentSchemas" | "dependencies",
                    Value::Object(named),
                ) => named.values().try_for_each(|schema| {
                    if keyword == "patternProperties" {
                        self.pattern()?;
                    }
                    self.schema(schema, depth)
                }),
                ("enum" | "required", Value::Array(values)) => self.spend(values.len()),
                (_, Value::Object(_)) => self.schema(rule, depth),
                (_, Value::Array(schemas)) => schemas
                    .iter()
                    .try_for_each(|schema| self.schema(schema, depth)),
                _ => self.spend(1),
            })
    }

    fn follow(&mut self, target: &'a str, depth: usize) -> Option<()> {
        if self.followed.contains(&target) {
            return None;
        }
        let (place, name, found) = find(target, self.shared)?;
        self.used.insert((place, name));
        self.followed.push(target);
        self.schema(found, depth)?;
        self.followed.pop();
        Some(())
    }

    fn pattern(&mut self) -> Option<()> {
        self.patterns = true;
        self.spend(PATTERN)
    }

    fn spend(&mut self, nodes: usize) -> Option<()> {
        let left = self.left.checked_sub(nodes);
        self.left = left.unwrap_or_default();
        left.map(|_| ())
    }
}

/// What a `$ref` to a definition of the same schema points at. Other places in it and percent
/// signs exist in theory; nobody sends them, and two readings of one pointer would be a way
/// around the count.
pub(super) fn local<'a>(target: &str, shared: &'a Map<String, Value>) -> Option<&'a Value> {
    find(target, shared).map(|(_, _, found)| found)
}

fn find<'a>(target: &str, shared: &'a Map<String, Value>) -> Option<(&'a str, &'a str, &'a Value)> {
    let (place, name) = target.strip_prefix("#/")?.split_once('/')?;
    if name.len() > LONGEST_REF || name.contains(['%', '/']) {
        return None;
    }
    let name = name.replace("~1", "/").replace("~0", "~");
    let (place, definitions) = shared.get_key_value(place)?;
    let (name, found) = definitions.as_object()?.get_key_value(&name)?;
    Some((place, name, found))
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
        assert_eq!(
            pairs.admits(&json!([[1, 2]]), &mut Effort::default()),
            Some(true)
        );
        assert_eq!(
            pairs.admits(&json!([[1]]), &mut Effort::default()),
            Some(false)
        );
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
            assert_eq!(
                schema.admits(&json!(1), &mut Effort::default()),
                None,
                "{why}"
            );
        }
    }
}
