//! How a retry, or a model's answer, finds the call that waits for it.

use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::model::{ModelAnswer, error, unfit};
use midcall_core::wire::{ElicitResult, InputResponses, Members, Unreadable, meta};
use rmcp::model::{InputResponses as Responses, ServerResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, Service};
use serde_json::Value;
use tokio::time::sleep;

use super::{Layer, complete, round, taken_back};
use crate::asking::{Asking, Reply, problems};
use crate::call::Client;
use crate::current::Current;
use crate::model;
use crate::park::{Next, Waiter};
use crate::place::Place;

/// Clients of 2026-07-28 give each of their requests a minute, and make a new one when they are told
/// to come back.
const PATIENCE: Duration = Duration::from_secs(45);

/// Ends when a modern client has to be told to come back, since a person takes their time outside of
/// it. For other clients never: they hear of progress.
async fn comes_back(waiter: &Waiter, client: Client) {
    if !client.is_modern() {
        std::future::pending::<()>().await;
    }
    sleep(PATIENCE).await;
    waiter.call.outside.begun().await;
}

/// What a model says, if it fits; or what is wrong with it, for the tool and for the model.
fn fitting(
    asking: &Asking,
    said: Result<ElicitResult, Unreadable>,
    locale: Locale,
) -> Result<ElicitResult, (String, Value)> {
    let result = said.map_err(|why| (why.to_string(), error(&why.to_string())))?;
    let reply = Reply {
        result: result.clone(),
        outcome: None,
    };
    match asking.check(reply, None) {
        Ok(_) => Ok(result),
        Err(misfit) => Err((problems(&misfit, locale), unfit(&misfit, locale))),
    }
}

impl<S: Service<RoleServer>> Layer<S> {
    /// A client comes back with answers to a round.
    pub(super) async fn retry(
        &self,
        name: &str,
        responses: Responses,
        place: &Place,
        client: Client,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let Some((waiter, at)) = self.asks.parks.find(name) else {
            return self.gone(place.method, client);
        };
        let responses = InputResponses(Members(responses.into_iter().collect()));
        let outcomes = context.meta.get(meta::OUTCOME);
        if !waiter.answer(at, &responses, outcomes) {
            let structured = waiter.call.hints.is_structured;
            return self.tell(&waiter.round(at), place, client, structured);
        }
        self.go_on(waiter, at, place, client, context).await
    }

    /// A model hands in what the person said.
    pub(super) async fn send(
        &self,
        sent: ModelAnswer,
        place: &Place,
        client: Client,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let locale = self.asks.settings.locale;
        let words = |key: &str| {
            let server = self.server();
            locale.say(key, &[("server", (&*server).into())])
        };
        let say = |key: &str| Ok(complete(error(&words(key)), client));
        let owner = self.owner(place, client);
        let found = self.asks.parks.find(&sent.elicit_id);
        let found = found.filter(|(waiter, _)| waiter.owner == owner);
        let Some((waiter, at)) = found else {
            return say("mcp.elicitation.model.unknown");
        };
        let round = waiter.round(at);
        match round.said {
            // Clients give up on that call too, and make it again.
            Some(said) if said == sent.digest => {
                return self.go_on(waiter, at, place, client, context).await;
            }
            Some(_) => return say("mcp.elicitation.model.answered"),
            None => {}
        }
        let result = match fitting(&round.asked[0], sent.result, locale) {
            Ok(result) => result,
            // That was the last answer that is taken: what the tool makes of it is told.
            Err((problems, _)) if waiter.misfits(at, &problems, sent.digest) => {
                return self.go_on(waiter, at, place, client, context).await;
            }
            Err((_, told)) => return Ok(complete(told, client)),
        };
        if waiter.say(at, result, sent.digest) {
            return self.go_on(waiter, at, place, client, context).await;
        }
        match waiter.round(at).said {
            Some(said) if said == sent.digest => {
                self.go_on(waiter, at, place, client, context).await
            }
            Some(_) => say("mcp.elicitation.model.answered"),
            // Too late. What came after it is told all the same: nobody else would hear it.
            None => {
                let late = words("mcp.elicitation.model.timed_out");
                let next = self.go_on(waiter, at, place, client, context).await;
                Ok(complete(model::after(&late, next), client))
            }
        }
    }

    /// Waits for what comes after a round.
    async fn go_on(
        &self,
        waiter: Waiter,
        at: usize,
        place: &Place,
        client: Client,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let _here = waiter.call.here(Current::of(&context));
        let next = tokio::select! {
            biased;
            next = waiter.next(at) => next,
            () = comes_back(&waiter, client) => {
                return place.later(&waiter.round(at), &self.asks.settings).map(round);
            }
            () = context.ct.cancelled() => {
                waiter.leave();
                return Err(taken_back());
            }
        };
        match next {
            Some(Next::Over(outcome)) => place.wrap(outcome),
            Some(Next::Asked(round)) => {
                self.tell(&round, place, client, waiter.call.hints.is_structured)
            }
            None => self.gone(place.method, client),
        }
    }
}
