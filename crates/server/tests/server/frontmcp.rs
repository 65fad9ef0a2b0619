//! The names of FrontMCP's end-to-end tests, played here.

use midcall_server::testing::{Client, Person, Said, for_every_client};
use midcall_server::{Ask, AskError, WithAsks};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Clone)]
struct Demo;

#[derive(Deserialize, JsonSchema)]
struct Action {
    action: String,
}

#[derive(Deserialize, JsonSchema)]
struct Preferences {
    color: Color,
    notifications: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
    Blue,
}

#[tool_router]
impl Demo {
    #[tool(name = "confirm-action", annotations(destructive_hint = false))]
    async fn confirm_action(
        &self,
        ask: Ask,
        Parameters(Action { action }): Parameters<Action>,
    ) -> Result<String, AskError> {
        let answer = ask
            .confirm(format!("Are you sure you want to {action}?"))
            .await?;
        Ok(format!("{answer:?}"))
    }

    #[tool(name = "get-user-input", annotations(destructive_hint = false))]
    async fn get_user_input(&self, ask: Ask) -> Result<String, AskError> {
        let answer = ask.text("What do you say?").await?;
        Ok(format!("{answer:?}"))
    }

    #[tool(name = "multi-step-wizard", annotations(destructive_hint = false))]
    async fn multi_step_wizard(&self, ask: Ask) -> Result<String, AskError> {
        let Ok(name) = ask.text("Step 1: Enter your name").await?.accepted() else {
            return Ok("Wizard cancelled at step 1".into());
        };
        let preferences =
            ask.form::<Preferences>(format!("Hi {name}! Step 2: Choose your preferences"));
        let Ok(chosen) = preferences.await?.accepted() else {
            return Ok("Wizard cancelled at step 2".into());
        };
        Ok(format!(
            "Welcome {name}! {:?} {}",
            chosen.color, chosen.notifications
        ))
    }
}

#[tool_handler]
impl ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

async fn demo(client: Client, tool: &str, person: &Person) -> String {
    let connected = client.connect(Demo.with_asks(), person).await;
    let got = connected.call(tool, json!({"action": "deploy"})).await;
    got.text().to_owned()
}

#[tokio::test]
async fn confirm_action() {
    for_every_client(|client| async move {
        for (person, expected) in [
            (
                Person::answers(json!({"confirmed": true})),
                "Accepted(true)",
            ),
            (
                Person::answers(json!({"confirmed": false})),
                "Accepted(false)",
            ),
            (Person::cancels(), "Cancelled"),
            (Person::declines(), "Declined { reason: None }"),
        ] {
            assert_eq!(demo(client, "confirm-action", &person).await, expected);
            assert_eq!(person.heard(), ["Are you sure you want to deploy?"]);
        }
    })
    .await;
}

