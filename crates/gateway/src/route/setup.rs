//! How a session is set up, and the one place where settings are resolved.
//!
//! What can't change during a session is worked out once, in [`Setup::new`]: the session asks
//! for it with every message.
//!
//! In: [`Choices`]. Out: [`Setup::plan`] for one question or call.
//! Not here: what is done about it (`session`), flags and files (`config`).

use std::ops::Deref;
use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::wire::{Mode, Modes};
use midcall_core::{Asker, Limits, Scope};
use serde::Deserialize;

use super::{
    Confirm, Fingerprint, Part, Plan, Policy, Profile, Route, Routes, Sampling, Secrets, Setting,
};

/// What a session is set up with.
#[derive(Clone, Debug)]
pub struct Choices {
    /// What applies where the policy says nothing.
    pub flags: Setting,
    /// What applies to some servers, tools and modes instead.
    pub policy: Policy,
    /// What the client is known not to show.
    pub profile: Option<Profile>,
    pub limits: Limits,
    /// The language of Midcall's own sentences.
    pub locale: Locale,
    /// How long a client's call stays open while a person thinks; forever if `None`.
    pub hold: Option<Duration>,
    pub on_unavailable: OnUnavailable,
    /// The server: where it is reached, and its name until it gives one itself.
    pub asker: Asker,
    /// Whose questions they are that the server asks here.
    pub scope: Scope,
    /// The server whose calls are written down; none if nothing is.
    pub saves: Option<Fingerprint>,
}

/// What a server is told when nobody can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnavailable {
    /// That the question was cancelled, and why in `_meta`.
    #[default]
    Cancel,
    /// An error.
    Error,
}

/// Which era a server is said to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerEra {
    /// It is found out.
    #[default]
    Auto,
    /// Up to 2025-11-25.
    Legacy,
    /// Since 2026-07-28.
    Modern,
}

/// How a session is set up: its [`Choices`], which can be read through it but not changed, and
/// what follows from them.
#[derive(Clone, Debug)]
pub struct Setup {
    choices: Choices,
    /// The flags with defaults for what they leave out, but for `patience`: that of the flags
    /// doesn't limit what the policy says.
    base: Setting,
    patience: Duration,
    facts: Facts,
}

/// What is known of every message of a session in advance.
#[derive(Clone, Debug)]
struct Facts {
    may_confirm: bool,
    needs_hints: bool,
    policy_confirms: bool,
    policy_restricts: bool,
    allows_links: bool,
    minds_tools: bool,
    /// The routes that the flags or some rule of the policy allow.
    routes: Vec<Route>,
    added: Modes,
    /// Modes of which some questions are left to others than a client that declares them.
    left_if_declared: Modes,
    /// The same for a client that doesn't.
    left_if_not: Modes,
}

/// How long a question waits, unless the flags, the policy or the question itself say otherwise.
pub const PATIENCE: Duration = Duration::from_secs(5 * 60);

impl Setup {
    /// Works out what follows from the choices.
    pub fn new(choices: Choices) -> Self {
        let usual = Setting {
            routes: Some(Routes::default()),
            confirm: Some(Confirm::default()),
            secrets: Some(Secrets::default()),
            model_may_confirm: Some(false),
            sampling: Some(Sampling::default()),
            links: Some(Vec::new()),
            ..Setting::default()
        };
        let base = Setting {
            patience: None,
            ..choices.flags.or(&usual)
        };
        Self {
            facts: Facts::new(&choices, &base),
            patience: choices.flags.patience.unwrap_or(PATIENCE),
            base,
            choices,
        }
    }

    /// Resolves the settings for a question in a mode, or for a call. If it can belong to several
    /// `tools`, the strictest of each setting applies; without any, what applies to any tool.
    pub fn plan(&self, server: &str, tools: &[String], mode: Mode) -> Plan {
        let setting = |tool| self.policy.setting(server, tool, mode);
        let settings: Vec<Setting> = if tools.is_empty() {
            vec![setting(None)]
        } else {
            tools.iter().map(|tool| setting(Some(tool))).collect()
        };
        Plan::new(Setting::strictest(&settings, &self.base), self.patience)
    }

