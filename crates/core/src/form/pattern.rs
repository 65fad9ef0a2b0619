//! A server's `pattern`, run so that it cannot hang.
//!
//! The dialect is ECMAScript's; it is translated, then run by an engine whose time is linear
//! in the text. What that engine cannot run (look-around, back-references, enormous
//! repetitions) is not enforced, and says so: the server checks its own pattern anyway.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};

use crate::catalog::Locale;

/// Longer patterns are not enforced: nobody writes them by hand.
const LONGEST: usize = 2_000;

/// Bytes of a compiled pattern. Generous for real ones, and small enough that the product of
/// pattern and text stays bearable.
const LARGEST: usize = 256 * 1024;

/// Bytes of text that one check holds against patterns, for the same reason.
pub(super) const MOST_TEXT: usize = 40_000;

/// The same for one field's own default: each field has one.
pub(super) const DEFAULT_TEXT: usize = 1_000;

/// Different patterns of one form. Those beyond it are not enforced: compiling one is dear.
const MOST: usize = 50;

/// A regular expression as the server sent it, compiled when it is first needed. Its clones
/// share what was compiled.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    regex: Arc<OnceLock<Option<Regex>>>,
}

/// The patterns of one form, each once.
#[derive(Default)]
pub(super) struct Patterns(Vec<Pattern>);

impl Patterns {
    /// The pattern of that source. It is enforced unless the form has had its share already.
    pub fn of(&mut self, source: String) -> Pattern {
        if let Some(known) = self.0.iter().find(|known| known.source == source) {
            return known.clone();
        }
        let pattern = Pattern::new(source);
        if self.0.len() < MOST {
            self.0.push(pattern.clone());
        } else {
            let _ = pattern.regex.set(None);
        }
        pattern
    }
}

impl Pattern {
    pub(crate) fn new(source: String) -> Self {
        Self {
            source,
            regex: Arc::default(),
        }
    }

    /// The expression as the server sent it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What people are told of it, for want of better.
    pub fn say(&self, locale: Locale) -> String {
        let params = [("pattern", self.source.as_str().into())];
        locale.say("mcp.elicitation.tell.pattern", &params)
    }

    /// Whether it is a regular expression of ECMAScript at all, be it one that can't be run here.
    pub fn is_regex(&self) -> bool {
        jsonschema_regex::is_valid_ecma_regex(&self.source)
    }

    /// Whether values are held against it. If not, every value passes here.
    pub fn is_enforced(&self) -> bool {
        self.regex().is_some()
    }

    /// Whether a text matches; `None` if this pattern can't be run.
    pub(crate) fn admits(&self, text: &str) -> Option<bool> {
        let regex = self.regex()?;
        // A few expressions make the engine itself panic on some texts. That is the engine's
        // fault, not the person's: the pattern counts as unenforced then.
        catch_unwind(AssertUnwindSafe(|| regex.is_match(text))).ok()
    }

    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compile(&self.source)).as_ref()
    }
}

fn compile(source: &str) -> Option<Regex> {
    if source.len() > LONGEST {
        return None;
    }
    let translated = jsonschema_regex::to_rust_regex(source).ok()?;
    RegexBuilder::new(&translated)
        .crlf(true) // ECMAScript's dot matches no carriage return
        .size_limit(LARGEST)
        .dfa_size_limit(LARGEST)
        .build()
        .ok()
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.source)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_ecmascript_says() {
        for (pattern, text, admitted) in [
            ("^a", "ab", true),
            ("a", "cab", true),
            ("^a$", "a\n", false),
            (r"^\d+$", "12", true),
            (r"^\d+$", "١٢", false),
            (r"^\w+$", "é", false),
            (r"^\s$", "\u{feff}", true),
            (r"^\cJ$", "\n", true),
            ("^.$", "😀", true),
            ("^.$", "\r", false),
            (r"^\p{L}+$", "Ação", true),
            (r"^[A-Z]{2}-\d{4}$", "AB-1234", true),
            ("", "anything", true),
        ] {
            let found = Pattern::new(pattern.into());
            assert!(found.is_enforced(), "{pattern}");
            assert_eq!(found.admits(text), Some(admitted), "{pattern} on {text:?}");
        }
    }

    #[test]
    fn what_cannot_run_in_linear_time_is_not_enforced() {
        for pattern in [
            r"^(a|a)*\1?$",
            "(?=a)b",
            "(?<!a)b",
            "((a{100}){100}){100}",
            "(",
            &"a".repeat(LONGEST + 1),
        ] {
            let found = Pattern::new(pattern.into());
            assert!(!found.is_enforced(), "{pattern}");
            assert_eq!(found.admits("anything"), None);
        }
    }
}
