//! The page, and the files it is made of.
//!
//! They are the same for everybody and hold nothing of anybody, so no bearer is asked for.
//! They are no part of the API: `openapi.json` does not describe them.

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use midcall_store::{Post, Store};

use super::App;
use super::body::Name;
use super::refusal::Refusal;

/// What `/` shows in a file of `midcall_web`, and every file under `/assets/`.
pub fn routes<S: Store, P: Post>(home: &'static str) -> Router<Arc<App<S, P>>> {
    Router::new()
        .route("/", get(async move || file(home)))
        .route("/assets/{*path}", get(async |Name(path): Name| file(&path)))
}

fn file(path: &str) -> Result<Response, Refusal> {
    let file = midcall_web::file(path).ok_or(Refusal::NotFound)?;
    Ok(([(CONTENT_TYPE, file.kind)], file.bytes).into_response())
}