    /// Which calls of a tool need a person's approval.
    pub fn confirm(&self, server: &str, tool: Option<&str>) -> Confirm {
        let by_policy = (self.facts.policy_confirms)
            .then(|| self.policy.setting(server, tool, Mode::Form).confirm);
        let confirm = by_policy.flatten().or(self.base.confirm);
        confirm.unwrap_or_default()
    }

    /// True if the policy says something about questions that can have come up in one of these
    /// tools, or in none, that can only be applied to a question that can be read.
    pub fn judges_questions(&self, server: &str, tools: &[String]) -> bool {
        let tools = tools.iter().map(|tool| Some(tool.as_str())).chain([None]);
        let mut settings = tools.flat_map(|tool| {
            [Mode::Form, Mode::Url].map(|mode| self.policy.setting(server, tool, mode))
        });
        settings.any(|setting| {
            setting.secrets == Some(Secrets::Refuse)
                || setting.routes.is_some()
                || setting.asks_per_minute.is_some()
        })
    }

    /// How long a question waits if neither it nor the policy says so.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// True if the flags, as opposed to the policy, allow a route.
    pub fn flags_allow(&self, route: Route) -> bool {
        (self.base.routes.as_ref()).is_some_and(|routes| routes.has(route))
    }

    /// True if the flags or some rule of the policy allow a route.
    pub fn may_ask(&self, route: Route) -> bool {
        self.facts.routes.contains(&route)
    }

    /// True if some calls may need a person's approval.
    pub fn may_confirm(&self) -> bool {
        self.facts.may_confirm
    }

    /// True if a tool's annotations may decide whether its calls need approval.
    pub fn needs_hints(&self) -> bool {
        self.facts.needs_hints
    }

    /// True if the policy says what a server may ask, or for how long.
    pub fn restricts(&self) -> bool {
        self.facts.policy_restricts
    }

    /// True if it matters to a plan in which tools a question can have come up.
    pub fn minds_tools(&self) -> bool {
        self.facts.minds_tools
    }

    /// True if the policy allows some unencrypted links.
    pub fn allows_links(&self) -> bool {
        self.facts.allows_links
    }

    /// The modes that some route other than the client can ask in.
    pub fn added(&self) -> Modes {
        self.facts.added
    }

    /// True if some questions of a mode are left to others than a client that declares `modes`.
    pub fn leaves_one(&self, mode: Mode, modes: Modes) -> bool {
        let left = if modes.has(mode) {
            self.facts.left_if_declared
        } else {
            self.facts.left_if_not
        };
        left.has(mode)
    }
}

/// The choices can be read, but not changed: the facts depend on them.
impl Deref for Setup {
    type Target = Choices;

    fn deref(&self) -> &Choices {
        &self.choices
    }
}

impl Facts {
    fn new(choices: &Choices, base: &Setting) -> Self {
        let policy = &choices.policy;
        let confirm = base.confirm.unwrap_or_default();
        let routes = || all_routes(base, policy);
        let left = |declares: bool| {
            let shown = shown(choices.profile.as_ref(), declares);
            let leaves = |mode| routes().any(|routes| routes.leaves_one(mode, shown));
            Modes {
                form: leaves(Mode::Form),
                url: leaves(Mode::Url),
            }
        };
        let added = routes().map(Routes::added);
        Self {
            may_confirm: confirm != Confirm::Never || policy.confirms(),
            needs_hints: confirm == Confirm::Destructive || policy.confirms(),
            policy_confirms: policy.confirms(),
            policy_restricts: policy.restricts(),
            allows_links: policy.allows_links(),
            minds_tools: policy.minds_tools(),
            routes: [Route::Client, Route::Page, Route::Api, Route::Model]
                .into_iter()
                .filter(|route| routes().any(|routes| routes.has(*route)))
                .collect(),
            added: added.fold(Modes::default(), Modes::union),
            left_if_declared: left(true),
            left_if_not: left(false),
        }
    }
}

/// Every list of routes that may apply.
fn all_routes<'a>(base: &'a Setting, policy: &'a Policy) -> impl Iterator<Item = &'a Routes> {
    base.routes.iter().chain(policy.routes())
}

/// The modes in which a client shows any question, if it `declares` both modes or none.
fn shown(profile: Option<&Profile>, declares: bool) -> Modes {
    let cannot = profile.map_or(&[][..], |profile| profile.cannot());
    Modes {
        form: declares && cannot.iter().all(|part| *part == Part::Url),
        url: declares && !cannot.contains(&Part::Url),
    }
}

