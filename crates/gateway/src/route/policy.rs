//! What holds for which server, tool and mode: a file that a person writes.
//!
//! Settings at the top hold for everything. Each `[[rule]]` says for which servers, tools and
//! modes it is, and what is different there. They are read from top to bottom, and each setting
//! is the one of the last rule that matches and has it: the general comes first, the particular
//! below.
//!
//! Not here: what is done about it (`session`), the flags (`config::settings`), and what applies
//! in the end (`setup`).

mod glob;

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use midcall_core::link::http_origin;
use midcall_core::wire::Mode;
use serde::Deserialize;
use toml::Spanned;

use super::document::{self, Wrong};
use super::{Confirm, Routes, Sampling, Secrets, Setting};
use crate::duration::Span;
use glob::Glob;

/// What a person wants to hold, for all and for some.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// What holds for all comes first.
    rules: Vec<Rule>,
}

/// Why a policy is not used. A server is not started then: the person relies on it.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// There is no such file, or it is no text.
    #[error("cannot read the policy {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// It says something that is not understood.
    #[error("the policy {}, {wrong}", file.display())]
    Wrong { file: PathBuf, wrong: Wrong },
}

#[derive(Clone, Debug)]
struct Rule {
    server: Glob,
    tool: Glob,
    mode: Glob,
    setting: Setting,
}

impl Policy {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self, PolicyError> {
        let text = document::text(file)
            .map_err(|error| PolicyError::Unreadable(file.to_owned(), error))?;
        text.parse().map_err(|wrong| PolicyError::Wrong {
            file: file.to_owned(),
            wrong,
        })
    }

    /// Every list of routes in the policy.
    pub fn routes(&self) -> impl Iterator<Item = &Routes> {
        self.rules
            .iter()
            .filter_map(|rule| rule.setting.routes.as_ref())
    }

    /// True if it says which calls need approval, be it `never`.
    pub fn confirms(&self) -> bool {
        self.rules.iter().any(|rule| rule.setting.confirm.is_some())
    }

    /// True if it says what a server may ask, or for how long.
    pub fn restricts(&self) -> bool {
        self.rules.iter().any(|rule| {
            let setting = &rule.setting;
            let is_about_questions = setting.secrets.is_some() || setting.patience.is_some();
            is_about_questions || setting.asks_per_minute.is_some() || setting.sampling.is_some()
        })
    }

    /// True if it says something about some tools only.
    pub fn minds_tools(&self) -> bool {
        self.rules.iter().any(|rule| !rule.tool.is_any())
    }

    /// True if it allows some links that are refused elsewhere.
    pub fn allows_links(&self) -> bool {
        self.rules.iter().any(|rule| rule.setting.links.is_some())
    }

    /// What it says about a question in a mode, or a call, of a tool. If the tool isn't known,
    /// rules for some tools don't apply.
    pub fn setting(&self, server: &str, tool: Option<&str>, mode: Mode) -> Setting {
        let is_meant = |rule: &&Rule| {
            let tools = tool.map_or(rule.tool.is_any(), |tool| rule.tool.matches(tool));
            rule.server.matches(server) && tools && rule.mode.matches(mode.as_str())
        };
        let meant = self.rules.iter().filter(is_meant);
        meant.fold(Setting::default(), |before, rule| rule.setting.or(&before))
    }
}

impl FromStr for Policy {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Self, Wrong> {
        let wrong = |place: &Range<usize>, reason| Err(Wrong::at(text, place.start, reason));
        let top: Entry = document::read(text)?;
        if let Some(place) = top.matcher() {
            return wrong(
                &place,
                "server, tool and mode belong in a [[rule]]: what stands at the top is for all",
            );
        }
        let mut rules = vec![top.rule()];
        for entry in top.rules {
            let entry = entry.into_inner();
            if let Some(inner) = entry.rules.first() {
                return wrong(&inner.span(), "a rule has no rules of its own");
            }
            if let Some(mode) = &entry.mode
                && !MODES
                    .into_iter()
                    .any(|known| mode.get_ref().matches(known.as_str()))
            {
                return wrong(&mode.span(), "there is no such mode: write form, url or *");
            }
            rules.push(entry.rule());
        }
        Ok(Self { rules })
    }
}

