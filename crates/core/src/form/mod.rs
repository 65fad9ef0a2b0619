//! What a server wants to know, field by field.
//!
//! A [`Form`] is read from a `requestedSchema` of any revision ([`Form::read`]). Values are
//! held against it ([`Form::check`]), and what a person left alone is filled in
//! ([`Form::fill`]). What a form cannot express becomes a field that takes JSON and keeps its
//! own schema, so that nothing a server asks for is silently dropped.
//!
//! Elsewhere: how a form is said in an older revision ([`wire::Telling`](crate::wire::Telling)).

mod check;
mod error;
mod fill;
mod format;
mod inline;
mod keyword;
mod number;
mod offers;
mod pattern;
mod problem;
mod read;
mod repair;
mod rules;
mod schema;
mod shape;

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use crate::secret::{self, Secret};
use crate::wire::mark::MARK;

pub use error::FormError;
pub use format::{Format, OtherFormat};
pub use pattern::Pattern;
pub use problem::{Fault, Problem};
pub use repair::{Repair, Repaired};
pub use schema::Schema;

pub(crate) use number::order;
pub(crate) use problem::At;
pub(crate) use shape::is_rule;

/// What a server wants a person to fill in. Without fields it is a question to approve or
/// refuse.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The schema's own title.
    pub title: Option<String>,
    /// The schema's own description.
    pub description: Option<String>,
    /// What is asked, in the order it was sent.
    pub fields: Fields,
    /// What was mended while reading: peers do not always send what they mean.
    pub repairs: Vec<Repair>,
    /// Keywords this crate has no use for, as they came.
    pub rest: Map<String, Value>,
}

/// The fields of a form or of a group, in the order they were sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    list: Vec<Field>,
    /// Only for many fields: a few are found faster by looking at each.
    places: Option<HashMap<String, usize>>,
    required: usize,
    /// Whether names that are not among the fields may have values.
    pub extra: Extra,
    /// What else the whole must fit, beyond its fields.
    pub beyond: Option<Schema>,
}

/// What `additionalProperties` says.
#[derive(Clone, Debug, PartialEq)]
pub enum Extra {
    /// Other names are let through.
    Allowed,
    /// Other names are a problem.
    Refused,
    /// Other names are let through if their values fit.
    Fitting(Schema),
}

/// One thing that is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The property's name.
    pub name: String,
    /// What people should read instead of the name.
    pub title: Option<String>,
    /// Help for people.
    pub description: Option<String>,
    /// Whether there must be a value.
    pub required: bool,
    /// Whether `null` is a value too.
    pub nullable: bool,
    /// The `default` as it came. [`Field::default`] says whether it can be used.
    pub suggested: Option<Value>,
    /// What kind of value it takes.
    pub kind: Kind,
    /// What else a value must fit, beyond its kind.
    pub beyond: Option<Schema>,
    /// Keywords this crate has no use for, as they came.
    pub rest: Map<String, Value>,
}

/// The kinds of fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A text of one or several lines.
    Text(Text),
    /// A number.
    Number(Range),
    /// A whole number.
    Integer(Range),
    /// Yes or no.
    Switch,
    /// One of several options.
    Choice(Offers),
    /// Some of several options.
    Choices(Choices),
    /// Any number of free texts.
    Tags(Tags),
    /// Fields within a field.
    Group(Fields),
    /// Whatever else: a JSON value that fits a schema.
    Json(Schema),
}

/// Rules for a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// Least number of characters.
    pub min_length: Option<u64>,
    /// Greatest number of characters.
    pub max_length: Option<u64>,
    /// What it must match.
    pub pattern: Option<Pattern>,
    /// What it must be, or how it should be typed.
    pub format: Option<Format>,
}

/// Rules for a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// Least value.
    pub minimum: Option<Number>,
    /// Greatest value.
    pub maximum: Option<Number>,
    /// What it must be greater than.
    pub above: Option<Number>,
    /// What it must be less than.
    pub below: Option<Number>,
    /// What it must be a multiple of.
    pub step: Option<Step>,
}

/// What a number must be a multiple of.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    of: Number,
    /// Fractions are left to the `jsonschema` crate, which reads 0.1 as one tenth.
    exact: Schema,
}

/// The options of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Offers {
    /// What can be chosen, in the order it was sent.
    pub list: Vec<Offer>,
    /// The keyword they came in: the revisions of the protocol differ in it.
    pub keyword: &'static str,
}

/// One option of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// What is sent: a string, or in some peers' forms a number or a boolean.
    pub value: Value,
    /// What people read instead.
    pub title: Option<String>,
    /// Help for people.
    pub description: Option<String>,
}

/// Rules for a choice of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// What can be chosen.
    pub offers: Offers,
    /// How many.
    pub count: Count,
}

/// Rules for a list of free texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Tags {
    /// What each must be.
    pub text: Text,
    /// How many.
    pub count: Count,
}

