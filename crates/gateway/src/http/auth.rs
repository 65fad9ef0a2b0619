//! Who calls: the person at the page, or a script of theirs.
//!
//! A launch token stands in the fragment of the launch URL, which browsers send to nobody. The
//! page exchanges it, once, for a bearer that acts as the person. The announced bearer is for
//! scripts, and its answers say so. There are no cookies: they ignore ports, so every page on
//! this machine would get them.
//!
//! In local mode there is one principal: the user who started the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use midcall_core::Scope;
use midcall_desk::{By, Route};
use midcall_store::{Post, Store};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::App;
use super::body::Body;
use super::pace::Pace;
use super::refusal::Refusal;
use crate::token::Token;

/// Whoever holds a valid bearer.
#[derive(Clone, Debug)]
pub struct Caller {
    pub scope: Scope,
    pub by: By,
}

/// The one user of local mode.
pub fn principal() -> Scope {
    Scope::user("local")
}

/// Every token that is worth something.
pub struct Keys {
    calls_per_second: u32,
    /// For scripts.
    script: Token,
    launches: Mutex<Vec<(Token, Lapse)>>,
    bearers: Mutex<Vec<Arc<Bearer>>>,
}

/// When a launch token is worth nothing any more. Where there is no such time, it waits for its
/// page, however long the person takes to open it.
type Lapse = Option<Instant>;

/// How long a launch token is good that a browser was handed to use at once.
const LAUNCH: Duration = Duration::from_secs(60);

struct Bearer {
    token: Token,
    by: By,
    pace: Pace,
}

impl Keys {
    pub fn new(calls_per_second: u32) -> Self {
        let keys = Self {
            calls_per_second,
            script: Token::random(),
            launches: Mutex::default(),
            bearers: Mutex::default(),
        };
        let by = By {
            route: Route::Api,
            human: false,
        };
        keys.admit(keys.script.clone(), by);
        keys
    }

    /// The bearer for scripts.
    pub fn script(&self) -> &Token {
        &self.script
    }

    /// A fresh launch token, for a person to use some time.
    pub fn launch(&self) -> Token {
        self.launch_until(None)
    }

    /// A fresh launch token, for a browser to use at once.
    pub fn launch_now(&self) -> Token {
        self.launch_until(Some(Instant::now() + LAUNCH))
    }

    fn launch_until(&self, lapse: Lapse) -> Token {
        let token = Token::random();
        locked(&self.launches).push((token.clone(), lapse));
        token
    }

    /// Takes a launch token and gives the person's bearer for it.
    fn exchange(&self, claimed: &str) -> Option<Token> {
        let mut launches = locked(&self.launches);
        let now = Instant::now();
        launches.retain(|(_, lapse)| lapse.is_none_or(|at| now < at));
        let found = launches.iter().position(|(token, _)| token.is(claimed))?;
        launches.swap_remove(found);
        drop(launches);
        let bearer = Token::random();
        let by = By {
            route: Route::Page,
            human: true,
        };
        self.admit(bearer.clone(), by);
        Some(bearer)
    }

    fn admit(&self, token: Token, by: By) {
        let pace = Pace::new(self.calls_per_second);
        locked(&self.bearers).push(Arc::new(Bearer { token, by, pace }));
    }

    fn caller(&self, headers: &HeaderMap) -> Result<Caller, Refusal> {
        let claimed = claimed(headers).ok_or(Refusal::NoBearer)?;
        let bearer = locked(&self.bearers)
            .iter()
            .find(|bearer| bearer.token.is(claimed))
            .cloned()
            .ok_or(Refusal::NoBearer)?;
        if !bearer.pace.allows() {
            return Err(Refusal::TooOften);
        }
        Ok(Caller {
            scope: principal(),
            by: bearer.by,
        })
    }
}

/// The token in `Authorization`, if there is exactly one.
fn claimed(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let only = given.next().filter(|_| given.next().is_none());
    let (scheme, token) = only.map(HeaderValue::to_str)?.ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Store, P: Post> FromRequestParts<Arc<App<S, P>>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App<S, P>>) -> Result<Self, Refusal> {
        app.keys.caller(&parts.headers)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Launch {
    token: String,
}

#[derive(Serialize)]
pub struct Launched {
    bearer: String,
}

/// `POST /launch`: the page turns the token of its URL into a bearer.
pub async fn launch<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    Body(launch): Body<Launch>,
) -> Result<Json<Launched>, Refusal> {
    let bearer = app.keys.exchange(&launch.token).ok_or(Refusal::NoBearer)?;
    let bearer = bearer.reveal().to_owned();
    Ok(Json(Launched { bearer }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_launch_token_works_once() {
        let keys = Keys::new(50);
        let (used, other) = (keys.launch(), keys.launch());
        assert!(keys.exchange("").is_none());
        assert!(keys.exchange(keys.script.reveal()).is_none());
        assert!(keys.exchange(used.reveal()).is_some());
        assert!(keys.exchange(used.reveal()).is_none());
        assert!(keys.exchange(other.reveal()).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_for_a_browser_lapses_and_one_for_a_person_waits() {
        let keys = Keys::new(50);
        let (at_once, too_late) = (keys.launch_now(), keys.launch_now());
        let some_time = keys.launch();
        tokio::time::advance(LAUNCH - Duration::from_secs(1)).await;
        assert!(keys.exchange(at_once.reveal()).is_some());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(keys.exchange(too_late.reveal()).is_none());
        tokio::time::advance(Duration::from_secs(24 * 60 * 60)).await;
        assert!(keys.exchange(some_time.reveal()).is_some());
    }

    #[test]
    fn tokens_have_256_bits_and_none_is_like_another() {
        let (one, other) = (Token::random(), Token::random());
        assert_eq!(one.reveal().len(), 43);
        assert!(one.is(one.reveal()) && !one.is(other.reveal()) && !one.is(""));
    }
}
