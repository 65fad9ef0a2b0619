//! Who calls: the person at the page, or a script of theirs.
//!
//! A launch token stands in the fragment of the launch URL, which browsers send to nobody. The
//! page exchanges it, once, for a bearer that acts as the person. The announced bearer is for
//! scripts, and its answers say so. There are no cookies: they ignore ports, so every page on
//! this machine would get them. A launch token, and the bearer it becomes, work for the page they
//! were made for: our own, or that of another gateway of the same person, by its origin.
//!
//! In local mode there is one principal: the user who started the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::{Extension, Json};
use midcall_core::Scope;
use midcall_desk::{By, Route};
use midcall_store::{Post, Store};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::App;
use super::body::Body;
use super::guard::Whence;
use super::pace::Pace;
use super::places::Place;
use super::refusal::Refusal;
pub use crate::principal::principal;
use crate::token::Token;

/// Whoever holds a valid bearer.
#[derive(Clone)]
pub struct Caller {
    pub scope: Scope,
    pub by: By,
    /// Kept by whoever goes on for long, so that it stays good.
    pub bearer: Arc<Bearer>,
}

/// Every token that is worth something.
pub struct Keys {
    calls_per_second: u32,
    /// For scripts.
    script: Token,
    /// For other gateways of this person.
    peer: (Token, Pace),
    launches: Mutex<Vec<Launching>>,
    bearers: Mutex<Vec<Arc<Bearer>>>,
}

/// When a launch token is worth nothing any more. Where there is no such time, it waits for its
/// page, however long the person takes to open it.
type Lapse = Option<Instant>;

/// How long a launch token is good that a browser was handed to use at once.
const LAUNCH: Duration = Duration::from_secs(60);

/// Calls a second by other gateways. All of them ask at once when a tab is on its way.
const PEER_CALLS: u32 = 500;

/// Bearers of other gateways' pages that are kept though no page uses them: each of their reloads
/// leaves one behind.
const MOST_GUESTS: usize = 64;

struct Launching {
    token: Token,
    lapse: Lapse,
    guest: Guest,
}

/// A token that is worth something. Whoever follows the events holds on to it.
pub struct Bearer {
    token: Token,
    by: By,
    pace: Pace,
    guest: Guest,
}

/// The origin of another gateway's page, if it is not ours.
type Guest = Option<String>;

impl Keys {
    pub fn new(calls_per_second: u32) -> Self {
        let keys = Self {
            calls_per_second,
            script: Token::random(),
            peer: (Token::random(), Pace::new(PEER_CALLS)),
            launches: Mutex::default(),
            bearers: Mutex::default(),
        };
        let by = By {
            route: Route::Api,
            human: false,
        };
        keys.admit(keys.script.clone(), by, None);
        keys
    }

    /// The bearer for scripts.
    pub fn script(&self) -> &Token {
        &self.script
    }

    /// The key that is left for other gateways.
    pub fn for_peers(&self) -> &Token {
        &self.peer.0
    }

    /// Whether another gateway of this person calls.
    pub fn peer(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let (token, pace) = &self.peer;
        claimed(headers)
            .filter(|claimed| token.is(claimed))
            .ok_or(Refusal::NoBearer)?;
        pace.allows().then_some(()).ok_or(Refusal::TooOften)
    }

    /// A fresh launch token, for a person to use some time.
    pub fn launch(&self) -> Token {
        self.launch_until(None, None)
    }

    /// A fresh launch token, for a browser to use at once.
    pub fn launch_now(&self) -> Token {
        self.launch_until(Some(Instant::now() + LAUNCH), None)
    }

    /// A fresh launch token, for a certain page to use at once.
    pub fn launch_for(&self, page: Whence) -> Token {
        self.launch_until(Some(Instant::now() + LAUNCH), page.guest())
    }

