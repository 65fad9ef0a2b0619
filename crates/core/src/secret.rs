//! Which fields of a form ask for a secret.
//!
//! MCP forbids servers to ask for secrets in a form: the answer passes through client and
//! gateway, and often a model sees it. Surfaces mask such a field and warn. It is recognised
//! by its words in ten languages: `table.json` names the secrets, and a few short lists in it
//! say when a field is merely *about* one (`tokenCount`, "Forgot password?").
//!
//! Names and titles are labels, where the phrase alone tells. Descriptions are prose and
//! mention many things, so there the phrase must be asked for ("paste your …") or open
//! the sentence. Unsure means no: a warning on every `code` and `key` is not read. The number of
//! an identity document, such as a passport, opens nothing and doesn't count as a secret.
//!
//! A name in disguise counts as what people take it for: invisible characters are dropped,
//! letters are reduced to those they look like, digits are also read as letters (`passw0rd`), and
//! words that spell a phrase together count as that phrase (`pass_word`). Only whole words are
//! put together, so "compass wordlist" stays harmless.
//!
//! The page has the same matcher in JavaScript, without the look-alikes. It reads the same
//! table, and both run `fixtures/secret/`.
//!
//! In: [`asks`]. Elsewhere: the words of a text (`words`), the sentences (the message catalog),
//! the mask (surfaces), how the page learns what was found (`wire::mark`).

mod table;
mod words;

use Secret::*;
use table::{Entry, TABLE};
use words::readings;

/// A kind of secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// The words that restore a wallet.
    SeedPhrase,
    /// A key that signs or decrypts.
    PrivateKey,
    /// The three or four digits on the back of a payment card.
    CardCode,
    /// A payment card's number.
    Card,
    /// A code that proves possession once, by message or authenticator.
    OneTimeCode,
    /// A person's tax or social security number.
    TaxId,
    /// A key that lets a program in.
    ApiKey,
    /// A token or another secret shared between programs.
    Token,
    /// A short number or code that opens something.
    Pin,
    /// A password or passphrase.
    Password,
}

impl Secret {
    /// The name of the secret in `table.json` and in marks, such as `card_code`.
    pub fn name(self) -> &'static str {
        let key = self.key();
        key.rsplit('.').next().unwrap_or(key)
    }

    /// The secret with this [`name`](Self::name), if there is one.
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|secret| secret.name() == name)
    }

    /// The key of its name in the message catalog.
    pub fn key(self) -> &'static str {
        match self {
            SeedPhrase => "mcp.elicitation.secret.seed_phrase",
            PrivateKey => "mcp.elicitation.secret.private_key",
            CardCode => "mcp.elicitation.secret.card_code",
            Card => "mcp.elicitation.secret.card",
            OneTimeCode => "mcp.elicitation.secret.one_time_code",
            TaxId => "mcp.elicitation.secret.tax_id",
            ApiKey => "mcp.elicitation.secret.api_key",
            Token => "mcp.elicitation.secret.token",
            Pin => "mcp.elicitation.secret.pin",
            Password => "mcp.elicitation.secret.password",
        }
    }
}

/// Which secret a text or number field asks for, if any.
///
/// ```
/// use midcall_core::secret::{Secret, asks};
///
/// assert_eq!(asks("githubToken", None, None, None), Some(Secret::Token));
/// assert_eq!(asks("value", None, Some("Cole aqui sua chave de API."), None), Some(Secret::ApiKey));
/// assert_eq!(asks("pass\u{200b}w0rd", None, None, None), Some(Secret::Password));
/// assert_eq!(asks("max_tokens", Some("Token limit"), None, None), None);
/// ```
pub fn asks(
    name: &str,
    title: Option<&str>,
    description: Option<&str>,
    format: Option<&str>,
) -> Option<Secret> {
    let title = readings(title.unwrap_or_default());
    find(&readings(name), Kind::Name)
        .or_else(|| find(&title, Kind::Title))
        .or_else(|| find(&title, Kind::Prose))
        .or_else(|| find(&readings(description.unwrap_or_default()), Kind::Prose))
        .or_else(|| (format == Some("password")).then_some(Password))
}

