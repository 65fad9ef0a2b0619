//! From a `requestedSchema` to a form.
//!
//! Any revision's schema is read, and what peers send beside the specification. Each
//! sub-schema is taken apart once: a kind takes the keywords it understands, a rule that no
//! kind understands is kept in `beyond`, and whatever is left goes to `rest` unchanged.
//!
//! Elsewhere: what is behind a `$ref` (`inline`), which shape a sub-schema has, before it is taken
//! apart (`shape`), the types of single keywords (`keyword`), the options of a choice (`offers`).

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::nonsense;
use super::keyword::{count, range, text, text_rules, texts};
use super::pattern::Patterns;
use super::repair::{Repair, Repaired};
use super::schema::{Effort, MOST_RULES};
use super::shape::{Shape, is_rule, without_null};
use super::*;
use crate::limits::{Limits, is_within, left};

impl Form {
    /// Reads a schema from its text.
    pub fn read(text: &str, limits: &Limits) -> Result<Self, FormError> {
        if text.len() > limits.schema_bytes {
            return Err(FormError::TooLong {
                limit: limits.schema_bytes,
            });
        }
        let schema =
            serde_json::from_str(text).map_err(|error| FormError::NotJson(error.to_string()))?;
        Self::from_value(schema, limits)
    }

    /// Reads a schema that is parsed already.
    pub fn from_value(schema: Value, limits: &Limits) -> Result<Self, FormError> {
        if !is_within(&schema, limits.schema_bytes) {
            return Err(FormError::TooLong {
                limit: limits.schema_bytes,
            });
        }
        let Value::Object(mut schema) = schema else {
            return Err(nonsense(&At::Root, "the schema must be a JSON object"));
        };
        let shared: Map<String, Value> = ["$defs", "definitions"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), schema.get(name)?.clone())))
            .collect();
        let mut reader = Reader {
            limits,
            fields: 0,
            options: 0,
            words: 0,
            inlined: limits.inlined_bytes,
            rules: MOST_RULES,
            patterns: Patterns::default(),
            shared: (!shared.is_empty()).then(|| Arc::new(shared)),
            repairs: Vec::new(),
        };
        let at = At::Root;
        schema = reader.inline(schema, &at)?;
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => {}
            None => reader.repaired(&at, Repaired::TypeMissing),
            Some(_) => {
                let at = At::Name(&at, "type");
                return Err(nonsense(&at, "a form's own type must be \"object\""));
            }
        }
        schema.shift_remove("type");
        let title = text(&mut schema, "title", &at)?;
        let description = text(&mut schema, "description", &at)?;
        reader.read_words([&title, &description])?;
        let fields = reader.fields(&mut schema, &at, 0)?;
        Ok(Self {
            title,
            description,
            fields,
            repairs: reader.repairs,
            rest: schema,
        })
    }
}

/// More repairs than anybody would read.
const MOST_REPAIRS: usize = 100;

pub(super) struct Reader<'a> {
    pub limits: &'a Limits,
    fields: usize,
    options: usize,
    words: usize,
    /// Bytes that may still be inlined.
    pub inlined: usize,
    /// Nodes of rules that may still be enforced.
    rules: usize,
    patterns: Patterns,
    pub shared: Option<Arc<Map<String, Value>>>,
    repairs: Vec<Repair>,
}

