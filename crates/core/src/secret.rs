//! Which fields of a form ask for a secret.
//!
//! MCP forbids servers to ask for secrets in a form: the answer passes through client and
//! gateway, and often a model sees it. Surfaces mask such a field and warn. It is recognised
//! by its words, English and Portuguese: one table names the secrets, and a few short lists
//! say when a field is merely *about* one (`tokenCount`, "Forgot password?").
//!
//! Names and titles are labels, where the phrase alone tells. Descriptions are prose and
//! mention many things, so there the phrase must be asked for ("paste your …") or open
//! the sentence. Unsure means no: a warning on every `code` and `key` is not read.
//!
//! The page has the same matcher in JavaScript; both run `fixtures/secret/`.
//!
//! In: [`asks`]. Elsewhere: the sentences (the message catalog), the mask (surfaces).

use std::collections::HashSet;
use std::sync::LazyLock;

use Secret::*;

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
/// assert_eq!(asks("max_tokens", Some("Token limit"), None, None), None);
/// ```
pub fn asks(
    name: &str,
    title: Option<&str>,
    description: Option<&str>,
    format: Option<&str>,
) -> Option<Secret> {
    let title = clauses(title.unwrap_or_default());
    find(&clauses(name), Kind::Label)
        .or_else(|| find(&title, Kind::Label))
        .or_else(|| find(&title, Kind::Prose))
        .or_else(|| find(&clauses(description.unwrap_or_default()), Kind::Prose))
        .or_else(|| (format == Some("password")).then_some(Password))
}

/// Characters looked at in each text. Whatever a field is for is said by then.
const READ: usize = 2_000;

/// Secrets, the more telling first; the first that fits is the answer. Beside each stand
/// the phrases that mean it anywhere, then words with other meanings, which count only
/// where a label ends in them or prose asks for them. Written as [`clauses`] leaves them:
/// without accents and [`SILENT`] words.
#[rustfmt::skip]
const TABLE: &[(Secret, &[&str], &[&str])] = &[
    (SeedPhrase, &[
        "seed phrase", "recovery phrase", "mnemonic phrase", "wallet mnemonic", "backup phrase", "seedphrase",
        "frase semente", "frase recuperacao", "palavras recuperacao",
    ], &[]),
    (PrivateKey, &[
        "private key", "privatekey", "signing key", "encryption key", "decryption key",
        "chave privada", "chave assinatura", "chave criptografia",
    ], &[]),
    (CardCode, &[
        "cvc", "cvv", "cvn", "security code", "card verification", "card code",
        "codigo seguranca", "codigo cartao",
    ], &[]),
    (Card, &[
        "card number", "cardnumber", "credit card", "creditcard", "debit card", "payment card", "cc number",
        "numero cartao", "cartao credito", "cartao debito",
    ], &[]),
    (OneTimeCode, &[
        "otp", "totp", "one time code", "one time password", "one time passcode", "one time pin",
        "verification code", "authentication code", "authenticator code", "authorization code", "auth code",
        "login code", "sms code", "2fa code", "mfa code", "factor code", "digit code",
        "recovery code", "backup code", "reset code", "code we sent", "code we texted", "code we emailed",
        "code sent", "code you received", "code from your authenticator",
        "codigo verificacao", "codigo autenticacao", "codigo autorizacao", "codigo uso unico", "codigo sms",
        "codigo digitos", "codigo enviado", "codigo que enviamos", "codigo recebido", "codigo que voce recebeu",
        "codigo recuperacao", "senha uso unico",
    ], &["2fa", "mfa"]),
    (TaxId, &[
        "ssn", "social security number", "social security no", "itin", "tax id", "taxpayer id",
        "national insurance number", "cpf", "nif", "numero contribuinte",
    ], &[]),
    (ApiKey, &[
        "api key", "apikey", "api secret", "access key", "secret key", "secretkey", "service key",
        "chave api", "chave secreta", "chave acesso secreta",
    ], &[]),
    (Token, &[
        "access token", "accesstoken", "auth token", "authtoken", "authentication token", "bearer token",
        "refresh token", "session token", "session cookie", "api token", "client secret", "shared secret",
        "token acesso", "token api", "token autenticacao", "token sessao", "segredo cliente",
    ], &["token", "secret", "jwt", "segredo"]),
    (Pin, &[
        "pin code", "pin number", "passcode", "access code", "codigo pin", "numero pin", "codigo acesso",
    ], &["pin"]),
    (Password, &[
        "password", "passwd", "pwd", "passphrase", "pass phrase", "senha", "palavra passe",
    ], &[]),
];

/// After a phrase: the field holds something about the secret.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "age", "brand", "budget", "change", "changed", "cost", "count", "date", "enabled", "endpoint", "env", "expiration",
    "expired", "expires", "expiry", "field", "file", "format", "free", "generator", "hint", "holder", "id", "ids", "issuer",
    "kind", "label", "last", "length", "less", "lifetime", "limit", "manager", "name", "names", "path", "policy", "prefix",
    "price", "protected", "protection", "provider", "recovery", "required", "reset", "rotation", "rules", "scope", "scopes",
    "size", "strength", "ttl", "type", "uri", "url", "usage", "validity", "var", "variable", "version",
    "atendimento", "expirada", "fila", "obrigatoria",
];

/// Right before a phrase: another thing of that name, a switch, or, with "of" and "de"
/// left out, something about the secret.
#[rustfmt::skip]
const OTHER: &[&str] = &[
    "allow", "bos", "business", "buy", "clock", "continuation", "csrf", "data", "drop", "each", "enable", "eos", "erc",
    "gpio", "has", "hide", "input", "kind", "led", "length", "library", "loyalty", "map", "max", "min", "name", "next",
    "nft", "no", "num", "output", "pad", "page", "per", "public", "push", "require", "requires", "sell", "show", "special",
    "start", "stop", "sync", "total", "type", "use",
    "arquivo", "bandeira", "caminho", "dica", "exibir", "limite", "mostrar", "nome", "politica", "proxima", "proximo",
    "tamanho", "tipo", "titular", "validade",
];

