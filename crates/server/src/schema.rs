//! From a Rust type to the form that people fill in.
//!
//! `schemars` says what `serde` reads. MCP has words for less: everything is inline, a choice is
//! told by `oneOf` with titles, an `Option` is a field that is not required, a number has no
//! format. What still cannot be said after that is refused here, with its path, and not when the
//! first client sees it.
//!
//! In: [`of`]. Elsewhere: how each revision says a form (`midcall_core::wire::Telling`).

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use midcall_core::{Extra, Fields, Form, Kind, Limits};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::error::Unaskable;

/// A form, and the schema it was read from.
#[derive(Debug)]
pub(crate) struct Shape {
    pub form: Form,
    pub source: Map<String, Value>,
}

impl Shape {
    /// Reads a schema in the words of MCP.
    pub fn new(source: Map<String, Value>) -> Result<Self, Unaskable> {
        let form = Form::from_value(Value::Object(source.clone()), &Limits::default())?;
        refuse(&form.fields, "")?;
        if let Some(path) = form.unenforced().into_iter().next() {
            let why = "its rules cannot be enforced in bounded time: simplify its pattern";
            return Err(Unaskable::Field { path, why });
        }
        Ok(Self { form, source })
    }

    /// The same form with what the fields start with.
    pub fn suggesting(&self, content: Map<String, Value>) -> Result<Self, Unaskable> {
        let values = self.form.trim(content.clone().into());
        self.form.check(values).map_err(Unaskable::Default)?;
        let mut source = self.source.clone();
        if let Some(Value::Object(properties)) = source.get_mut("properties") {
            suggest(properties, content);
        }
        Self::new(source)
    }
}

fn suggest(properties: &mut Map<String, Value>, content: Map<String, Value>) {
    for (name, value) in content {
        let Some(Value::Object(field)) = properties.get_mut(&name) else {
            continue;
        };
        match (field.get_mut("properties"), value) {
            (_, Value::Null) => {}
            (Some(Value::Object(inner)), Value::Object(content)) => suggest(inner, content),
            (_, value) => drop(field.insert("default".into(), value)),
        }
    }
}

/// The form of a type. Each type is read once.
pub(crate) fn of<T: JsonSchema + 'static>() -> Result<Arc<Shape>, Unaskable> {
    static KNOWN: LazyLock<RwLock<HashMap<TypeId, Arc<Shape>>>> = LazyLock::new(RwLock::default);
    let id = TypeId::of::<T>();
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(shape) = known.get(&id) {
        return Ok(shape.clone());
    }
    drop(known);
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut source) = schema.to_value() else {
        return Err(Unaskable::NotAForm(T::schema_name().into_owned()));
    };
    let is_form = source.get("type").and_then(Value::as_str) == Some("object")
        && !["oneOf", "anyOf", "allOf", "additionalProperties"]
            .iter()
            .any(|keyword| source.get(*keyword).is_some_and(|rule| rule != false));
    if !is_form {
        return Err(Unaskable::NotAForm(T::schema_name().into_owned()));
    }
    // The type's own name says nothing to a person, unlike its doc comment.
    source.remove("$schema");
    if source.get("title").and_then(Value::as_str) == Some(&T::schema_name()) {
        source.shift_remove("title");
    }
    fields(&mut source);
    let shape = Arc::new(Shape::new(source)?);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.insert(id, shape.clone());
    Ok(shape)
}

