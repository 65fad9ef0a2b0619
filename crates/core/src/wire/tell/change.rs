//! What is said otherwise when a revision lacks the words.

use serde::Serialize;

/// One thing that a revision does not allow, and where it stands in the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// A JSON Pointer into the content: `/address/city`.
    pub path: String,
    /// What became of it.
    pub what: Changed,
}

/// What becomes of things that a revision does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Changed {
    /// A `pattern` is told as a hint.
    PatternAsHint,
    /// An exclusive bound or a step is told as a hint.
    BoundAsHint,
    /// A `default` is told as a hint.
    DefaultAsHint,
    /// A `format` outside the four is left out.
    FormatLeftOut,
    /// The options are given by another keyword.
    OptionsReworded,
    /// The options are numbers or booleans, and are told as texts.
    OptionsAsText,
    /// What explains an option goes into its title.
    OptionExplained,
    /// A choice of several is told as one switch for each option.
    ChoicesAsSwitches,
    /// Free texts are told as one text with commas.
    TagsAsText,
    /// A group is told as fields with longer names.
    GroupFlattened,
    /// JSON is told as a text.
    JsonAsText,
    /// `null` is not offered.
    NullLeftOut,
    /// A rule that no form can express is left out; the answer is held against it later.
    RuleLeftOut,
}

impl Changed {
    /// The catalog key that says it.
    pub fn key(self) -> &'static str {
        match self {
            Self::PatternAsHint => "mcp.elicitation.lint.pattern",
            Self::BoundAsHint => "mcp.elicitation.lint.bound",
            Self::DefaultAsHint => "mcp.elicitation.lint.default",
            Self::FormatLeftOut => "mcp.elicitation.lint.format",
            Self::OptionsReworded => "mcp.elicitation.lint.options_keyword",
            Self::OptionsAsText => "mcp.elicitation.lint.options_type",
            Self::OptionExplained => "mcp.elicitation.lint.option_description",
            Self::ChoicesAsSwitches => "mcp.elicitation.lint.choices",
            Self::TagsAsText => "mcp.elicitation.lint.tags",
            Self::GroupFlattened => "mcp.elicitation.lint.group",
            Self::JsonAsText => "mcp.elicitation.lint.json",
            Self::NullLeftOut => "mcp.elicitation.lint.null",
            Self::RuleLeftOut => "mcp.elicitation.lint.rule",
        }
    }
}
