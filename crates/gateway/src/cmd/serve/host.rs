//! Servers behind one listener: each at its path, the page beside them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Extension, Json};
use futures_util::future::join_all;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

use crate::config::Hosted;
use crate::local::{Local, Site};
use crate::printer::Printer;
use crate::relay::{ClientEnd, Page, Relay, Room, Servers};
use crate::session::Session;
use crate::times::DRAIN;
use crate::transport::front::{self, Attend, Endpoint, Inbox};

/// How long a client may take to come back once its person has answered: as long as results are kept.
const COMING_BACK: Duration = Duration::from_secs(10 * 60);

/// Serves until we are told to end. `ready` is told each name and address.
pub async fn host(
    mut local: Local,
    hosted: Vec<Hosted>,
    opens: bool,
    ready: impl FnOnce(&[(String, String)]),
) -> anyhow::Result<()> {
    let errors = Printer::start(io::stderr());
    take_handles();
    local.join();
    let (desk, door) = (local.desk.clone(), local.door());
    let room = Room::of(desk.clone(), door.clone(), opens);
    let mut endpoints = Vec::new();
    let mut calls = Router::new();
    let mut addresses = Vec::new();
    for server in hosted {
        server.address.caution();
        let (path, bounds) = (server.path.clone(), server.bounds);
        addresses.push((server.name.clone(), format!("{}{path}", door.origin())));
        let away = server.setup.patience() + COMING_BACK;
        let attend = attend(server, room.clone(), errors.clone());
        let endpoint = Endpoint::new(attend, bounds, away);
        calls = calls.merge(front::routes(&path, endpoint.clone()));
        endpoints.push(endpoint);
    }
    let endpoints = Arc::new(endpoints);
    let readiness = get(readyz).layer(Extension(endpoints.clone()));
    let mut serving = local.serve(Site {
        calls: calls.route("/readyz", readiness),
        ..Site::default()
    })?;
    ready(&addresses);
    serving.told_to_end().await?;
    let drained = join_all(endpoints.iter().map(|endpoint| endpoint.end(DRAIN.get())));
    tokio::select! {
        _ = drained => {}
        told = serving.told_to_end() => {
            told?; // Whoever says it twice does not want to wait.
            join_all(endpoints.iter().map(|endpoint| endpoint.end(Duration::ZERO))).await;
        }
    }
    desk.shut_down().await;
    serving.close().await?;
    errors.finish();
    Ok(())
}

/// Takes as many file handles as the system gives: each session has some.
fn take_handles() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the number of file handles stays as it is");
    }
}

/// `GET /readyz`: whether new calls are taken.
async fn readyz(Extension(endpoints): Extension<Arc<Vec<Arc<Endpoint>>>>) -> impl IntoResponse {
    match endpoints.iter().any(|endpoint| endpoint.is_ending()) {
        false => (StatusCode::OK, Json(json!({"status": "ready"}))),
        true => {
            let ending = Json(json!({"status": "ending"}));
            (StatusCode::SERVICE_UNAVAILABLE, ending)
        }
    }
}

/// Attends to whoever sits down at a server.
fn attend(server: Hosted, room: Room, errors: Printer) -> Attend {
    let server = Arc::new(server);
    Box::new(move |inbox| {
        let one = sit(server.clone(), room.clone(), errors.clone(), inbox);
        Box::pin(one)
    })
}

async fn sit(server: Arc<Hosted>, room: Room, errors: Printer, inbox: Inbox) {
    let servers = match Servers::open(server.address.clone(), server.bounds.message) {
        Ok(servers) => servers,
        Err(error) => {
            let why = format!("{:#}", anyhow::Error::from(error));
            tracing::error!(server = server.name, "{why}");
            return inbox.end(&why);
        }
    };
    let mut session = Session::new(server.setup.clone(), server.era);
    if let Some(tools) = inbox.learned() {
        session = session.knowing(tools);
    }
    if inbox.is_shared() {
        session = session.shared();
    }
    let relay = Relay {
        session,
        client: ClientEnd::Inbox(inbox),
        servers,
        page: Page::new(room, &server.setup),
        errors,
        signals: None,
        tap: None,
    };
    let ended = relay.run().await;
    tracing::info!(server = server.name, ?ended, "a session is over");
}