/// Rewrites the fields of a form or a group.
fn fields(schema: &mut Map<String, Value>) {
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

const NO_FIELD: &str = "the wire has no field for it. Use texts, numbers, booleans, enums without \
    data, lists of texts or of such enums, or a struct of these";

fn refuse(fields: &Fields, within: &str) -> Result<(), Unaskable> {
    for field in fields {
        let name = field.name.replace('~', "~0").replace('/', "~1");
        let path = format!("{within}/{name}");
        let why = match &field.kind {
            Kind::Json(_) => NO_FIELD,
            Kind::Group(inner) if inner.is_empty() || matches!(inner.extra, Extra::Fitting(_)) => {
                NO_FIELD
            }
            Kind::Group(inner) => {
                refuse(inner, &path)?;
                continue;
            }
            _ if field.beyond.is_some() => {
                "it has rules that the wire cannot say: check them with `must`"
            }
            _ => continue,
        };
        return Err(Unaskable::Field { path, why });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    enum Seat {
        /// By the window
        Window,
        #[schemars(title = "At the bar", description = "No children")]
        Bar,
        Garden,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[schemars(rename_all = "lowercase")]
    enum Plain {
        Red,
        Green,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Address {
        city: String,
    }

    /// Which table?
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Booking {
        #[schemars(length(min = 1, max = 40), regex(pattern = "^[A-Z]"))]
        name: String,
        /// How many come
        #[schemars(range(min = 1, max = 12))]
        guests: u8,
        price: f64,
        seat: Seat,
        other: Option<Seat>,
        plain: Option<Plain>,
        extras: Vec<Plain>,
        seats: Vec<Seat>,
        notes: Option<String>,
        tags: Vec<String>,
        address: Address,
        #[serde(default)]
        dog: bool,
    }

    #[test]
    fn a_type_becomes_what_the_wire_can_say() {
        let shape = of::<Booking>().unwrap();
        let seats = json!([
            {"const": "Garden", "title": "Garden"}, // schemars puts those without words first
            {"const": "Window", "title": "By the window"},
            {"const": "Bar", "title": "At the bar", "description": "No children"},
        ]);
        let expected = json!({
            "description": "Which table?",
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 40, "pattern": "^[A-Z]"},
                "guests": {"description": "How many come", "type": "integer", "minimum": 1, "maximum": 12},
                "price": {"type": "number"},
                "seat": {"type": "string", "oneOf": seats},
                "other": {"type": "string", "oneOf": seats},
                "plain": {"type": "string", "enum": ["red", "green"]},
                "extras": {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}},
                "seats": {"type": "array", "items": {"anyOf": seats}},
                "notes": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "address": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
                "dog": {"type": "boolean", "default": false},
            },
            "required": ["name", "guests", "price", "seat", "extras", "seats", "tags", "address"],
        });
        assert_eq!(Value::Object(shape.source.clone()), expected);
        let names: Vec<_> = shape.form.fields.iter().map(|field| &field.name).collect();
        assert_eq!(
            names[..3],
            ["name", "guests", "price"],
            "in the order of the struct"
        );
    }

    #[test]
    fn what_the_wire_cannot_say_is_refused_with_its_path() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        enum Data {
            Text(String),
            Number(u8),
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Inner {
            data: Data,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Outer {
            inner: Inner,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Map {
            map: HashMap<String, u8>,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Anything {
            any: Value,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct List {
            list: Vec<Inner>,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Tree {
            tree: Vec<Tree>,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Behind {
            #[schemars(regex(pattern = "(?<=a)b"))]
            text: String,
        }
        fn path<T: JsonSchema + 'static>() -> String {
            match of::<T>() {
                Err(Unaskable::Field { path, .. }) => path,
                other => format!("{other:?}"),
            }
        }
        assert_eq!(path::<Outer>(), "/inner/data");
        assert_eq!(path::<Map>(), "/map");
        assert_eq!(path::<Anything>(), "/any");
        assert_eq!(path::<List>(), "/list");
        assert_eq!(path::<Tree>(), "/tree");
        assert_eq!(path::<Behind>(), "/text");
        assert!(matches!(of::<String>(), Err(Unaskable::NotAForm(_))));
        assert!(matches!(of::<Data>(), Err(Unaskable::NotAForm(_))));
        assert!(matches!(
            of::<HashMap<String, u8>>(),
            Err(Unaskable::NotAForm(_))
        ));
    }

    #[test]
    fn a_default_is_each_fields_own() {
        let shape = of::<Address>().unwrap();
        let lisbon = json!({"city": "Lisbon"}).as_object().unwrap().clone();
        let suggesting = shape.suggesting(lisbon).unwrap();
        assert_eq!(suggesting.source["properties"]["city"]["default"], "Lisbon");
        let wrong = json!({"city": 3}).as_object().unwrap().clone();
        assert!(matches!(
            shape.suggesting(wrong),
            Err(Unaskable::Default(_))
        ));
    }
}
