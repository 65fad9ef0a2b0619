//! What a model, or whoever plays one, must not get away with.

use std::sync::atomic::Ordering;
use std::time::Duration;

use midcall_server::testing::{Client, Connected, Got, Person};
use midcall_server::{Asks, WithAsks};
use serde_json::{Value, json};

use crate::world::World;

const MODELS: [Client; 2] = [Client::Model, Client::ModernModel];

/// Calls a tool, and gives the question that the model is told to ask.
async fn pending(connected: &Connected<World>, tool: &str) -> Value {
    let got = connected
        .once("tools/call", json!({"name": tool, "arguments": {}}))
        .await;
    got.pending()
        .unwrap_or_else(|| panic!("no question: {got:?}"))
        .clone()
}

async fn send(connected: &Connected<World>, id: &Value, action: &str, content: Value) -> Got {
    let mut arguments = json!({"elicitId": id, "action": action});
    if !content.is_null() {
        arguments["content"] = content;
    }
    connected
        .once(
            "tools/call",
            json!({"name": "sendElicitationResult", "arguments": arguments}),
        )
        .await
}

#[tokio::test]
async fn an_answer_from_another_session_is_refused_and_the_question_stays_open() {
    let asks = Asks::new();
    let world = World::default();
    let ana = Client::Model
        .connect(asks.around(world.clone()), &Person::quiet())
        .await;
    let eve = Client::Model
        .connect(asks.around(world.clone()), &Person::quiet())
        .await;
    let modern = Client::ModernModel
        .connect(asks.around(world.clone()), &Person::quiet())
        .await;
    let asked = pending(&ana, "wizard").await;
    for stranger in [&eve, &modern] {
        let got = send(
            stranger,
            &asked["elicitId"],
            "accept",
            json!({"value": "Eve"}),
        )
        .await;
        assert!(got.is_error());
        assert_eq!(
            got.text(),
            "There is no such question: it was never asked here, or it was closed long ago"
        );
    }
    let got = send(&ana, &asked["elicitId"], "accept", json!({"value": "Ana"})).await;
    assert_eq!(got.pending().unwrap()["message"], "Step 2: colour");
    assert_eq!(
        world.started.load(Ordering::SeqCst),
        1,
        "the tool runs once, not again"
    );
}

#[tokio::test]
async fn content_that_does_not_fit_is_refused_and_the_question_stays_open() {
    for client in MODELS {
        let asks = Asks::new().times(7); // Six do not fit, and then one does.
        let connected = client
            .connect(asks.around(World::default()), &Person::quiet())
            .await;
        let asked = pending(&connected, "wizard").await;
        for content in [
            json!({}),
            json!({"value": ""}),
            json!({"value": 3}),
            Value::Null,
            json!({"value": {}}),
        ] {
            let got = send(&connected, &asked["elicitId"], "accept", content.clone()).await;
            assert!(got.is_error(), "{content}");
            let problems = &got.0["result"]["_meta"]["dev.midcall/problems"];
            assert_eq!(problems[0]["path"], "/value", "{content}: {got:?}");
        }
        let got = send(
            &connected,
            &asked["elicitId"],
            "yes",
            json!({"value": "Ana"}),
        )
        .await;
        assert_eq!(
            got.text(),
            "`action` must be \"accept\", \"decline\" or \"cancel\""
        );
        let got = send(
            &connected,
            &asked["elicitId"],
            "accept",
            json!({"value": "Ana"}),
        )
        .await;
        assert!(got.pending().is_some(), "{got:?}");
    }
}

