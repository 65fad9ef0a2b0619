//! The desk over HTTP, for the person at this machine.
//!
//! A [`Server`] binds a loopback address and serves the calls that `openapi.json` describes,
//! the page (`pages`), and what a command adds to them ([`Site`]). Every request passes the
//! `guard`; calls have their bearer looked up (`auth`), then the desk is asked. Whatever is
//! refused is refused by `refusal`.
//!
//! In: [`Server::bind`], [`Server::serve`]. Out: the desk's `watch`, `settle`, `opened`, `status`.
//! Elsewhere: what a ticket is (`midcall-desk`), the commands that start a server (`cmd`).

pub mod announce;
mod auth;
mod body;
mod connections;
mod events;
mod guard;
mod pace;
mod pages;
pub mod peers;
mod places;
mod refusal;
mod rest;
mod roster;
mod tickets;
mod visits;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router, middleware};
use midcall_desk::Desk;
use midcall_store::{Post, Store};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use auth::{Caller, principal};
pub use body::Name;
pub use guard::Whence;
pub use refusal::Refusal;
pub use roster::Roster;
pub use visits::Expected;

use announce::{AnnounceError, Announced, Announcement};
use auth::Keys;
use guard::Guard;
use peers::{Folder, Gathering, Standing};
use visits::Visits;

const OPENAPI: &str = include_str!("openapi.json");

/// How much is served at once.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Event streams.
    pub streams: usize,
    /// Calls a second with one bearer. Four times as many may come in a burst.
    pub calls_per_second: u32,
}

/// A bound socket and the keys to it. Nothing is answered before [`Server::serve`].
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    keys: Arc<Keys>,
    bounds: Bounds,
    visits: Visits,
    roster: Roster,
    gathering: Option<Arc<Gathering>>,
}

/// What is known of a server from outside of it.
#[derive(Clone)]
pub struct Door {
    address: SocketAddr,
    keys: Arc<Keys>,
    visits: Visits,
    /// The servers behind it.
    pub roster: Roster,
    /// The other gateways of the person, if it has joined them.
    pub gathering: Option<Arc<Gathering>>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Other machines could reach it.
    #[error("{0} cannot be used: the page is for this machine, on 127.0.0.1 or [::1]")]
    NotLoopback(SocketAddr),
    /// The system says no.
    #[error("cannot listen on {0}")]
    Io(SocketAddr, #[source] io::Error),
}

/// What is served beside the calls of `openapi.json`.
pub struct Site<S: Store, P: Post> {
    /// What `/` shows: a file of `midcall_web`.
    pub home: &'static str,
    /// The command's own calls.
    pub calls: Router<Arc<App<S, P>>>,
}

/// What the calls work with.
pub struct App<S: Store, P: Post> {
    pub desk: Desk<S, P>,
    keys: Arc<Keys>,
    guard: Arc<Guard>,
    streams: Arc<Semaphore>,
    visits: Visits,
    roster: Roster,
    gathering: Option<Arc<Gathering>>,
    /// Cancelled when the server shuts down: event streams have no end of their own.
    closing: CancellationToken,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            streams: 4_096,
            calls_per_second: 50,
        }
    }
}

impl<S: Store, P: Post> Default for Site<S, P> {
    fn default() -> Self {
        Self {
            home: "page/index.html",
            calls: Router::new(),
        }
    }
}

impl Server {
    /// Binds a loopback address; port 0 is any free port.
    pub async fn bind(address: SocketAddr, bounds: Bounds) -> Result<Self, BindError> {
        // Other loopback addresses have names that no browser knows.
        let ours = [
            IpAddr::from(Ipv4Addr::LOCALHOST),
            Ipv6Addr::LOCALHOST.into(),
        ];
        if !ours.contains(&address.ip()) {
            return Err(BindError::NotLoopback(address));
        }
        let failed = |error| BindError::Io(address, error);
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        Ok(Self {
            address: listener.local_addr().map_err(failed)?,
            listener,
            keys: Arc::new(Keys::new(bounds.calls_per_second)),
            bounds,
            visits: Visits::default(),
            roster: Roster::default(),
            gathering: None,
        })
    }

    /// Joins the other gateways of this user: one page shows the questions of all. It leaves them
    /// when what this gives is dropped.
    pub fn join(&mut self, folder: Folder) -> Result<Announced, AnnounceError> {
        let announcement = Announcement {
            peer: Some(self.keys.for_peers().reveal().to_owned()),
            ..self.announcement()
        };
        let (gathering, announced) = Gathering::join(folder, &announcement)?;
        self.gathering = Some(Arc::new(gathering));
        Ok(announced)
    }

    /// What stays with whoever starts the server.
    pub fn door(&self) -> Door {
        Door {
            address: self.address,
            keys: self.keys.clone(),
            visits: self.visits.clone(),
            roster: self.roster.clone(),
            gathering: self.gathering.clone(),
        }
    }