/// How many entries a list takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Count {
    /// At least so many.
    pub min: Option<u64>,
    /// At most so many.
    pub max: Option<u64>,
    /// No entry twice.
    pub unique: bool,
}

impl Form {
    /// Every field with its JSON Pointer, those inside groups after their group.
    pub fn walk(&self) -> Vec<(String, &Field)> {
        fn visit<'a>(fields: &'a Fields, at: &At<'_>, found: &mut Vec<(String, &'a Field)>) {
            for field in fields.iter() {
                let at = At::Name(at, &field.name);
                found.push((at.pointer(), field));
                if let Kind::Group(inner) = &field.kind {
                    visit(inner, &at, found);
                }
            }
        }
        let mut found = Vec::new();
        visit(&self.fields, &At::Root, &mut found);
        found
    }

    /// The pointers of rules that values are not held against, because they cannot be run in
    /// bounded time or are not understood.
    pub fn unenforced(&self) -> Vec<String> {
        let mut found = Vec::new();
        if !self.fields.is_enforced() {
            found.push(String::new());
        }
        for (path, field) in self.walk() {
            if !field.is_enforced() {
                found.push(path);
            }
        }
        found
    }
}

impl Fields {
    /// From how many fields on a map pays off.
    const MANY: usize = 16;

    pub(crate) fn new(list: Vec<Field>, extra: Extra, beyond: Option<Schema>) -> Self {
        let places = (list.len() > Self::MANY).then(|| {
            let named = list.iter().enumerate();
            named.map(|(at, field)| (field.name.clone(), at)).collect()
        });
        Self {
            places,
            required: list.iter().filter(|field| field.required).count(),
            list,
            extra,
            beyond,
        }
    }

    /// The fields in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Field> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The field of that name.
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.place(name).map(|at| &self.list[at])
    }

    fn place(&self, name: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(name).copied(),
            None => self.list.iter().position(|field| field.name == name),
        }
    }

    fn is_enforced(&self) -> bool {
        let extra = match &self.extra {
            Extra::Fitting(schema) => schema.is_enforced(),
            Extra::Allowed | Extra::Refused => true,
        };
        extra && self.beyond.as_ref().is_none_or(Schema::is_enforced)
    }
}

impl<'a> IntoIterator for &'a Fields {
    type Item = &'a Field;
    type IntoIter = std::slice::Iter<'a, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Field {
    /// What people read: the title, else the name.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// The value the field starts with: its `default`, if that is a value it takes itself.
    pub fn default(&self) -> Option<&Value> {
        self.suggested
            .as_ref()
            .filter(|value| (!value.is_null() || self.nullable) && self.takes(value))
    }

    /// The kind of secret it asks for, by its words or by a mark, if it does. Such a field is
    /// masked, and a policy may refuse it: secrets belong in URL mode.
    pub fn secret(&self) -> Option<Secret> {
        let format = match &self.kind {
            Kind::Text(text) => text.format.as_ref().map(Format::name),
            Kind::Number(_) | Kind::Integer(_) | Kind::Tags(_) | Kind::Json(_) => None,
            Kind::Switch | Kind::Choice(_) | Kind::Choices(_) | Kind::Group(_) => return None,
        };
        let marked = self.rest.get(MARK).and_then(Value::as_str);
        secret::asks(
            &self.name,
            self.title.as_deref(),
            self.description.as_deref(),
            format,
        )
        .or_else(|| Secret::named(marked?))
    }

    fn is_enforced(&self) -> bool {
        let kind = match &self.kind {
            Kind::Text(text) | Kind::Tags(Tags { text, .. }) => {
                text.pattern.as_ref().is_none_or(Pattern::is_enforced)
            }
            Kind::Group(fields) => fields.is_enforced(),
            Kind::Json(schema) => schema.is_enforced(),
            _ => true,
        };
        kind && self.beyond.as_ref().is_none_or(Schema::is_enforced)
    }
}

impl Kind {
    /// The word for it, as documents and `midcall lint --json` use it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Number(_) => "number",
            Self::Integer(_) => "integer",
            Self::Switch => "switch",
            Self::Choice(_) => "choice",
            Self::Choices(_) => "choices",
            Self::Tags(_) => "tags",
            Self::Group(_) => "group",
            Self::Json(_) => "json",
        }
    }
}

impl Offers {
    /// Whether all values are strings, as the protocol wants.
    pub fn are_texts(&self) -> bool {
        self.list.iter().all(|offer| offer.value.is_string())
    }
}

impl Offer {
    /// What people read: the title, else the value.
    pub fn label(&self) -> String {
        match (&self.title, &self.value) {
            (Some(title), _) => title.clone(),
            (None, Value::String(text)) => text.clone(),
            (None, value) => value.to_string(),
        }
    }
}

impl Step {
    /// The number itself.
    pub fn of(&self) -> &Number {
        &self.of
    }
}
