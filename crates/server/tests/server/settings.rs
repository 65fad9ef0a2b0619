//! What can be set: off, observers, answers beforehand, the language.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use midcall_server::testing::{Client, Person, Said, for_every_client};
use midcall_server::{Answers, Asks, Locale, WithAsks};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_layer_that_is_off_is_a_typed_error_and_so_is_none() {
    for_every_client(|client| async move {
        let connected = client.connect(Asks::new().off().around(World::default()), &Person::quiet()).await;
        let got = connected.call("one", json!({"kind": "text"})).await;
        assert!(got.is_error());
        assert_eq!(
            got.text(),
            "this server does not ask: put the layer around its handler (`handler.with_asks()`), and do not switch it off"
        );
        assert!(!connected.tools().await.contains(&"sendElicitationResult".to_owned()));
        assert_eq!(connected.call("quiet", json!({})).await.text(), "done");
    })
    .await;
}

#[tokio::test]
async fn observers_hear_of_every_question_and_of_no_value() {
    for_every_client(|client| async move {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (asked, answered) = (log.clone(), log.clone());
        let asks = Asks::new()
            .on_ask(move |event| asked.lock().unwrap().push(format!("{event:?}")))
            .on_answer(move |event| {
                let line = format!("{} {:?}", event.asked.time, event.how);
                answered.lock().unwrap().push(line);
            });
        let person = Person::answers(json!({"value": 22})).then_answers(json!({"value": 8080}));
        let connected = client.connect(asks.around(World::default()), &person).await;
        connected.call("one", json!({"kind": "must"})).await;
        let carrier = match client {
            Client::V2025_06_18 | Client::V2025_11_25 => "Live",
            Client::V2026_07_28 => "Round",
            _ => "Model",
        };
        let asked = |time| {
            format!(
                r#"Asked {{ name: "one", key: "question1", carrier: {carrier}, time: {time} }}"#
            )
        };
        let expected = [asked(1), "1 Accepted".into(), asked(2), "2 Accepted".into()];
        assert_eq!(*log.lock().unwrap(), expected);
    })
    .await;
}

#[tokio::test]
async fn answers_from_a_file_come_before_everybody() {
    for_every_client(|client| async move {
        let answers = Answers::read(
            r#"{"answers": [
                {"message": "^Step 2", "action": "accept", "content": {"selected": "red"}},
                {"message": "^Step 1", "tool": "wizard", "action": "accept", "content": {"value": "Ana"}},
                {"message": "^Step 3", "action": "decline", "reason": "Too late"}
            ]}"#,
        );
        let asks = Asks::new().answers(answers.unwrap());
        let connected = client.connect(asks.around(World::default()), &Person::quiet()).await;
        let got = connected.call("wizard", json!({})).await;
        assert_eq!(got.text(), "the person was asked and said no");
    })
    .await;
}

#[tokio::test]
async fn what_was_given_beforehand_is_not_asked_if_it_fits() {
    for_every_client(|client| async move {
        let asks = Asks::new().prefilled("city", "Lisbon");
        let connected = client
            .connect(asks.around(World::default()), &Person::quiet())
            .await;
        let got = connected.call("one", json!({"kind": "id"})).await;
        assert_eq!(got.text(), r#"Accepted("Lisbon")"#);
        let asks = Asks::new().prefilled("city", 3);
        let person = Person::answers(json!({"value": "Porto"}));
        let connected = client.connect(asks.around(World::default()), &person).await;
        let got = connected.call("one", json!({"kind": "id"})).await;
        assert_eq!(got.text(), r#"Accepted("Porto")"#);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn each_question_has_its_own_patience() {
    for_every_client(|client| async move {
        let person = Person::who(|_| Said::Nothing);
        let connected = client.connect(World::default().with_asks(), &person).await;
        let call = connected.call("one", json!({"kind": "short"}));
        let got = tokio::time::timeout(Duration::from_secs(31), call).await;
        if client == Client::V2025_06_18 || client == Client::V2025_11_25 {
            assert!(
                got.unwrap()
                    .text()
                    .starts_with("nobody answered within 30 seconds")
            );
        } else {
            assert!(
                got.is_err(),
                "a client that says nothing does not come back either"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_added_to_a_question_is_in_the_language_that_was_set() {
    let person = Person::answers(json!({"value": 22})).then_answers(json!({"value": 80}));
    let asks = Asks::new().locale(Locale::PtBr);
    let connected = Client::V2025_11_25
        .connect(asks.around(World::default()), &person)
        .await;
    connected.call("one", json!({"kind": "must"})).await;
    assert!(person.heard()[1].starts_with("A última resposta não serviu."));
}

#[tokio::test]
async fn settings_of_one_handle_do_not_change_another() {
    let asks = Asks::new();
    let off = asks.clone().off();
    let person = Person::answers(json!({"value": "AB"}));
    let connected = Client::V2025_11_25
        .connect(asks.around(World::default()), &person)
        .await;
    assert_eq!(
        connected.call("one", json!({"kind": "text"})).await.text(),
        r#"Accepted("AB")"#
    );
    let connected = Client::V2025_11_25
        .connect(off.around(World::default()), &person)
        .await;
    assert!(
        connected
            .call("one", json!({"kind": "text"}))
            .await
            .is_error()
    );
}