/// In the dozen words before a phrase, up to a comma: it is spoken of, not asked for.
#[rustfmt::skip]
const DENIED: &[&str] = &[
    "change", "delete", "dont", "forgot", "forgotten", "hint", "instead", "lost", "never", "not", "recover", "remember",
    "reset", "revoke", "rotate", "which", "whose", "without",
    "alterar", "esqueceu", "esqueci", "lembrar", "lembrete", "nao", "nunca", "qual", "recuperar", "redefinir", "sem",
    "trocar",
];

/// Asks for what follows, in prose.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "your", "enter", "paste", "provide", "supply", "insert", "give",
    "seu", "sua", "cole", "coloque", "digite", "forneca", "informe", "insira", "introduza",
];

/// Ends what is asked for: in "a name for the API key", that is the name.
#[rustfmt::skip]
const TURN: &[&str] = &[
    ",", "at", "by", "for", "from", "if", "in", "on", "or", "that", "to", "using", "with",
    "com", "em", "na", "no", "ou", "para", "por", "que", "se",
];

/// Left out of every text, so that `chaveApi` and "chave da API" are one phrase.
#[rustfmt::skip]
const SILENT: &[&str] = &[
    "a", "an", "of", "the", "as", "da", "das", "de", "do", "dos", "o", "os", "um", "uma",
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Label,
    Prose,
}

fn find(clauses: &[Vec<String>], kind: Kind) -> Option<Secret> {
    let places: Vec<_> = clauses
        .iter()
        .flat_map(|words| (0..words.len()).map(|start| words.split_at(start)))
        .filter(|(_, words)| OPENING.contains(words[0].as_str()))
        .collect();
    let fits = |phrase: &str, alone: bool| {
        places.iter().any(|(before, words)| {
            after(words, phrase).is_some_and(|rest| is_asked(before, rest.first(), kind, alone))
        })
    };
    let row = TABLE.iter().find(|(_, phrases, words)| {
        phrases.iter().any(|phrase| fits(phrase, true))
            || words.iter().any(|word| fits(word, false))
    });
    row.map(|(secret, ..)| *secret)
}

/// First words of all phrases. Most texts hold none of them and never meet the table.
static OPENING: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let phrases = TABLE
        .iter()
        .flat_map(|(_, phrases, words)| phrases.iter().chain(*words));
    phrases
        .filter_map(|phrase| phrase.split(' ').next())
        .collect()
});

/// What follows a phrase, if the words begin with it.
fn after<'a>(words: &'a [String], phrase: &str) -> Option<&'a [String]> {
    phrase.split(' ').try_fold(words, |words, part| {
        let (word, rest) = words.split_first()?;
        (word == part).then_some(rest)
    })
}

/// Whether the words around a phrase let it mean a secret that this field is for. `alone`
/// says that the phrase needs no help.
fn is_asked(before: &[String], next: Option<&String>, kind: Kind, alone: bool) -> bool {
    let has = |list: &[&str], word: &String| list.contains(&word.as_str());
    let dozen = &before[before.len().saturating_sub(12)..];
    let near = dozen.rsplit(|word| word == ",").next().unwrap_or_default();
    if near.iter().any(|word| has(DENIED, word))
        || near.last().is_some_and(|word| has(OTHER, word))
        || next.is_some_and(|word| has(ABOUT, word))
    {
        return false;
    }
    if kind == Kind::Label {
        return alone || next.is_none_or(|word| word == ",");
    }
    // Up to four words may stand between: "your GitHub personal access token".
    let lead = before
        .iter()
        .rev()
        .take(5)
        .find(|word| has(ASKING, word) || has(TURN, word));
    match lead {
        Some(word) => has(ASKING, word),
        None => alone && before.len() <= 3,
    }
}

/// The words of a text, sentence by sentence: lower case, without accents, apostrophes,
/// closing digits and [`SILENT`] words, `camelCase` taken apart. Commas, colons and slashes
/// stay as `","`.
fn clauses(text: &str) -> Vec<Vec<String>> {
    let mut spaced = String::new();
    let mut previous = ' ';
    let mut characters = text.chars().take(READ).peekable();
    while let Some(character) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        if character.is_uppercase()
            && (previous.is_lowercase() || previous.is_alphanumeric() && next_is_small)
        {
            spaced.push(' ');
        }
        previous = character;
        match character {
            '\'' | '’' | '\u{300}'..='\u{36f}' => {}
            ',' | ':' | '/' => spaced.push_str(" , "),
            '.' | '!' | '?' | ';' | '(' | ')' | '\n' => spaced.push('.'),
            _ if character.is_alphanumeric() => spaced.extend(character.to_lowercase().map(plain)),
            _ => spaced.push(' '),
        }
    }
    let words = |clause: &str| -> Vec<String> {
        let words = clause
            .split(' ')
            .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
        words
            .filter(|word| !word.is_empty() && !SILENT.contains(word))
            .map(str::to_owned)
            .collect()
    };
    spaced.split('.').map(words).collect()
}

/// A Portuguese letter without its accent.
fn plain(letter: char) -> char {
    match letter {
        'á' | 'à' | 'â' | 'ã' => 'a',
        'é' | 'ê' => 'e',
        'í' => 'i',
        'ó' | 'ô' | 'õ' => 'o',
        'ú' | 'ü' => 'u',
        'ç' => 'c',
        _ => letter,
    }
}
