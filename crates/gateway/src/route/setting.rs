//! What a person wrote about questions and calls: as flags, or in a policy for some servers,
//! tools and modes. Anything may be left out.
//!
//! Not here: what applies to one question in the end (`plan`).

use std::time::Duration;

use serde::Deserialize;

use super::Routes;

/// Settings as a person wrote them. `None` is a setting that was left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Who to ask, in order of preference.
    pub routes: Option<Routes>,
    /// How long a question waits.
    pub patience: Option<Duration>,
    /// Which calls need a person's approval.
    pub confirm: Option<Confirm>,
    /// What to do with a form that asks for a secret.
    pub secrets: Option<Secrets>,
    /// How many questions a server may ask in a minute.
    pub asks_per_minute: Option<u32>,
    /// True if the model may confirm what destroys something.
    pub model_may_confirm: Option<bool>,
    /// What to do with a request to the client's model.
    pub sampling: Option<Sampling>,
    /// Unencrypted origins that links may lead to.
    pub links: Option<Vec<String>>,
}

/// Which calls need a person's approval. The strictest is the greatest.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// None.
    #[default]
    Never,
    /// Those of tools that may destroy something, as far as their annotations say.
    Destructive,
    /// All.
    All,
}

/// What to do with a form that asks for a secret. The strictest is the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Secrets {
    /// Ask it like any other.
    Allow,
    /// Ask it, with a warning to the person.
    #[default]
    Warn,
    /// Refuse it.
    Refuse,
}

/// What to do with a server's request to the client's model. The strictest is the greatest.
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

impl Setting {
    /// These settings; those that are left out here are taken from `other`.
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

    /// The strictest value of each setting, for a question that can have come up in several
    /// calls. What one of them leaves out is first taken from `base`, because that may be the
    /// strictest.
    pub fn strictest<'a>(settings: impl IntoIterator<Item = &'a Self>, base: &Self) -> Self {
        let mut settings = settings.into_iter().map(|setting| setting.or(base));
        let first = settings.next().unwrap_or_else(|| base.clone());
        settings.fold(first, |one, other| Self {
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
    /// The routes that are in both lists, in the order of the shorter one (of `self` if both are
    /// of one length).
    fn common(&self, other: &Self) -> Self {
        let (order, rest) = if other.0.len() < self.0.len() {
            (other, self)
        } else {
            (self, other)
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
        let flags = Setting {
            routes: Some(routes("client,page")),
            patience: Some(Duration::from_secs(300)),
            confirm: Some(Confirm::Destructive),
            secrets: Some(Secrets::Warn),
            asks_per_minute: Some(120),
            model_may_confirm: Some(false),
            sampling: Some(Sampling::Ask),
            links: Some(vec!["http://a".to_owned()]),
        };
        assert_eq!(Setting::strictest([], &flags), flags);
        let lax = Setting {
            routes: Some(routes("page,client")),
            patience: Some(Duration::from_secs(600)),
            confirm: Some(Confirm::Never),
            secrets: Some(Secrets::Allow),
            asks_per_minute: Some(500),
            model_may_confirm: Some(true),
            sampling: Some(Sampling::Pass),
            links: Some(vec!["http://b".to_owned(), "http://a".to_owned()]),
        };
        assert_eq!(Setting::strictest([&lax], &flags), lax);
        let again = Setting::strictest([&lax, &lax], &flags);
        assert_eq!(again, lax);
        // A call that no rule is about keeps what holds for all.
        let silent = Setting::default();
        assert_eq!(Setting::strictest([&silent, &lax], &flags), flags);
        let mixed = Setting::strictest([&lax, &silent], &flags);
        assert_eq!(
            (mixed.confirm, mixed.routes),
            (flags.confirm, lax.routes.clone())
        );
        let strict = Setting {
            routes: Some(routes("page")),
            patience: Some(Duration::from_secs(60)),
            confirm: Some(Confirm::All),
            secrets: Some(Secrets::Refuse),
            asks_per_minute: Some(1),
            model_may_confirm: Some(false),
            sampling: Some(Sampling::Refuse),
            links: Some(Vec::new()),
        };
        assert_eq!(Setting::strictest([&lax, &strict, &silent], &flags), strict);
        assert_eq!(Setting::strictest([&strict, &silent, &lax], &flags), strict);
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
