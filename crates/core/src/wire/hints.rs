//! How a text should be typed, where MCP has no word for it.
//!
//! A schema of MCP knows neither several lines nor a secret nor a placeholder, and strict clients
//! refuse one that says `format: "textarea"`. So it is said beside the schema, in `_meta`, by the
//! pointers of the fields: `{"/story": {"multiline": true, "placeholder": "Once upon a time"}}`,
//! `{"/code": {"secret": true}}`. Where a question is read, hints become the keywords that surfaces
//! know, `format: "textarea"` or `"password"`, and `examples`.
//!
//! A hint changes no rule and no keyword that is there. What is malformed, too long or one too many
//! is passed over: nobody is refused an answer for the sake of how it is typed.
//!
//! In: [`apply`], for [`Elicitation::read`](crate::Elicitation::read). Out: [`Telling::hints`].

use serde_json::{Map, Value, json};

use super::tell::Telling;
use super::{JsonObject, meta};
use crate::form::{Field, Form, Format, Kind, Text};
use crate::limits::{Limits, is_within};

/// The longest placeholder, in characters: what is longer is no example.
const LONGEST: usize = 200;

impl Telling {
    /// What the schema cannot say of its texts, for the question's `_meta`, under [`meta::HINTS`].
    /// Nothing if there is nothing to say.
    pub fn hints(&self, form: &Form) -> Option<JsonObject> {
        let fields = form.walk().into_iter();
        let hints = fields.filter_map(|(path, field)| {
            let name = self.name(&path)?.replace('~', "~0").replace('/', "~1");
            Some((format!("/{name}"), hint(field)?))
        });
        Some(JsonObject::from_iter(hints)).filter(|hints| !hints.is_empty())
    }
}

fn hint(field: &Field) -> Option<Value> {
    let Kind::Text(Text { format, .. }) = &field.kind else {
        return None;
    };
    let mut hint = Map::new();
    match format {
        Some(Format::Textarea) => drop(hint.insert("multiline".into(), true.into())),
        Some(Format::Password) => drop(hint.insert("secret".into(), true.into())),
        _ => {}
    }
    if let Some(example @ Value::String(_)) = field.rest.get("examples").and_then(|all| all.get(0))
    {
        hint.insert("placeholder".into(), example.clone());
    }
    Some(Value::Object(hint)).filter(|hint| hint != &json!({}))
}

/// Writes hints into the schema they are about. `true` if that changed anything.
pub(crate) fn apply(params: &mut Value, limits: &Limits) -> bool {
    let hints = params.get("_meta").and_then(|said| said.get(meta::HINTS));
    let Some(hints) = hints.and_then(Value::as_object) else {
        return false;
    };
    let mut schema = params.get("requestedSchema").cloned().unwrap_or_default();
    let mut changed = false;
    for (path, hint) in hints.iter().take(limits.fields) {
        if let Some(field) = field_at(&mut schema, path, limits) {
            changed |= put(hint, field);
        }
    }
    // A form that fits must not be too large because of how its fields are typed.
    if !changed || !is_within(&schema, limits.schema_bytes) {
        return false;
    }
    params["requestedSchema"] = schema;
    true
}

/// The field that a pointer names, if it is a plain text.
fn field_at<'a>(
    schema: &'a mut Value,
    path: &str,
    limits: &Limits,
) -> Option<&'a mut Map<String, Value>> {
    let names = path.strip_prefix('/')?.split('/');
    let mut at = schema;
    for (depth, name) in names.enumerate() {
        if depth > limits.nesting {
            return None;
        }
        let name = name.replace("~1", "/").replace("~0", "~");
        at = at.get_mut("properties")?.get_mut(&name)?;
    }
    let field = at.as_object_mut()?;
    let is_choice = ["enum", "const", "oneOf", "anyOf"]
        .iter()
        .any(|keyword| field.contains_key(*keyword));
    let is_text = field.get("type").is_some_and(|kind| kind == "string");
    (is_text && !is_choice).then_some(field)
}

