//! Which kind of field a sub-schema is, seen before it is taken apart.

use serde_json::{Map, Value};

use super::At;
use super::read::{FormError, nonsense};

/// What a sub-schema will become. A choice names the keyword that has its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Text,
    Number,
    Integer,
    Switch,
    Choice(&'static str),
    Choices(&'static str),
    Tags,
    Group,
    Json,
}

impl Shape {
    pub fn of(schema: &Map<String, Value>, at: &At<'_>) -> Result<Self, FormError> {
        let kind = kind(schema, at)?;
        let options = options(schema, at)?;
        Ok(match (kind, options) {
            (Some("string" | "number" | "integer" | "boolean") | None, Some(keyword)) => {
                Self::Choice(keyword)
            }
            (Some("string"), None) => Self::Text,
            (Some("number"), None) => Self::Number,
            (Some("integer"), None) => Self::Integer,
            (Some("boolean"), None) => Self::Switch,
            (Some("array"), None) => Self::of_list(schema, at)?,
            (Some("object") | None, None) if schema.contains_key("properties") => Self::Group,
            _ => Self::Json,
        })
    }

    fn of_list(schema: &Map<String, Value>, at: &At<'_>) -> Result<Self, FormError> {
        let Some(Value::Object(items)) = schema.get("items") else {
            return Ok(Self::Json);
        };
        let at = At::Name(at, "items");
        Ok(match Self::of(items, &at)? {
            Self::Choice(keyword) => Self::Choices(keyword),
            Self::Text => Self::Tags,
            _ => Self::Json,
        })
    }
}

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "array", "object", "null",
];

/// The one type of a schema; none if it has no `type`, `"any"` if it has several.
fn kind(schema: &Map<String, Value>, at: &At<'_>) -> Result<Option<&'static str>, FormError> {
    let known = |name: &Value| {
        let name = name.as_str()?;
        TYPES.into_iter().find(|known| *known == name)
    };
    let wrong = || nonsense(&At::Name(at, "type"), "expected the name of a JSON type");
    match schema.get("type") {
        None => Ok(None),
        Some(Value::Array(several)) => {
            if several.is_empty() || !several.iter().all(|name| known(name).is_some()) {
                return Err(wrong());
            }
            Ok(Some(match several.as_slice() {
                [only] => known(only).unwrap_or("any"),
                _ => "any",
            }))
        }
        Some(name) => known(name).map(Some).ok_or_else(wrong),
    }
}

/// The keyword that has the options, if the schema is a choice between scalars.
fn options(schema: &Map<String, Value>, at: &At<'_>) -> Result<Option<&'static str>, FormError> {
    for keyword in ["oneOf", "anyOf"] {
        if let Some(options) = schema.get(keyword) {
            let Value::Array(options) = options else {
                return Err(nonsense(
                    &At::Name(at, keyword),
                    "expected an array of schemas",
                ));
            };
            if !options.is_empty() && options.iter().all(is_option) {
                return Ok(Some(keyword));
            }
        }
    }
    match schema.get("enum") {
        Some(Value::Array(options)) if options.is_empty() => {
            return Err(nonsense(
                &At::Name(at, "enum"),
                "there is no option to choose",
            ));
        }
        Some(Value::Array(options)) if options.iter().all(is_scalar) => return Ok(Some("enum")),
        Some(Value::Array(_)) | None => {}
        Some(_) => {
            return Err(nonsense(
                &At::Name(at, "enum"),
                "expected an array of options",
            ));
        }
    }
    Ok(schema
        .get("const")
        .filter(|only| is_scalar(only))
        .map(|_| "const"))
}

/// An option in the long form: `{const, title?, description?}` and nothing that restricts.
fn is_option(option: &Value) -> bool {
    let Value::Object(option) = option else {
        return false;
    };
    option.get("const").is_some_and(is_scalar)
        && option.iter().all(|(name, rule)| match name.as_str() {
            "const" => true,
            "type" => has_type(&option["const"], Some(rule)),
            name => !is_rule(name),
        })
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

/// Whether a value has the type that a schema's `type` names; any, if it names none.
pub(super) fn has_type(value: &Value, kind: Option<&Value>) -> bool {
    match kind.and_then(Value::as_str) {
        None => kind.is_none(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_number().is_some_and(super::number::is_integer),
        Some(_) => false,
    }
}

/// Takes `null` off a schema that allows it beside one real type, as Python's `Optional` does.
/// Whether it was allowed is told.
pub(super) fn without_null(mut schema: Map<String, Value>) -> (Map<String, Value>, bool) {
    if let Some(Value::Array(types)) = schema.get("type")
        && let [Value::String(a), Value::String(b)] = types.as_slice()
        && (a == "null") != (b == "null")
    {
        let real = if a == "null" { b.clone() } else { a.clone() };
        schema.insert("type".into(), Value::String(real));
        let nullable = match schema.get_mut("enum") {
            Some(Value::Array(options)) => {
                let before = options.len();
                options.retain(|option| !option.is_null());
                options.len() < before
            }
            _ => !schema.contains_key("const"),
        };
        return (schema, nullable);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(options)) = schema.get(keyword)
            && let [a, b] = options.as_slice()
            && is_null_schema(a) != is_null_schema(b)
            && let Value::Object(real) = if is_null_schema(a) { b } else { a }
            && schema.keys().all(|name| name == keyword || !is_rule(name))
        {
            let mut real = real.clone();
            schema.shift_remove(keyword);
            real.append(&mut schema);
            return (real, true);
        }
    }
    (schema, false)
}

fn is_null_schema(schema: &Value) -> bool {
    let is_null = |schema: &Map<String, Value>| {
        schema.get("type").and_then(Value::as_str) == Some("null")
            && schema.keys().all(|name| name == "type" || !is_rule(name))
    };
    schema.as_object().is_some_and(is_null)
}

/// Whether a keyword can refuse a value. The others only say something about it.
pub(crate) fn is_rule(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "enum"
            | "const"
            | "$ref"
            | "$dynamicRef"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "minLength"
            | "maxLength"
            | "pattern"
            | "format"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "items"
            | "prefixItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "minItems"
            | "maxItems"
            | "uniqueItems"
            | "unevaluatedItems"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "required"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "minProperties"
            | "maxProperties"
    )
}
