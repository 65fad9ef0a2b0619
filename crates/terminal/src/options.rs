//! How a person is asked.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use jiff::tz::TimeZone;
use midcall_core::catalog::Locale;

use crate::look::Look;

/// How a person is asked.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The language of the prompts. The server's words stay as they are.
    pub locale: Locale,
    /// Lines of words instead of drawn prompts, for screen readers and terminals that can't move their cursor.
    pub plain: bool,
    /// Whether prompts have colors.
    pub color: bool,
    /// The person's editor, as a line for the shell.
    pub editor: Option<OsString>,
    /// The time zone of a moment that the person types without one.
    pub zone: TimeZone,
    /// Which of how many waiting questions this is: `(1, 3)`.
    pub queue: Option<(usize, usize)>,
    /// Opens an address in the person's browser; returns false if there is none. It must not block. [`ask`](crate::ask)
    /// calls it only after the person has typed yes.
    pub open: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Options {
    /// What the environment says: the language (`LC_ALL`, `LC_MESSAGES`, `LANG`), `TERM=dumb`, `NO_COLOR`, `VISUAL` and
    /// `EDITOR`. No browser is known until [`Options::open`] is set.
    pub fn from_env() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let language = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set);
        let language = language.unwrap_or_default();
        Self {
            locale: Locale::negotiate(&language.to_string_lossy()),
            plain: env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty()),
            color: set("NO_COLOR").is_none(),
            editor: set("VISUAL").or_else(|| set("EDITOR")),
            zone: TimeZone::system(),
            queue: None,
            open: Arc::new(|_| false),
        }
    }

    pub(crate) fn look(&self) -> Look {
        Look {
            locale: self.locale,
            zone: self.zone.clone(),
            queue: self.queue,
            has_editor: self.editor.is_some(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("locale", &self.locale)
            .field("plain", &self.plain)
            .field("color", &self.color)
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
