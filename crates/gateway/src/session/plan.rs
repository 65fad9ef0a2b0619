//! Who may be asked what, given the flags, the policy and what the client is known to show.

use std::collections::VecDeque;
use std::iter::once;
use std::time::Duration;

use midcall_core::wire::{Mode, Modes};
use midcall_core::{Elicitation, Wanted};
use tokio::time::Instant;

use super::candidates::Candidates;
use super::question::{Question, WantedBy};
use super::{Confirm, Rules, Session, verdict};
use crate::route::{Part, Plan, Route, Routes, Sampling, Secrets};

/// When questions were asked lately, the oldest first.
#[derive(Default)]
pub struct Lately(VecDeque<Instant>);

const A_MINUTE: Duration = Duration::from_secs(60);

impl Lately {
    /// Whether one more is not too many. It counts as asked then.
    fn allows(&mut self, most: u32, now: Instant) -> bool {
        while self
            .0
            .front()
            .is_some_and(|asked| now.duration_since(*asked) >= A_MINUTE)
        {
            self.0.pop_front();
        }
        let allows = self.0.len() < most as usize;
        if allows {
            self.0.push_back(now);
        }
        allows
    }
}

impl Rules {
    /// Every list of routes that may hold.
    pub fn all_routes(&self) -> impl Iterator<Item = &Routes> {
        once(&self.routes).chain(self.policy.routes())
    }

    /// What routes can do besides the client, all in all.
    pub fn added(&self) -> Modes {
        let added = self.all_routes().map(Routes::added);
        added.fold(Modes::default(), Modes::union)
    }

    /// Whether some questions of a mode are left to others than a client that can do these.
    pub fn leaves_one(&self, mode: Mode, modes: Modes) -> bool {
        let modes = self.shown(modes);
        self.all_routes()
            .any(|routes| routes.leaves_one(mode, modes))
    }

    /// What a client that can do these shows whatever the question is.
    fn shown(&self, modes: Modes) -> Modes {
        let cannot = self
            .profile
            .as_ref()
            .map_or(&[][..], |profile| profile.cannot());
        Modes {
            form: modes.form && cannot.iter().all(|part| *part == Part::Url),
            url: modes.url && !cannot.contains(&Part::Url),
        }
    }

    /// What holds for a question that came up in one of these tools, or in none.
    pub(super) fn plan(&self, server: &str, tools: &[String], mode: Mode) -> Plan {
        let plans: Vec<Plan> = match tools {
            [] => vec![self.policy.plan(server, None, mode)],
            tools => {
                let plans = tools
                    .iter()
                    .map(|tool| self.policy.plan(server, Some(tool), mode));
                plans.collect()
            }
        };
        let flags = Plan {
            routes: Some(self.routes.clone()),
            confirm: Some(self.confirm),
            secrets: Some(Secrets::Warn),
            model_may_confirm: Some(false),
            sampling: Some(Sampling::Pass),
            links: Some(Vec::new()),
            ..Plan::default()
        };
        Plan::strictest(&plans, &flags)
    }

    /// True if the policy has something to say about a question that came up in one of these tools, or in none,
    /// whatever its mode is.
    fn judges_questions(&self, server: &str, tools: &[String]) -> bool {
        let tools = tools.iter().map(|tool| Some(tool.as_str())).chain([None]);
        let plans = tools.flat_map(|tool| {
            [Mode::Form, Mode::Url].map(|mode| self.policy.plan(server, tool, mode))
        });
        plans.into_iter().any(|plan| {
            plan.secrets == Some(Secrets::Refuse)
                || plan.routes.is_some()
                || plan.asks_per_minute.is_some()
        })
    }
}

impl Session {
    /// What holds for a question that comes up now.
    pub(super) fn plan(&self, elicitation: &Elicitation) -> Plan {
        let server = self.server.asker.server.as_str();
        self.rules
            .plan(server, &self.open_tools(), mode_of(elicitation))
    }

    /// True if the policy has something to say about questions that come up now, whatever they are.
    pub(super) fn judges_questions(&self) -> bool {
        let server = self.server.asker.server.as_str();
        self.rules.judges_questions(server, &self.open_tools())
    }

    /// The tools that are being called.
    pub(super) fn open_tools(&self) -> Vec<String> {
        let called = self.calls.tools().map(|(name, _)| name);
        let named = called.chain(self.claims.tools()).flatten();
        let tools = named.filter_map(|name| serde_json::from_slice(name).ok());
        tools.collect()
    }

