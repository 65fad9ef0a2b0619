//! Every text a person can see, in every language there is.
//!
//! What the element says stands in `locales/<tag>.element.json` and what only the pages around
//! it say in `locales/<tag>.page.json`, flat objects which the browser reads as they are (the
//! files themselves lie with its code). What only programs in a terminal say stands in
//! `locales/<tag>.json`. Nobody need carry what they do not say. A text is a string, or `{"one": …, "other": …}` where the
//! parameter `count` decides; `{name}` stands for a parameter.
//!
//! In: a key and parameters. Out: [`Locale::say`].
//! Elsewhere: a server's own words (they are shown as they came), the person's language
//! (surfaces find it and call [`Locale::negotiate`]).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// A language the surfaces speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Locale {
    /// English as in the United States; also for everybody whose language is missing.
    #[default]
    EnUs,
    /// Portuguese as in Brazil.
    PtBr,
}

impl Locale {
    /// Every locale.
    pub const ALL: [Self; 2] = [Self::EnUs, Self::PtBr];

    /// The locale's BCP 47 tag, which is also its file's name.
    pub fn tag(self) -> &'static str {
        match self {
            Self::EnUs => "en-US",
            Self::PtBr => "pt-BR",
        }
    }

    /// The best locale for what a person prefers: a tag (`pt`, `pt-PT`), an environment's
    /// `LANG` or `LANGUAGE` (`pt_BR.UTF-8`, `pt:en`), or an `Accept-Language` list with
    /// weights. Regions do not matter: the other Portuguese is nearer than English.
    ///
    /// ```
    /// use midcall_core::catalog::Locale;
    ///
    /// assert_eq!(Locale::negotiate("pt_BR.UTF-8"), Locale::PtBr);
    /// assert_eq!(Locale::negotiate("fr, en;q=0.5, pt;q=0.8"), Locale::PtBr);
    /// assert_eq!(Locale::negotiate("fr"), Locale::EnUs);
    /// ```
    pub fn negotiate(preferred: &str) -> Self {
        Self::find(preferred).unwrap_or_default()
    }

    /// The same, or none if no preferred language is among ours.
    ///
    /// ```
    /// use midcall_core::catalog::Locale;
    ///
    /// assert_eq!(Locale::find("fr, pt;q=0.5"), Some(Locale::PtBr));
    /// assert_eq!(Locale::find("fr"), None);
    /// ```
    pub fn find(preferred: &str) -> Option<Self> {
        let ours = preferred.split([',', ':']).filter_map(|range| {
            let mut members = range.split(';').map(str::trim);
            let locale = Self::of_language(members.next()?)?;
            let weight = members.find_map(|member| member.strip_prefix("q="));
            let weight: f32 = weight.unwrap_or("1").parse().ok()?;
            (weight > 0.0 && weight <= 1.0).then_some((locale, weight))
        });
        ours.reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(locale, _)| locale)
    }

    /// The text of `key`, with its parameters filled in.
    ///
    /// A parameter's text is inserted as it is: braces in it mean nothing. Numbers have the
    /// locale's decimal sign and no grouping. Nothing here fails, because a person is
    /// waiting and a key may come from a gateway of another version: an unknown key is
    /// returned as it is, and a parameter that is not given stays visible as `{name}`.
    ///
    /// ```
    /// use midcall_core::catalog::Locale;
    ///
    /// let key = "mcp.elicitation.problem.too_short";
    /// assert_eq!(Locale::EnUs.say(key, &[("count", 3.into())]), "Use at least 3 characters");
    /// assert_eq!(Locale::PtBr.say(key, &[("count", 1.into())]), "Use pelo menos 1 caractere");
    /// ```
    pub fn say(self, key: &str, params: &[(&str, Param<'_>)]) -> String {
        let param = |name| params.iter().find(|(given, _)| *given == name);
        let text = match self.texts().get(key) {
            None => return key.to_owned(),
            Some(Text::Plain(text)) => text,
            Some(Text::Counted { one, other }) => match param("count") {
                Some((_, count)) if self.is_one(*count) => one,
                _ => other,
            },
        };
        let mut said = String::with_capacity(text.len() + 16);
        let mut rest = text.as_str();
        while let Some((before, name, after)) = next_param(rest) {
            said.push_str(before);
            match param(name) {
                Some((_, value)) => said.push_str(&self.write(*value)),
                None => said.extend(["{", name, "}"]),
            }
            rest = after;
        }
        said.push_str(rest);
        said
    }

    /// Every key there is, so that a test can hold the keys of other modules against them.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        Self::default().texts().keys().map(String::as_str)
    }

    fn texts(self) -> &'static Texts {
        match self {
            Self::EnUs => &EN_US,
            Self::PtBr => &PT_BR,
        }
    }

    fn of_language(tag: &str) -> Option<Self> {
        let language = tag.split(['-', '_', '.', '@']).next()?;
        match language.to_ascii_lowercase().as_str() {
            "en" | "*" => Some(Self::EnUs),
            "pt" => Some(Self::PtBr),
            _ => None,
        }
    }

    /// CLDR's plural category `one`. Brazilian Portuguese also counts nothing and one and a
    /// half as one: "0 item", "1,5 item". CLDR's `many` (whole millions) is told as `other`.
    fn is_one(self, count: Param<'_>) -> bool {
        let count = match count {
            Param::Text(_) => return false,
            Param::Integer(count) => count as f64,
            Param::Decimal(count) => count,
        };
        match self {
            Self::EnUs => count.abs() == 1.0,
            Self::PtBr => count.abs() < 2.0,
        }
    }

    fn write(self, value: Param<'_>) -> String {
        match (self, value) {
            (_, Param::Text(text)) => text.to_owned(),
            (_, Param::Integer(number)) => number.to_string(),
            (Self::EnUs, Param::Decimal(number)) => decimal(number),
            (Self::PtBr, Param::Decimal(number)) => decimal(number).replace('.', ","),
        }
    }
}

