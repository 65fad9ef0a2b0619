//! Clients that say they can ask, and cannot show everything.
//!
//! A profile is used when the person names it: which client is on the other side cannot be known
//! for sure, and clients get better. Known ones are in `profiles.toml`; a file of the person's
//! own adds to them.

mod part;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fmt, io};

use midcall_core::catalog::Locale;
use midcall_core::wire::Mode;
use midcall_core::{Elicitation, Wanted};
use serde::Deserialize;

use super::document::{self, Wrong};
use crate::duration::Hold;
use crate::suggest;

pub use part::Part;

/// What a client cannot show.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is called on the command line.
    pub name: String,
    #[serde(default)]
    cannot: Vec<Part>,
    /// True if it approves calls on behalf of its user, faster than a person can read.
    #[serde(default)]
    pub approves: bool,
    /// How long its calls may wait, if that is known.
    #[serde(default, deserialize_with = "document::parsed_option")]
    pub hold: Option<Hold>,
    why: String,
    #[serde(rename = "why-pt-BR")]
    why_pt_br: Option<String>,
}

/// Why a question is not for a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CannotRender {
    pub profile: String,
    /// What it cannot show.
    pub part: Part,
    /// The JSON Pointer of the field; none if it is the question as a whole.
    pub field: Option<String>,
}

/// Why there is no such profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// Nobody has described it.
    #[error(
        "there is no client profile {name:?}: choose from {}, or describe it in {}{}",
        known.join(", "),
        file.display(),
        suggest::tip(name, known.iter().map(String::as_str))
    )]
    Unknown {
        name: String,
        known: Vec<String>,
        file: PathBuf,
    },
    /// The person's own file is there and cannot be read.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// The person's own file says something that is no profile.
    #[error("{}: {wrong}", file.display())]
    Wrong { file: PathBuf, wrong: Wrong },
}

/// The profiles that come with the program.
const KNOWN: &str = include_str!("../../profiles.toml");

impl Profile {
    /// The profile of that name, the person's own before ours.
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        let file = own_file();
        let own = match document::text(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(ProfileError::Unreadable(file, error)),
        };
        Self::among(name, &own, &file)
    }

    /// The same, given what the person's own file says.
    fn among(name: &str, own: &str, file: &Path) -> Result<Self, ProfileError> {
        let mut known = read(KNOWN).expect("our own profiles can be read");
        let own = read(own).map_err(|wrong| ProfileError::Wrong {
            file: file.to_owned(),
            wrong,
        })?;
        known.extend(own);
        known.remove(name).ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            known: known.into_keys().collect(),
            file: file.to_owned(),
        })
    }

    /// One of ours.
    #[cfg(test)]
    pub fn known(name: &str) -> Self {
        Self::among(name, "", Path::new("")).unwrap()
    }

    /// What people are told about it.
    pub fn why(&self, locale: Locale) -> &str {
        match (locale, &self.why_pt_br) {
            (Locale::PtBr, Some(why)) => why,
            _ => &self.why,
        }
    }

    /// What it cannot show, in the order in which the profile says it.
    pub fn cannot(&self) -> &[Part] {
        &self.cannot
    }

    /// Whether it shows questions of a mode, as far as it shows all their parts.
    pub fn has(&self, mode: Mode) -> bool {
        let part = match mode {
            Mode::Form => Part::Form,
            Mode::Url => Part::Url,
        };
        !self.cannot.contains(&part)
    }

    /// Whether the client shows all of a question.
    pub fn renders(&self, elicitation: &Elicitation) -> Result<(), CannotRender> {
        let refuse = |part, field| {
            Err(CannotRender {
                profile: self.name.clone(),
                part,
                field,
            })
        };
        let form = match &elicitation.wanted {
            Wanted::Link(_) if !self.has(Mode::Url) => return refuse(Part::Url, None),
            Wanted::Form(_) if !self.has(Mode::Form) => return refuse(Part::Form, None),
            Wanted::Link(_) => return Ok(()),
            Wanted::Form(form) => form,
        };
        for (path, field) in form.walk() {
            if let Some(part) = self.cannot.iter().find(|part| part.is_in(field)) {
                return refuse(*part, Some(path));
            }
        }
        Ok(())
    }
}

