//! From a `requestedSchema` to a form.
//!
//! Any revision's schema is read, and what peers send beside the specification. Each
//! sub-schema is taken apart once: a kind takes the keywords it understands, a rule that no
//! kind understands is kept in `beyond`, and whatever is left goes to `rest` unchanged.
//!
//! Elsewhere: which shape a sub-schema has, before it is taken apart (`shape`).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::check::equal;
use super::keyword::{count, range, text, text_rules, texts};
use super::repair::{Repair, Repaired};
use super::shape::{Shape, has_type, is_rule, without_null};
use super::*;
use crate::limits::Limits;

/// Why a schema is not a form. A pointer says where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// More bytes than [`Limits::schema_bytes`].
    #[error("the schema is {bytes} bytes long; at most {limit} are read")]
    TooLong {
        /// How long it was.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Not JSON, or nested deeper than any form.
    #[error("the schema is not JSON: {0}")]
    NotJson(String),
    /// More fields than [`Limits::fields`].
    #[error("the form has more than {limit} fields")]
    TooManyFields {
        /// How many it may have.
        limit: usize,
    },
    /// More options than [`Limits::options`].
    #[error("at `{path}`: more than {limit} options")]
    TooManyOptions {
        /// A JSON Pointer into the schema.
        path: String,
        /// How many there may be.
        limit: usize,
    },
    /// Something that means nothing.
    #[error("at `{path}`: {why}")]
    Nonsense {
        /// A JSON Pointer into the schema.
        path: String,
        /// What was expected.
        why: &'static str,
    },
}

impl Form {
    /// Reads a schema from its text.
    pub fn read(text: &str, limits: &Limits) -> Result<Self, FormError> {
        if text.len() > limits.schema_bytes {
            return Err(FormError::TooLong {
                bytes: text.len(),
                limit: limits.schema_bytes,
            });
        }
        let schema =
            serde_json::from_str(text).map_err(|error| FormError::NotJson(error.to_string()))?;
        Self::from_value(schema, limits)
    }

