//! What peers send wrongly, and what was made of it.

use serde::Serialize;

/// Something that was mended while reading a schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// A JSON Pointer into the schema.
    pub path: String,
    /// What was mended.
    pub what: Repaired,
}

/// What is mended. Lint and logs say so; a peer's slip is no reason to leave a person unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repaired {
    /// No `type`, and it could be told from the rest.
    TypeMissing,
    /// Options given by `anyOf` where `oneOf` is meant.
    AnyOfForOneOf,
    /// `null` is allowed beside the real type: it stands for an empty answer.
    Nullable,
    /// A `$ref` into the schema itself was followed.
    RefInlined,
    /// `enumNames` has another length than `enum`.
    NamesMismatch,
    /// An option that is there twice, or does not have the field's type.
    OptionDropped,
    /// A required name has no property: any JSON is asked for.
    RequiredUnknown,
}

impl Repaired {
    /// The catalog key that says it.
    pub fn key(self) -> &'static str {
        match self {
            Self::TypeMissing => "mcp.elicitation.lint.type_missing",
            Self::AnyOfForOneOf => "mcp.elicitation.lint.any_of_for_one_of",
            Self::Nullable => "mcp.elicitation.lint.nullable",
            Self::RefInlined => "mcp.elicitation.lint.ref_inlined",
            Self::NamesMismatch => "mcp.elicitation.lint.names_mismatch",
            Self::OptionDropped => "mcp.elicitation.lint.option_dropped",
            Self::RequiredUnknown => "mcp.elicitation.lint.required_unknown",
        }
    }
}
