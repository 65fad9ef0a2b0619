//! Whose question it is.

use serde::{Deserialize, Serialize};

/// Whose question it is: a verified user's, perhaps narrowed to a workspace and a conversation.
///
/// The user comes from whoever verified the request. The other two come from configuration or
/// a client's `_meta` and only ever narrow: a scope never reaches beyond its user.
///
/// ```
/// use midcall_core::Scope;
///
/// let ana = Scope::user("ana");
/// let at_work = ana.clone().workspace("acme");
/// assert!(ana.covers(&at_work) && !at_work.covers(&ana));
/// assert!(!ana.covers(&Scope::user("bob").workspace("acme")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The verified user.
    pub user: String,
    /// The workspace, if the question belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The conversation, if the question belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

impl Scope {
    /// Everything of one user.
    pub fn user(user: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            workspace: None,
            conversation: None,
        }
    }

    /// Narrowed to a workspace.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<String>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }

    /// Narrowed to a conversation.
    #[must_use]
    pub fn conversation(mut self, conversation: impl Into<String>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }

    /// Whether what belongs to `other` is seen from here.
    pub fn covers(&self, other: &Self) -> bool {
        let within =
            |mine: &Option<String>, theirs: &Option<String>| mine.is_none() || mine == theirs;
        self.user == other.user
            && within(&self.workspace, &other.workspace)
            && within(&self.conversation, &other.conversation)
    }
}
