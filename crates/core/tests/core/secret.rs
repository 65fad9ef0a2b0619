//! Secrets in forms, recognised by `fixtures/secret/`, the table the page obeys too.

use std::path::Path;

use midcall_core::secret::asks;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    title: Option<String>,
    description: Option<String>,
    format: Option<String>,
    secret: Option<String>,
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
            let found = found.map(|secret| {
                secret
                    .key()
                    .strip_prefix("mcp.elicitation.secret.")
                    .unwrap()
                    .to_owned()
            });
            if found != case.secret {
                wrong.push(format!("{found:?} for {case:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "only {count} cases were found");
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