const MODES: [Mode; 2] = [Mode::Form, Mode::Url];

/// The file as a whole, or one of its rules: they have the same settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    server: Option<Spanned<Glob>>,
    tool: Option<Spanned<Glob>>,
    mode: Option<Spanned<Glob>>,
    #[serde(default, deserialize_with = "document::parsed_option")]
    routes: Option<Routes>,
    #[serde(default, deserialize_with = "document::parsed_option")]
    patience: Option<Span>,
    confirm: Option<Confirm>,
    secrets: Option<Secrets>,
    asks_per_minute: Option<u32>,
    model_may_confirm: Option<bool>,
    sampling: Option<Sampling>,
    links: Option<Links>,
    #[serde(default, rename = "rule")]
    rules: Vec<Spanned<Entry>>,
}

impl Entry {
    /// Where it says for what it is.
    fn matcher(&self) -> Option<Range<usize>> {
        let matchers = [&self.server, &self.tool, &self.mode];
        matchers.into_iter().flatten().map(Spanned::span).next()
    }

    fn rule(&self) -> Rule {
        let glob = |glob: &Option<Spanned<Glob>>| {
            (glob.as_ref()).map_or_else(Glob::any, |glob| glob.get_ref().clone())
        };
        Rule {
            server: glob(&self.server),
            tool: glob(&self.tool),
            mode: glob(&self.mode),
            setting: Setting {
                routes: self.routes.clone(),
                patience: self.patience.map(|patience| patience.0),
                confirm: self.confirm,
                secrets: self.secrets,
                asks_per_minute: self.asks_per_minute,
                model_may_confirm: self.model_may_confirm,
                sampling: self.sampling,
                links: (self.links.as_ref())
                    .map(|links| links.allow.iter().map(|link| link.0.clone()).collect()),
            },
        }
    }
}

/// What it says about links.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Links {
    allow: Vec<HttpOrigin>,
}

/// An unencrypted origin, such as `http://jira.corp`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct HttpOrigin(String);

impl TryFrom<String> for HttpOrigin {
    type Error = &'static str;

    fn try_from(address: String) -> Result<Self, &'static str> {
        let wrong = "expected an http address without a path, like http://jira.corp or http://10.0.0.7:8080";
        http_origin(&address).map(Self).ok_or(wrong)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const OFFICE: &str = r#"
        patience = "10m"
        secrets = "refuse"

        [[rule]]
        server = "files*"
        confirm = "destructive"
        patience = "2m"

        [[rule]]
        server = "files*"
        tool = "delete_*"
        routes = "page"
        confirm = "all"
        model_may_confirm = false
        asks_per_minute = 10

        [[rule]]
        mode = "url"
        routes = "client,page"
        secrets = "allow"
    "#;

