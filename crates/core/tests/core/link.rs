//! Links, judged by `fixtures/link/`, the table the page obeys too.

use std::path::Path;

use midcall_core::link::{Link, Verdict};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    url: String,
    asker: Option<String>,
    #[serde(default)]
    allowed: Vec<String>,
    verdict: String,
    reasons: Vec<String>,
    shown: Option<String>,
    ascii: Option<String>,
}

#[test]
fn every_fixture_gets_its_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/link");
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for case in cases {
            count += 1;
            let link = Link::read_allowing(&case.url, case.asker.as_deref(), &case.allowed);
            let (verdict, reasons) = told(&link);
            let host = link.host();
            if verdict != case.verdict
                || reasons != case.reasons
                || case.shown.is_some() && case.shown.as_ref() != host.map(|host| &host.shown)
                || case.ascii.is_some()
                    && case.ascii.as_ref() != host.and_then(|host| host.ascii.as_ref())
            {
                wrong.push(format!("{}: {verdict} {reasons:?} {host:?}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 80, "only {count} cases were found");
}

#[test]
fn a_megabyte_is_refused_and_hardly_kept() {
    let link = Link::read(
        &format!("https://example.com/{}", "a".repeat(1 << 20)),
        None,
    );
    assert_eq!(told(&link), ("refuse", vec!["too_long".to_owned()]));
    assert!(link.sent().len() < 2000 && link.sent().ends_with('…'));
}

#[test]
fn eight_kibibytes_are_still_read() {
    let url = format!("https://example.com/{}", "a".repeat(8192 - 20));
    assert_eq!(
        told(&Link::read(&url, None)),
        ("warn", vec!["long".to_owned()])
    );
    assert_eq!(told(&Link::read(&(url + "a"), None)).0, "refuse");
}

#[test]
fn hidden_characters_are_shown_by_their_numbers() {
    let link = Link::read("https://example.com/\u{202e}gnp", None);
    assert_eq!(link.sent(), "https://example.com/<U+202E>gnp");
}

#[test]
fn a_link_goes_out_with_keys_and_parameters() {
    let link = Link::read("https://me@example.com:8443", None);
    assert_eq!(
        serde_json::to_value(&link).unwrap(),
        json!({
            "sent": "https://me@example.com:8443",
            "href": "https://me@example.com:8443/",
            "host": { "shown": "example.com" },
            "verdict": "warn",
            "reasons": [
                { "key": "mcp.elicitation.link.user_info", "params": { "host": "example.com" } },
                { "key": "mcp.elicitation.link.port", "params": { "port": "8443" } },
            ],
        })
    );
    let plain = serde_json::to_value(Link::read("https://example.com", None)).unwrap();
    assert_eq!(plain["verdict"], "plain");
}

#[test]
fn debug_keeps_the_url_out_of_logs() {
    let printed = format!("{:?}", Link::read("https://example.com/?state=hush", None));
    assert!(printed.contains("example.com") && !printed.contains("hush"));
}

proptest! {
    #[test]
    fn any_text_can_be_read(url in "\\PC*", asker in proptest::option::of("\\PC*")) {
        sound(&Link::read(&url, asker.as_deref()))?;
    }

    #[test]
    fn anything_like_a_link_can_be_read(
        url in "(https?|ftp|javascript):/{0,3}[a-zа-я0-9.:@\\[\\]%\\\\/?#\t -]{0,80}",
        asker in "[a-zа-я0-9.-]{0,40}",
    ) {
        sound(&Link::read(&url, Some(&asker)))?;
    }
}

/// What must hold for every link, whatever was sent.
fn sound(link: &Link) -> Result<(), TestCaseError> {
    let refused = matches!(link.verdict(), Verdict::Refuse(_));
    prop_assert_eq!(link.href().is_none(), refused);
    prop_assert_eq!(
        link.verdict().reasons().is_empty(),
        *link.verdict() == Verdict::Plain
    );
    if let Some(href) = link.href() {
        prop_assert!(href.starts_with("https://") || href.starts_with("http://"));
        prop_assert!(href.is_ascii());
        let again = Link::read(href, None);
        prop_assert_eq!(
            again.href(),
            Some(href),
            "what is opened is read as it stands"
        );
    }
    Ok(())
}

fn told(link: &Link) -> (&'static str, Vec<String>) {
    let verdict = match link.verdict() {
        Verdict::Plain => "plain",
        Verdict::Warn(_) => "warn",
        Verdict::Refuse(_) => "refuse",
    };
    let name = |key: &str| {
        key.strip_prefix("mcp.elicitation.link.")
            .unwrap()
            .to_owned()
    };
    (
        verdict,
        link.verdict()
            .reasons()
            .iter()
            .map(|reason| name(reason.key()))
            .collect(),
    )
}
