//! What the testing kit promises to tests of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use midcall_server::testing::{Client, Deeds, Person, for_every_client};
use midcall_server::{Ask, AskError, Asks, Resume, WithAsks};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn every_client_of_a_test_hears_how_far_a_tool_is() {
    for_every_client(|client| async move {
        let person = Person::answers(json!({"value": "Ana"}))
            .then_answers(json!({"selected": "red"}))
            .then_answers(json!({"confirmed": true}));
        let connected = client.connect(World::default().with_asks(), &person).await;
        let got = connected.call("wizard", json!({})).await;
        assert_eq!(got.text(), "Ana red true");
        let notes = connected.notes();
        let told: Vec<_> = notes.iter().map(|it| &it["params"]["message"]).collect();
        assert_eq!(told, ["named", "coloured"]);
    })
    .await;
}

/// An assertion in the closure that plays the person fails the test. It must not leave it hanging.
#[tokio::test(start_paused = true)]
async fn a_person_who_panics_ends_the_test() {
    for_every_client(|client| async move {
        let story = tokio::spawn(async move {
            let person = Person::who(|heard| panic!("not asked for: {}", heard.message));
            let connected = client.connect(World::default().with_asks(), &person).await;
            let call = connected.call("wizard", json!({}));
            tokio::time::timeout(Duration::from_secs(60), call).await
        });
        let ended = story.await;
        assert!(ended.is_err_and(|error| error.is_panic()), "it hangs");
    })
    .await;
}

/// Asks about what it finds, and that changes while people think.
#[derive(Clone, Default)]
struct Restless {
    runs: Arc<AtomicUsize>,
    deeds: Deeds,
}

#[tool_router]
impl Restless {
    #[tool(
        description = "Asks another thing each time",
        annotations(destructive_hint = false)
    )]
    async fn changes(&self, ask: Ask) -> Result<String, AskError> {
        match self.runs.fetch_add(1, Ordering::SeqCst) {
            0 => ask.text("Your name?").await.map(drop)?,
            _ => ask.confirm("Sure?").await.map(drop)?,
        }
        Ok("done".into())
    }

    #[tool(
        description = "Does something before it asks",
        annotations(destructive_hint = false)
    )]
    async fn hurries(&self, ask: Ask) -> Result<String, AskError> {
        self.deeds.happens("reserve");
        ask.text("Your name?").await?.accepted()?;
        ask.once("charge", async || self.deeds.happens("charge"))
            .await?;
        ask.confirm("Sure?").await?.accepted()?;
        Ok("done".into())
    }
}

#[tool_handler]
impl ServerHandler for Restless {}

#[tokio::test]
async fn a_tool_that_asks_something_else_when_it_runs_again_fails_its_test() {
    let story = tokio::spawn(async {
        let server = Asks::new().resume(Resume::ParkThenReplay);
        let server = server.around(Restless::default());
        let person = Person::answers(json!({"value": "Ana"}));
        let connected = Client::V2026_07_28.connect(server, &person).await;
        connected.call("changes", json!({})).await
    });
    let panic = story.await.expect_err("it diverges").into_panic();
    let told = panic.downcast_ref::<String>().unwrap();
    assert!(
        told.contains("It was \"Your name?\", and is \"Sure?\""),
        "{told}"
    );
}

#[tokio::test]
async fn what_a_tool_does_again_when_it_runs_again_is_shown() {
    for (resume, repeated) in [
        (Resume::ParkThenReplay, vec![("reserve".to_owned(), 3)]),
        (Resume::ParkOnly, vec![]),
    ] {
        let restless = Restless::default();
        let server = Asks::new().resume(resume).around(restless.clone());
        let person =
            Person::answers(json!({"value": "Ana"})).then_answers(json!({"confirmed": true}));
        let connected = Client::V2026_07_28.connect(server, &person).await;
        assert_eq!(connected.call("hurries", json!({})).await.text(), "done");
        assert_eq!(restless.deeds.repeated(), repeated);
    }
}