#[cfg(test)]
mod tests {
    use super::super::LONGEST;
    use super::*;

    fn setup(routes: &str, policy: &str, profile: Option<&str>) -> Setup {
        Setup::new(Choices {
            flags: Setting {
                routes: Some(routes.parse().unwrap()),
                patience: Some(Duration::from_secs(300)),
                ..Setting::default()
            },
            policy: policy.parse().unwrap(),
            profile: profile.map(Profile::known),
            limits: Limits::default(),
            locale: Locale::default(),
            hold: None,
            on_unavailable: OnUnavailable::default(),
            asker: Asker::named("server"),
            scope: Scope::user("ana"),
            saves: None,
        })
    }

    #[test]
    fn a_plan_has_what_the_policy_and_the_flags_leave_out() {
        let plan = setup("page", "", None).plan("server", &[], Mode::Form);
        let expected = Plan {
            routes: "page".parse().unwrap(),
            patience: Duration::from_secs(300),
            longest: LONGEST,
            confirm: Confirm::Never,
            secrets: Secrets::Warn,
            asks_per_minute: u32::MAX,
            model_may_confirm: false,
            sampling: Sampling::Pass,
            links: Vec::new(),
        };
        assert_eq!(plan, expected);
    }

    #[test]
    fn the_patience_of_the_flags_does_not_limit_that_of_the_policy() {
        let policy = "[[rule]]\ntool = \"slow\"\npatience = \"10m\"
            [[rule]]\ntool = \"quick\"\npatience = \"1m\"
            [[rule]]\ntool = \"endless\"\npatience = \"30d\"";
        let setup = setup("page", policy, None);
        let wanted = Some(Duration::from_secs(3_600));
        for (tools, without, with) in [
            (&["other"][..], 300, 3_600),
            (&[], 300, 3_600),
            (&["slow"], 600, 600),
            (&["slow", "other"], 600, 600),
            (&["slow", "quick"], 60, 60),
            (&["endless"], 86_400, 3_600),
        ] {
            let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
            let plan = setup.plan("server", &tools, Mode::Form);
            let waits = [plan.wait(None), plan.wait(wanted)];
            assert_eq!(
                waits.map(|wait| wait.as_secs()),
                [without, with],
                "{tools:?}"
            );
        }
    }

    #[test]
    fn a_policy_without_a_setting_may_be_the_strictest() {
        let policy = "[[rule]]\ntool = \"lax\"\nsecrets = \"allow\"\nmodel_may_confirm = true";
        let setup = setup("page", policy, None);
        for (tools, secrets, may_confirm) in [
            (&["lax"][..], Secrets::Allow, true),
            (&["lax", "other"], Secrets::Warn, false),
        ] {
            let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
            let plan = setup.plan("server", &tools, Mode::Form);
            assert_eq!(
                (plan.secrets, plan.model_may_confirm),
                (secrets, may_confirm)
            );
        }
    }

    #[test]
    fn what_is_left_to_others_depends_on_routes_profile_and_client() {
        let page_for_some = "[[rule]]\ntool = \"a\"\nroutes = \"page\"";
        for (routes, policy, profile, declared, undeclared) in [
            ("client", "", None, [false, false], [false, false]),
            ("client,page", "", None, [false, false], [true, true]),
            ("page,client", "", None, [true, true], [true, true]),
            ("client,model", "", None, [false, false], [true, false]),
            ("client", page_for_some, None, [true, true], [true, true]),
            ("client,page", "", Some("goose"), [true, true], [true, true]),
            (
                "client,page",
                "",
                Some("codex"),
                [true, false],
                [true, true],
            ),
        ] {
            let setup = setup(routes, policy, profile);
            let left = |form, url| {
                let modes = Modes { form, url };
                [Mode::Form, Mode::Url].map(|mode| setup.leaves_one(mode, modes))
            };
            let case = format!("{routes} {policy:?} {profile:?}");
            assert_eq!(left(true, true), declared, "{case}");
            assert_eq!(left(false, false), undeclared, "{case}");
            assert_eq!(left(true, false), [declared[0], undeclared[1]], "{case}");
        }
    }
}
