//! From a Rust type to the form that people fill in.
//!
//! `schemars` says what `serde` reads. MCP has words for less: everything is inline, a choice is
//! told by `oneOf` with titles, an `Option` is a field that is not required, a number has no
//! format. What still cannot be said after that is refused here, with its path, and not when the
//! first client sees it.
//!
//! In: [`of`]. Elsewhere: `schemars`' words in those of MCP (`rewrite`), what can't be asked
//! (`refuse`), a form in the words of a revision (`told`).

mod refuse;
mod rewrite;
mod told;

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, Weak};

use midcall_core::{Fields, Form, Kind, Limits};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::error::Unaskable;
use crate::token;
use refuse::refuse;
pub(crate) use told::Told;

/// A form, and the schema it was read from. No `Debug`: it may start with what somebody typed.
pub(crate) struct Shape {
    pub form: Form,
    pub source: Map<String, Value>,
    told: Mutex<Vec<(told::Words, Arc<Told>)>>,
}

impl Shape {
    /// Reads a schema in the words of MCP.
    pub fn new(source: Map<String, Value>) -> Result<Self, Unaskable> {
        let form = Form::from_value(Value::Object(source.clone()), &Limits::default())?;
        refuse(&form)?;
        let told = Mutex::default();
        Ok(Self { form, source, told })
    }

    /// The same for many calls at once: while one of them has the form, it is not read again.
    pub fn shared(source: Map<String, Value>) -> Result<Arc<Self>, Unaskable> {
        static KNOWN: LazyLock<Mutex<HashMap<[u8; 32], Weak<Shape>>>> =
            LazyLock::new(Mutex::default);
        let source = Value::Object(source);
        let digest = token::digest(source.to_string().as_bytes()); // Fields have an order.
        let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) = lock().get(&digest).and_then(Weak::upgrade) {
            return Ok(shape);
        }
        let Value::Object(source) = source else {
            unreachable!("it was made an object above")
        };
        let shape = Arc::new(Self::new(source)?);
        let mut known = lock();
        if known.len() == known.capacity() {
            known.retain(|_, shape| shape.strong_count() > 0);
            let alive = known.len();
            known.reserve(alive); // Or the next one looks at all of them again.
        }
        known.insert(digest, Arc::downgrade(&shape));
        Ok(shape)
    }

    /// The same form with what the fields start with.
    pub fn suggesting(&self, content: Map<String, Value>) -> Result<Arc<Self>, Unaskable> {
        let values = self.form.trim(content.clone().into());
        self.form.check(values).map_err(Unaskable::Default)?;
        Self::shared(self.starting(content))
    }

    /// The same form with what somebody typed already. What they agree to they agree to anew.
    pub fn recalling(&self, mut typed: Map<String, Value>) -> Result<Self, Unaskable> {
        forget(&self.form.fields, &mut typed);
        Self::new(self.starting(typed))
    }

    fn starting(&self, content: Map<String, Value>) -> Map<String, Value> {
        let mut source = self.source.clone();
        if let Some(Value::Object(properties)) = source.get_mut("properties") {
            suggest(properties, content);
        }
        source
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

/// Leaves out what may not be suggested.
fn forget(fields: &Fields, typed: &mut Map<String, Value>) {
    for field in fields {
        match (&field.kind, typed.get_mut(&field.name)) {
            (Kind::Group(inner), Some(Value::Object(typed))) => forget(inner, typed),
            (Kind::Switch, _) => drop(typed.remove(&field.name)),
            _ => {}
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
    rewrite::fields(&mut source);
    let shape = Arc::new(Shape::new(source)?);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.insert(id, shape.clone());
    Ok(shape)
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
                Err(other) => other.to_string(),
                Ok(_) => "it can be asked".into(),
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
    fn one_question_of_many_calls_is_read_once_and_forgotten_after() {
        let source = |title: &str| {
            let field = json!({"type": "string", "title": title});
            let form = json!({"type": "object", "properties": {"value": field}});
            form.as_object().unwrap().clone()
        };
        let one = Shape::shared(source("Shared?")).unwrap();
        assert!(Arc::ptr_eq(
            &one,
            &Shape::shared(source("Shared?")).unwrap()
        ));
        for other in 0..1_000 {
            let other = Shape::shared(source(&format!("Other {other}?"))).unwrap();
            assert!(!Arc::ptr_eq(&one, &other));
        }
        let fields = |names: [&str; 2]| {
            let fields = names.map(|name| (name.to_owned(), json!({"type": "string"})));
            let fields = Map::from_iter(fields);
            let form = json!({"type": "object", "properties": fields});
            Shape::shared(form.as_object().unwrap().clone()).unwrap()
        };
        let (ab, ba) = (fields(["a", "b"]), fields(["b", "a"]));
        assert!(!Arc::ptr_eq(&ab, &ba), "people see them in their order");
        assert!(Arc::ptr_eq(
            &one,
            &Shape::shared(source("Shared?")).unwrap()
        ));
        let gone = Arc::downgrade(&one);
        drop(one);
        assert!(gone.upgrade().is_none());
        assert!(Shape::shared(source("Shared?")).is_ok());
    }

    #[test]
    fn a_default_is_each_fields_own() {
        let shape = of::<Address>().unwrap();
        let lisbon = json!({"city": "Lisbon"}).as_object().unwrap().clone();
        let suggesting = shape.suggesting(lisbon.clone()).unwrap();
        assert!(Arc::ptr_eq(&suggesting, &shape.suggesting(lisbon).unwrap()));
        assert_eq!(suggesting.source["properties"]["city"]["default"], "Lisbon");
        let wrong = json!({"city": 3}).as_object().unwrap().clone();
        assert!(matches!(
            shape.suggesting(wrong),
            Err(Unaskable::Default(_))
        ));
    }
}
