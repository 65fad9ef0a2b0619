//! How a retry finds its call where replicas share a store.
//!
//! The page of the call says how far it is. Who brings the first answer to the round that was told last
//! takes the page and goes on, with the tool that waits here or with one that runs again. All others
//! hear what comes of that.

use std::time::Duration;

use midcall_core::wire::meta;
use rmcp::model::{CustomResult, ServerResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, Service};
use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

use super::resume::{Back, PATIENCE};
use super::{Layer, failed, round, taken_back};
use crate::call::{Again, Client};
use crate::error::AskError;
use crate::journal::Record;
use crate::park::Waiter;
use crate::place::Place;
use crate::running::Outcome;
use crate::shared::{Read, Shared, SharedError, Stage, outcome};

/// How often a page is looked at while another process goes on with the call.
const LOOKED_AT: Duration = Duration::from_millis(50);

/// What a page means for whoever comes back.
#[expect(clippy::large_enum_variant, reason = "it is used at once and not kept")]
enum Found {
    /// This process goes on with the call: with the tool that waits, or by running it again.
    Here(Waiter, usize),
    Again(Again, String),
    Over(Outcome),
    Told(Value),
    /// Another process goes on with it.
    Elsewhere,
    /// Nothing is left of it.
    Gone,
}

impl<S: Service<RoleServer>> Layer<S> {
    pub(super) async fn rejoin(
        &self,
        back: Back,
        shared: Box<Shared>,
        place: &Place,
        client: Client,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let since = Instant::now();
        loop {
            let outcomes = context.meta.get(meta::OUTCOME);
            let found = self.look(&back, &shared, place, outcomes).await;
            match found {
                Ok(Some(Found::Here(waiter, at))) => {
                    return self.go_on(waiter, at, place, client, context).await;
                }
                Ok(Some(Found::Again(again, round))) => {
                    let request = back.request;
                    return self
                        .replay(request, round, again, place, client, context)
                        .await;
                }
                Ok(Some(Found::Over(outcome))) => return place.wrap(outcome),
                Ok(Some(Found::Told(told))) => {
                    return Ok(ServerResult::CustomResult(CustomResult(told)));
                }
                Ok(Some(Found::Gone)) => return self.gone(place.method, client),
                Ok(Some(Found::Elsewhere)) if since.elapsed() > PATIENCE => {
                    let later = place.again(&back.text);
                    return later
                        .map(round)
                        .or_else(|untold| self.untold(untold, place.method, client));
                }
                Ok(Some(Found::Elsewhere)) => tokio::select! {
                    () = sleep(LOOKED_AT) => {}
                    () = context.ct.cancelled() => return Err(taken_back()),
                },
                Ok(None) => yield_now().await, // Somebody was faster.
                Err(error) => {
                    let text = AskError::from(error).to_string();
                    return failed(text, place.method, client);
                }
            }
        }
    }

    /// Looks at the page. None if it changed meanwhile.
    async fn look(
        &self,
        back: &Back,
        shared: &Shared,
        place: &Place,
        outcomes: Option<&Value>,
    ) -> Result<Option<Found>, SharedError> {
        let here = self.asks.parks.find(&back.state.round);
        let Some(read) = shared.read().await? else {
            return Ok(Some(Found::Gone));
        };
        let here = match here {
            Some((waiter, at)) => match waiter.call.version().await {
                version if version < Some(read.version) => {
                    waiter.give_up(); // Another process went on with it.
                    None
                }
                version if version > Some(read.version) => return Ok(None),
                _ => Some((waiter, at)),
            },
            None => None,
        };
        match &read.page.stage {
            Stage::Over(result) => Ok(Some(Found::Over(outcome(result.clone())))),
            Stage::Told(told) => {
                let told = told.clone();
                let is_last = read.page.round == back.state.round;
                if !is_last || !read.page.record.is_answered(&back.responses) {
                    return Ok(Some(Found::Told(told)));
                }
                self.answered(back, place, read, here, outcomes).await
            }
            Stage::Taken(lease) => match here {
                Some((waiter, at)) => Ok(Some(Found::Here(waiter, at))),
                None if shared.is_alive(lease).await? => Ok(Some(Found::Elsewhere)),
                None => self.take(place, read, None).await,
            },
        }
    }

    /// An answer came to the round that was told last.
    async fn answered(
        &self,
        back: &Back,
        place: &Place,
        read: Read,
        here: Option<(Waiter, usize)>,
        outcomes: Option<&Value>,
    ) -> Result<Option<Found>, SharedError> {
        let mut record = read.page.record.clone();
        record.answer(&back.responses, outcomes, (self.asks.settings.now)());
        let Some((waiter, at)) = here else {
            return self.take(place, read, Some(record)).await;
        };
        let is_taken = match &waiter.call.shared {
            Some(shared) => shared.take(read, record).await?,
            None => true,
        };
        if !is_taken {
            return Ok(None);
        }
        waiter.answer(at, &back.responses, outcomes);
        Ok(Some(Found::Here(waiter, at)))
    }

    /// Takes the page to run the tool again.
    async fn take(
        &self,
        place: &Place,
        read: Read,
        answered: Option<Record>,
    ) -> Result<Option<Found>, SharedError> {
        let round = read.page.round.clone();
        let record = answered.unwrap_or_else(|| read.page.record.clone());
        let again = Again {
            record: record.clone(),
            shared: Shared::new(&self.asks.settings, &place.principal, &record.seed),
        };
        let Some(mine) = &again.shared else {
            return Ok(Some(Found::Gone));
        };
        let is_taken = mine.take(read, record).await?;
        Ok(is_taken.then_some(Found::Again(again, round)))
    }
}