    fn launch_until(&self, lapse: Lapse, guest: Guest) -> Token {
        let token = Token::random();
        let mut launches = locked(&self.launches);
        launches.retain(Launching::is_good);
        launches.push(Launching {
            token: token.clone(),
            lapse,
            guest,
        });
        token
    }

    /// Whether a page of another gateway was let in, or may be.
    pub fn admits(&self, page: &Whence) -> bool {
        let is_its = |guest: &Guest| guest.as_ref() == Some(&page.origin);
        let awaits = |one: &Launching| one.is_good() && is_its(&one.guest);
        locked(&self.launches).iter().any(awaits)
            || locked(&self.bearers).iter().any(|one| is_its(&one.guest))
    }

    /// Takes a launch token and gives the person's bearer for it.
    fn exchange(&self, claimed: &str, page: Whence) -> Option<Token> {
        let guest = page.guest();
        let mut launches = locked(&self.launches);
        launches.retain(Launching::is_good);
        let found = launches
            .iter()
            .position(|one| one.token.is(claimed) && one.guest == guest)?;
        launches.swap_remove(found);
        drop(launches);
        let bearer = Token::random();
        let by = By {
            route: Route::Page,
            human: true,
        };
        self.admit(bearer.clone(), by, guest);
        Some(bearer)
    }

    fn admit(&self, token: Token, by: By, guest: Guest) {
        let pace = Pace::new(self.calls_per_second);
        let mut bearers = locked(&self.bearers);
        let is_idle = |one: &Arc<Bearer>| one.guest.is_some() && Arc::strong_count(one) == 1;
        let mut too_many =
            (bearers.iter().filter(|one| is_idle(one)).count() + 1).saturating_sub(MOST_GUESTS);
        bearers.retain(|one| {
            let goes = too_many > 0 && is_idle(one); // the eldest first
            too_many -= usize::from(goes);
            !goes
        });
        bearers.push(Arc::new(Bearer {
            token,
            by,
            pace,
            guest,
        }));
    }

    /// Whether a request carries a valid bearer, or the key of another gateway.
    pub fn know(&self, headers: &HeaderMap, page: &Whence) -> bool {
        let (peer, _) = &self.peer;
        claimed(headers)
            .is_some_and(|claimed| peer.is(claimed) || self.bearer(claimed, page).is_some())
    }

    fn bearer(&self, claimed: &str, page: &Whence) -> Option<Arc<Bearer>> {
        let guest = page.guest();
        let bearers = locked(&self.bearers);
        let is_it = |bearer: &&Arc<Bearer>| bearer.token.is(claimed) && bearer.guest == guest;
        bearers.iter().find(is_it).cloned()
    }

    fn caller(&self, headers: &HeaderMap, page: &Whence) -> Result<Caller, Refusal> {
        let bearer = claimed(headers).and_then(|claimed| self.bearer(claimed, page));
        let bearer = bearer.ok_or(Refusal::NoBearer)?;
        if !bearer.pace.allows() {
            return Err(Refusal::TooOften);
        }
        Ok(Caller {
            scope: principal(),
            by: bearer.by,
            bearer,
        })
    }
}

