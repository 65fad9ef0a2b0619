//! Links: agreeing, and what comes after.

use midcall_core::{Elicitation, Link};
use serde_json::json;

use super::world::*;
use crate::outcome::Closing;
use crate::remote::Told;

fn link(url: &str) -> Elicitation {
    question(
        json!({"mode": "url", "message": "Sign in to your bank", "url": url, "elicitationId": "1"}),
    )
}

const URL: &str = "https://bank.example/sign-in?state=1";

#[test]
fn only_the_whole_word_opens_a_link() {
    let question = link(URL);
    for keys in [
        "<enter>",
        "y<enter>",
        "ye<enter>",
        "ok<enter>",
        "1<enter>",
        "<tab><enter>",
        "yes",
    ] {
        let person = Person::at(&question, EN).types(keys);
        assert_eq!(
            (person.said().as_str(), person.opened.len()),
            ("still asking", 0),
            "{keys}"
        );
    }
    let pasted = Person::at(&question, EN).pastes("yes\n").types("<enter>");
    assert_eq!(pasted.opened.len(), 0, "consent is typed");
    let person = Person::at(&question, EN).types("yes<enter>");
    assert_eq!(
        (person.said().as_str(), person.opened.as_slice()),
        ("{}", &[URL.to_owned()][..])
    );
    assert!(person.sees().contains("Opening external page"));
    assert_eq!(
        Person::at(&question, PT).types("Sim<enter>").opened.len(),
        1
    );
    let person = Person::hearing(&question, EN).says(&["", "y", "ok"]);
    assert_eq!(person.opened.len(), 0);
    let person = person.says(&["yes"]);
    assert_eq!((person.said().as_str(), person.opened.len()), ("{}", 1));
    assert!(person.sees().contains("Opening external page"));
}

#[test]
fn a_link_can_be_declined_and_cancelled() {
    let question = link(URL);
    for (keys, expected) in [
        ("no<enter><enter>", "declined"),
        ("<c-d>not now<enter>", "declined: not now"),
        ("<c-d><esc><c-c>", "cancelled"),
        ("<esc>", "cancelled"),
        ("ye<esc><esc>", "cancelled"),
        ("<c-c>", "cancelled"),
    ] {
        let person = Person::at(&question, EN).types(keys);
        assert_eq!(
            (person.said().as_str(), person.opened.len()),
            (expected, 0),
            "{keys}"
        );
    }
    assert_eq!(
        Person::hearing(&question, EN).says(&["no", ""]).said(),
        "declined"
    );
    assert_eq!(
        Person::hearing(&question, EN).says(&[":cancel"]).said(),
        "cancelled"
    );
}

#[test]
fn a_refused_link_cannot_be_opened() {
    for url in [
        "javascript:alert(1)",
        "http://bank.example/",
        "file:///etc/passwd",
        "https://a.example/\u{202e}x",
    ] {
        let question = link(url);
        for keys in [
            "yes<enter>",
            "<enter>",
            "y",
            "<down>yes<enter>",
            "yes<c-d><enter>",
        ] {
            let person = Person::at(&question, EN).types(keys);
            assert!(
                person.opened.is_empty() && !person.said().starts_with('{'),
                "{url} {keys}"
            );
            assert!(person.sees().contains("This link cannot be opened"));
        }
        let person = Person::hearing(&question, EN).says(&["yes", "yes"]);
        assert_eq!(
            (person.said().as_str(), person.opened.len()),
            ("still asking", 0)
        );
        assert_eq!(
            Person::at(&question, EN)
                .types("<enter>bad link<enter>")
                .said(),
            "declined: bad link"
        );
        assert_eq!(
            Person::at(&question, EN).types("<down><enter>").said(),
            "cancelled"
        );
    }
}

#[test]
fn without_a_browser_the_address_is_there_to_copy() {
    let question = link(URL);
    let mut person = Person::at(&question, EN);
    person.has_browser = false;
    let person = person.types("yes<enter>");
    assert_eq!(person.said(), "{}");
    assert!(
        person
            .sees()
            .contains("No browser could be opened. Copy the address instead.")
    );
    assert!(
        person.sees().contains(&format!("│{URL}\n")),
        "whole, on a line of its own"
    );
}

#[test]
fn an_opened_link_waits_until_the_person_is_done() {
    let question = link(URL);
    let after = || Person::after(&question, EN);
    assert_eq!(after().types("<enter>").said(), "Finished");
    assert_eq!(after().types("<esc>").said(), "Cancelled");
    assert_eq!(after().types("<c-c>").said(), "Cancelled");
    assert_eq!(after().types("<down><down><enter>").said(), "Cancelled");
    assert_eq!(
        after().types("<c-d>").said(),
        "still asking",
        "it is too late to decline"
    );
    let again = after().types("<down><enter>");
    assert_eq!(
        (again.said().as_str(), again.opened.as_slice()),
        ("still asking", &[URL.to_owned()][..])
    );
    assert_eq!(again.types("<enter>").said(), "Finished");
    assert_eq!(
        after().hears(Told::Closed(Closing::TimedOut)).said(),
        "closed: TimedOut"
    );
    let hearing = || Person::hearing_after(&question, EN);
    assert_eq!(hearing().says(&["", "1"]).said(), "Finished");
    assert_eq!(hearing().says(&["2", "3"]).said(), "Cancelled");
    assert_eq!(hearing().says(&[":cancel"]).said(), "Cancelled");
    assert_eq!(
        hearing().hears(Told::Closed(Closing::Withdrawn)).said(),
        "closed: Withdrawn"
    );
}

#[test]
fn open_again_takes_the_newest_address_of_the_same_site_only() {
    let question = link(URL);
    let newer = "https://bank.example/sign-in?state=2";
    let told = |url| Told::Link(Link::read(url, None));
    let person = Person::after(&question, EN)
        .hears(told(newer))
        .types("<down><enter>");
    assert_eq!(person.opened, [newer]);
    for other in [
        "https://evil.example/",
        "http://bank.example/",
        "javascript:alert(1)",
    ] {
        let person = Person::after(&question, EN)
            .hears(told(other))
            .types("<down><enter>");
        assert_eq!(person.opened, [URL], "the person agreed to that site");
    }
}
