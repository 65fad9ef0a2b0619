//! Who calls: the person at the page, or a script of theirs.
//!
//! A launch token stands in the fragment of the launch URL, which browsers send to nobody. The
//! page exchanges it, once, for a bearer that acts as the person. The announced bearer is for
//! scripts, and its answers say so. There are no cookies: they ignore ports, so every page on
//! this machine would get them.
//!
//! In local mode there is one principal: the user who started the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::{constant_time, rand};
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use midcall_core::Scope;
use midcall_desk::{By, Route};
use midcall_store::{Post, Store};
use serde::{Deserialize, Serialize};

use super::App;
use super::body::Body;
use super::pace::Pace;
use super::refusal::Refusal;

/// 256 random bits as text. No `Debug`: who sees one can use it.
#[derive(Clone)]
pub struct Token(String);

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
    /// Each waits for its page, however long the person takes to open it.
    launches: Mutex<Vec<Token>>,
    bearers: Mutex<Vec<Arc<Bearer>>>,
}

struct Bearer {
    token: Token,
    by: By,
    pace: Pace,
}

impl Token {
    /// One that was never there before.
    pub fn random() -> Self {
        let mut bits = [0; 32];
        rand::fill(&mut bits).expect("the system has randomness");
        Self(BASE64_URL_SAFE_NO_PAD.encode(bits))
    }

    /// The token itself, to be given away.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the same time wherever the two differ.
    fn is(&self, claimed: &str) -> bool {
        constant_time::verify_slices_are_equal(self.0.as_bytes(), claimed.as_bytes()).is_ok()
    }
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

    /// A fresh launch token.
    pub fn launch(&self) -> Token {
        let token = Token::random();
        locked(&self.launches).push(token.clone());
        token
    }

    /// Takes a launch token and gives the person's bearer for it.
    fn exchange(&self, claimed: &str) -> Option<Token> {
        let mut launches = locked(&self.launches);
        let found = launches.iter().position(|token| token.is(claimed))?;
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
    let bearer = bearer.0;
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

    #[test]
    fn tokens_have_256_bits_and_none_is_like_another() {
        let (one, other) = (Token::random(), Token::random());
        assert_eq!(one.reveal().len(), 43);
        assert!(one.is(one.reveal()) && !one.is(other.reveal()) && !one.is(""));
    }
}
