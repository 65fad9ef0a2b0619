//! Keywords taken out of a sub-schema, each with the type it must have.

use serde_json::{Map, Number, Value};

use super::error::{FormError, nonsense};
use super::pattern::Patterns;
use super::{At, Count, Format, Range, Schema, Step, Text};

type Keywords = Map<String, Value>;

/// Takes the rules of a text.
pub(super) fn text_rules(
    schema: &mut Keywords,
    at: &At<'_>,
    patterns: &mut Patterns,
) -> Result<Text, FormError> {
    Ok(Text {
        min_length: length(schema, "minLength", at)?,
        max_length: length(schema, "maxLength", at)?,
        pattern: text(schema, "pattern", at)?.map(|source| patterns.of(source)),
        format: text(schema, "format", at)?.map(Format::named),
    })
}

/// Takes the rules of a number.
pub(super) fn range(schema: &mut Keywords, at: &At<'_>) -> Result<Range, FormError> {
    let (minimum, above) = bound(schema, "minimum", "exclusiveMinimum", at)?;
    let (maximum, below) = bound(schema, "maximum", "exclusiveMaximum", at)?;
    Ok(Range {
        minimum,
        maximum,
        above,
        below,
        step: step(schema, at)?,
    })
}

/// Takes the rules about how many entries a list has.
pub(super) fn count(schema: &mut Keywords, at: &At<'_>) -> Result<Count, FormError> {
    Ok(Count {
        min: length(schema, "minItems", at)?,
        max: length(schema, "maxItems", at)?,
        unique: match schema.shift_remove("uniqueItems") {
            None => false,
            Some(Value::Bool(unique)) => unique,
            Some(_) => {
                return Err(nonsense(
                    &At::Name(at, "uniqueItems"),
                    "expected true or false",
                ));
            }
        },
    })
}

/// Takes a text.
pub(super) fn text(
    schema: &mut Keywords,
    keyword: &'static str,
    at: &At<'_>,
) -> Result<Option<String>, FormError> {
    match schema.shift_remove(keyword) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(nonsense(&At::Name(at, keyword), "expected a text")),
    }
}

/// Takes a list of texts; none is an empty one.
pub(super) fn texts(
    schema: &mut Keywords,
    keyword: &'static str,
    at: &At<'_>,
) -> Result<Vec<String>, FormError> {
    let wrong = || nonsense(&At::Name(at, keyword), "expected an array of texts");
    match schema.shift_remove(keyword) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(entries)) => entries
            .into_iter()
            .map(|entry| match entry {
                Value::String(text) => Ok(text),
                _ => Err(wrong()),
            })
            .collect(),
        Some(_) => Err(wrong()),
    }
}

fn length(
    schema: &mut Keywords,
    keyword: &'static str,
    at: &At<'_>,
) -> Result<Option<u64>, FormError> {
    let wrong = || {
        nonsense(
            &At::Name(at, keyword),
            "expected a whole number, zero or more",
        )
    };
    match schema.shift_remove(keyword) {
        None => Ok(None),
        Some(Value::Number(number)) => match number.as_u64() {
            Some(length) => Ok(Some(length)),
            // JSON Schema takes 3.0 for 3.
            None => number
                .as_f64()
                .filter(|length| *length >= 0.0 && length.fract() == 0.0)
                .map(|length| Some(length as u64))
                .ok_or_else(wrong),
        },
        Some(_) => Err(wrong()),
    }
}

fn number(
    schema: &mut Keywords,
    keyword: &'static str,
    at: &At<'_>,
) -> Result<Option<Number>, FormError> {
    match schema.shift_remove(keyword) {
        None => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number)),
        Some(_) => Err(nonsense(&At::Name(at, keyword), "expected a number")),
    }
}

/// A bound and its exclusive form. Where that is `true`, as in JSON Schema's draft 4, it says
/// that the bound itself is exclusive.
fn bound(
    schema: &mut Keywords,
    keyword: &'static str,
    exclusive: &'static str,
    at: &At<'_>,
) -> Result<(Option<Number>, Option<Number>), FormError> {
    let inclusive = number(schema, keyword, at)?;
    match schema.get(exclusive) {
        Some(Value::Bool(true)) => {
            schema.shift_remove(exclusive);
            Ok((None, inclusive))
        }
        Some(Value::Bool(false)) => {
            schema.shift_remove(exclusive);
            Ok((inclusive, None))
        }
        _ => Ok((inclusive, number(schema, exclusive, at)?)),
    }
}

fn step(schema: &mut Keywords, at: &At<'_>) -> Result<Option<Step>, FormError> {
    let Some(of) = number(schema, "multipleOf", at)? else {
        return Ok(None);
    };
    if of.as_f64().is_none_or(|of| of <= 0.0) {
        let at = At::Name(at, "multipleOf");
        return Err(nonsense(&at, "expected a number greater than zero"));
    }
    let rule = ("multipleOf".to_owned(), Value::Number(of.clone()));
    let exact = Schema::new(Map::from_iter([rule]), None);
    Ok(Some(Step { of, exact }))
}