    #[test]
    fn each_setting_is_that_of_the_last_rule_that_has_it() {
        let policy: Policy = OFFICE.parse().unwrap();
        let all = Setting {
            patience: Some(Duration::from_secs(600)),
            secrets: Some(Secrets::Refuse),
            ..Setting::default()
        };
        let files = Setting {
            patience: Some(Duration::from_secs(120)),
            confirm: Some(Confirm::Destructive),
            ..all.clone()
        };
        let delete = Setting {
            routes: Some("page".parse().unwrap()),
            confirm: Some(Confirm::All),
            model_may_confirm: Some(false),
            asks_per_minute: Some(10),
            ..files.clone()
        };
        let link = |setting: &Setting| Setting {
            routes: Some("client,page".parse().unwrap()),
            secrets: Some(Secrets::Allow),
            ..setting.clone()
        };
        for (server, tool, mode, expected) in [
            ("weather", Some("delete_x"), Mode::Form, all.clone()),
            ("files", Some("read"), Mode::Form, files.clone()),
            ("files-2", None, Mode::Form, files.clone()),
            ("files", Some("delete_all"), Mode::Form, delete.clone()),
            ("files", Some("delete_all"), Mode::Url, link(&delete)),
            ("weather", None, Mode::Url, link(&all)),
            ("Files", Some("delete_all"), Mode::Form, all.clone()),
        ] {
            let setting = policy.setting(server, tool, mode);
            assert_eq!(setting, expected, "{server} {tool:?} {mode}");
        }
        let nothing: Policy = "".parse().unwrap();
        assert_eq!(nothing.setting("x", None, Mode::Form), Setting::default());
    }

    #[test]
    fn a_wrong_file_is_refused_with_place_and_reason() {
        for (text, expected) in [
            (
                "patience = 5",
                "line 1, column 12: invalid type: integer `5`, expected a string",
            ),
            (
                "patience = \"5 minutes\"",
                "line 1, column 12: expected a duration like 500ms, 45s, 5m, 2h or 1d",
            ),
            (
                "\n  confirm = \"some\"",
                "line 2, column 13: unknown value `some`. Choose from: never, destructive, all",
            ),
            (
                "secrets = \"hide\"",
                "line 1, column 11: unknown value `hide`. Choose from: allow, warn, refuse",
            ),
            (
                "asks_per_minute = -1",
                "line 1, column 19: invalid value: integer `-1`, expected u32",
            ),
            (
                "model_may_confirm = \"no\"",
                "line 1, column 21: invalid type: string \"no\", expected a boolean",
            ),
            (
                "[[rule]]\ntool = \"a\"\nroutes = \"page,page\"",
                "line 3, column 10: \"page\" is there twice",
            ),
            (
                "[[rule]]\nmode = \"forms\"",
                "line 2, column 8: there is no such mode: write form, url or *",
            ),
            (
                "server = \"files\"\nsecrets = \"warn\"",
                "line 1, column 10: server, tool and mode belong in a [[rule]]: what stands at the \
                 top is for all",
            ),
            (
                "sampling = \"maybe\"",
                "line 1, column 12: unknown value `maybe`. Choose from: pass, ask, refuse",
            ),
            (
                "[[rule]]\nlinks.allow = [\"http://a.corp\", \"https://b.corp\"]",
                "line 2, column 15: expected an http address without a path, like http://jira.corp or \
                 http://10.0.0.7:8080",
            ),
            (
                "links.deny = []",
                "line 1, column 7: unknown key `deny`. Choose from: allow",
            ),
            (
                "[[rule]]\n[[rule.rule]]\ntool = \"a\"",
                "line 2, column 1: a rule has no rules of its own",
            ),
            (
                "[rule]\nserver = \"a\"",
                "line 1, column 1: invalid type: map, expected a sequence",
            ),
            (
                "secrets = ",
                "line 1, column 11: string values must be quoted, expected literal string",
            ),
            (
                "secrets = \"warn\"\nsecrets = \"allow\"",
                "line 2, column 1: duplicate key",
            ),
        ] {
            let wrong = text.parse::<Policy>().unwrap_err();
            assert_eq!(wrong.to_string(), expected, "{text}");
        }
        for (text, start) in [
            (
                "patiens = \"5m\"",
                "line 1, column 1: unknown key `patiens`. Did you mean `patience`?",
            ),
            (
                "routes = \"clients\"",
                "line 1, column 10: there is no route \"clients\"",
            ),
        ] {
            let wrong = text.parse::<Policy>().unwrap_err().to_string();
            assert!(wrong.starts_with(start), "{wrong}");
        }
        let error = Policy::read(Path::new("no/such.toml")).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the policy no/such.toml");
    }
}
