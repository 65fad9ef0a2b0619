//! Everything that can be asked, by every client.

use midcall_server::testing::{Client, Person, for_every_client};
use midcall_server::{AskError, Asks, Unaskable, WithAsks};
use serde_json::{Value, json};

use crate::world::World;

/// Asks for one kind of thing, and gives what the tool got.
async fn one(client: Client, kind: &str, person: &Person) -> String {
    let connected = client.connect(World::default().with_asks(), person).await;
    let got = connected.call("one", json!({"kind": kind})).await;
    got.text().to_owned()
}

#[tokio::test]
async fn each_kind_is_answered_the_same_by_every_client() {
    for (kind, content, expected) in [
        ("text", json!({"value": "ABC"}), r#"Accepted("ABC")"#),
        ("lines", json!({"value": "a\nb"}), r#"Accepted("a\nb")"#),
        ("confirm", json!({"confirmed": true}), "Accepted(true)"),
        ("confirm", json!({"confirmed": false}), "Accepted(false)"),
        (
            "select",
            json!({"selected": "green"}),
            r#"Accepted("green")"#,
        ),
        ("titled", json!({"selected": "r"}), r#"Accepted("r")"#),
        ("many", json!({"selected": ["dog"]}), r#"Accepted(["dog"])"#),
        ("number", json!({"value": 2.5}), "Accepted(2.5)"),
        ("integer", json!({"value": 3}), "Accepted(3)"),
        ("integer", json!({"value": 3.0}), "Accepted(3)"),
        (
            "date",
            json!({"value": "2026-02-28"}),
            r#"Accepted("2026-02-28")"#,
        ),
        (
            "date_time",
            json!({"value": "2026-02-28T09:30:00Z"}),
            r#"Accepted("2026-02-28T09:30:00Z")"#,
        ),
        (
            "email",
            json!({"value": "ana@example.com"}),
            r#"Accepted("ana@example.com")"#,
        ),
        (
            "tags",
            json!({"value": ["a", "b"]}),
            r#"Accepted(["a", "b"])"#,
        ),
        ("default", json!({"value": "main"}), r#"Accepted("main")"#),
        ("because", json!({"confirmed": true}), "Accepted(true)"),
    ] {
        let content = &content;
        for_every_client(|client| async move {
            let person = Person::answers(content.clone());
            assert_eq!(one(client, kind, &person).await, expected, "{kind}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_refusal_is_an_answer_with_every_client() {
    for_every_client(|client| async move {
        assert_eq!(
            one(client, "text", &Person::declines()).await,
            "Declined { reason: None }"
        );
        assert_eq!(one(client, "text", &Person::cancels()).await, "Cancelled");
    })
    .await;
}

#[tokio::test]
async fn a_typed_form_comes_back_typed() {
    for_every_client(|client| async move {
        let content = json!({"name": "Ana", "guests": 2, "seat": "garden", "extras": ["quiet"],
            "address": {"city": "Lisbon"}, "dog": true});
        let person = Person::answers(content.clone());
        let connected = client.connect(World::default().with_asks(), &person).await;
        let got = connected.call("book", json!({})).await;
        let told: Value = serde_json::from_str(got.text()).unwrap();
        assert_eq!(told, content);
    })
    .await;
}

#[tokio::test]
async fn what_does_not_fit_is_asked_again_and_told_why() {
    for_every_client(|client| async move {
        let person = Person::answers(json!({"value": "abc"})).then_answers(json!({"value": "ABC"}));
        assert_eq!(one(client, "text", &person).await, r#"Accepted("ABC")"#);
        let heard = person.heard();
        assert_eq!(heard.len(), 2, "{heard:?}");
        if client.asks() {
            assert_eq!(
                heard[1],
                "The last answer did not fit. This does not have the expected form\n\nWhich code?"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_rule_beyond_the_form_is_asked_again_with_its_reason() {
    for_every_client(|client| async move {
        let person = Person::answers(json!({"value": 22})).then_answers(json!({"value": 8080}));
        assert_eq!(one(client, "must", &person).await, "Accepted(8080)");
        assert_eq!(
            person.heard()[1],
            "The last answer did not fit. 22 is for ssh\n\nWhich port?"
        );
    })
    .await;
}

#[tokio::test]
async fn it_is_asked_three_times_and_then_it_is_an_error_without_values() {
    for_every_client(|client| async move {
        if !client.asks() {
            return; // A model is told what is wrong until the question ends.
        }
        let person = Person::answers(json!({"value": "xyzzy"}))
            .then_answers(json!({"value": "xyzzy"}))
            .then_answers(json!({"value": "xyzzy"}));
        let told = one(client, "text", &person).await;
        assert_eq!(
            told,
            "the answers did not fit, asked 3 times: Use at most 4 characters; This does not have the expected form. \
             Call the tool again with the person at hand"
        );
        assert!(!told.contains("xyzzy"));
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_asked_is_an_error_before_anybody_is_asked() {
    for_every_client(|client| async move {
        let told = one(client, "none", &Person::quiet()).await;
        assert_eq!(
            told,
            "there is nothing to choose from: give at least one option"
        );
    })
    .await;
}

#[tokio::test]
async fn each_revision_gets_the_form_in_its_own_words() {
    let schema = async |client: Client, kind: &str| {
        let person = Person::declines();
        one(client, kind, &person).await;
        person.questions()[0].schema.clone().unwrap()
    };
    let told = schema(Client::V2025_11_25, "many").await;
    assert_eq!(
        told["properties"]["selected"]["items"],
        json!({"anyOf": [{"const": "dog", "title": "A dog"}, {"const": "bar", "title": "The bar"}]})
    );
    let told = schema(Client::V2025_06_18, "many").await;
    assert_eq!(told["properties"]["selected.dog"]["type"], "boolean");
    let told = schema(Client::V2025_06_18, "titled").await;
    assert_eq!(
        told["properties"]["selected"]["enumNames"],
        json!(["Red: As a rose", "g"])
    );
    for client in [
        Client::V2025_06_18,
        Client::V2025_11_25,
        Client::V2026_07_28,
    ] {
        let told = schema(client, "text").await;
        let field = &told["properties"]["value"];
        if client.is_modern() {
            assert_eq!(field["description"], "Must match ^[A-Z]+$");
        } else {
            assert_eq!(field["pattern"], "^[A-Z]+$", "{client}");
            assert_eq!(field["examples"], json!(["AB"]), "{client}");
        }
        let told = schema(client, "lines").await;
        assert_eq!(
            told["properties"]["value"].get("format"),
            None,
            "{client}: not a format of MCP"
        );
    }
    let told = schema(Client::V2026_07_28, "default").await;
    assert_eq!(told["properties"]["value"]["default"], "main");
}

#[tokio::test]
async fn the_words_of_a_question_stand_together() {
    let person = Person::answers(json!({"confirmed": true}));
    one(Client::V2025_11_25, "because", &person).await;
    assert_eq!(person.heard(), ["Use another port?\n\n8080 is taken"]);
}

#[tokio::test]
async fn surfaces_are_told_what_cannot_be_undone_and_how_long_it_waits() {
    let person = Person::declines();
    let connected = Client::V2026_07_28
        .connect(World::default().with_asks(), &person)
        .await;
    let call = json!({"name": "delete", "arguments": {}});
    let round = connected.once("tools/call", call).await.0["result"].clone();
    let params = &round["inputRequests"]["question1"]["params"];
    assert_eq!(params.get("_meta"), None, "its revision has none");
    assert_eq!(
        round["_meta"],
        json!({"dev.midcall/joins": true, "dev.midcall/destructive": {"question1": true}}),
        "its author set no time"
    );
}

#[tokio::test]
async fn how_a_text_is_typed_is_told_beside_the_form() {
    let hints = [
        ("text", json!({"/value": {"placeholder": "AB"}})),
        ("lines", json!({"/value": {"multiline": true}})),
        (
            "story",
            json!({
                "/text": {"multiline": true, "placeholder": "Once upon a time"},
                "/author.name": {"placeholder": "Ana"}
            }),
        ),
        ("email", Value::Null),
        ("confirm", Value::Null),
    ];
    for (kind, hints) in &hints {
        for_every_client(|client| async move {
            let person = Person::declines();
            one(client, kind, &person).await;
            let heard = &person.questions()[0];
            if client.asks() {
                let meta = heard.meta.clone().unwrap_or_default();
                assert_eq!(
                    meta.get("dev.midcall/hints").cloned().unwrap_or_default(),
                    *hints,
                    "{kind}"
                );
            } else if *kind == "lines" {
                // A model reads the form as it is: there is nobody whom a word of ours would confuse.
                let schema = heard.schema.as_ref().unwrap();
                assert_eq!(schema["properties"]["value"]["format"], "textarea");
            }
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_longer_than_clients_show_is_not_asked_for_whichever_part_is() {
    let ask = Asks::new().without_client("write");
    let (short, long) = ("Name", "x".repeat(70_000));
    for (message, because) in [(&*long, short), (short, &*long)] {
        let refused = ask.text(message).because(because).await;
        assert!(
            matches!(
                refused,
                Err(AskError::Unaskable(Unaskable::MessageTooLong { .. }))
            ),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn nobody_types_twice_what_was_fine() {
    for client in [
        Client::V2025_06_18,
        Client::V2025_11_25,
        Client::V2026_07_28,
    ] {
        let typed =
            |age| json!({"name": "Ana", "address": {"city": "Lisbon"}, "age": age, "terms": true});
        let person = Person::answers(typed(17)).then_answers(typed(18));
        let told = one(client, "account", &person).await;
        assert!(told.contains("age: 18"), "{told}");
        let [first, second] = person.questions().try_into().unwrap();
        assert!(second.message.contains("you have to be 18"), "{client}");
        let again = second.schema.unwrap();
        if client == Client::V2025_06_18 {
            assert_eq!(again, first.schema.unwrap(), "it has no words for it");
            continue;
        }
        let fields = again["properties"].as_object().unwrap();
        let starts = fields
            .iter()
            .filter_map(|(name, field)| Some((name.as_str(), field.get("default")?)));
        let starts: Vec<_> = starts.collect();
        let expected = [
            ("name", &json!("Ana")),
            ("address.city", &json!("Lisbon")),
            ("age", &json!(17)),
        ];
        assert_eq!(starts, expected, "{client}: not what was agreed to");
    }
}
