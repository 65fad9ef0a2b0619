//! What the verdict on a link means, whoever is asked.
//!
//! A link that the page would refuse to open is refused for every client, too. A link that the page would warn about
//! brings its warnings along in the message, because a client doesn't know them.

use midcall_core::catalog::Locale;
use midcall_core::link::{Reason, Verdict};
use midcall_core::{Elicitation, Link, Wanted};

/// Why nobody is asked to open the link of a question; none if it is a form, or a link that may be opened.
pub fn refusal(elicitation: &Elicitation, locale: Locale) -> Option<String> {
    match &elicitation.wanted {
        Wanted::Link(link) => refusal_of(link, locale),
        Wanted::Form(_) => None,
    }
}

/// Why nobody is asked to open a link; none if it may be opened.
pub fn refusal_of(link: &Link, locale: Locale) -> Option<String> {
    match link.verdict() {
        Verdict::Refuse(reasons) => Some(sentences(reasons, locale)),
        Verdict::Plain | Verdict::Warn(_) => None,
    }
}

/// The message of a question with the warnings about its link; none if there are none.
pub fn warning(elicitation: &Elicitation, locale: Locale) -> Option<String> {
    match &elicitation.wanted {
        Wanted::Link(link) => warning_of(link, &elicitation.message, locale),
        Wanted::Form(_) => None,
    }
}

/// A message with the warnings about a link; none if there are none.
pub fn warning_of(link: &Link, message: &str, locale: Locale) -> Option<String> {
    match link.verdict() {
        Verdict::Warn(reasons) => Some(format!("{message}\n\n⚠ {}", sentences(reasons, locale))),
        Verdict::Plain | Verdict::Refuse(_) => None,
    }
}

fn sentences(reasons: &[Reason], locale: Locale) -> String {
    let sentence = |reason: &Reason| {
        let params = reason.params();
        let params: Vec<_> = (params.iter())
            .map(|(name, value)| (*name, value.as_str().into()))
            .collect();
        locale.say(reason.key(), &params)
    };
    let sentences: Vec<String> = reasons.iter().map(sentence).collect();
    sentences.join(". ")
}