#[tokio::test]
async fn the_first_answer_counts_and_the_same_again_is_no_other() {
    for client in MODELS {
        let connected = client
            .connect(World::default().with_asks(), &Person::quiet())
            .await;
        let asked = pending(&connected, "wizard").await;
        let one = send(
            &connected,
            &asked["elicitId"],
            "accept",
            json!({"value": "Ana"}),
        )
        .await;
        let again = send(
            &connected,
            &asked["elicitId"],
            "accept",
            json!({"value": "Ana"}),
        )
        .await;
        assert_eq!(
            one.pending(),
            again.pending(),
            "clients give up on that call too"
        );
        let got = send(
            &connected,
            &asked["elicitId"],
            "accept",
            json!({"value": "Eve"}),
        )
        .await;
        assert!(got.is_error());
        assert_eq!(
            got.text(),
            "This question was answered already, and the first answer counts"
        );
        let got = send(&connected, &asked["elicitId"], "decline", Value::Null).await;
        assert!(got.is_error());
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_its_time_is_refused() {
    for client in MODELS {
        let world = World::default();
        let connected = client
            .connect(world.clone().with_asks(), &Person::quiet())
            .await;
        let asked = pending(&connected, "wizard").await;
        tokio::time::sleep(Duration::from_secs(301)).await;
        assert_eq!(world.dropped.load(Ordering::SeqCst), 1, "the tool was told");
        let got = send(
            &connected,
            &asked["elicitId"],
            "accept",
            json!({"value": "Ana"}),
        )
        .await;
        assert!(got.is_error());
        assert!(
            got.text()
                .starts_with("This question was closed because nobody answered in time")
        );
        tokio::time::sleep(Duration::from_secs(301)).await;
        let got = send(
            &connected,
            &asked["elicitId"],
            "accept",
            json!({"value": "Ana"}),
        )
        .await;
        assert!(got.is_error() && got.text().starts_with("There is no such question"));
    }
}

#[tokio::test]
async fn names_that_nobody_was_given_are_refused() {
    let connected = Client::Model
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    for id in [
        json!("question1"),
        json!(""),
        json!(1),
        Value::Null,
        json!("x".repeat(100_000)),
    ] {
        let got = send(&connected, &id, "accept", json!({"value": "Ana"})).await;
        assert!(got.is_error() && got.text().starts_with("There is no such question"));
    }
}

#[tokio::test]
async fn a_model_neither_destroys_nor_opens_links() {
    for client in MODELS {
        let connected = client
            .connect(World::default().with_asks(), &Person::quiet())
            .await;
        for (tool, arguments, why) in [
            (
                "delete",
                json!({}),
                "a model must not agree to a question that is marked as dangerous",
            ),
            (
                "plain",
                json!({}),
                "a model must not agree to what may destroy something",
            ),
            (
                "sign_in",
                json!({}),
                "the client cannot open links, and a model must not",
            ),
        ] {
            let got = connected.call(tool, arguments).await;
            assert!(
                got.is_error() && got.text().contains(why),
                "{tool}: {got:?}"
            );
            // The protocol has an error for that in the modern era alone.
            assert_eq!(got.code(), client.is_modern().then_some(-32021), "{tool}");
        }
        let allowed = Asks::new().model_may_confirm().around(World::default());
        let person = Person::answers(json!({"confirmed": true}));
        let connected = client.connect(allowed, &person).await;
        assert_eq!(connected.call("delete", json!({})).await.text(), "Deleted");
    }
}

#[tokio::test]
async fn the_added_tool_is_listed_only_where_it_is_needed() {
    for client in Client::ALL {
        let connected = client
            .connect(World::default().with_asks(), &Person::quiet())
            .await;
        let is_listed = connected
            .tools()
            .await
            .contains(&"sendElicitationResult".to_owned());
        assert_eq!(is_listed, !client.asks(), "{client}");
        let without = Asks::new().without_model().around(World::default());
        let connected = client.connect(without, &Person::quiet()).await;
        assert!(
            !connected
                .tools()
                .await
                .contains(&"sendElicitationResult".to_owned())
        );
        if client.asks() {
            let got = send(&connected, &json!("x"), "accept", Value::Null).await;
            assert!(got.code().is_some(), "it is not there: {got:?}");
        }
    }
}

#[tokio::test]
async fn a_question_is_a_valid_result_of_a_tool_with_a_schema() {
    for client in MODELS {
        let person = Person::answers(json!({"value": "Ana"}));
        let connected = client.connect(World::default().with_asks(), &person).await;
        let listed = connected.once("tools/list", json!({})).await;
        let tools = listed.0["result"]["tools"].as_array().unwrap().clone();
        let tool = tools
            .iter()
            .find(|tool| tool["name"] == "structured")
            .unwrap();
        let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let got = connected
            .once("tools/call", json!({"name": "structured", "arguments": {}}))
            .await;
        assert!(
            schema.is_valid(&got.0["result"]["structuredContent"]),
            "{got:?}"
        );
        let got = connected.call("structured", json!({})).await;
        assert_eq!(got.0["result"]["structuredContent"], json!({"name": "Ana"}));
        assert!(schema.is_valid(&got.0["result"]["structuredContent"]));
    }
}
