//! Secrets in forms, recognised by `fixtures/secret/`, the table the page obeys too.

use std::path::Path;

use midcall_core::secret::asks;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    title: Option<String>,
    description: Option<String>,
    format: Option<String>,
    secret: Option<String>,
    /// Who has to find it, if it isn't everybody: only the gateway knows look-alike letters.
    #[serde(rename = "by")]
    _by: Option<Finder>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Finder {
    Gateway,
}

#[test]
fn every_fixture_is_told_apart() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/secret");
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for case in cases {
            count += 1;
            let found = asks(
                &case.name,
                case.title.as_deref(),
                case.description.as_deref(),
                case.format.as_deref(),
            );
            let found = found.map(|secret| secret.name().to_owned());
            if found != case.secret {
                wrong.push(format!("{found:?} for {case:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 800, "only {count} cases were found");
}

/// Every secret in the forms of the other fixtures. A field that appears here without asking for
/// one is a false alarm.
#[test]
fn the_forms_of_all_fixtures_raise_no_false_alarm() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut fields = Vec::new();
    for folder in ["check", "link", "wire"] {
        read_folder(&fixtures.join(folder), &mut fields);
    }
    let mut found: Vec<_> = fields.iter().filter_map(hit).collect();
    found.sort();
    found.dedup();
    assert_eq!(found, HITS);
    assert!(
        fields.len() > 250,
        "only {} fields were found",
        fields.len()
    );
}

const HITS: &[&str] = &["secret: token"];

/// A field's name, title and description.
type Words = (String, Option<String>, Option<String>);

fn hit((name, title, description): &Words) -> Option<String> {
    let secret = asks(name, title.as_deref(), description.as_deref(), None)?;
    Some(format!("{name}: {}", secret.name()))
}

fn read_folder(folder: &Path, fields: &mut Vec<Words>) {
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            read_folder(&path, fields);
        } else {
            let text = std::fs::read(&path).unwrap();
            read_fields(&serde_json::from_slice(&text).unwrap(), fields);
        }
    }
}

/// Everything under a `properties`, at any depth.
fn read_fields(value: &Value, fields: &mut Vec<Words>) {
    let inner = value.get("properties").and_then(Value::as_object);
    for (name, field) in inner.into_iter().flatten() {
        let text = |keyword: &str| field.get(keyword)?.as_str().map(str::to_owned);
        fields.push((name.clone(), text("title"), text("description")));
    }
    match value {
        Value::Object(members) => members.values().for_each(|it| read_fields(it, fields)),
        Value::Array(items) => items.iter().for_each(|it| read_fields(it, fields)),
        _ => {}
    }
}

#[test]
fn hostile_texts_are_read_in_bounded_time() {
    let worst = [
        "pa ss wo ",
        "\u{fdfa}",
        "p1 n0 ",
        "\u{200b}",
        "@",
        "密",
        "a\u{301}\u{323}",
    ];
    for part in worst {
        let text = part.repeat(100_000);
        asks(&text, Some(&text), Some(&text), None);
    }
}

#[test]
fn only_the_beginning_is_read() {
    let late = format!("{}. Enter your password.", "x".repeat(2000));
    assert_eq!(asks("value", None, Some(&late), None), None);
}

proptest! {
    #[test]
    fn any_text_can_be_asked_about(name in "\\PC*", title in "\\PC*", description in ".*") {
        asks(&name, Some(&title), Some(&description), None);
    }

    #[test]
    fn words_in_any_order_can_be_asked_about(
        text in "((your|enter|password|token|,|[.] |pin|API key|not|Id|É|\u{301}) ?){0,12}",
    ) {
        asks(&text, Some(&text), Some(&text), None);
    }
}
