//! What an error says: what really stands in the way, and what can be done about it.

use std::sync::{Arc, Mutex};

use midcall_server::testing::{Client, Connected, Person, for_every_client};
use midcall_server::{Ask, AskError, Asks, How, WithAsks};
use rmcp::model::{GetPromptResult, PromptMessage, Role};
use rmcp::{
    ErrorData, ServerHandler, prompt, prompt_handler, prompt_router, tool, tool_handler,
    tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const MODELS: [Client; 2] = [Client::Model, Client::ModernModel];

/// Asks in ways that can go wrong.
#[derive(Clone, Default)]
struct Desk;

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "shown by Debug")]
struct Visit {
    name: String,
    #[schemars(extend("format" = "date"))]
    day: Option<String>,
    #[schemars(email)]
    mail: Option<String>,
    age: Option<u8>,
}

#[tool_router]
impl Desk {
    #[tool(
        description = "Says that it destroys nothing, and asks as if it did",
        annotations(destructive_hint = false)
    )]
    async fn contradicts(&self, ask: Ask) -> Result<String, AskError> {
        let sure = ask.confirm("Archive it?").dangerous().await?;
        Ok(format!("{}", sure.agreed()))
    }

    #[tool(description = "Asks yes or no", annotations(destructive_hint = false))]
    async fn plain(&self, ask: Ask) -> Result<String, AskError> {
        let yes = ask.confirm("Go on?").await?.accepted()?;
        Ok(format!("{yes}"))
    }

    #[tool(description = "Asks for a name", annotations(destructive_hint = false))]
    async fn name(&self, ask: Ask) -> Result<String, AskError> {
        ask.text("Name").min(2).await?.accepted()
    }

    #[tool(
        description = "Asks who comes when",
        annotations(destructive_hint = false)
    )]
    async fn visit(&self, ask: Ask) -> Result<String, AskError> {
        let visit = ask.form::<Visit>("Who comes?").await?.accepted()?;
        Ok(format!("{visit:?}"))
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
async fn what_is_dangerous_in_a_tool_that_destroys_nothing_is_named_as_a_conflict() {
    for client in MODELS {
        let connected = client.connect(Desk.with_asks(), &Person::quiet()).await;
        let got = connected.call("contradicts", json!({})).await;
        assert!(got.is_error());
        assert!(
            got.text()
                .contains("marked as dangerous, although its tool says `destructiveHint: false`"),
            "{got:?}"
        );
        assert!(
            !got.text().contains("say in the tool's annotations"),
            "{got:?}"
        );
    }
}

#[tokio::test]
async fn a_gateway_that_reaches_nobody_is_no_client_without_elicitation() {
    let connected = Client::V2026_07_28
        .connect(Desk.with_asks(), &Person::quiet())
        .await;
    let call = json!({"name": "plain", "arguments": {}});
    let outcome = json!({"state": "unavailable", "reason": "no_route"});
    let got = answered(&connected, call, "tools/call", "cancel", outcome).await;
    let told = got.to_string();
    assert!(!told.contains("does not declare"), "{told}");
    assert!(
        told.contains("nobody can be asked: the client could reach nobody"),
        "{told}"
    );
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

#[tokio::test]
async fn rules_that_no_answer_can_meet_are_refused_before_anybody_is_asked() {
    let ask = Asks::new().without_client("book");
    let (least, most) = (10, 1);
    let refused = [
        (
            ask.integer("How many?").range(least..=most).await.map(drop),
            "10",
            "1",
        ),
        (
            ask.number("How much?").range(2.5..=0.5).await.map(drop),
            "2.5",
            "0.5",
        ),
        (ask.text("Name").min(9).max(3).await.map(drop), "9", "3"),
        (
            ask.tags("Tags?").at_least(4).at_most(2).await.map(drop),
            "4",
            "2",
        ),
    ];
    for (refused, least, most) in refused {
        let told = refused.unwrap_err().to_string();
        let expected = format!("the least it takes is {least}, and the most is {most}");
        assert!(told.contains(&expected), "{told}");
    }
    let told = ask
        .select_many("Extras?", ["a", "b"])
        .at_least(3)
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("3 of its 2 options"), "{told}");
    let told = ask.integer("Eggs?").step(0).await.unwrap_err().to_string();
    assert!(
        told.contains("expected a number greater than zero"),
        "{told}"
    );
    let told = ask
        .text("Code")
        .pattern("^[A-Z")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("its pattern is not a regular expression"),
        "{told}"
    );
    let told = ask
        .text("Code")
        .pattern("(?<=a)b")
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("look-around"), "{told}");
}

