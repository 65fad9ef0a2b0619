//! What the testing kit promises to tests of others.

use std::time::Duration;

use midcall_server::WithAsks;
use midcall_server::testing::{Person, for_every_client};
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