    /// Whether some calls need somebody's agreement.
    pub(super) fn may_confirm(&self) -> bool {
        self.rules.confirm != Confirm::Never || self.rules.policy.confirms()
    }

    /// Which calls of a tool a person agrees to first.
    pub(super) fn confirm(&self, tool: Option<&[u8]>) -> Confirm {
        if !self.rules.policy.confirms() {
            return self.rules.confirm;
        }
        let tool = tool.and_then(|name| serde_json::from_slice(name).ok());
        let server = self.server.asker.server.as_str();
        let plan = self.rules.plan(server, tool.as_slice(), Mode::Form);
        plan.confirm.unwrap_or_default()
    }

    /// Why a question is not asked, if the policy says so. It waits no longer than that allows.
    pub(super) fn forbidden(
        &mut self,
        now: Instant,
        elicitation: &mut Elicitation,
        plan: &Plan,
    ) -> Option<String> {
        if let Some(why) = verdict::refusal(elicitation, self.rules.locale) {
            return Some(format!("this link is refused: {why}"));
        }
        if plan.secrets != Some(Secrets::Allow) && elicitation.asks_secret {
            if plan.secrets == Some(Secrets::Refuse) {
                let why = "this form asks for a secret, and the policy forbids that: use URL mode";
                return Some(why.to_owned());
            }
            tracing::warn!("the server asks for a secret in a form");
        }
        if let Some(most) = plan.asks_per_minute
            && !self.lately.allows(most, now)
        {
            return Some(format!("the policy allows {most} questions a minute"));
        }
        if let Some(patience) = plan.patience {
            let most = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
            let wanted = elicitation.timeout_ms.unwrap_or(most);
            elicitation.timeout_ms = Some(wanted.min(most));
        }
        None
    }

    /// Who is asked, of those who may be.
    pub(super) fn route(
        &self,
        elicitation: &Elicitation,
        calls: &Candidates,
        plan: &Plan,
    ) -> Option<Route> {
        let mode = mode_of(elicitation);
        let modes = self.modes();
        let routes = plan.routes.as_ref()?;
        routes.first(|route| match route {
            Route::Client | Route::Model if self.is_anybodys(calls) => false,
            Route::Client => {
                let is_heard = !self.in_rounds || self.has_candidate(calls);
                is_heard && modes.has(mode) && self.renders(elicitation)
            }
            Route::Page | Route::Api => true,
            Route::Model => self.model_may(elicitation, calls, plan),
        })
    }

    /// Who is asked after the client, if a question of the client's comes back without an answer.
    pub(super) fn next_route(&self, question: &Question) -> Option<Route> {
        let mut plan = self.plan(&question.elicitation);
        let is_server = matches!(question.wanted_by, WantedBy::Server(_));
        plan.routes = plan.routes.map(|routes| {
            let others = routes.without(Route::Client);
            // A model cannot agree for a person to what a model wants to do.
            match is_server {
                true => others,
                false => others.without(Route::Model),
            }
        });
        self.route(&question.elicitation, &question.calls, &plan)
    }

    /// Whether the client can show a question to a person.
    fn renders(&self, elicitation: &Elicitation) -> bool {
        let profile = self.rules.profile.as_ref();
        let rendered = profile.map_or(Ok(()), |profile| profile.renders(elicitation));
        rendered
            .inspect_err(|why| tracing::info!("the client is not asked: {why}"))
            .is_ok()
    }

    /// Whether some questions are left to others than the client.
    pub(super) fn leaves_some(&self) -> bool {
        self.leaves_one(Mode::Form) || self.leaves_one(Mode::Url)
    }

    /// Whether some of a mode are.
    pub(super) fn leaves_one(&self, mode: Mode) -> bool {
        let client = self.client.as_ref();
        client.is_some_and(|client| self.rules.leaves_one(mode, client.modes))
    }

    /// Whether the client may have to be told to ask through its model.
    pub(super) fn needs_model(&self) -> bool {
        let has_model = self
            .rules
            .all_routes()
            .any(|routes| routes.has(Route::Model));
        has_model && self.leaves_one(Mode::Form)
    }
}

fn mode_of(elicitation: &Elicitation) -> Mode {
    match elicitation.wanted {
        Wanted::Form(_) => Mode::Form,
        Wanted::Link(_) => Mode::Url,
    }
}
