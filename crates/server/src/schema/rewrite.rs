//! What `schemars` says of a type, in the words that MCP has.
//!
//! What has none is left as it is: the form refuses it then, with its path.

use serde_json::{Map, Value};

/// Rewrites the fields of a form or a group.
pub(super) fn fields(schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    let mut optional = Vec::new();
    for (name, field) in properties.iter_mut() {
        if let Value::Object(field) = field
            && rewrite(field)
        {
            optional.push(name.clone());
        }
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !optional.iter().any(|optional| name == optional));
    }
}

/// Rewrites one field; `true` if `null` was a value of it.
fn rewrite(field: &mut Map<String, Value>) -> bool {
    let nullable = without_null(field);
    for keyword in ["format", "title"] {
        // `uint8` and `double` are Rust's words; a nested type's name is no label.
        let is_ours = match keyword {
            "format" => matches!(field.get("type"), Some(Value::String(kind)) if kind != "string"),
            _ => field.contains_key("properties"),
        };
        if is_ours {
            field.shift_remove(keyword);
        }
    }
    choice(field, "oneOf");
    if let Some(Value::Object(items)) = field.get_mut("items") {
        choice(items, "anyOf");
        if items.get("anyOf").is_some() {
            items.shift_remove("type");
        }
    }
    if field.contains_key("default") && field["default"].is_null() {
        field.shift_remove("default");
    }
    fields(field);
    nullable
}

/// Takes `null` out of what a field may be: without a value it is left out instead.
fn without_null(field: &mut Map<String, Value>) -> bool {
    let mut found = false;
    if let Some(Value::Array(kinds)) = field.get_mut("type") {
        let before = kinds.len();
        kinds.retain(|kind| kind != "null");
        found = kinds.len() < before;
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            field.insert("type".into(), only);
        }
    }
    if found && let Some(Value::Array(options)) = field.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    let Some(Value::Array(several)) = field.get_mut("anyOf") else {
        return found;
    };
    let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
    let before = several.len();
    several.retain(|schema| !is_null(schema));
    if several.len() == before {
        return found;
    }
    if several.len() == 1
        && let Some(Value::Object(only)) = several.pop()
    {
        field.shift_remove("anyOf");
        for (keyword, rule) in only {
            field.entry(keyword).or_insert(rule);
        }
    }
    true
}

/// An enum without data, as a choice: with titles from doc comments where it has any.
fn choice(field: &mut Map<String, Value>, keyword: &str) {
    let Some(Value::Array(variants)) = field.get("oneOf") else {
        return;
    };
    let mut options = Vec::new();
    for variant in variants {
        let Some(found) = options_of(variant) else {
            return; // A variant with data: the form will refuse it, with its path.
        };
        options.extend(found);
    }
    field.shift_remove("oneOf");
    field.insert("type".into(), "string".into());
    if options.iter().any(|option| option.len() > 1) {
        for option in &mut options {
            if !option.contains_key("title") {
                let title = option["const"].clone();
                option.insert("title".into(), title);
            }
        }
        field.insert(
            keyword.into(),
            options.into_iter().map(Value::Object).collect(),
        );
    } else {
        let values = options
            .into_iter()
            .filter_map(|mut option| option.remove("const"));
        field.insert("enum".into(), values.collect());
    }
}

fn options_of(variant: &Value) -> Option<Vec<Map<String, Value>>> {
    if let Some(value @ Value::String(_)) = variant.get("const") {
        let mut option = Map::from_iter([("const".to_owned(), value.clone())]);
        let words = |keyword: &str| variant.get(keyword).cloned();
        match (words("title"), words("description")) {
            (Some(title), Some(description)) => {
                option.insert("title".into(), title);
                option.insert("description".into(), description);
            }
            // A doc comment alone is what people should read instead of the name.
            (Some(title), None) | (None, Some(title)) => {
                option.insert("title".into(), title);
            }
            (None, None) => {}
        }
        return Some(vec![option]);
    }
    let values = variant.get("enum")?.as_array()?;
    let plain = |value: &Value| {
        value
            .is_string()
            .then(|| Map::from_iter([("const".to_owned(), value.clone())]))
    };
    values.iter().map(plain).collect()
}