impl Launching {
    fn is_good(&self) -> bool {
        self.lapse.is_none_or(|at| Instant::now() < at)
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
        let page = Whence::from_request_parts(parts, app).await?;
        app.keys.caller(&parts.headers, &page)
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
    page: Whence,
    place: Option<Extension<Place>>,
    Body(launch): Body<Launch>,
) -> Result<Json<Launched>, Refusal> {
    let bearer = app.keys.exchange(&launch.token, page);
    let bearer = bearer.ok_or(Refusal::NoBearer)?;
    if let Some(Extension(place)) = place {
        place.keep();
    }
    let bearer = bearer.reveal().to_owned();
    Ok(Json(Launched { bearer }))
}

#[cfg(test)]
impl Keys {
    /// A person at a page of ours.
    pub fn person(&self) -> Caller {
        let bearer = self
            .exchange(self.launch().reveal(), tests::ours())
            .unwrap();
        let mut headers = HeaderMap::new();
        let header = format!("Bearer {}", bearer.reveal());
        headers.insert(AUTHORIZATION, header.parse().unwrap());
        self.caller(&headers, &tests::ours()).ok().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn ours() -> Whence {
        Whence {
            origin: "http://127.0.0.1:4711".to_owned(),
            is_ours: true,
        }
    }

    fn theirs(port: u16) -> Whence {
        Whence {
            origin: format!("http://127.0.0.1:{port}"),
            is_ours: false,
        }
    }

    #[tokio::test]
    async fn a_launch_token_works_once() {
        let keys = Keys::new(50);
        let (used, other) = (keys.launch(), keys.launch());
        let exchange = |token: &str| keys.exchange(token, ours());
        assert!(exchange("").is_none());
        assert!(exchange(keys.script.reveal()).is_none());
        assert!(exchange(keys.for_peers().reveal()).is_none());
        assert!(exchange(used.reveal()).is_some());
        assert!(exchange(used.reveal()).is_none());
        assert!(exchange(other.reveal()).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_for_a_browser_lapses_and_one_for_a_person_waits() {
        let keys = Keys::new(50);
        let (at_once, too_late) = (keys.launch_now(), keys.launch_now());
        let some_time = keys.launch();
        let exchange = |token: Token| keys.exchange(token.reveal(), ours());
        tokio::time::advance(LAUNCH - Duration::from_secs(1)).await;
        assert!(exchange(at_once).is_some());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(exchange(too_late).is_none());
        tokio::time::advance(Duration::from_secs(24 * 60 * 60)).await;
        assert!(exchange(some_time).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_for_another_gateways_page_works_for_that_page() {
        let keys = Keys::new(50);
        assert!(!keys.admits(&theirs(1)));
        let token = keys.launch_for(theirs(1));
        assert!(keys.admits(&theirs(1)) && !keys.admits(&theirs(2)));
        for page in [ours(), theirs(2)] {
            assert!(keys.exchange(token.reveal(), page).is_none());
        }
        assert!(keys.exchange(keys.launch().reveal(), theirs(1)).is_none());
        let bearer = keys.exchange(token.reveal(), theirs(1)).unwrap();

        let mut headers = HeaderMap::new();
        let header = format!("Bearer {}", bearer.reveal());
        headers.insert(AUTHORIZATION, header.parse().unwrap());
        assert!(keys.caller(&headers, &ours()).is_err());
        assert!(keys.caller(&headers, &theirs(2)).is_err());
        assert!(keys.caller(&headers, &theirs(1)).is_ok());
        assert!(keys.peer(&headers).is_err());

        keys.launch_for(theirs(3));
        tokio::time::advance(LAUNCH).await;
        assert!(keys.admits(&theirs(1)), "who is in stays in");
        assert!(!keys.admits(&theirs(3)), "who does not come does not");
    }

    #[tokio::test]
    async fn what_reloads_leave_behind_is_bounded_and_a_page_in_use_stays() {
        let keys = Keys::new(50);
        let reload = || {
            let token = keys.launch_for(theirs(1));
            keys.exchange(token.reveal(), theirs(1)).unwrap();
        };
        reload();
        let in_use = locked(&keys.bearers).last().cloned().unwrap();
        for _ in 0..3 * MOST_GUESTS {
            reload();
        }
        let bearers = locked(&keys.bearers);
        assert_eq!(bearers.len(), 1 + 1 + MOST_GUESTS);
        assert!(bearers.iter().any(|one| Arc::ptr_eq(one, &in_use)));
        assert!(bearers[0].token.is(keys.script.reveal()));
    }

    #[test]
    fn tokens_have_256_bits_and_none_is_like_another() {
        let (one, other) = (Token::random(), Token::random());
        assert_eq!(one.reveal().len(), 43);
        assert!(one.is(one.reveal()) && !one.is(other.reveal()) && !one.is(""));
    }
}
