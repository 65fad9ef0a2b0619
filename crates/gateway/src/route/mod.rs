//! Who is asked.

pub mod document;
mod fingerprint;
mod mistakes;
mod plan;
mod policy;
mod profile;
mod setting;
mod setup;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use midcall_core::wire::{Mode, Modes};

use crate::suggest;

pub use fingerprint::Fingerprint;
pub use mistakes::Mistakes;
pub use plan::{LONGEST, Plan};
pub use policy::{Policy, PolicyError};
pub use profile::{Part, Profile, ProfileError};
pub use setting::{Confirm, Sampling, Secrets, Setting};
pub use setup::{Choices, OnUnavailable, PATIENCE, ServerEra, Setup};

/// Who may be asked, the first that can goes first.
#[derive(Clone, Debug, PartialEq)]
pub struct Routes(Vec<Route>);

/// Somebody who can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The client itself.
    Client,
    /// The page on this machine.
    Page,
    /// Whoever reads the announced API: a script, or a page of its own.
    Api,
    /// The model, which is told to ask the person. Its answers are not a human's.
    Model,
}

/// Not a list of routes.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RoutesError {
    /// No such route.
    #[error("{}", unknown(.0))]
    Unknown(String),
    /// The same twice.
    #[error("{0:?} is there twice")]
    Twice(String),
}

fn unknown(name: &str) -> String {
    let meant = suggest::tip(name, ["client", "page", "api", "model"]);
    format!("there is no route {name:?}: choose from client, page, api and model{meant}")
}

impl Default for Routes {
    fn default() -> Self {
        Self(vec![Route::Client, Route::Page])
    }
}

impl Routes {
    /// Whether it is among them.
    pub fn has(&self, route: Route) -> bool {
        self.0.contains(&route)
    }

    /// The others.
    pub fn without(mut self, route: Route) -> Self {
        self.0.retain(|other| *other != route);
        self
    }

    /// No route.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Those that come after one of them.
    pub fn after(mut self, route: Route) -> Self {
        let place = self.0.iter().position(|other| *other == route);
        Self(place.map_or(Vec::new(), |place| self.0.split_off(place + 1)))
    }

    /// The first that can.
    pub fn first(&self, mut can: impl FnMut(Route) -> bool) -> Option<Route> {
        self.0.iter().copied().find(|route| can(*route))
    }

    /// What they can do besides the client.
    pub fn added(&self) -> Modes {
        let mut added = Modes::default();
        for route in self.0.iter().filter(|route| **route != Route::Client) {
            added = added.union(route.modes());
        }
        added
    }

    /// Whether questions of a mode are left to others than a client that can do these.
    pub fn leaves_one(&self, mode: Mode, modes: Modes) -> bool {
        let first = self.first(|route| match route {
            Route::Client => modes.has(mode),
            route => route.modes().has(mode),
        });
        first.is_some_and(|route| route != Route::Client)
    }
}

impl Route {
    /// What it can be asked, if it is not the client. A link is opened by a person or not at
    /// all, so no model is shown one.
    pub fn modes(self) -> Modes {
        Modes {
            form: self != Self::Client,
            url: matches!(self, Self::Page | Self::Api),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Page => "page",
            Self::Api => "api",
            Self::Model => "model",
        })
    }
}

impl fmt::Display for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(Route::to_string).collect();
        f.write_str(&names.join(","))
    }
}

impl Serialize for Routes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Text as in flags; empty for no routes.
impl<'de> Deserialize<'de> for Routes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Ok(Self::none());
        }
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Routes {
    type Err = RoutesError;

    fn from_str(text: &str) -> Result<Self, RoutesError> {
        let mut order = Vec::new();
        for name in text.split(',').map(str::trim) {
            let route = match name {
                "client" => Route::Client,
                "page" => Route::Page,
                "api" => Route::Api,
                "model" => Route::Model,
                _ => return Err(RoutesError::Unknown(name.to_owned())),
            };
            if order.contains(&route) {
                return Err(RoutesError::Twice(name.to_owned()));
            }
            order.push(route);
        }
        Ok(Self(order))
    }
}
