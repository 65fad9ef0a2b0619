//! What an error says: what really stands in the way, and what can be done about it.

use midcall_server::testing::{Client, Connected, Person};
use midcall_server::{Ask, AskError, WithAsks};
use rmcp::model::{GetPromptResult, PromptMessage, Role};
use rmcp::{
    ErrorData, ServerHandler, prompt, prompt_handler, prompt_router, tool, tool_handler,
    tool_router,
};
use serde_json::{Value, json};

/// Asks in ways that can go wrong.
#[derive(Clone, Default)]
struct Desk;

#[tool_router]
impl Desk {
    #[tool(description = "Asks yes or no", annotations(destructive_hint = false))]
    async fn plain(&self, ask: Ask) -> Result<String, AskError> {
        let yes = ask.confirm("Go on?").await?.accepted()?;
        Ok(format!("{yes}"))
    }

    #[tool(
        description = "Returns an error of the protocol",
        annotations(destructive_hint = false)
    )]
    async fn protocol(&self, ask: Ask) -> Result<String, ErrorData> {
        let name = ask.text("Name").await?.accepted()?;
        Ok(name)
    }
}

#[prompt_router]
impl Desk {
    #[prompt(name = "greeting")]
    async fn greeting(&self, ask: Ask) -> Result<GetPromptResult, ErrorData> {
        let name = ask.text("For whom?").await?.accepted()?;
        let message = PromptMessage::new_text(Role::User, format!("Greet {name}"));
        Ok(GetPromptResult::new(vec![message]))
    }
}

#[tool_handler]
#[prompt_handler]
impl ServerHandler for Desk {}

/// A modern client calls, and answers its round with these words of a gateway beside.
async fn answered(
    connected: &Connected<Desk>,
    first: Value,
    method: &str,
    action: &str,
    outcome: Value,
) -> Value {
    let round = connected.once(method, first.clone()).await.0["result"].clone();
    let mut retry = first;
    retry["requestState"] = round["requestState"].clone();
    retry["inputResponses"] = json!({"question1": {"action": action}});
    retry["_meta"] = json!({"dev.midcall/outcome": {"question1": outcome}});
    connected.once(method, retry).await.0
}

#[tokio::test]
async fn a_refusal_is_no_failure_of_the_server_and_keeps_its_reason() {
    let connected = Client::V2026_07_28
        .connect(Desk.with_asks(), &Person::quiet())
        .await;
    let person = json!({"route": "page", "human": true});
    let outcome = json!({"state": "answered", "by": person, "reason": "Not today"});
    let said = "the person was asked and said no: Not today";
    let call = |name: &str| json!({"name": name, "arguments": {}});

    let got = answered(
        &connected,
        call("plain"),
        "tools/call",
        "decline",
        outcome.clone(),
    )
    .await;
    assert_eq!(got["result"]["content"][0]["text"], said);
    for (method, params) in [
        ("tools/call", call("protocol")),
        ("prompts/get", json!({"name": "greeting"})),
    ] {
        let got = answered(
            &connected,
            params.clone(),
            method,
            "decline",
            outcome.clone(),
        )
        .await;
        assert_eq!(got["error"]["message"], said, "{got}");
        assert_eq!(got["error"]["code"], -1, "{got}");
        let got = answered(&connected, params, method, "cancel", Value::Null).await;
        assert_eq!(got["error"]["code"], -1, "{got}");
    }
}
