//! Which kind of field a sub-schema is, seen before it is taken apart.

use serde_json::{Map, Value};

use super::At;
use super::error::{FormError, nonsense};

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
        // These change what `items` is about.
        if schema.contains_key("prefixItems") || schema.contains_key("unevaluatedItems") {
            return Ok(Self::Json);
        }
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

/// The one type of a schema; none if it has no `type`, `"any"` if it has several. A list of
/// one was taken out of its list before.
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
            Ok(Some("any"))
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

/// Options in the long form: `{const, title?, description?}`, or several without words of
/// their own in `{enum}`, and nothing else that restricts.
fn is_option(option: &Value) -> bool {
    let Value::Object(option) = option else {
        return false;
    };
    let values = match (option.get("const"), option.get("enum")) {
        (Some(only), None) => std::slice::from_ref(only),
        (None, Some(Value::Array(several))) => several,
        _ => return false,
    };
    values.iter().all(is_scalar)
        && option.iter().all(|(name, rule)| match name.as_str() {
            "const" | "enum" => true,
            "type" => values.iter().all(|value| has_type(value, Some(rule))),
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
/// Nothing if it is no such schema. Whether `null` is really allowed, with everything else
/// that the schema says, is for the caller to find out.
pub(super) fn without_null(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    if let Some(Value::Array(types)) = schema.get("type")
        && let [Value::String(a), Value::String(b)] = types.as_slice()
        && (a == "null") != (b == "null")
    {
        let mut schema = schema.clone();
        let real = if a == "null" { b } else { a };
        schema.insert("type".into(), real.as_str().into());
        drop_null_option(&mut schema);
        let is_empty = |options: &Value| options.as_array().is_some_and(Vec::is_empty);
        return (!schema.get("enum").is_some_and(is_empty)).then_some(schema);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(options)) = schema.get(keyword)
            && let [a, b] = options.as_slice()
            && is_null_schema(a) != is_null_schema(b)
            && let Value::Object(real) = if is_null_schema(a) { b } else { a }
            && schema.keys().all(|name| name == keyword || !is_rule(name))
        {
            let mut real = real.clone();
            let beside = schema.iter().filter(|(name, _)| *name != keyword);
            real.extend(beside.map(|(name, value)| (name.clone(), value.clone())));
            return Some(real);
        }
    }
    None
}

/// Takes `null` out of the options, and its name with it.
fn drop_null_option(schema: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = schema.get_mut("enum") else {
        return;
    };
    let nulls: Vec<bool> = options.iter().map(Value::is_null).collect();
    options.retain(|option| !option.is_null());
    if let Some(Value::Array(names)) = schema.get_mut("enumNames")
        && names.len() == nulls.len()
    {
        let mut is_null = nulls.iter();
        names.retain(|_| is_null.next() == Some(&false));
    }
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