impl Reader<'_> {
    /// Takes `properties` and what belongs to it out of an object schema.
    fn fields(
        &mut self,
        schema: &mut Map<String, Value>,
        at: &At<'_>,
        depth: usize,
    ) -> Result<Fields, FormError> {
        // These are about the other properties too, so that only the whole can be held against
        // them. Names that no field has are theirs to judge then.
        let entangled = ["patternProperties", "unevaluatedProperties"];
        let whole = entangled
            .iter()
            .any(|keyword| schema.contains_key(*keyword))
            .then(|| schema.clone());
        let mut names = texts(schema, "required", at)?;
        let mut required: HashSet<String> = names.iter().cloned().collect();
        let mut list = Vec::new();
        match schema.shift_remove("properties") {
            None => {}
            Some(Value::Object(properties)) => {
                let at = At::Name(at, "properties");
                list.reserve_exact(properties.len().min(self.limits.fields));
                for (name, sub) in properties {
                    let wanted = required.remove(&name);
                    list.push(self.field(name, sub, wanted, &at, depth)?);
                }
            }
            Some(_) => {
                let at = At::Name(at, "properties");
                return Err(nonsense(&at, "expected an object of properties"));
            }
        }
        let extra = match schema.shift_remove("additionalProperties") {
            None | Some(Value::Bool(true)) => Extra::Allowed,
            Some(Value::Bool(false)) => Extra::Refused,
            Some(Value::Object(schema)) => Extra::Fitting(self.rule(schema)),
            Some(_) => {
                let at = At::Name(at, "additionalProperties");
                return Err(nonsense(&at, "expected true, false or a schema"));
            }
        };
        names.retain(|name| required.remove(name)); // Each once, in their order.
        for name in names {
            let sub = match &extra {
                _ if whole.is_some() => Map::new(),
                Extra::Allowed => Map::new(),
                Extra::Refused => Map::from_iter([("not".to_owned(), Map::new().into())]),
                Extra::Fitting(schema) => schema.source().clone(),
            };
            let sub = Value::Object(sub);
            let limit = self.limits.inlined_bytes;
            self.inlined = left(&sub, self.inlined).ok_or(FormError::TooMuchInlined { limit })?;
            let at = At::Name(at, "properties");
            self.repaired(&At::Name(&at, &name), Repaired::RequiredUnknown);
            list.push(self.field(name, sub, true, &at, depth)?);
        }
        Ok(match whole {
            Some(whole) => Fields::new(list, Extra::Allowed, self.beyond(&whole)),
            None => Fields::new(list, extra, self.beyond(schema)),
        })
    }

    fn field(
        &mut self,
        name: String,
        schema: Value,
        required: bool,
        parent: &At<'_>,
        depth: usize,
    ) -> Result<Field, FormError> {
        self.fields += 1;
        if self.fields > self.limits.fields {
            return Err(FormError::TooManyFields {
                limit: self.limits.fields,
            });
        }
        if name.len() > self.limits.name_bytes {
            return Err(FormError::NameTooLong {
                path: parent.pointer(),
                limit: self.limits.name_bytes,
            });
        }
        let at = At::Name(parent, &name);
        let mut schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(true) => Map::new(),
            Value::Bool(false) => Map::from_iter([("not".to_owned(), Value::Object(Map::new()))]),
            _ => return Err(nonsense(&at, "expected a schema: an object, true or false")),
        };
        schema = self.inline(schema, &at)?;
        let mut nullable = false;
        if let Some(real) = without_null(&schema) {
            self.repaired(&at, Repaired::Nullable);
            nullable = self
                .rule(schema)
                .admits(&Value::Null, &mut Effort::default())
                != Some(false);
            schema = self.inline(real, &at)?;
        }
        if let Some(Value::Object(items)) = schema.get_mut("items") {
            *items = self.inline(std::mem::take(items), &At::Name(&at, "items"))?;
        }
        let shape = Shape::of(&schema, &at)?;
        let title = text(&mut schema, "title", &at)?;
        let description = text(&mut schema, "description", &at)?;
        self.read_words([&title, &description])?;
        let suggested = schema.shift_remove("default");
        let kind = self.kind(shape, &mut schema, &at, depth)?;
        let beyond = match kind {
            // A group keeps its own, beside its fields.
            Kind::Group(_) => None,
            _ => self.beyond(&schema),
        };
        Ok(Field {
            title,
            description,
            required,
            nullable,
            suggested,
            kind,
            beyond,
            rest: schema,
            name: name.clone(),
        })
    }

    /// Takes a kind's keywords out of its schema.
    fn kind(
        &mut self,
        shape: Shape,
        schema: &mut Map<String, Value>,
        at: &At<'_>,
        depth: usize,
    ) -> Result<Kind, FormError> {
        let typed = schema.contains_key("type");
        let kind = match shape {
            Shape::Text => Kind::Text(text_rules(schema, at, &mut self.patterns)?),
            Shape::Number => Kind::Number(range(schema, at)?),
            Shape::Integer => Kind::Integer(range(schema, at)?),
            Shape::Switch => Kind::Switch,
            Shape::Choice(options) => {
                if options == "anyOf" {
                    self.repaired(at, Repaired::AnyOfForOneOf);
                }
                Kind::Choice(self.offers(options, schema, at)?)
            }
            Shape::Choices(options) => {
                let within = At::Name(at, "items");
                let mut items = items(schema);
                let offers = self.offers(options, &mut items, &within)?;
                if items.shift_remove("type").is_none() && options == "enum" {
                    self.repaired(&within, Repaired::TypeMissing);
                }
                put_back(items, schema);
                Kind::Choices(Choices {
                    offers,
                    count: count(schema, at)?,
                })
            }
            Shape::Tags => {
                let mut items = items(schema);
                items.shift_remove("type");
                let text = text_rules(&mut items, &At::Name(at, "items"), &mut self.patterns)?;
                put_back(items, schema);
                Kind::Tags(Tags {
                    text,
                    count: count(schema, at)?,
                })
            }
            Shape::Group if depth < self.limits.nesting => {
                schema.shift_remove("type");
                Kind::Group(self.fields(schema, at, depth + 1)?)
            }
            Shape::Group | Shape::Json => {
                let whole = std::mem::take(schema);
                return Ok(Kind::Json(self.rule(whole)));
            }
        };
        schema.shift_remove("type");
        if !typed {
            self.repaired(at, Repaired::TypeMissing);
        }
        Ok(kind)
    }

    /// The rules that no kind took, if there are any.
    fn beyond(&mut self, schema: &Map<String, Value>) -> Option<Schema> {
        // Entries of a list may have words that restrict nothing.
        let is_rule = |(name, rule): &(&String, &Value)| match (name.as_str(), rule) {
            ("items", Value::Object(items)) => items.keys().any(|name| is_rule(name)),
            (name, _) => is_rule(name),
        };
        schema.iter().any(|member| is_rule(&member)).then(|| {
            let rules = schema.iter().filter(is_rule);
            let rules = rules.map(|(name, rule)| (name.clone(), rule.clone()));
            self.rule(rules.collect())
        })
    }

    /// A rule that is enforced, unless the form has had its share of rules already.
    fn rule(&mut self, source: Map<String, Value>) -> Schema {
        Schema::within(source, self.shared.clone(), &mut self.rules)
    }

    /// Counts what people read.
    pub fn read_words<'a>(
        &mut self,
        words: impl IntoIterator<Item = &'a Option<String>>,
    ) -> Result<(), FormError> {
        let words = words.into_iter().flatten();
        self.words += words.map(String::len).sum::<usize>();
        let limit = self.limits.words_bytes;
        match self.words > limit {
            true => Err(FormError::TooManyWords { limit }),
            false => Ok(()),
        }
    }

    /// Counts options.
    pub fn read_options(&mut self, offers: &[Offer]) -> Result<(), FormError> {
        self.options += offers.len();
        let limit = self.limits.options_in_all;
        if self.options > limit {
            return Err(FormError::TooManyOptionsInAll { limit });
        }
        self.words += offers
            .iter()
            .filter_map(|offer| offer.value.as_str())
            .map(str::len)
            .sum::<usize>();
        self.read_words(
            offers
                .iter()
                .flat_map(|offer| [&offer.title, &offer.description]),
        )
    }

    pub fn repaired(&mut self, at: &At<'_>, what: Repaired) {
        if self.repairs.len() >= MOST_REPAIRS {
            return;
        }
        self.repairs.push(Repair {
            path: at.pointer(),
            what,
        });
    }
}

/// The schema of a list's entries, which the shape has seen to be there.
fn items(schema: &mut Map<String, Value>) -> Map<String, Value> {
    match schema.shift_remove("items") {
        Some(Value::Object(items)) => items,
        _ => Map::new(),
    }
}

/// What a list's entries say beyond their kind goes back to where it was.
fn put_back(items: Map<String, Value>, schema: &mut Map<String, Value>) {
    if !items.is_empty() {
        schema.insert("items".into(), Value::Object(items));
    }
}
