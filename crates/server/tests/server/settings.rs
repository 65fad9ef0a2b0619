//! What can be set: off, observers, answers beforehand, the language.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use midcall_server::testing::{Client, Person, Said, for_every_client};
use midcall_server::{Answers, AskError, Asks, Locale, WithAsks};
use rmcp::handler::server::wrapper::Parameters;
use serde_json::{Value, json};

use crate::examples::delete_files::{Delete, Folder};
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
        let expected = [asked(1), "1 Unfit".into(), asked(2), "2 Accepted".into()];
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
        assert_eq!(got.text(), "the person was asked and said no: Too late");
    })
    .await;
}

#[tokio::test]
async fn a_command_line_runs_the_same_tool_with_answers_from_a_file() {
    let answers = |text: &str| Asks::new().answers(Answers::read(text).unwrap());
    let delete = |asks: Asks| async move {
        let names = vec!["old.txt".to_owned()];
        let ask = asks.without_client("delete_files");
        Folder::default()
            .delete_files(ask, Parameters(Delete { names }))
            .await
    };
    let yes = r#"{"tool": "delete_files", "action": "accept", "content": {"confirmed": true}}"#;
    let told = delete(answers(&format!(r#"{{"answers": [{yes}]}}"#))).await;
    assert_eq!(told.unwrap(), "Deleted 1 files");

    for (text, expected) in [
        (
            r#"{"answers": [{"action": "decline"}]}"#,
            "the person was asked and said no",
        ),
        (
            r#"{"answers": [{"tool": "another", "action": "accept"}]}"#,
            "nobody can be asked: there is no client, and no answer to this question was given beforehand. \
             Write an answer down for it, or call the tool through a client",
        ),
        (
            r#"{"answers": [{"action": "accept", "content": {"confirmed": "yes"}}]}"#,
            "the answers did not fit, asked 1 times: Choose yes or no. Call the tool again with the \
             person at hand",
        ),
    ] {
        let error = delete(answers(text)).await.unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let off = delete(answers(r#"{"answers": []}"#).off()).await;
    assert!(matches!(off, Err(AskError::Off)));
}

#[tokio::test]
async fn without_a_client_what_was_given_beforehand_counts_and_links_end_by_themselves() {
    let answers = Answers::read(r#"{"answers": [{"action": "accept", "times": 2}]}"#).unwrap();
    let asks = Asks::new().answers(answers).prefilled("city", "Lisbon");
    let ask = asks.without_client("trip");
    let city = ask.text("Which city?").id("city").await.unwrap();
    assert_eq!(city.accepted().unwrap(), "Lisbon");
    let link = ask.link("Sign in", "https://example.com/{id}");
    let opened = link.until(async |_| {}).await.unwrap();
    assert!(opened.accepted().is_ok());
    ask.require_link("Sign in", "https://example.com/")
        .await
        .unwrap();
    ask.progress(1.0, None, "nobody hears it").await;
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
        // A little longer: a client may say by itself that the time is over.
        let got = tokio::time::timeout(Duration::from_secs(35), call).await;
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

#[tokio::test(start_paused = true)]
async fn whoever_comes_back_too_late_reads_that_in_the_language_that_was_set() {
    let asks = Asks::new().locale(Locale::PtBr);
    let connected = Client::V2026_07_28
        .connect(asks.around(World::default()), &Person::quiet())
        .await;
    let retry = |method: &str, mut call: Value| {
        let (connected, method) = (&connected, method.to_owned());
        async move {
            let round = connected.once(&method, call.clone()).await.0["result"].clone();
            tokio::time::sleep(Duration::from_secs(601)).await;
            assert_eq!(connected.server().waiting(), 0);
            call["requestState"] = round["requestState"].clone();
            connected.once(&method, call).await
        }
    };
    let gone = "Esta chamada terminou: ninguém voltou com uma resposta a tempo, havia chamadas demais à espera, \
        ou o servidor foi reiniciado. Chame de novo";
    let got = retry("tools/call", json!({"name": "wizard", "arguments": {}})).await;
    assert_eq!((got.text(), got.code()), (gone, None));
    assert!(got.is_error());
    for (method, call) in [
        ("prompts/get", json!({"name": "greeting"})),
        ("resources/read", json!({"uri": "diary://today"})),
    ] {
        let got = retry(method, call).await;
        assert_eq!((got.text(), got.code()), (gone, Some(-32602)), "{method}");
    }
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
