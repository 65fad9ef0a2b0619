//! What is wrong with a value, in words that do not contain it.

use std::fmt::Write;

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use serde_json::Number;

use crate::catalog::{Locale, Param};

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// A JSON Pointer into the content: `/address/city`.
    pub path: String,
    /// What is wrong there.
    pub fault: Fault,
}

/// What can be wrong with a value. The parameters come from the form, never from the value.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A required field has no value.
    Required,
    /// Not a string.
    NotText,
    /// Not a number.
    NotNumber,
    /// Not a whole number.
    NotInteger,
    /// Neither `true` nor `false`.
    NotBoolean,
    /// Not an array.
    NotList,
    /// Not an object.
    NotGroup,
    /// Fewer characters than the form wants.
    TooShort(u64),
    /// More characters than the form takes.
    TooLong(u64),
    /// Does not match the field's pattern.
    Pattern,
    /// Not an e-mail address.
    Email,
    /// Not an absolute URI.
    Uri,
    /// Not a day of the calendar.
    Date,
    /// Not a day and time with an offset.
    DateTime,
    /// Does not have another format that the field names.
    Format(String),
    /// Below the least value.
    TooSmall(Number),
    /// Above the greatest value.
    TooLarge(Number),
    /// Not greater than this.
    NotAbove(Number),
    /// Not less than this.
    NotBelow(Number),
    /// Not a multiple of this.
    NotMultiple(Number),
    /// A whole number beyond 64 bits, whose last digits are lost already.
    TooLargeToKeep,
    /// None of the options.
    NotAnOption,
    /// Fewer entries than the form wants.
    TooFew(u64),
    /// More entries than the form takes.
    TooMany(u64),
    /// The same entry twice.
    Duplicate,
    /// A name that the form does not know and does not allow.
    UnknownField,
    /// Text that should be JSON and is not.
    NotJson,
    /// JSON that does not fit the field's own schema.
    JsonUnfit,
    /// More bytes than are taken.
    TooBig,
}

impl Problem {
    pub(crate) fn new(path: impl Into<String>, fault: Fault) -> Self {
        Self {
            path: path.into(),
            fault,
        }
    }

    /// The catalog key that says it: `mcp.elicitation.problem.<name>`.
    pub fn key(&self) -> &'static str {
        self.fault.key()
    }
}

impl Fault {
    /// The catalog key that says it: `mcp.elicitation.problem.<name>`.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Required => "mcp.elicitation.problem.required",
            Self::NotText => "mcp.elicitation.problem.not_text",
            Self::NotNumber => "mcp.elicitation.problem.not_number",
            Self::NotInteger => "mcp.elicitation.problem.not_integer",
            Self::NotBoolean => "mcp.elicitation.problem.not_boolean",
            Self::NotList => "mcp.elicitation.problem.not_list",
            Self::NotGroup => "mcp.elicitation.problem.not_group",
            Self::TooShort(_) => "mcp.elicitation.problem.too_short",
            Self::TooLong(_) => "mcp.elicitation.problem.too_long",
            Self::Pattern => "mcp.elicitation.problem.pattern",
            Self::Email => "mcp.elicitation.problem.email",
            Self::Uri => "mcp.elicitation.problem.uri",
            Self::Date => "mcp.elicitation.problem.date",
            Self::DateTime => "mcp.elicitation.problem.date_time",
            Self::Format(_) => "mcp.elicitation.problem.format",
            Self::TooSmall(_) => "mcp.elicitation.problem.too_small",
            Self::TooLarge(_) => "mcp.elicitation.problem.too_large",
            Self::NotAbove(_) => "mcp.elicitation.problem.not_above",
            Self::NotBelow(_) => "mcp.elicitation.problem.not_below",
            Self::NotMultiple(_) => "mcp.elicitation.problem.not_multiple",
            Self::TooLargeToKeep => "mcp.elicitation.problem.too_large_to_keep",
            Self::NotAnOption => "mcp.elicitation.problem.not_an_option",
            Self::TooFew(_) => "mcp.elicitation.problem.too_few",
            Self::TooMany(_) => "mcp.elicitation.problem.too_many",
            Self::Duplicate => "mcp.elicitation.problem.duplicate",
            Self::UnknownField => "mcp.elicitation.problem.unknown_field",
            Self::NotJson => "mcp.elicitation.problem.not_json",
            Self::JsonUnfit => "mcp.elicitation.problem.json_unfit",
            Self::TooBig => "mcp.elicitation.problem.too_big",
        }
    }

    /// The parameter of that text, if it has one. Limits that are counted are called `count`,
    /// so that the catalog can choose between singular and plural.
    pub fn param(&self) -> Option<(&'static str, Param<'_>)> {
        Some(match self {
            Self::TooShort(count)
            | Self::TooLong(count)
            | Self::TooFew(count)
            | Self::TooMany(count) => ("count", Param::from(*count)),
            Self::TooSmall(min) | Self::NotAbove(min) => ("min", Param::from(min)),
            Self::TooLarge(max) | Self::NotBelow(max) => ("max", Param::from(max)),
            Self::NotMultiple(of) => ("of", Param::from(of)),
            Self::Format(name) => ("format", Param::from(name.as_str())),
            _ => return None,
        })
    }

    /// What a person is told.
    pub fn say(&self, locale: Locale) -> String {
        locale.say(self.key(), self.param().as_slice())
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Params<'a>(&'a Fault);
        impl Serialize for Params<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                if let Some((name, value)) = self.0.param() {
                    map.serialize_entry(name, &value)?;
                }
                map.end()
            }
        }
        let mut out = serializer.serialize_struct("Problem", 3)?;
        out.serialize_field("path", &self.path)?;
        out.serialize_field("key", self.key())?;
        out.serialize_field("params", &Params(&self.fault))?;
        out.end()
    }
}

/// A place in the content or in a schema, written down only when something is wrong there.
#[derive(Clone, Copy)]
pub(crate) enum At<'a> {
    Root,
    Name(&'a At<'a>, &'a str),
    Index(&'a At<'a>, usize),
}

impl At<'_> {
    /// As a JSON Pointer.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        self.write(&mut pointer);
        pointer
    }

    fn write(&self, pointer: &mut String) {
        match self {
            Self::Root => {}
            Self::Name(parent, name) => {
                parent.write(pointer);
                pointer.push('/');
                for c in name.chars() {
                    match c {
                        '~' => pointer.push_str("~0"),
                        '/' => pointer.push_str("~1"),
                        c => pointer.push(c),
                    }
                }
            }
            Self::Index(parent, index) => {
                parent.write(pointer);
                write!(pointer, "/{index}").expect("a String takes every write");
            }
        }
    }
}
