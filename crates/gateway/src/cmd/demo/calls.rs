//! The demo's own calls: what can be asked, and asking it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use futures_util::stream::unfold;
use midcall_store::{Mailroom, Memory};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::gallery::{self, GALLERY};
use super::play::Stage;
use crate::http::{App, Caller, Name, Refusal};

/// Messages that may wait for a slow reader.
const MESSAGES: usize = 16;

pub fn routes(stage: Stage) -> Router<Arc<App<Memory, Mailroom>>> {
    Router::new()
        .route("/demo", get(list))
        .route("/demo/{piece}", post(ask))
        .layer(Extension(stage))
}

/// `GET /demo`: what can be asked.
async fn list(_: Caller) -> impl IntoResponse {
    Json(&GALLERY)
}

/// `POST /demo/{piece}`: asks it. The response is a line of JSON per message; hanging up takes
/// back what is still asked.
async fn ask(
    _: Caller,
    Extension(stage): Extension<Stage>,
    Name(name): Name,
) -> Result<Response, Refusal> {
    let piece = gallery::named(&name).ok_or(Refusal::NotFound)?;
    let place = stage.places.clone().try_acquire_owned();
    let place = place.map_err(|_| Refusal::TooManyStreams)?;
    let (tell, messages) = mpsc::channel(MESSAGES);
    let mut play = JoinSet::new(); // Ends with the stream it is kept in.
    play.spawn(async move {
        stage.play(piece, tell).await;
        drop(place);
    });
    let lines = unfold((messages, play), |(mut messages, play)| async {
        let line = format!("{}\n", messages.recv().await?);
        Some((Ok::<_, Infallible>(line), (messages, play)))
    });
    let kind = [(CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(lines)).into_response())
}
