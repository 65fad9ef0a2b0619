//! How a retry, or a model's answer, finds the call that waits for it.

use std::time::Duration;

use midcall_core::catalog::Locale;
use midcall_core::model::{ModelAnswer, ToolHints, error, unfit};
use midcall_core::wire::{ElicitResult, InputResponses, Unreadable, meta};
use rmcp::model::{ClientRequest, ServerResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, Service};
use serde_json::Value;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{Layer, complete, refused, round, taken_back};
use crate::asking::{Asking, Reply, problems};
use crate::call::{Again, Client};
use crate::current::Current;
use crate::model;
use crate::park::{First, Next, Waiter};
use crate::place::{Place, State, Untold};
use crate::shared::Shared;

/// Clients of 2026-07-28 give each of their requests a minute, and make a new one when they are told
/// to come back.
pub(super) const PATIENCE: Duration = Duration::from_secs(45);

/// A client that came back with a state of ours.
pub(super) struct Back {
    /// Its request without what a retry adds: the call as it was made first.
    pub request: ClientRequest,
    pub state: State,
    /// The same as it was brought.
    pub text: String,
    pub responses: InputResponses,
}

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
        Err(misfit) => Err((problems(&misfit, asking, locale), unfit(&misfit, locale))),
    }
}

impl<S: Service<RoleServer>> Layer<S> {
    /// A client comes back with answers to a round.
    pub(super) async fn retry(
        &self,
        back: Back,
        place: &Place,
        client: Client,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let settings = &self.asks.settings;
        if let Some(seed) = &back.state.seed
            && let Some(shared) = Shared::new(settings, &place.principal, seed)
        {
            return self.rejoin(back, shared, place, client, context).await;
        }
        let Back {
            request,
            state,
            responses,
            ..
        } = back;
        let outcomes = context.meta.get(meta::OUTCOME);
        if let Some((waiter, at)) = self.asks.parks.find(&state.round) {
            if waiter.answer(at, &responses, outcomes) {
                return self.go_on(waiter, at, place, client, context).await;
            }
            let told = self.tell(&waiter.round(at), place, &waiter.call).await;
            return told.or_else(|untold| self.untold(untold, place.method, client));
        }
        if state.is_expired {
            return Err(refused());
        }
        let Some(mut record) = state.record.filter(|_| settings.resume.replays()) else {
            return self.gone(place.method, client);
        };
        record.answer(&responses, outcomes, (settings.now)());
        let again = Again {
            record,
            shared: None,
        };
        self.replay(request, state.round, again, place, client, context)
            .await
    }

    /// Runs a tool again, with what was said so far.
    pub(super) async fn replay(
        &self,
        request: ClientRequest,
        round: String,
        again: Again,
        place: &Place,
        client: Client,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let hints = ToolHints::default();
        let begun = self.begin(request, place, client, hints, context, Some(again));
        let parks = &self.asks.parks;
        let owner = self.owner(place, client);
        let first = First::again(round.clone());
        if !parks.park(owner, begun.running, begun.questions, first) {
            return self.crowded(place.method, client);
        }
        let Some((waiter, at)) = parks.find(&round) else {
            return self.crowded(place.method, client); // Others needed its room at once.
        };
        self.wait(waiter, at, place, client, begun.current, begun.cancelled)
            .await
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
    pub(super) async fn go_on(
        &self,
        waiter: Waiter,
        at: usize,
        place: &Place,
        client: Client,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let current = Current::of(&context);
        self.wait(waiter, at, place, client, current, context.ct)
            .await
    }

    async fn wait(
        &self,
        waiter: Waiter,
        at: usize,
        place: &Place,
        client: Client,
        current: Current,
        cancelled: CancellationToken,
    ) -> Result<ServerResult, ErrorData> {
        let _here = waiter.call.here(current);
        let next = tokio::select! {
            biased;
            next = waiter.next(at) => next,
            () = comes_back(&waiter, client) => {
                let later = place.later(&waiter.round(at), &waiter.call).map(round);
                return later.or_else(|untold| self.untold(untold, place.method, client));
            }
            () = cancelled.cancelled() => {
                waiter.leave();
                return Err(taken_back());
            }
        };
        match next {
            Some(Next::Over(outcome)) => place.wrap(outcome),
            Some(Next::Asked(round)) => match self.tell(&round, place, &waiter.call).await {
                Ok(told) => Ok(told),
                Err(Untold::Lost) => {
                    // What comes next is told by whoever goes on with the call.
                    let later = place
                        .later(&waiter.round(at), &waiter.call)
                        .map(self::round);
                    waiter.leave();
                    later.or_else(|untold| self.untold(untold, place.method, client))
                }
                Err(untold) => {
                    waiter.leave(); // Nobody could come back to it.
                    self.untold(untold, place.method, client)
                }
            },
            None => self.gone(place.method, client),
        }
    }
}
