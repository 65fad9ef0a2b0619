//! Who would be asked what, with `midcall wrap` between.

use midcall_core::wire::{Mode, Revision};

use super::look::{Asks, Found};
use crate::route::{Part, Profile, Route, Routes};

/// The client on the other side.
#[derive(Clone, Copy, Debug)]
pub enum Client<'a> {
    /// One that can ask people everything.
    Asks,
    /// One that can ask nothing.
    DoesNotAsk,
    /// One that the person named.
    Named(&'a Profile),
}

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// By the server.
    Form,
    /// By the server.
    Link,
    /// A call that fails with -32042 until links have been followed.
    LinkFirst,
    /// By Midcall, before a call is passed on.
    Confirmation,
}

/// Who is asked a question of some kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub route: Option<Route>,
    /// The parts with which a form goes to the next instead, and who that is.
    pub unless: Vec<Part>,
    pub otherwise: Option<Route>,
}

/// The questions that the server can bring about, each with who would be asked for each client.
pub fn asked(
    found: &Found,
    routes: &Routes,
    clients: &[Client<'_>],
) -> Vec<(Question, Vec<Asked>)> {
    let links = |revision: &String| revision.parse().is_ok_and(|r: Revision| !r.links());
    let links = !found.revisions.iter().all(links);
    let questions = [
        (Question::Form, found.asks != Asks::No),
        (Question::Link, links),
        (Question::LinkFirst, links && found.legacy != Some(false)),
        (Question::Confirmation, true),
    ];
    let possible = questions.into_iter().filter(|(_, possible)| *possible);
    possible
        .map(|(question, _)| {
            let asked = clients.iter().map(|client| who(question, routes, *client));
            (question, asked.collect())
        })
        .collect()
}

fn who(question: Question, routes: &Routes, client: Client<'_>) -> Asked {
    let can = |route: Route| match (route, question) {
        (Route::Client, _) => client.can(question.mode()),
        // A model cannot agree for a person to what a model wants to do.
        (Route::Model, Question::Confirmation) => false,
        (route, _) => route.modes().has(question.mode()),
    };
    let route = routes.first(can);
    let unless = match (route, question, client) {
        (Some(Route::Client), Question::Form, Client::Named(profile)) => {
            let parts = profile.cannot().iter().copied();
            parts.filter(|part| !matches!(part, Part::Url)).collect()
        }
        _ => Vec::new(),
    };
    let otherwise = match unless.is_empty() {
        true => None,
        false => routes.first(|route| route != Route::Client && can(route)),
    };
    Asked {
        route,
        unless,
        otherwise,
    }
}

impl Client<'_> {
    fn can(self, mode: Mode) -> bool {
        match self {
            Self::Asks => true,
            Self::DoesNotAsk => false,
            Self::Named(profile) => profile.has(mode),
        }
    }
}

impl Question {
    fn mode(self) -> Mode {
        match self {
            Self::Form | Self::Confirmation => Mode::Form,
            Self::Link | Self::LinkFirst => Mode::Url,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_finds_the_first_that_can() {
        use Question::*;
        let (goose, inspector) = (Profile::known("goose"), Profile::known("inspector-cli"));
        let (goose, inspector) = (Client::Named(&goose), Client::Named(&inspector));
        for (routes, client, question, expected) in [
            ("client,page", Client::Asks, Form, Some(Route::Client)),
            ("client,page", Client::DoesNotAsk, Form, Some(Route::Page)),
            ("page,client", Client::Asks, Link, Some(Route::Page)),
            ("client", Client::DoesNotAsk, Form, None),
            ("client,model", Client::DoesNotAsk, Form, Some(Route::Model)),
            ("client,model", Client::DoesNotAsk, Link, None),
            ("client,model", Client::DoesNotAsk, Confirmation, None),
            (
                "model,client",
                Client::Asks,
                Confirmation,
                Some(Route::Client),
            ),
            ("model,api", Client::Asks, LinkFirst, Some(Route::Api)),
            ("client,page", goose, Link, Some(Route::Page)),
            ("client,page", goose, Confirmation, Some(Route::Client)),
            ("client,page", inspector, Form, Some(Route::Page)),
            ("client,page", inspector, Confirmation, Some(Route::Page)),
        ] {
            let asked = who(question, &routes.parse().unwrap(), client);
            assert_eq!(asked.route, expected, "{routes} {client:?} {question:?}");
        }
    }

    #[test]
    fn a_form_that_a_client_cannot_show_goes_to_the_next() {
        let goose = Profile::known("goose");
        for (routes, otherwise) in [("client,page", Some(Route::Page)), ("client", None)] {
            let asked = who(
                Question::Form,
                &routes.parse().unwrap(),
                Client::Named(&goose),
            );
            assert_eq!(asked.route, Some(Route::Client));
            assert_eq!(
                asked.unless,
                [Part::Choices, Part::Tags, Part::TitledChoice]
            );
            assert_eq!(asked.otherwise, otherwise);
        }
    }
}
