//! Who is asked.

mod page;
#[allow(dead_code, reason = "`wrap` and `doctor` are to use it")]
mod policy;
#[allow(dead_code, reason = "`wrap` and `doctor` are to use it")]
mod profile;
mod settings;

use std::str::FromStr;

use midcall_core::wire::{Mode, Modes};
use midcall_core::{Elicitation, Wanted};

pub use page::Page;
#[allow(unused_imports, reason = "`wrap` and `doctor` are to use it")]
pub use policy::{Confirm, Plan, Policy, PolicyError, Secrets};
#[allow(unused_imports, reason = "`wrap` and `doctor` are to use it")]
pub use profile::{CannotRender, Part, Profile, ProfileError};

/// Who may be asked, the first that can goes first.
#[derive(Clone, Debug, PartialEq)]
pub struct Routes {
    order: Vec<Route>,
    /// Whether the client is among them.
    pub client: bool,
    /// Whether the page is.
    pub page: bool,
}

/// Somebody who can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The client itself.
    Client,
    /// The page on this machine.
    Page,
}

/// Not a list of routes.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RoutesError {
    /// No such route.
    #[error("there is no route {0:?}: choose from client and page")]
    Unknown(String),
    /// The same twice.
    #[error("{0:?} is there twice")]
    Twice(String),
}

impl Default for Routes {
    fn default() -> Self {
        Self::new(vec![Route::Client, Route::Page])
    }
}

impl Routes {
    fn new(order: Vec<Route>) -> Self {
        Self {
            client: order.contains(&Route::Client),
            page: order.contains(&Route::Page),
            order,
        }
    }

    /// What they can do besides the client.
    pub fn added(&self) -> Modes {
        Modes {
            form: self.page,
            url: self.page,
        }
    }

    /// Whether the client is to answer, given what it can.
    pub fn client_answers(&self, modes: Modes, elicitation: &Elicitation) -> bool {
        self.is_for_client(
            modes,
            match elicitation.wanted {
                Wanted::Form(_) => Mode::Form,
                Wanted::Link(_) => Mode::Url,
            },
        )
    }

    /// Whether some questions are left to others than the client.
    pub fn leaves(&self, modes: Modes) -> bool {
        let is_left = |mode| !self.is_for_client(modes, mode);
        self.page && [Mode::Form, Mode::Url].into_iter().any(is_left)
    }

    fn is_for_client(&self, modes: Modes, mode: Mode) -> bool {
        let first = self.order.iter().find(|route| match route {
            Route::Client => modes.has(mode),
            Route::Page => true,
        });
        first == Some(&Route::Client)
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
                _ => return Err(RoutesError::Unknown(name.to_owned())),
            };
            if order.contains(&route) {
                return Err(RoutesError::Twice(name.to_owned()));
            }
            order.push(route);
        }
        Ok(Self::new(order))
    }
}
