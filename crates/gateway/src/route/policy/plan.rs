//! What a policy says about one question.

use std::time::Duration;

use serde::Deserialize;

use crate::route::Routes;
use crate::session::Confirm;

/// What holds for a question. What is none is not said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Who may be asked.
    pub routes: Option<Routes>,
    /// How long it waits.
    pub patience: Option<Duration>,
    /// Which calls a person confirms first.
    pub confirm: Option<Confirm>,
    /// What becomes of a form that asks for a secret.
    pub secrets: Option<Secrets>,
    /// How many questions come to a person in a minute.
    pub asks_per_minute: Option<u32>,
    /// Whether the model may confirm what destroys something.
    pub model_may_confirm: Option<bool>,
    /// What becomes of a request to the client's model.
    pub sampling: Option<Sampling>,
    /// Unencrypted origins that links may lead to.
    pub links: Option<Vec<String>>,
}

/// What becomes of a form that asks for a secret. The strictest is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Secrets {
    /// It is asked as any other.
    Allow,
    /// The person is warned.
    Warn,
    /// It is not asked.
    Refuse,
}

/// What becomes of a server's request to the client's model. The strictest is the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// The client gets it as it came.
    #[default]
    Pass,
    /// A person sees the prompt and approves it first.
    Ask,
    /// The client doesn't get it.
    Refuse,
}

impl Plan {
    /// The same, and what another says where this one says nothing.
    pub fn or(&self, other: &Self) -> Self {
        Self {
            routes: self.routes.clone().or_else(|| other.routes.clone()),
            patience: self.patience.or(other.patience),
            confirm: self.confirm.or(other.confirm),
            secrets: self.secrets.or(other.secrets),
            asks_per_minute: self.asks_per_minute.or(other.asks_per_minute),
            model_may_confirm: self.model_may_confirm.or(other.model_may_confirm),
            sampling: self.sampling.or(other.sampling),
            links: self.links.clone().or_else(|| other.links.clone()),
        }
    }

    /// What holds for a question of which only the candidates are known: of each setting the
    /// strictest. `flags` is what holds where a plan says nothing; a plan that says nothing may
    /// well be the strictest.
    pub fn strictest<'a>(plans: impl IntoIterator<Item = &'a Self>, flags: &Self) -> Self {
        let mut plans = plans.into_iter().map(|plan| plan.or(flags));
        let first = plans.next().unwrap_or_else(|| flags.clone());
        plans.fold(first, |one, other| Self {
            routes: both(one.routes, other.routes, |one, other| one.common(&other)),
            patience: both(one.patience, other.patience, Ord::min),
            confirm: both(one.confirm, other.confirm, Ord::max),
            secrets: both(one.secrets, other.secrets, Ord::max),
            asks_per_minute: both(one.asks_per_minute, other.asks_per_minute, Ord::min),
            model_may_confirm: both(one.model_may_confirm, other.model_may_confirm, Ord::min),
            sampling: both(one.sampling, other.sampling, Ord::max),
            links: both(one.links, other.links, |mut one, other| {
                one.retain(|link| other.contains(link));
                one
            }),
        })
    }
}

impl Routes {
    /// Those that are in both, in the order of the shorter one; of two of a length, the first.
    fn common(&self, other: &Self) -> Self {
        let (order, rest) = match other.0.len() < self.0.len() {
            true => (other, self),
            false => (self, other),
        };
        let common = order.0.iter().filter(|route| rest.has(**route));
        Self(common.copied().collect())
    }
}

fn both<T>(one: Option<T>, other: Option<T>, stricter: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(stricter(one, other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(text: &str) -> Routes {
        text.parse().unwrap()
    }

    #[test]
    fn the_strictest_of_each_setting_holds() {
        let flags = Plan {
            routes: Some(routes("client,page")),
            patience: Some(Duration::from_secs(300)),
            confirm: Some(Confirm::Destructive),
            secrets: Some(Secrets::Warn),
            asks_per_minute: Some(120),
            model_may_confirm: Some(false),
            sampling: Some(Sampling::Ask),
            links: Some(vec!["http://a".to_owned()]),
        };
        assert_eq!(Plan::strictest([], &flags), flags);
        let lax = Plan {
            routes: Some(routes("page,client")),
            patience: Some(Duration::from_secs(600)),
            confirm: Some(Confirm::Never),
            secrets: Some(Secrets::Allow),
            asks_per_minute: Some(500),
            model_may_confirm: Some(true),
            sampling: Some(Sampling::Pass),
            links: Some(vec!["http://b".to_owned(), "http://a".to_owned()]),
        };
        assert_eq!(Plan::strictest([&lax], &flags), lax);
        let again = Plan::strictest([&lax, &lax], &flags);
        assert_eq!(again, lax);
        // A call that no rule is about keeps what holds for all.
        let silent = Plan::default();
        assert_eq!(Plan::strictest([&silent, &lax], &flags), flags);
        let mixed = Plan::strictest([&lax, &silent], &flags);
        assert_eq!(
            (mixed.confirm, mixed.routes),
            (flags.confirm, lax.routes.clone())
        );
        let strict = Plan {
            routes: Some(routes("page")),
            patience: Some(Duration::from_secs(60)),
            confirm: Some(Confirm::All),
            secrets: Some(Secrets::Refuse),
            asks_per_minute: Some(1),
            model_may_confirm: Some(false),
            sampling: Some(Sampling::Refuse),
            links: Some(Vec::new()),
        };
        assert_eq!(Plan::strictest([&lax, &strict, &silent], &flags), strict);
        assert_eq!(Plan::strictest([&strict, &silent, &lax], &flags), strict);
    }

    #[test]
    fn only_routes_that_all_allow_are_left() {
        for (one, other, expected) in [
            ("client,page", "client,page", &["client", "page"][..]),
            ("client,page", "page,client", &["client", "page"]),
            ("page,client", "client,page", &["page", "client"]),
            ("client,page", "page", &["page"]),
            ("page", "client,page", &["page"]),
            ("page", "client", &[]),
        ] {
            let common = routes(one).common(&routes(other));
            let expected = match expected {
                [] => Routes(Vec::new()),
                some => routes(&some.join(",")),
            };
            assert_eq!(common, expected, "{one} {other}");
        }
    }
}
