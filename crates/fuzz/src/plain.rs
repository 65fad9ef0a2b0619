//! The schemas that mean the same to a form and to JSON Schema.
//!
//! Left out is what a form knows better: patterns (another engine), defaults (filled in),
//! decimal steps (exact), groups and whatever becomes a `json` field.

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value};

const ROOT: &[&str] = &[
    "$schema",
    "additionalProperties",
    "description",
    "properties",
    "required",
    "title",
    "type",
];
const TEXT: &[&str] = &[
    "description",
    "enum",
    "format",
    "maxLength",
    "minLength",
    "title",
    "type",
];
const NUMBER: &[&str] = &[
    "description",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maximum",
    "minimum",
    "title",
    "type",
];
const SWITCH: &[&str] = &["description", "title", "type"];
const CHOICES: &[&str] = &[
    "description",
    "items",
    "maxItems",
    "minItems",
    "title",
    "type",
    "uniqueItems",
];
const FORMATS: &[&str] = &["date", "date-time", "email", "uri"];

/// The judge of a plain schema; none when the schema is not plain, or not a schema at all.
pub fn oracle(schema: &str) -> Option<Validator> {
    let schema: Value = serde_json::from_str(schema).ok()?;
    if !is_plain(schema.as_object()?) {
        return None;
    }
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .with_email_options(jsonschema::EmailOptions::default().without_display_text())
        .build(&schema)
        .ok()
}

fn is_plain(schema: &Map<String, Value>) -> bool {
    let fields = schema.get("properties").and_then(Value::as_object);
    has_only(schema, ROOT)
        && schema.get("type").is_some_and(|kind| kind == "object")
        && schema
            .get("additionalProperties")
            .is_none_or(Value::is_boolean)
        && fields.is_some_and(|fields| fields.values().all(is_plain_field))
}

fn is_plain_field(field: &Value) -> bool {
    let Some(field) = field.as_object() else {
        return false;
    };
    match field.get("type").and_then(Value::as_str) {
        Some("string") => has_only(field, TEXT) && has_known_format(field),
        Some("number" | "integer") => has_only(field, NUMBER),
        Some("boolean") => has_only(field, SWITCH),
        Some("array") => {
            has_only(field, CHOICES) && field.get("items").is_some_and(is_list_of_options)
        }
        _ => false,
    }
}

fn is_list_of_options(items: &Value) -> bool {
    items.as_object().is_some_and(|items| {
        has_only(items, &["enum", "type"]) && items.get("type").is_some_and(|kind| kind == "string")
    })
}

fn has_only(schema: &Map<String, Value>, known: &[&str]) -> bool {
    schema.keys().all(|key| known.contains(&key.as_str()))
}

fn has_known_format(field: &Map<String, Value>) -> bool {
    field
        .get("format")
        .is_none_or(|format| format.as_str().is_some_and(|name| FORMATS.contains(&name)))
}
