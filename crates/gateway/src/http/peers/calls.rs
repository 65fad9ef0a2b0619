//! What gateways, and the pages they serve, ask a gateway about its like.
//!
//! No part of the API: `openapi.json` does not describe them.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::routing::post;
use axum::{Json, Router};
use futures_util::FutureExt;
use midcall_desk::News;
use midcall_store::{Post, Store};
use serde::{Deserialize, Serialize};

use super::super::App;
use super::super::auth::{Caller, principal};
use super::super::body::Body;
use super::super::guard::Whence;
use super::super::refusal::Refusal;
use super::Standing;

pub fn routes<S: Store, P: Post>() -> Router<Arc<App<S, P>>> {
    Router::new()
        .route("/peers/hello", post(hello))
        .route("/peers/admit", post(admit))
        .route("/peers/launch", post(launch))
        .route("/peers/status", post(status))
}

/// Another gateway of this person, by the key that was left for it.
pub struct ByPeer;

impl<S: Store, P: Post> FromRequestParts<Arc<App<S, P>>> for ByPeer {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App<S, P>>) -> Result<Self, Refusal> {
        app.keys.peer(&parts.headers).map(|()| Self)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Nothing {}

#[derive(Deserialize, Serialize)]
pub struct Hello {
    pub page: Standing,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Admit {
    origin: String,
}

#[derive(Deserialize, Serialize)]
pub struct Admitted {
    pub token: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Launch {
    page: String,
}

/// The servers of a gateway, and what waits for its person.
#[derive(Deserialize, Serialize)]
pub struct Status {
    pub servers: Vec<String>,
    pub waiting: Vec<OpenQuestion>,
}

/// An open question, without what is asked.
#[derive(Deserialize, Serialize)]
pub struct OpenQuestion {
    pub id: String,
    pub server: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub asked: String,
    pub deadline: String,
}

/// `POST /peers/hello`: a gateway is there, perhaps a new one, and wants to know of our page.
async fn hello<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    _: ByPeer,
    Body(Nothing {}): Body<Nothing>,
) -> Json<Hello> {
    if let Some(gathering) = &app.gathering {
        gathering.look();
    }
    let page = app.visits.standing();
    Json(Hello { page })
}

/// `POST /peers/admit`: lets in a page of that origin, once and soon.
async fn admit<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    _: ByPeer,
    Body(admit): Body<Admit>,
) -> Result<Json<Admitted>, Refusal> {
    let whence = app.guard.whence(&admit.origin);
    let token = app.keys.launch_for(whence.ok_or(Refusal::ForeignOrigin)?);
    app.visits.invite();
    let token = token.reveal().to_owned();
    Ok(Json(Admitted { token }))
}

/// `POST /peers/launch`: the person's page wants to be let in by the gateway of another page.
async fn launch<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    caller: Caller,
    whence: Whence,
    Body(launch): Body<Launch>,
) -> Result<Json<Admitted>, Refusal> {
    // A script that could do this would pass for a person.
    if !caller.by.human {
        return Err(Refusal::NotAPerson);
    }
    let peers = app.gathering.iter().flat_map(|all| all.others());
    let peer = peers.into_iter().find(|peer| peer.page == launch.page);
    let admitted = peer.ok_or(Refusal::NotFound)?.admit(&whence.origin).await;
    let token = admitted.map_err(|error| {
        tracing::debug!(%error, "another gateway did not let the page in");
        Refusal::PeerLost
    })?;
    Ok(Json(Admitted { token }))
}

/// `POST /peers/status`: `midcall status` wants to know what waits here.
async fn status<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    _: ByPeer,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Json<Status>, Refusal> {
    let mut watch = app.desk.watch(&principal()).await?;
    let mut waiting: Vec<OpenQuestion> = Vec::new();
    // What is open comes first, at once. What changes meanwhile may come, too.
    while let Some(news) = watch.next().now_or_never() {
        match news? {
            News::Request(question) => waiting.push(OpenQuestion {
                id: question.id,
                server: question.server.name,
                tool: question.tool,
                asked: question.asked,
                deadline: question.deadline,
            }),
            News::Closed { id, .. } => waiting.retain(|question| question.id != id),
            News::Opened { .. } | News::Delivery { .. } => {}
        }
    }
    // By age: a link that was opened is news of its own, and comes later.
    waiting.sort_by(|one, other| one.asked.cmp(&other.asked));
    Ok(Json(Status {
        servers: app.roster.names(),
        waiting,
    }))
}