    /// What another process of this user needs to get in.
    pub fn announcement(&self) -> Announcement {
        let door = self.door();
        Announcement {
            pid: std::process::id(),
            launch: door.launch(),
            page: door.origin(),
            api: door.origin(),
            bearer: self.keys.script().reveal().to_owned(),
            peer: None,
        }
    }

    /// Answers until `closing` is cancelled and the last response is out.
    pub async fn serve<S: Store, P: Post>(
        self,
        desk: Desk<S, P>,
        site: Site<S, P>,
        closing: CancellationToken,
    ) {
        let app = App {
            desk,
            guard: Arc::new(Guard::new(self.address.port(), self.keys.clone())),
            keys: self.keys,
            visits: self.visits,
            roster: self.roster,
            gathering: self.gathering,
            streams: Arc::new(Semaphore::new(
                self.bounds.streams.min(Semaphore::MAX_PERMITS),
            )),
            closing: closing.clone(),
        };
        connections::serve(self.listener, router(app, site), closing).await;
    }
}

impl Door {
    /// Where the page is.
    pub fn origin(&self) -> String {
        guard::origin(self.address)
    }

    /// The page's address with a fresh launch token, for a person to use some time.
    pub fn launch(&self) -> String {
        format!("{}/#{}", self.origin(), self.keys.launch().reveal())
    }

    /// The same for a browser to use at once: it lapses after a minute.
    pub fn launch_now(&self) -> String {
        format!("{}/#{}", self.origin(), self.keys.launch_now().reveal())
    }

    /// Whether a person has the page open.
    pub fn is_open(&self) -> bool {
        self.visits.standing() == Standing::Open
    }

    /// A browser is about to be told to show it.
    pub fn expect(&self) -> Expected {
        self.visits.expect()
    }

    /// Waits for a sign that a page comes: it is open, or was let in by another's word since then.
    pub async fn sign(&self, since: Instant) {
        self.visits.sign(since).await;
    }

    /// Waits until a person has it open, or comes.
    pub async fn opened(&self) {
        self.visits.next().await;
    }
}

fn router<S: Store, P: Post>(app: App<S, P>, site: Site<S, P>) -> Router {
    let guard = app.guard.clone();
    routes()
        .into_iter()
        .fold(Router::new(), |router, (_, path, call)| {
            router.route(path, call)
        })
        .merge(pages::routes(site.home))
        .merge(peers::calls::routes())
        .merge(site.calls)
        .fallback(async || Refusal::NotFound)
        .method_not_allowed_fallback(async || Refusal::Method)
        .layer(DefaultBodyLimit::max(body::most_bytes()))
        .layer(middleware::from_fn_with_state(guard, guard::stand))
        .with_state(Arc::new(app))
}

/// A call: its method and path, as `openapi.json` names them, and what it does.
type Call<S, P> = (&'static str, &'static str, MethodRouter<Arc<App<S, P>>>);

fn routes<S: Store, P: Post>() -> [Call<S, P>; 9] {
    [
        ("get", "/elicitation/events", get(events::follow)),
        ("get", "/elicitation/status/{id}", get(tickets::status)),
        ("post", "/elicitation/{id}/accept", post(tickets::accept)),
        ("post", "/elicitation/{id}/reject", post(tickets::reject)),
        ("post", "/elicitation/{id}/cancel", post(tickets::cancel)),
        ("post", "/elicitation/{id}/opened", post(tickets::opened)),
        // Whoever has no bearer yet gets little room.
        (
            "post",
            "/launch",
            post(auth::launch).layer(DefaultBodyLimit::max(1_024)),
        ),
        ("get", "/openapi.json", get(openapi)),
        ("get", "/healthz", get(healthz)),
    ]
}

async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], OPENAPI)
}

async fn healthz() -> impl IntoResponse {
    Json(json!({"status": "ok"}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use midcall_store::{Mailroom, Memory};
    use serde_json::Value;

    #[test]
    fn openapi_describes_every_route_and_no_other() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let mut described: Vec<(&str, &str)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, calls)| {
                let methods = calls.as_object().unwrap().keys();
                methods.map(move |method| (method.as_str(), path.as_str()))
            })
            .collect();
        let mut served: Vec<(&str, &str)> = routes::<Memory, Mailroom>()
            .iter()
            .map(|(method, path, _)| (*method, *path))
            .collect();
        described.sort_unstable();
        served.sort_unstable();
        assert_eq!(described, served);
    }

    #[test]
    fn openapi_refers_to_what_it_has() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let mut referred = 0;
        for text in OPENAPI.split("\"$ref\": \"#").skip(1) {
            let pointer = text.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
            referred += 1;
        }
        assert!(referred > 0);
    }

    #[tokio::test]
    async fn other_machines_cannot_be_let_in() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "127.0.0.2:0"] {
            let bound = Server::bind(address.parse().unwrap(), Bounds::default()).await;
            assert!(matches!(bound, Err(BindError::NotLoopback(_))), "{address}");
        }
    }
}