fn put(hint: &Value, field: &mut Map<String, Value>) -> bool {
    let before = field.len();
    for (name, format) in [("secret", "password"), ("multiline", "textarea")] {
        if hint.get(name) == Some(&Value::Bool(true)) {
            field.entry("format").or_insert_with(|| format.into());
        }
    }
    let placeholder = hint.get("placeholder").and_then(Value::as_str);
    if let Some(placeholder) = placeholder.filter(|text| text.chars().count() <= LONGEST) {
        field
            .entry("examples")
            .or_insert_with(|| json!([placeholder]));
    }
    field.len() > before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Locale;
    use crate::wire::Revision;
    use crate::{Asker, Elicitation, Wanted};

    fn hinted(properties: Value, hints: Value) -> Value {
        let params = json!({
            "message": "Tell me", "_meta": {meta::HINTS: hints},
            "requestedSchema": {"type": "object", "properties": properties}
        });
        let limits = Limits::default();
        let read = Elicitation::read(&params.to_string(), Asker::named("x"), &limits).unwrap();
        let shown: Value = serde_json::from_str(read.params().get()).unwrap();
        let form = Form::from_value(shown["requestedSchema"].clone(), &limits).unwrap();
        assert_eq!(
            read.wanted,
            Wanted::Form(Box::new(form)),
            "the page and the check agree"
        );
        shown["requestedSchema"]["properties"].clone()
    }

    #[test]
    fn a_hint_becomes_what_surfaces_know() {
        let properties = json!({
            "story": {"type": "string"}, "code": {"type": "string", "maxLength": 4},
            "a/b": {"type": "object", "properties": {"c~": {"type": "string"}}}
        });
        let hints = json!({
            "/story": {"multiline": true}, "/code": {"placeholder": "AB12", "multiline": false},
            "/a~1b/c~0": {"multiline": true, "placeholder": "x"}
        });
        let expected = json!({
            "story": {"type": "string", "format": "textarea"},
            "code": {"type": "string", "maxLength": 4, "examples": ["AB12"]},
            "a/b": {"type": "object", "properties":
                {"c~": {"type": "string", "format": "textarea", "examples": ["x"]}}}
        });
        assert_eq!(hinted(properties, hints), expected);
    }

    #[test]
    fn a_hint_changes_no_rule_and_an_odd_one_is_passed_over() {
        let properties = json!({
            "mail": {"type": "string", "format": "email", "examples": ["a@example.com"]},
            "colour": {"type": "string", "enum": ["red"]},
            "count": {"type": "integer"}, "sure": {"type": "boolean"}
        });
        let all = json!({"multiline": true, "placeholder": "x"});
        let too_long = "x".repeat(LONGEST + 1);
        for hints in [
            json!({"/mail": all, "/colour": all, "/count": all, "/sure": all, "/none": all, "": all, "mail": all}),
            json!({"/colour/enum": all, "/": all, "//": all, "/mail/properties/x": all}),
            json!({"/mail": "junk", "/colour": null, "/count": []}),
            json!([]),
            json!("junk"),
            json!(null),
        ] {
            assert_eq!(
                hinted(properties.clone(), hints.clone()),
                properties,
                "{hints}"
            );
        }
        let name = json!({"name": {"type": "string"}});
        for hint in [
            json!({"placeholder": too_long}),
            json!({"placeholder": 3}),
            json!({"multiline": "yes", "secret": 1}),
            json!({"format": "email", "maxLength": 1, "pattern": "^$", "title": "Password"}),
        ] {
            assert_eq!(hinted(name.clone(), json!({"/name": hint})), name, "{hint}");
        }
    }

    #[test]
    fn so_many_hints_and_no_more() {
        let limits = Limits {
            fields: 2,
            nesting: 1,
            schema_bytes: 500,
            ..Limits::default()
        };
        let field = json!({"type": "string"});
        let schema = json!({"type": "object", "properties": {"a": field, "b": field, "c": field,
            "d": {"type": "object", "properties": {"e": {"type": "object", "properties": {"f": field}}}}}});
        let read = |hints: Value| {
            let mut params = json!({"_meta": {meta::HINTS: hints}, "requestedSchema": schema});
            apply(&mut params, &limits).then(|| params["requestedSchema"]["properties"].clone())
        };
        let lines = json!({"multiline": true});
        let shown = read(json!({"/a": lines, "/b": lines, "/c": lines})).unwrap();
        assert_eq!(shown["b"]["format"], "textarea");
        assert_eq!(shown["c"], field);
        assert_eq!(
            read(json!({"/d/e/f": lines})),
            None,
            "deeper than fields are"
        );
        let long = json!({"placeholder": "x".repeat(LONGEST)});
        assert!(read(json!({"/a": long})).is_some());
        assert_eq!(
            read(json!({"/a": long, "/b": long})),
            None,
            "the form would be too long"
        );
    }

    #[test]
    fn what_was_told_is_read_back() {
        let schema = json!({"type": "object", "properties": {
            "story": {"type": "string", "format": "textarea", "examples": ["Once", "Twice"]},
            "mail": {"type": "string", "format": "email"},
            "code": {"type": "string", "format": "password"},
            "count": {"type": "integer", "examples": [3]},
            "home": {"type": "object", "properties": {"way": {"type": "string", "format": "textarea"}}}
        }});
        let form = Form::from_value(schema, &Limits::default()).unwrap();
        for revision in [
            Revision::V2025_06_18,
            Revision::V2025_11_25,
            Revision::V2026_07_28,
        ] {
            let telling = Telling::of(&form, revision, Locale::EnUs);
            let hints = telling.hints(&form).unwrap();
            let expected = json!({
                "/story": {"multiline": true, "placeholder": "Once"},
                "/code": {"secret": true},
                "/home.way": {"multiline": true}
            });
            assert_eq!(Value::Object(hints.clone()), expected);
            let shown = hinted(telling.schema["properties"].clone(), Value::Object(hints));
            assert_eq!(shown["home.way"]["format"], "textarea", "{revision}");
            assert_eq!(shown["code"]["format"], "password", "nobody sees it typed");
        }
        let plain = Form::from_value(json!({"type": "object"}), &Limits::default()).unwrap();
        let telling = Telling::of(&plain, Revision::V2025_11_25, Locale::EnUs);
        assert_eq!(telling.hints(&plain), None);
    }
}
