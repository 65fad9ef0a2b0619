//! `GET /elicitation/events`: what is open, then every change, as server-sent events.
//!
//! A client that was cut off comes back with the id of the last event it saw and is told what
//! it missed. A stream ends when the server shuts down or its store is lost; coming back is
//! right in both cases.
//!
//! A page that wants to know is also told which other gateways of the person there are (`peers`).
//! That is no news of a question, so it has no id.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::future::ready;
use futures_util::stream::{self, unfold};
use futures_util::{Stream, StreamExt};
use midcall_core::Scope;
use midcall_desk::{Mark, Watch};
use midcall_store::{Post, Store};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::App;
use super::auth::{Bearer, Caller};
use super::peers::{self, Gathering};
use super::refusal::Refusal;
use super::visits::Visit;
use crate::times::KEEP_ALIVE;

/// What a surface wants to know: everything of its user, or less.
#[derive(Deserialize)]
pub struct Narrowed {
    #[serde(default)]
    workspace: String,
    #[serde(default)]
    conversation: String,
    /// Whether other gateways are told of.
    #[serde(default)]
    gateways: bool,
}

struct Following<S> {
    watch: Watch<S>,
    closing: CancellationToken,
    _place: OwnedSemaphorePermit,
    _page: Option<Visit>,
    _bearer: Arc<Bearer>,
    /// Ends what is told beside it.
    _end: DropGuard,
}

pub async fn follow<S: Store, P: Post>(
    State(app): State<Arc<App<S, P>>>,
    caller: Caller,
    narrowed: Result<Query<Narrowed>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let Query(narrowed) = narrowed.map_err(|_| Refusal::Query)?;
    let place = app.streams.clone().try_acquire_owned();
    let place = place.map_err(|_| Refusal::TooManyStreams)?;
    let tells_of_others = narrowed.gateways && caller.by.human;
    let scope = narrowed.of(caller.scope);
    let watch = match last_seen(&headers) {
        Some(mark) => app.desk.watch_after(&scope, &mark).await?,
        None => app.desk.watch(&scope).await?,
    };
    let end = CancellationToken::new();
    let gathering = tells_of_others.then(|| app.gathering.clone());
    let pages = stream::iter(gathering).flat_map(others);
    let pages = pages.filter_map(|pages| ready(gateways(&pages)));
    let following = Following {
        watch,
        closing: app.closing.clone(),
        _place: place,
        _page: caller.by.human.then(|| app.visits.enter()),
        _bearer: caller.bearer,
        _end: end.clone().drop_guard(),
    };
    let events = unfold(following, |mut following| async {
        let event = following.next().await?;
        Some((event, following))
    });
    let events = stream::select(events, pages.take_until(end.cancelled_owned()));
    Ok(Sse::new(events.map(Ok)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE.get())))
}

/// The pages of the other gateways. Whoever is by itself says so.
fn others(gathering: Option<Arc<Gathering>>) -> impl Stream<Item = Vec<String>> {
    match gathering {
        Some(gathering) => gathering.pages().left_stream(),
        None => stream::once(ready(Vec::new())).right_stream(),
    }
}

/// Tells where the other gateways' pages are.
fn gateways(pages: &[String]) -> Option<Event> {
    let event = Event::default().event(peers::EVENT);
    event.json_data(json!({"pages": pages})).ok()
}

impl Narrowed {
    fn of(self, mut scope: Scope) -> Scope {
        let given = |name: String| (!name.is_empty()).then_some(name);
        scope.workspace = given(self.workspace);
        scope.conversation = given(self.conversation);
        scope
    }
}

/// Where the client left off. What is not one of our marks says nothing.
fn last_seen(headers: &HeaderMap) -> Option<Mark> {
    headers.get("last-event-id")?.to_str().ok()?.parse().ok()
}

impl<S: Store> Following<S> {
    async fn next(&mut self) -> Option<Event> {
        let news = tokio::select! {
            biased; // What the shutdown itself closed is still told.
            news = self.watch.next() => news,
            () = self.closing.cancelled() => return None,
        };
        let news = news
            .inspect_err(|error| tracing::warn!(%error, "an event stream ends"))
            .ok()?;
        let event = Event::default().event(news.event());
        event.id(self.watch.mark().to_string()).json_data(news).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::auth::Keys;
    use super::super::guard::Guard;
    use super::super::roster::Roster;
    use super::super::visits::Visits;
    use super::*;
    use axum::response::IntoResponse;
    use midcall_desk::{Desk, Rules};
    use midcall_store::{Mailroom, Memory};
    use tokio::sync::Semaphore;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_quiet_stream_shows_that_it_is_alive() {
        let desk = Desk::open(Memory::default(), Mailroom::default(), Rules::default());
        let keys = Arc::new(Keys::new(50));
        let app = Arc::new(App {
            desk: desk.await.unwrap(),
            guard: Arc::new(Guard::new(4711, keys.clone())),
            visits: Visits::default(),
            roster: Roster::default(),
            gathering: None,
            streams: Arc::new(Semaphore::new(1)),
            closing: CancellationToken::new(),
            keys,
        });
        let everything = Ok(Query(Narrowed {
            workspace: String::new(),
            conversation: String::new(),
            gateways: false,
        }));
        let caller = app.keys.person();
        let events = follow(State(app), caller, everything, HeaderMap::new()).await;
        let mut chunks = events.into_response().into_body().into_data_stream();
        let start = Instant::now();
        for beat in 1..=3 {
            assert_eq!(chunks.next().await.unwrap().unwrap(), ":\n\n");
            assert_eq!(start.elapsed().as_secs(), 15 * beat);
        }
    }
}
