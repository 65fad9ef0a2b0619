//! Asking by a request to the client, while its call is open: the legacy revisions.

use midcall_core::catalog::Locale;
use midcall_core::wire::{ElicitRequestParams, ElicitResult, code, meta};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientResult, CustomRequest, MetaObject,
    RequestId, RequestMetaObject, ServerRequest,
};
use rmcp::service::{OriginatingRequestId, PeerRequestOptions, ServiceError};
use rmcp::{ErrorData, Peer, RoleServer};
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::asking::{Asking, Misfit, Reply};
use crate::call::Call;
use crate::error::{AskError, Nobody};
use crate::kind::Wants;

/// Asks, and waits for what the client says; or what is wrong with that, if a gateway between us
/// found it out.
pub(crate) async fn ask(call: &Call, asking: &Asking) -> Result<Result<Reply, Misfit>, AskError> {
    let _turn = call.turn.lock().await;
    let current = call.current().ok_or(AskError::Gone)?;
    let peer = current.peer.clone();
    let unsayable = |error: midcall_core::wire::Unsayable| AskError::Client(error.to_string());
    let params = asking.params(call.client.revision, call.asks.settings.locale);
    let mut params = params.write(call.client.revision).map_err(unsayable)?;
    if let Wants::Link { id, .. } = &asking.wants {
        call.asks.linked(id, peer.clone());
    }
    let mut options = PeerRequestOptions::with_timeout(asking.patience.time);
    if let Some(Value::Object(meta)) = params.shift_remove("_meta") {
        // rmcp writes `_meta` itself, beside a progress token of its own.
        options = options.with_meta(RequestMetaObject(MetaObject(meta)));
    }
    let method = ElicitRequestParams::METHOD;
    let mut request = CustomRequest::new(method, Some(Value::Object(params)));
    // Over HTTP it goes out on the stream of that request, whichever task the tool asks in.
    let origin = OriginatingRequestId(current.id.clone());
    request.extensions.insert(origin);
    let request = ServerRequest::CustomRequest(request);
    let sent = peer.send_cancellable_request(request, options).await;
    let sent = sent.map_err(|error| failed(error, asking))?;
    let mut guard = Guard::new(peer, sent.id.clone(), call.farewells.clone());
    let response = call.kept_alive(sent.await_response()).await;
    guard.disarm();
    if let Err(ServiceError::McpError(ErrorData {
        data: Some(data), ..
    })) = &response
        && let Some(problems) = problems(data, asking, call.asks.settings.locale)
    {
        return Ok(Err(Misfit::once(problems)));
    }
    let result = match response.map_err(|error| failed(error, asking))? {
        ClientResult::ElicitResult(result) => serde_json::to_value(result),
        ClientResult::CustomResult(result) => Ok(result.0),
        _ => Ok(Value::Null),
    };
    let result = ElicitResult::read(result.unwrap_or_default());
    let result = result.map_err(|why| AskError::Client(why.to_string()))?;
    let outcome = result.meta.as_ref();
    let outcome = outcome.and_then(|said| said.get(meta::OUTCOME).cloned());
    Ok(Ok(Reply { result, outcome }))
}

/// What a gateway says is wrong with an answer, in words. None if it is another error.
fn problems(data: &Value, asking: &Asking, locale: Locale) -> Option<String> {
    const MOST: usize = 20;
    let problems = data.get(meta::PROBLEMS)?.as_array()?;
    let line = |problem: &Value| {
        let params = problem["params"].as_object().into_iter().flatten();
        let params = params.filter_map(|(name, value)| match value {
            Value::String(text) => Some((name.as_str(), text.as_str().into())),
            Value::Number(number) => Some((name.as_str(), number.into())),
            _ => None,
        });
        let words = locale.say(problem["key"].as_str()?, &params.collect::<Vec<_>>());
        Some(asking.about(problem["path"].as_str()?, words))
    };
    let lines: Vec<String> = problems.iter().take(MOST).filter_map(line).collect();
    Some(lines.join("; ")).filter(|lines| !lines.is_empty())
}

fn failed(error: ServiceError, asking: &Asking) -> AskError {
    match error {
        ServiceError::Timeout { .. } => AskError::TimedOut {
            after: asking.patience.time,
        },
        ServiceError::McpError(error) if i64::from(error.code.0) == code::METHOD_NOT_FOUND => {
            let why = Nobody::Undeclared(asking.mode());
            AskError::Unavailable {
                why,
                required: None,
            }
        }
        ServiceError::McpError(error) => AskError::Client(error.message.into_owned()),
        ServiceError::TransportClosed | ServiceError::Cancelled { .. } => AskError::Gone,
        other => AskError::Client(other.to_string()),
    }
}

/// Takes the question back when the tool that asked is dropped.
struct Guard(Option<(Peer<RoleServer>, RequestId, TaskTracker)>);

impl Guard {
    fn new(peer: Peer<RoleServer>, id: RequestId, farewells: TaskTracker) -> Self {
        Self(Some((peer, id, farewells)))
    }

    fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some((peer, id, farewells)) = self.0.take() else {
            return;
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let farewell = async move {
            let reason = Some("the call in which it was asked is over".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let cancelled = CancelledNotification::new(params);
            let _ = peer.send_notification(cancelled.into()).await; // It may be gone already.
        };
        farewells.spawn_on(farewell, &runtime);
    }
}