#[tokio::test]
async fn get_user_input() {
    for_every_client(|client| async move {
        for (person, expected) in [
            (
                Person::answers(json!({"value": "hello"})),
                r#"Accepted("hello")"#,
            ),
            (Person::declines(), "Declined { reason: None }"),
            (Person::answers(json!({"value": ""})), r#"Accepted("")"#),
        ] {
            assert_eq!(demo(client, "get-user-input", &person).await, expected);
        }
    })
    .await;
}

#[tokio::test]
async fn multi_step_wizard() {
    for_every_client(|client| async move {
        let ana = || Person::answers(json!({"value": "Ana"}));
        for color in ["red", "green", "blue"] {
            let person = ana().then_answers(json!({"color": color, "notifications": false}));
            let told = demo(client, "multi-step-wizard", &person).await;
            assert_eq!(told.to_lowercase(), format!("welcome ana! {color} false"));
        }
        let told = demo(client, "multi-step-wizard", &Person::cancels()).await;
        assert_eq!(told, "Wizard cancelled at step 1");
        let told = demo(client, "multi-step-wizard", &ana().then_cancels()).await;
        assert_eq!(told, "Wizard cancelled at step 2");
    })
    .await;
}

#[tokio::test]
async fn conditional_responses_based_on_message() {
    for_every_client(|client| async move {
        let person = Person::who(|heard| match heard.message.contains("Step 1") {
            true => Said::Answer(json!({"value": "Eve"})),
            false => Said::Answer(json!({"color": "blue", "notifications": true})),
        });
        assert_eq!(
            demo(client, "multi-step-wizard", &person).await,
            "Welcome Eve! Blue true"
        );
    })
    .await;
}

#[tokio::test]
async fn fallback_for_a_client_without_elicitation() {
    for client in [Client::Model, Client::ModernModel] {
        let connected = client.connect(Demo.with_asks(), &Person::quiet()).await;
        assert!(
            connected
                .tools()
                .await
                .contains(&"sendElicitationResult".to_owned())
        );
        let call = json!({"name": "get-user-input", "arguments": {}});
        let got = connected.once("tools/call", call).await;
        let text = got.text();
        assert!(!got.is_error());
        assert!(
            text.contains("What do you say?") && text.contains("sendElicitationResult"),
            "{text}"
        );
        let pending = got.pending().unwrap();
        assert_eq!(pending["message"], "What do you say?");
        assert_eq!(pending["schema"]["properties"]["value"]["type"], "string");
        assert!(
            pending["instructions"]
                .as_str()
                .unwrap()
                .contains("do not answer for them")
        );
    }
    for client in [
        Client::V2025_06_18,
        Client::V2025_11_25,
        Client::V2026_07_28,
    ] {
        let connected = client.connect(Demo.with_asks(), &Person::quiet()).await;
        assert!(
            !connected
                .tools()
                .await
                .contains(&"sendElicitationResult".to_owned())
        );
    }
}

#[tokio::test]
async fn native_on_a_fresh_client_and_fallback_when_it_comes_back_without_the_capability() {
    let asks = midcall_server::Asks::new();
    let person = Person::who(|_| Said::Answer(json!({"value": "hi"})));
    for client in [Client::V2025_11_25, Client::Model, Client::V2026_07_28] {
        let connected = client.connect(asks.around(Demo), &person).await;
        let got = connected.call("get-user-input", json!({})).await;
        assert_eq!(got.text(), r#"Accepted("hi")"#);
    }
}

#[tokio::test]
async fn capabilities_last_for_the_session() {
    for_every_client(|client| async move {
        let person = Person::who(|_| Said::Answer(json!({"value": "hi"})));
        let connected = client.connect(Demo.with_asks(), &person).await;
        for _ in 0..3 {
            let listed = connected
                .tools()
                .await
                .contains(&"sendElicitationResult".to_owned());
            assert_eq!(listed, !client.asks());
            let got = connected.call("get-user-input", json!({})).await;
            assert_eq!(got.text(), r#"Accepted("hi")"#);
        }
    })
    .await;
}

#[tokio::test]
async fn the_server_does_not_claim_what_only_clients_have() {
    // FrontMCP advertises `elicitation` as a capability of the server, which no revision has.
    let connected = Client::V2025_11_25
        .connect(Demo.with_asks(), &Person::quiet())
        .await;
    let again = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let got = connected.once("initialize", again).await;
    assert_eq!(got.0["result"]["capabilities"], json!({"tools": {}}));
}

#[tokio::test]
async fn session_b_cannot_hijack_what_session_a_was_asked() {
    let asks = midcall_server::Asks::new();
    let a = Client::Model
        .connect(asks.around(Demo), &Person::quiet())
        .await;
    let b = Client::Model
        .connect(asks.around(Demo), &Person::quiet())
        .await;
    let got = a
        .once(
            "tools/call",
            json!({"name": "get-user-input", "arguments": {}}),
        )
        .await;
    let id = got.pending().unwrap()["elicitId"].clone();
    let send = |id: &Value, value: &str| json!({"name": "sendElicitationResult", "arguments": {"elicitId": id, "action": "accept", "content": {"value": value}}});
    assert!(b.once("tools/call", send(&id, "hijacked")).await.is_error());
    let got = a.once("tools/call", send(&id, "mine")).await;
    assert_eq!(got.text(), r#"Accepted("mine")"#);
}
