//! Links: consent, completion, and calls that need one first.

use std::sync::atomic::Ordering;

use midcall_server::testing::{Client, Person};
use midcall_server::{Asks, WithAsks};
use serde_json::{Value, json};

use crate::world::World;

const LINKS: [Client; 2] = [Client::V2025_11_25, Client::V2026_07_28];

#[tokio::test]
async fn a_link_is_opened_and_its_end_is_told_where_there_is_a_word_for_it() {
    for client in LINKS {
        let world = World::default();
        let person = Person::opens();
        let connected = client.connect(world.with_asks(), &person).await;
        let got = connected.call("sign_in", json!({})).await;
        let url = person.questions()[0].url.clone().unwrap();
        let id = url.strip_prefix("https://example.com/in?state=").unwrap();
        assert_eq!(got.text(), format!("Signed in by {id}"));
        let notes = connected.notes();
        let done = notes
            .iter()
            .find(|note| note["method"] == "notifications/elicitation/complete");
        match client {
            Client::V2025_11_25 => {
                assert_eq!(done.unwrap()["params"], json!({"elicitationId": id}))
            }
            _ => assert_eq!(done, None),
        }
    }
}

#[tokio::test]
async fn a_link_can_be_refused() {
    for client in LINKS {
        let connected = client
            .connect(World::default().with_asks(), &Person::declines())
            .await;
        let got = connected.call("sign_in", json!({})).await;
        assert!(got.is_error());
        assert_eq!(got.text(), "the person was asked and said no");
    }
}

#[tokio::test]
async fn clients_without_links_are_told_what_is_missing() {
    let connected = Client::V2025_06_18
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let got = connected.call("sign_in", json!({})).await;
    assert!(
        got.is_error() && got.text().contains("the client cannot open links"),
        "{got:?}"
    );
}

#[tokio::test]
async fn a_call_that_needs_a_link_first_is_refused_with_it_and_succeeds_after() {
    let world = World::default();
    let asks = Asks::new();
    let connected = Client::V2025_11_25
        .connect(asks.around(world.clone()), &Person::quiet())
        .await;
    let got = connected.call("protected", json!({})).await;
    assert_eq!(got.code(), Some(-32042));
    let link = &got.0["error"]["data"]["elicitations"][0];
    assert_eq!(link["mode"], "url");
    assert_eq!(link["message"], "Sign in first");
    let id = link["elicitationId"].as_str().unwrap();
    assert_eq!(link["url"], format!("https://example.com/in?state={id}"));

    world.started.store(1, Ordering::SeqCst); // They signed in.
    assert!(asks.complete(id).await);
    assert!(!asks.complete(id).await, "once");
    let is_told = |note: &Value| note["params"]["elicitationId"] == id;
    while !connected.notes().iter().any(is_told) {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        connected.call("protected", json!({})).await.text(),
        "Welcome"
    );
}

#[tokio::test]
async fn the_id_of_a_link_that_is_needed_first_can_be_known() {
    for client in LINKS {
        let world = World::default();
        let person = Person::opens();
        let connected = client.connect(world.with_asks(), &person).await;
        let got = connected.call("expects", json!({})).await;
        let (link, expected) = match client {
            Client::V2025_11_25 => {
                assert_eq!(got.code(), Some(-32042));
                let data = &got.0["error"]["data"];
                let link = data["elicitations"][0].clone();
                assert_eq!(
                    link["message"],
                    "Sign in first\n\nThe archive is not public"
                );
                assert_eq!(link["_meta"]["dev.midcall/timeoutMs"], 20_000);
                (link["url"].as_str().unwrap().to_owned(), None)
            }
            _ => (
                person.questions()[0].url.clone().unwrap(),
                Some(got.text().to_owned()),
            ),
        };
        let id = link.strip_prefix("https://example.com/in?state=").unwrap();
        assert!(expected.is_none_or(|expected| expected == id));
    }
}

#[tokio::test]
async fn a_modern_client_is_asked_instead_and_never_sees_that_error() {
    let world = World::default();
    let signs_in = world.started.clone();
    let person = Person::who(move |_| {
        signs_in.store(1, Ordering::SeqCst);
        midcall_server::testing::Said::Open
    });
    let connected = Client::V2026_07_28
        .connect(world.with_asks(), &person)
        .await;
    assert_eq!(
        connected.call("protected", json!({})).await.text(),
        "Welcome"
    );
}

#[tokio::test]
async fn a_link_that_nobody_should_open_is_not_asked() {
    let connected = Client::V2025_11_25
        .connect(World::default().with_asks(), &Person::quiet())
        .await;
    let got = connected.call("bad_link", json!({})).await;
    assert!(
        got.is_error() && got.text().contains("only https"),
        "{got:?}"
    );
}
