//! A configuration file as a tree of values that know where their text is.
//!
//! Edits are made to the text, at these places, so whatever isn't edited stays as it is: comments, order, line ends,
//! indentation. The three formats share one tree, so the rest of `install` knows no format.

mod json;
mod toml;
mod yaml;

use std::ops::Range;

/// A value and where it stands.
#[derive(Clone)]
pub struct Node {
    pub span: Range<usize>,
    pub value: Value,
}

/// What stands there. Numbers, booleans and what can't be edited safely keep their text.
#[derive(Clone)]
pub enum Value {
    Map(Vec<Member>),
    List(Vec<Node>),
    Text(String),
    Other(String),
}

/// A name with its value.
#[derive(Clone)]
pub struct Member {
    pub name: String,
    pub key: Range<usize>,
    pub node: Node,
}

/// The languages that clients write their configuration in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments and trailing commas if there are any.
    Json,
    Toml,
    Yaml,
}

/// Why a text isn't of its format. It tells the place and never the text, which may hold keys.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub line: usize,
    pub column: usize,
    pub why: String,
}

/// Nesting beyond this is refused.
const DEEPEST: usize = 128;

/// How the value null is kept in [`Value::Other`], in any format.
pub const NULL: &str = "null";

impl Format {
    /// Reads a text. `None` if there is nothing but space and comments.
    pub fn read(self, text: &str) -> Result<Option<Node>, Unreadable> {
        let root = match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }?;
        match root {
            Some(root) if root.depth() > DEEPEST => Err(Unreadable {
                line: 1,
                column: 1,
                why: format!("nested deeper than {DEEPEST} levels"),
            }),
            root => Ok(root),
        }
    }

    /// A text as a string of this format.
    pub fn quote(self, text: &str) -> String {
        // The escapes of JSON mean the same in TOML and in YAML's double quotes.
        let quoted = serde_json::Value::from(text).to_string();
        quoted.replace('\u{7f}', "\\u007f") // TOML doesn't take it as it is.
    }

    /// A member's name, and what stands between it and its value.
    pub fn key(self, name: &str) -> String {
        match self {
            Self::Json => format!("\"{name}\""),
            Self::Toml | Self::Yaml => name.to_owned(),
        }
    }

    /// What stands between a name and its value.
    pub fn colon(self) -> &'static str {
        match self {
            Self::Json | Self::Yaml => ": ",
            Self::Toml => " = ",
        }
    }
}

impl Node {
    /// The last member of a name: that's the one that counts for clients.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members().iter().rev().find(|one| one.name == name)
    }

    /// The members, if this is a map.
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Map(members) => members,
            _ => &[],
        }
    }

    /// The items, if this is a list.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// True if a name stands twice in this map, so that it isn't certain which one counts.
    pub fn repeats(&self, name: &str) -> bool {
        self.members().iter().filter(|one| one.name == name).count() > 1
    }

    /// True if both say the same, wherever they stand.
    pub fn same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Map(ours), Value::Map(theirs)) => {
                let same = |(one, other): (&Member, &Member)| {
                    one.name == other.name && one.node.same(&other.node)
                };
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
            }
            (Value::List(ours), Value::List(theirs)) => {
                let same = |(one, other): (&Self, &Self)| one.same(other);
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
            }
            (Value::Text(one), Value::Text(other)) => one == other,
            (Value::Other(one), Value::Other(other)) => one == other,
            _ => false,
        }
    }

    /// How deep it is nested. Readers refuse what is deep enough to matter here.
    fn depth(&self) -> usize {
        let deepest = match &self.value {
            Value::Map(members) => members.iter().map(|one| one.node.depth()).max(),
            Value::List(items) => items.iter().map(Self::depth).max(),
            _ => None,
        };
        1 + deepest.unwrap_or(0)
    }
}

impl Unreadable {
    /// A mistake at an offset in bytes.
    fn at(text: &str, offset: usize, why: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            why: why.into(),
        }
    }
}