    /// Reads a schema that is parsed already.
    pub fn from_value(schema: Value, limits: &Limits) -> Result<Self, FormError> {
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
            shared: (!shared.is_empty()).then(|| Arc::new(shared)),
            repairs: Vec::new(),
        };
        let at = At::Root;
        schema = reader.inline(schema, &at);
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

struct Reader<'a> {
    limits: &'a Limits,
    fields: usize,
    shared: Option<Arc<Map<String, Value>>>,
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
        let mut required = texts(schema, "required", at)?;
        let mut list = Vec::new();
        match schema.shift_remove("properties") {
            None => {}
            Some(Value::Object(properties)) => {
                let at = At::Name(at, "properties");
                for (name, sub) in properties {
                    let others = required.len();
                    required.retain(|other| *other != name);
                    let wanted = required.len() < others;
                    list.push(self.field(name, sub, wanted, &at, depth)?);
                }
            }
            Some(_) => {
                let at = At::Name(at, "properties");
                return Err(nonsense(&at, "expected an object of properties"));
            }
        }
        required.sort_unstable();
        required.dedup();
        for name in required {
            self.repaired(&At::Name(at, "required"), Repaired::RequiredUnknown);
            list.push(self.field(name, Value::Bool(true), true, at, depth)?);
        }
        let extra = match schema.shift_remove("additionalProperties") {
            None | Some(Value::Bool(true)) => Extra::Allowed,
            Some(Value::Bool(false)) => Extra::Refused,
            Some(Value::Object(schema)) => Extra::Fitting(Schema::new(schema, self.shared.clone())),
            Some(_) => {
                let at = At::Name(at, "additionalProperties");
                return Err(nonsense(&at, "expected true, false or a schema"));
            }
        };
        let beyond = self.beyond(schema);
        Ok(Fields::new(list, extra, beyond))
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
        let at = At::Name(parent, &name);
        let mut schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(true) => Map::new(),
            Value::Bool(false) => Map::from_iter([("not".to_owned(), Value::Object(Map::new()))]),
            _ => return Err(nonsense(&at, "expected a schema: an object, true or false")),
        };
        let nullable;
        schema = self.inline(schema, &at);
        (schema, nullable) = without_null(schema);
        if nullable {
            self.repaired(&at, Repaired::Nullable);
            schema = self.inline(schema, &at);
        }
        if let Some(Value::Object(items)) = schema.get_mut("items") {
            *items = self.inline(std::mem::take(items), &At::Name(&at, "items"));
        }
        let shape = Shape::of(&schema, &at)?;
        let title = text(&mut schema, "title", &at)?;
        let description = text(&mut schema, "description", &at)?;
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
            Shape::Text => Kind::Text(text_rules(schema, at)?),
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
                let text = text_rules(&mut items, &At::Name(at, "items"))?;
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
                return Ok(Kind::Json(Schema::new(whole, self.shared.clone())));
            }
        };
        schema.shift_remove("type");
        if !typed {
            self.repaired(at, Repaired::TypeMissing);
        }
        Ok(kind)
    }

    /// The options of a choice, out of whichever keyword has them.
    fn offers(
        &mut self,
        keyword: &'static str,
        schema: &mut Map<String, Value>,
        at: &At<'_>,
    ) -> Result<Offers, FormError> {
        let options = match schema.shift_remove(keyword) {
            Some(Value::Array(options)) => options,
            Some(only) => vec![only],
            None => Vec::new(),
        };
        if options.len() > self.limits.options {
            return Err(FormError::TooManyOptions {
                path: at.pointer(),
                limit: self.limits.options,
            });
        }
        let mut titles = Vec::new();
        if keyword == "enum" {
            titles = texts(schema, "enumNames", at)?;
            if !titles.is_empty() && titles.len() != options.len() {
                self.repaired(&At::Name(at, "enumNames"), Repaired::NamesMismatch);
            }
        }
        let mut titles = titles.into_iter();
        let mut offers: Vec<Offer> = Vec::with_capacity(options.len());
        let kind = schema.get("type").cloned();
        let within = At::Name(at, keyword);
        for (index, option) in options.into_iter().enumerate() {
            let at = At::Index(&within, index);
            let title = titles.next();
            let offer = match option {
                Value::Object(mut option) => Offer {
                    value: option.shift_remove("const").unwrap_or(Value::Null),
                    title: text(&mut option, "title", &at)?,
                    description: text(&mut option, "description", &at)?,
                },
                value => Offer {
                    value,
                    title,
                    description: None,
                },
            };
            let fits = has_type(&offer.value, kind.as_ref());
            if !fits || offers.iter().any(|other| equal(&other.value, &offer.value)) {
                self.repaired(&at, Repaired::OptionDropped);
            } else {
                offers.push(offer);
            }
        }
        if offers.is_empty() {
            return Err(nonsense(&within, "there is no option to choose"));
        }
        Ok(Offers {
            list: offers,
            keyword,
        })
    }

    /// The rules that no kind took, if there are any.
    fn beyond(&self, schema: &Map<String, Value>) -> Option<Schema> {
        schema.keys().any(|name| is_rule(name)).then(|| {
            let rules = schema.iter().filter(|(name, _)| is_rule(name));
            let rules = rules.map(|(name, rule)| (name.clone(), rule.clone()));
            Schema::new(rules.collect(), self.shared.clone())
        })
    }

    /// Follows a `$ref` into the schema itself, keeping the title or default that stands beside
    /// it. A `$ref` with rules beside it, or that leads elsewhere, stays: it is a rule then.
    fn inline(&mut self, mut schema: Map<String, Value>, at: &At<'_>) -> Map<String, Value> {
        const HOPS: usize = 8;
        for _ in 0..HOPS {
            let Some(Value::String(target)) = schema.get("$ref") else {
                break;
            };
            let shared = self.shared.as_deref();
            let Some(Value::Object(found)) = shared.and_then(|all| schema::local(target, all))
            else {
                break;
            };
            if schema.keys().any(|name| name != "$ref" && is_rule(name)) {
                break;
            }
            let mut found = found.clone();
            schema.shift_remove("$ref");
            found.append(&mut schema);
            schema = found;
            self.repaired(at, Repaired::RefInlined);
        }
        schema
    }

    fn repaired(&mut self, at: &At<'_>, what: Repaired) {
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

pub(super) fn nonsense(at: &At<'_>, why: &'static str) -> FormError {
    FormError::Nonsense {
        path: at.pointer(),
        why,
    }
}