/// What takes a parameter's place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Param<'a> {
    /// Words, inserted as they are.
    Text(&'a str),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Decimal(f64),
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Param<'_> {
    fn from(number: f64) -> Self {
        Self::Decimal(number)
    }
}

/// A limit as a schema states it.
impl From<&Number> for Param<'_> {
    fn from(number: &Number) -> Self {
        match number.as_i128() {
            Some(integer) => Self::Integer(integer),
            None => Self::Decimal(number.as_f64().unwrap_or(f64::NAN)),
        }
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Param<'_> {
            fn from(number: $integer) -> Self {
                Self::Integer(number as i128)
            }
        }
    )*};
}

from_integer!(u16, u32, u64, usize, i32, i64);

static EN_US: LazyLock<Texts> = LazyLock::new(|| {
    read([
        include_str!("../locales/en-US.element.json"),
        include_str!("../locales/en-US.element-more.json"),
        include_str!("../locales/en-US.page.json"),
        include_str!("../locales/en-US.json"),
    ])
});
static PT_BR: LazyLock<Texts> = LazyLock::new(|| {
    read([
        include_str!("../locales/pt-BR.element.json"),
        include_str!("../locales/pt-BR.element-more.json"),
        include_str!("../locales/pt-BR.page.json"),
        include_str!("../locales/pt-BR.json"),
    ])
});

type Texts = BTreeMap<String, Text>;

#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Plain(String),
    Counted { one: String, other: String },
}

fn read(files: [&str; 4]) -> Texts {
    let read = |file| -> Texts {
        serde_json::from_str(file).expect("the locale files are part of the program and tested")
    };
    files.into_iter().flat_map(read).collect()
}

/// What stands before the first `{name}`, the name, and what follows.
fn next_param(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// A number as people write it, except where hundreds of digits would fill the screen.
fn decimal(number: f64) -> String {
    let size = number.abs();
    if size >= 1e21 || (size < 1e-6 && size > 0.0) {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}