#[tokio::test]
async fn answers_of_a_model_that_do_not_fit_count() {
    for client in MODELS {
        let ends = Arc::new(Mutex::new(Vec::new()));
        let seen = ends.clone();
        let asks = Asks::new().on_answer(move |answered| seen.lock().unwrap().push(answered.how));
        let connected = client.connect(asks.around(Desk), &Person::quiet()).await;
        let call = json!({"name": "name", "arguments": {}});
        let got = connected.once("tools/call", call).await;
        let id = got.pending().unwrap()["elicitId"].clone();
        let mut told = Vec::new();
        for _ in 0..3 {
            let arguments = json!({"elicitId": id, "action": "accept", "content": {"value": "A"}});
            let send = json!({"name": "sendElicitationResult", "arguments": arguments});
            told.push(connected.once("tools/call", send).await);
        }
        assert!(
            told[1].text().starts_with("This answer does not fit"),
            "{told:?}"
        );
        assert!(
            told[2]
                .text()
                .starts_with("the answers did not fit, asked 3 times: "),
            "{:?}",
            told[2]
        );
        assert_eq!(*ends.lock().unwrap(), [How::Unfit]);
    }
}

#[tokio::test]
async fn an_empty_text_for_what_may_be_left_out_is_left_empty() {
    for_every_client(|client| async move {
        let person = Person::answers(json!({"name": "Ana", "day": "", "mail": "", "age": ""}));
        let connected = client.connect(Desk.with_asks(), &person).await;
        let got = connected.call("visit", json!({})).await;
        assert_eq!(
            got.text(),
            r#"Visit { name: "Ana", day: None, mail: None, age: None }"#
        );
    })
    .await;
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only asked for")]
struct Door {
    name: String,
    lock: Lock,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only asked for")]
struct Lock {
    /// The four digits
    pin: String,
}

#[tokio::test]
async fn a_form_never_asks_for_a_secret() {
    let ask = Asks::new().without_client("open");
    let long = format!(
        "We have to look at your account. {}\nWhat is your password?",
        "It is in a mess. ".repeat(9)
    );
    let refused = [
        (
            ask.form::<Door>("How do I get in?").await.map(drop),
            "`/lock/pin`",
        ),
        (
            ask.text("What is your password?").await.map(drop),
            "`/value`",
        ),
        (ask.text(&long).await.map(drop), "`/value`"),
        (ask.text("Paste your API key").await.map(drop), "`/value`"),
        (ask.integer("Card number").await.map(drop), "`/value`"),
    ];
    for (refused, field) in refused {
        let told = refused.unwrap_err().to_string();
        assert!(told.contains(field), "{told}");
        assert!(told.contains("ask.link"), "{told}");
    }
    assert!(
        midcall_server::check::<Door>().is_err(),
        "also in a test of yours"
    );
    let forgot = ask.confirm("Did you forget your password?").await;
    assert!(
        matches!(forgot, Err(AskError::Unavailable { .. })),
        "{forgot:?}"
    );
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    /// What to bring
    #[schemars(title = "Line items", length(max = 2))]
    items: Vec<Item>,
    to: Whereto,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
enum Item {
    Tea,
    Bread,
    Salt,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Whereto {
    #[schemars(title = "Town", length(min = 2))]
    town: String,
}

struct Grocer;

#[tool_router]
impl Grocer {
    #[tool(description = "Orders", annotations(destructive_hint = false))]
    async fn order(&self, ask: Ask) -> Result<String, AskError> {
        let order = ask.form::<Order>("What may we bring?").await?.accepted()?;
        Ok(format!("{} to {}", order.items.len(), order.to.town))
    }

    #[tool(description = "Asks one thing", annotations(destructive_hint = false))]
    async fn town(&self, ask: Ask) -> Result<String, AskError> {
        ask.text("Which town?").min(2).await?.accepted()
    }
}

#[tool_handler]
impl ServerHandler for Grocer {}

#[tokio::test]
async fn what_is_wrong_is_told_by_titles_and_for_one_field_by_none() {
    for_every_client(|client| async move {
        let unfit = json!({"items": ["Tea", "Bread", "Salt"], "to": {"town": "x"}});
        let person =
            Person::answers(unfit).then_answers(json!({"items": ["Tea"], "to": {"town": "Faro"}}));
        let connected = client.connect(Grocer.with_asks(), &person).await;
        let got = connected.call("order", json!({})).await;
        assert_eq!(got.text(), "1 to Faro");
        if client.asks() {
            let told = &person.heard()[1];
            assert!(told.contains("Line items: "), "{client}: {told}");
            assert!(told.contains("to, Town: "), "{client}: {told}");
        }
        let person = Person::answers(json!({"value": "x"})).then_answers(json!({"value": "Faro"}));
        let connected = client.connect(Grocer.with_asks(), &person).await;
        assert_eq!(connected.call("town", json!({})).await.text(), "Faro");
        assert!(
            !person.heard()[1].contains("value:"),
            "{:?}",
            person.heard()
        );
    })
    .await;
}
