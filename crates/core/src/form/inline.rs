//! One way to say what schemas say in several: behind a `$ref`, in a list of one, as `null`.

use serde_json::{Map, Value};

use super::read::Reader;
use super::repair::Repaired;
use super::shape::is_rule;
use super::{At, FormError, schema};
use crate::limits::left;

impl Reader<'_> {
    /// Follows a `$ref` into the schema itself, also one that is wrapped in an `allOf` by
    /// itself, keeping the title or default that stands beside it. With rules beside it, or
    /// where it leads elsewhere, it stays: it is a rule then.
    pub fn inline(
        &mut self,
        mut schema: Map<String, Value>,
        at: &At<'_>,
    ) -> Result<Map<String, Value>, FormError> {
        const HOPS: usize = 8;
        for _ in 0..HOPS {
            let shared = self.shared.as_deref();
            let (keyword, found) = match (schema.get("$ref"), schema.get("allOf")) {
                (Some(Value::String(target)), None) => {
                    ("$ref", shared.and_then(|all| schema::local(target, all)))
                }
                (None, Some(Value::Array(all))) if all.len() == 1 => ("allOf", all.first()),
                _ => break,
            };
            let Some(whole @ Value::Object(found)) = found else {
                break;
            };
            if schema.keys().any(|name| name != keyword && is_rule(name)) {
                break;
            }
            let limit = self.limits.inlined_bytes;
            self.inlined = left(whole, self.inlined).ok_or(FormError::TooMuchInlined { limit })?;
            let mut found = found.clone();
            schema.shift_remove(keyword);
            found.append(&mut schema);
            schema = found;
            if keyword == "$ref" {
                self.repaired(at, Repaired::RefInlined);
            }
        }
        // Some serializers write `null` for what is absent.
        schema.retain(|keyword, rule| {
            !rule.is_null() || matches!(keyword.as_str(), "default" | "const")
        });
        // A list of one type is that type.
        if let Some(Value::Array(types)) = schema.get_mut("type")
            && types.len() == 1
            && let Some(only) = types.pop()
        {
            schema.insert("type".into(), only);
        }
        Ok(schema)
    }
}