/// All secrets, the more telling first. If a text fits several, the first is the answer.
const ALL: [Secret; 10] = [
    SeedPhrase,
    PrivateKey,
    CardCode,
    Card,
    OneTimeCode,
    TaxId,
    ApiKey,
    Token,
    Pin,
    Password,
];

/// Letters that a phrase needs before it counts in pieces: "to Ken" is not a token.
const TELLING: usize = 6;

/// Words before a phrase that may change what it means. Those before them aren't looked at.
const NEAR: usize = 12;

/// Where a text stands.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Name,
    Title,
    Prose,
}

/// The most telling secret that any reading of a text asks for.
fn find(readings: &[Vec<Vec<String>>], kind: Kind) -> Option<Secret> {
    let clauses = readings.iter().flatten();
    let rank = clauses.filter_map(|words| rank(words, kind)).min()?;
    ALL.get(rank).copied()
}

/// The rank of the most telling secret that a clause asks for.
fn rank(words: &[String], kind: Kind) -> Option<usize> {
    (0..words.len())
        .filter_map(|start| rank_at(words, start, kind))
        .min()
}

/// The rank of the most telling secret whose phrase begins at a word. The walk ends where no
/// phrase goes on, so that hostile texts are not read again and again.
fn rank_at(words: &[String], start: usize, kind: Kind) -> Option<usize> {
    let table = &*TABLE;
    let mut best = None;
    let (mut whole, mut joined, mut spaced) = (String::new(), String::new(), String::new());
    for (end, word) in words.iter().enumerate().skip(start) {
        whole.push_str(word);
        if !table.silent.contains(word) {
            joined.push_str(word);
            if !spaced.is_empty() {
                spaced.push(' ');
            }
            spaced.push_str(word);
        }
        let may_go_on = table.goes_on(&whole) || (!joined.is_empty() && table.goes_on(&joined));
        if word == "," || !may_go_on {
            break;
        }
        let is_name = kind == Kind::Name && start == 0 && end + 1 == words.len();
        let needed = if is_name { TELLING - 1 } else { TELLING };
        let may_join = end == start || whole.chars().count() >= needed;
        let in_order = table.entries(&joined).iter();
        let in_order = in_order.filter(|entry| entry.phrase == spaced);
        let in_pieces = table.entries(&whole).iter().filter(|_| may_join);
        let asked = in_order.chain(in_pieces).filter(|entry: &&Entry| {
            let before = table.last_spoken(&words[..start], NEAR);
            let next = words[end + 1..]
                .iter()
                .find(|word| !table.silent.contains(*word));
            is_asked(&before, next, kind, entry.alone)
        });
        best = asked.map(|entry| entry.rank).chain(best).min();
    }
    best
}

/// Whether the words around a phrase, up to [`NEAR`] of those before, let it mean a secret that this field is for. `alone`
/// says that the phrase needs no help.
fn is_asked(before: &[&String], next: Option<&String>, kind: Kind, alone: bool) -> bool {
    let table = &*TABLE;
    let near = before
        .rsplit(|word| *word == ",")
        .next()
        .unwrap_or_default();
    if near.iter().any(|word| table.denied.contains(*word))
        || near.last().is_some_and(|word| table.other.contains(*word))
        || next.is_some_and(|word| table.about.contains(word))
    {
        return false;
    }
    if kind != Kind::Prose {
        return alone || next.is_none_or(|word| word == ",");
    }
    // Up to four words may stand between: "your GitHub personal access token".
    let lead = before
        .iter()
        .rev()
        .take(5)
        .find(|word| table.asking.contains(**word) || table.turn.contains(**word));
    match lead {
        Some(word) => table.asking.contains(*word),
        None => alone && before.len() <= 3,
    }
}
