//! The calls about one ticket.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use midcall_core::wire::{JsonObject, meta};
use midcall_core::{Limits, Values, Words};
use midcall_desk::{Attempt, State as Standing, Status, Submission, TicketId};
use midcall_store::{Post, Store};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::App;
use super::auth::Caller;
use super::body::{Body, Name};
use super::refusal::Refusal;

/// The ticket in the path. What cannot be one is not there, like any other that is not.
pub struct Id(TicketId);

/// What is told when a call was heard.
#[derive(Serialize)]
pub struct Heard {
    id: String,
    state: Standing,
}

#[derive(Deserialize)]
pub struct Accept {
    /// Kept as text until its length is known to be fine.
    content: Option<Box<RawValue>>,
    attempt: Option<String>,
}

#[derive(Deserialize)]
pub struct Reject {
    reason: Option<String>,
    /// The `_meta` of the element's own answer, which a host may hand in as it is.
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    attempt: Option<String>,
}

#[derive(Deserialize)]
pub struct Cancel {
    attempt: Option<String>,
}

/// A body in which nothing is looked for.
#[derive(Deserialize)]
pub struct Nothing {}

type Reply = Result<Json<Heard>, Refusal>;

/// `GET /elicitation/status/{id}`
pub async fn status<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    caller: Caller,
    Id(id): Id,
) -> Result<Json<Status>, Refusal> {
    Ok(Json(app.desk.status(&caller.scope, id).await?))
}

/// `POST /elicitation/{id}/accept`
pub async fn accept<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    caller: Caller,
    Id(id): Id,
    Body(accept): Body<Accept>,
) -> Reply {
    let content = accept
        .content
        .as_ref()
        .map_or("{}", |content| content.get());
    let values = Values::read(content, &Limits::default())?;
    let attempt = accept.attempt.as_deref();
    settle(&app, &caller, id, Submission::Accept(values), attempt).await
}

/// `POST /elicitation/{id}/reject`
pub async fn reject<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    caller: Caller,
    Id(id): Id,
    Body(reject): Body<Reject>,
) -> Reply {
    let reason = reject.reason.as_deref().or_else(|| {
        let said = reject.meta.as_ref()?.get(meta::REASON);
        said.and_then(Value::as_str)
    });
    let reason = reason.and_then(Words::new);
    let attempt = reject.attempt.as_deref();
    settle(&app, &caller, id, Submission::Decline(reason), attempt).await
}

/// `POST /elicitation/{id}/cancel`
pub async fn cancel<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    caller: Caller,
    Id(id): Id,
    Body(cancel): Body<Cancel>,
) -> Reply {
    let attempt = cancel.attempt.as_deref();
    settle(&app, &caller, id, Submission::Cancel, attempt).await
}

/// `POST /elicitation/{id}/opened`
pub async fn opened<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    caller: Caller,
    Id(id): Id,
    Body(Nothing {}): Body<Nothing>,
) -> Reply {
    app.desk.opened(&caller.scope, id, caller.by).await?;
    Ok(heard(id, Standing::Open))
}

async fn settle<S: Store, P: Post>(
    app: &App<S, P>,
    caller: &Caller,
    id: TicketId,
    submission: Submission,
    attempt: Option<&str>,
) -> Reply {
    let attempt = attempt.and_then(Attempt::named);
    app.desk
        .settle_once(&caller.scope, id, submission, caller.by, attempt)
        .await?;
    Ok(heard(id, Standing::Answered))
}

fn heard(id: TicketId, state: Standing) -> Json<Heard> {
    let id = id.to_string();
    Json(Heard { id, state })
}

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Name(id) = Name::from_request_parts(parts, state).await?;
        id.parse().map(Self).map_err(|_| Refusal::NotFound)
    }
}
