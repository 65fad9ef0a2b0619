//! Why a file can't be read or changed. Each is a sentence in the catalog.

use std::io;

use midcall_core::catalog::Locale;

use super::tree::Unreadable;

/// Why a file can't be read or changed.
#[derive(Debug)]
pub enum Trouble {
    /// The system doesn't let us read it.
    NotReadable(io::Error),
    /// It's a folder, a socket or the like.
    NotAFile,
    /// No configuration is this long.
    TooLong,
    /// It isn't text.
    NotText,
    /// It isn't of its format.
    Broken(Unreadable),
    /// The servers stand there twice.
    Twice(&'static str),
    /// Its owner doesn't want it written.
    ReadOnly,
    /// It has other names, which would keep the old text.
    HardLinks,
    /// Another program wrote it meanwhile.
    Changed,
    /// An edit wouldn't have had the effect it should have.
    Unsure,
    /// The system doesn't let us write it.
    NotWritten(io::Error),
    /// There's no backup, so nothing was changed.
    NoBackup(io::Error),
}

impl Trouble {
    /// What happened, and what to do.
    pub fn say(&self, locale: Locale) -> String {
        let plain = |key| locale.say(key, &[]);
        let because = |key, error: &io::Error| {
            let why = error.to_string();
            locale.say(key, &[("why", (&*why).into())])
        };
        match self {
            Self::NotReadable(error) => {
                because("mcp.elicitation.install.trouble.not_readable", error)
            }
            Self::NotAFile => plain("mcp.elicitation.install.trouble.not_a_file"),
            Self::TooLong => plain("mcp.elicitation.install.trouble.too_long"),
            Self::NotText => plain("mcp.elicitation.install.trouble.not_text"),
            Self::Broken(Unreadable { line, column, why }) => locale.say(
                "mcp.elicitation.install.trouble.broken",
                &[
                    ("line", (*line).into()),
                    ("column", (*column).into()),
                    ("why", (&**why).into()),
                ],
            ),
            Self::Twice(name) => locale.say(
                "mcp.elicitation.install.trouble.twice",
                &[("name", (*name).into())],
            ),
            Self::ReadOnly => plain("mcp.elicitation.install.trouble.read_only"),
            Self::HardLinks => plain("mcp.elicitation.install.trouble.hard_links"),
            Self::Changed => plain("mcp.elicitation.install.trouble.changed"),
            Self::Unsure => plain("mcp.elicitation.install.trouble.unsure"),
            Self::NotWritten(error) => {
                because("mcp.elicitation.install.trouble.not_written", error)
            }
            Self::NoBackup(error) => because("mcp.elicitation.install.trouble.no_backup", error),
        }
    }
}