impl fmt::Display for CannotRender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (profile, part) = (&self.profile, self.part.name());
        match &self.field {
            Some(field) => write!(f, "{profile} does not show {part} at {field}"),
            None => write!(f, "{profile} does not show questions in {part} mode"),
        }
    }
}

fn read(text: &str) -> Result<BTreeMap<String, Profile>, Wrong> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        profile: Vec<toml::Spanned<Profile>>,
    }
    let file: File = document::read(text)?;
    let mut profiles = BTreeMap::new();
    for profile in file.profile {
        let start = profile.span().start;
        let profile = profile.into_inner();
        let name = profile.name.clone();
        if profiles.insert(name.clone(), profile).is_some() {
            let reason = format!("the profile {name:?} is there twice");
            return Err(Wrong::at(text, start, reason));
        }
    }
    Ok(profiles)
}

fn own_file() -> PathBuf {
    let folder = |name| env::var_os(name).map(PathBuf::from);
    let config = folder("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    config
        .unwrap_or_else(|| folder("HOME").unwrap_or_default().join(".config"))
        .join("midcall/profiles.toml")
}

#[cfg(test)]
mod tests {
    use midcall_core::{Asker, Limits};
    use serde_json::{Value, json};

    use super::*;

    fn question(params: Value) -> Elicitation {
        let asker = Asker::named("x");
        Elicitation::read(&params.to_string(), asker, &Limits::default()).unwrap()
    }

    fn form(field: Value) -> Elicitation {
        let schema = json!({"type": "object", "properties": {
            "fine": {"type": "boolean", "default": true}, "f": field}});
        question(json!({"message": "?", "requestedSchema": schema}))
    }

    #[test]
    fn each_client_gets_what_it_can_show() {
        let number = json!({"type": "number"});
        let integer = json!({"type": "integer", "default": 0});
        let text = json!({"type": "string"});
        let named = json!({"type": "string", "default": "Ana"});
        let empty = json!({"type": "string", "default": ""});
        let pattern = json!({"type": "string", "pattern": "^a$"});
        let off = json!({"type": "boolean", "default": false});
        let choice = json!({"type": "string", "enum": ["a", "b"], "default": "a"});
        let titled = json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]});
        let names = json!({"type": "string", "enum": ["a"], "enumNames": ["A"]});
        let choices = json!({"type": "array", "items": {"type": "string", "enum": ["a"]}});
        let group = json!({"type": "object", "properties": {"n": {"type": "number"}}});
        for (name, field, part, path) in [
            ("codex", &number, Some(Part::Number), "/f"),
            ("codex", &integer, Some(Part::Integer), "/f"),
            ("codex", &choices, Some(Part::Choices), "/f"),
            ("codex", &named, Some(Part::TextDefault), "/f"),
            ("codex", &group, Some(Part::Number), "/f/n"),
            ("codex", &text, None, ""),
            ("codex", &choice, None, ""),
            ("codex", &off, None, ""),
            ("goose", &titled, Some(Part::TitledChoice), "/f"),
            ("goose", &names, Some(Part::TitledChoice), "/f"),
            ("goose", &choices, Some(Part::Choices), "/f"),
            ("goose", &choice, None, ""),
            ("goose", &number, None, ""),
            ("vscode", &off, Some(Part::FalsyDefault), "/f"),
            ("vscode", &integer, Some(Part::FalsyDefault), "/f"),
            ("vscode", &empty, Some(Part::FalsyDefault), "/f"),
            ("vscode", &pattern, Some(Part::Pattern), "/f"),
            ("vscode", &named, None, ""),
            ("vscode", &choices, None, ""),
        ] {
            let refused = Profile::known(name).renders(&form(field.clone())).err();
            let found = refused.map(|refused| (refused.part, refused.field.unwrap()));
            let expected = part.map(|part| (part, path.to_owned()));
            assert_eq!(found, expected, "{name} {field}");
        }
    }

    #[test]
    fn each_client_gets_the_modes_it_has() {
        let link = question(json!({"message": "?", "mode": "url", "url": "https://a.example/"}));
        let bare = question(json!({"message": "?", "requestedSchema": {"type": "object"}}));
        for (name, forms, links) in [
            ("codex", true, true),
            ("goose", true, false),
            ("vscode", true, true),
            ("inspector-cli", false, false),
            ("claude-code-headless", false, false),
        ] {
            let profile = Profile::known(name);
            assert_eq!(profile.renders(&bare).is_ok(), forms, "{name}");
            assert_eq!(profile.renders(&link).is_ok(), links, "{name}");
            let has = (profile.has(Mode::Form), profile.has(Mode::Url));
            assert_eq!(has, (forms, links), "{name}");
        }
        let refused = Profile::known("goose").renders(&link).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "goose does not show questions in url mode"
        );
        let refused = Profile::known("codex").renders(&form(json!({"type": "number"})));
        assert_eq!(
            refused.unwrap_err().to_string(),
            "codex does not show number at /f"
        );
    }

    #[test]
    fn our_own_profiles_speak_both_languages() {
        for profile in read(KNOWN).unwrap().into_values() {
            assert!(!profile.cannot.is_empty(), "{}", profile.name);
            assert_ne!(profile.why(Locale::EnUs), profile.why(Locale::PtBr));
        }
    }

    #[test]
    fn a_person_adds_and_replaces_profiles() {
        let own = r#"
            [[profile]]
            name = "mine"
            cannot = ["group"]
            hold = "20s"
            why = "My client is small"
            [[profile]]
            name = "goose"
            hold = "never"
            why = "Mine is newer""#;
        let named = |name| Profile::among(name, own, Path::new("own.toml")).unwrap();
        assert_eq!(named("mine").cannot(), [Part::Group]);
        let twenty = std::time::Duration::from_secs(20);
        assert_eq!(named("mine").hold, Some(Hold(Some(twenty))));
        assert_eq!(named("mine").why(Locale::PtBr), "My client is small");
        assert_eq!(named("goose").cannot(), []);
        assert_eq!(named("goose").hold, Some(Hold(None)));
        assert_eq!(named("vscode"), Profile::known("vscode"));
    }

    #[test]
    fn what_is_no_profile_is_told_in_a_sentence() {
        for (own, expected) in [
            (
                "",
                "there is no client profile \"x\": choose from claude-code-headless, codex, goose, \
                 inspector-cli, vscode, or describe it in own.toml",
            ),
            (
                "[[profile]]\nname = 1",
                "own.toml: line 2, column 8: invalid type: integer `1`, expected a string",
            ),
            (
                "[[profile]]\nname = \"x\"",
                "own.toml: line 1, column 1: missing field `why`",
            ),
            (
                "[[profile]]\nname = \"x\"\nwhy = \"y\"\nhold = \"soon\"",
                "own.toml: line 4, column 8: expected never, or a duration like 500ms, 45s, 5m, 2h or 1d",
            ),
            (
                "[[profile]]\nname = \"x\"\nwhy = \"y\"\n[[profile]]\nname = \"x\"\nwhy = \"y\"",
                "own.toml: line 4, column 1: the profile \"x\" is there twice",
            ),
            (
                "[profiles]",
                "own.toml: line 1, column 2: unknown key `profiles`. Did you mean `profile`?",
            ),
        ] {
            let error = Profile::among("x", own, Path::new("own.toml")).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let own = "[[profile]]\nname = \"x\"\nwhy = \"y\"\ncannot = [\"forms\"]";
        let error = Profile::among("x", own, Path::new("own.toml")).unwrap_err();
        let expected = "own.toml: line 4, column 11: unknown value `forms`. Did you mean `form`?";
        assert_eq!(error.to_string(), expected);
    }
}
