//! Questions as other servers ask them: `midcall-server` refuses to put what no revision has words
//! for, or what wants to do harm. A person must be safe from them all the same.

use std::time::Duration;

use midcall_core::wire::ElicitRequestParams;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientResult, CustomRequest, RequestId,
    ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use rmcp::{ErrorData, Peer, RoleServer};
use serde_json::{Value, json};
use tokio::runtime::Handle;

/// Asks by a request, as it is, and says what came of it.
pub async fn ask(
    peer: &Peer<RoleServer>,
    patience: Duration,
    params: Value,
) -> Result<String, ErrorData> {
    let request = CustomRequest::new(ElicitRequestParams::METHOD, Some(params));
    let request = ServerRequest::CustomRequest(request);
    let options = PeerRequestOptions::with_timeout(patience);
    let failed = |error: rmcp::ServiceError| {
        let text = format!("this client could not be asked by a request: {error}");
        ErrorData::internal_error(text, None)
    };
    let sent = peer.send_cancellable_request(request, options).await;
    let sent = sent.map_err(failed)?;
    let mut question = Question(Some((peer.clone(), sent.id.clone())));
    let response = sent.await_response().await;
    question.0 = None;
    let action = match response.map_err(failed)? {
        ClientResult::ElicitResult(result) => {
            serde_json::to_value(result.action).unwrap_or_default()
        }
        ClientResult::CustomResult(result) => result.0["action"].clone(),
        _ => Value::Null,
    };
    Ok(format!("Heard: {action}"))
}

/// A question that waits for its answer. Dropped with its tool, it is taken back.
struct Question(Option<(Peer<RoleServer>, RequestId)>);

impl Drop for Question {
    fn drop(&mut self) {
        let (Some((peer, id)), Ok(runtime)) = (self.0.take(), Handle::try_current()) else {
            return;
        };
        runtime.spawn(async move {
            let params = CancelledNotificationParam::new(Some(id), None);
            let cancelled = CancelledNotification::new(params);
            let _ = peer.send_notification(cancelled.into()).await; // It may be gone already.
        });
    }
}

/// A form in a form.
pub fn delivery() -> Value {
    let text = |title: &str| json!({"type": "string", "title": title});
    let contact = json!({"type": "object", "title": "At the door",
        "properties": {"phone": text("Phone"), "bell": text("Name on the bell")}});
    let address = json!({"type": "object", "title": "Address",
        "properties": {"street": text("Street"), "city": text("City"), "contact": contact},
        "required": ["street", "city"]});
    json!({
        "message": "Where should it be delivered?",
        "requestedSchema": {"type": "object", "properties": {"name": text("Name"), "address": address},
            "required": ["name", "address"]}
    })
}

/// A list of free texts.
pub fn labels() -> Value {
    let labels = json!({"type": "array", "title": "Labels", "items": {"type": "string", "maxLength": 20},
        "uniqueItems": true, "minItems": 1, "maxItems": 5});
    json!({
        "message": "How should this note be found again?",
        "requestedSchema": {"type": "object", "properties": {"labels": labels}, "required": ["labels"]}
    })
}

/// A field that is any JSON of a kind.
pub fn headers() -> Value {
    let headers = json!({"type": "object", "title": "Headers", "description": "An object of texts",
        "patternProperties": {"^[a-z-]+$": {"type": "string"}}, "additionalProperties": false});
    json!({
        "message": "Which headers should every request carry?",
        "requestedSchema": {"type": "object", "properties": {"headers": headers}, "required": ["headers"]}
    })
}

/// A password, which no form may ask for: `midcall-server` refuses to.
pub fn secret() -> Value {
    let fields = json!({"user": {"type": "string", "title": "User"},
        "password": {"type": "string", "title": "Password"}});
    json!({
        "message": "Sign in to go on.",
        "requestedSchema": {"type": "object", "properties": fields, "required": ["user", "password"]}
    })
}

/// Words that want to be more than words.
pub fn hostile() -> Value {
    let fields = json!({
        "__proto__": {"type": "string", "title": "<a href='https://evil.example'>Name</a>",
            "description": "\u{202e}Look at https://evil.example/?q=<script>"},
        "constructor": {"type": "string", "title": "and on ".repeat(1_500)},
        "<svg onload=alert(1)>": {"type": "string", "enum": ["<i>one</i>", "two\u{2066}three"]}
    });
    json!({
        "message": "<script>alert(1)</script> <b>Bold?</b> \u{202e}neddih\u{202c} Visit https://evil.example now. \
            Click [here](javascript:alert(1)).",
        "requestedSchema": {"type": "object", "title": "<img src=x onerror=alert(1)>", "properties": fields}
    })
}

/// A link that is a script.
pub fn script() -> Value {
    json!({"mode": "url", "message": "Run this to see your prize.",
        "url": "javascript:alert(document.cookie)", "elicitationId": "prize"})
}
