//! Both languages say everything, and say it with the same parameters.

use std::collections::{BTreeMap, BTreeSet};

use midcall_core::catalog::{Locale, Param};
use proptest::prelude::*;
use serde_json::{Number, Value};

const TOO_LONG: &str = "mcp.elicitation.problem.too_long";
const TOO_SMALL: &str = "mcp.elicitation.problem.too_small";
const ASKS_FOR_TOOL: &str = "mcp.elicitation.label.asks_for_tool";

const FILES: [(&str, [&str; 4]); 2] = [
    (
        "en-US",
        [
            include_str!("../../locales/en-US.element.json"),
            include_str!("../../locales/en-US.element-more.json"),
            include_str!("../../locales/en-US.page.json"),
            include_str!("../../locales/en-US.json"),
        ],
    ),
    (
        "pt-BR",
        [
            include_str!("../../locales/pt-BR.element.json"),
            include_str!("../../locales/pt-BR.element-more.json"),
            include_str!("../../locales/pt-BR.page.json"),
            include_str!("../../locales/pt-BR.json"),
        ],
    ),
];

/// The files as the browser sees them: each key with its text, or with the forms of it.
fn files() -> [(&'static str, BTreeMap<String, Value>); 2] {
    let read = |file| -> BTreeMap<String, Value> { serde_json::from_str(file).unwrap() };
    FILES.map(|(tag, files)| (tag, files.into_iter().flat_map(read).collect()))
}

fn forms(text: &Value) -> Vec<(&str, &str)> {
    match text {
        Value::String(text) => vec![("only", text)],
        Value::Object(forms) => forms
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str().unwrap()))
            .collect(),
        _ => panic!("neither a text nor its forms: {text}"),
    }
}

fn params(text: &str) -> BTreeSet<&str> {
    text.split('{')
        .skip(1)
        .map(|rest| rest.split_once('}').expect("every { has its }").0)
        .collect()
}

#[test]
fn every_locale_has_a_file_of_its_name() {
    assert_eq!(FILES.map(|(tag, _)| tag), Locale::ALL.map(Locale::tag));
}

#[test]
fn both_languages_have_the_same_keys() {
    let [(_, en), (_, pt)] = files();
    assert!(en.keys().eq(pt.keys()));
    assert!(Locale::keys().eq(en.keys()));
    assert!(Locale::keys().all(|key| key.starts_with("mcp.elicitation.")));
}

/// JSON readers keep the last of two equal keys without a word, so lines are counted.
#[test]
fn no_key_stands_twice() {
    for (tag, files) in FILES {
        let lines = files.into_iter().flat_map(str::lines);
        let entries = lines.filter(|line| line.starts_with("  \""));
        assert_eq!(entries.count(), Locale::keys().count(), "{tag}");
    }
}

#[test]
fn a_text_has_the_same_forms_and_parameters_in_both_languages() {
    let [(_, en), (_, pt)] = files();
    for (key, text) in &en {
        let shape = |text: &Value| -> Vec<(String, Vec<String>)> {
            let shape = forms(text).into_iter().map(|(form, text)| {
                let params = params(text).into_iter().map(str::to_owned);
                (form.to_owned(), params.collect())
            });
            shape.collect()
        };
        assert_eq!(shape(text), shape(&pt[key]), "{key}");
    }
}

#[test]
fn every_plural_has_both_forms_and_shows_its_count() {
    for (tag, texts) in files() {
        for (key, text) in texts.iter().filter(|(_, text)| text.is_object()) {
            let names: Vec<_> = forms(text).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["one", "other"], "{tag} {key}");
            for (_, text) in forms(text) {
                assert!(params(text).contains("count"), "{tag} {key}");
            }
        }
    }
}

#[test]
fn texts_are_calm_and_tidy() {
    for (tag, texts) in files() {
        for (key, text) in &texts {
            for (_, text) in forms(text) {
                assert!(!text.is_empty(), "{tag} {key} is empty");
                assert_eq!(text.trim(), text, "{tag} {key}");
                assert!(!text.contains('!'), "{tag} {key} shouts");
                assert!(!text.contains("  "), "{tag} {key}");
            }
        }
    }
}

#[test]
fn the_texts_others_rely_on_stay_word_for_word() {
    let given = [
        ("action.accept", "Submit", "Enviar"),
        ("action.reject", "Reject", "Recusar"),
        ("action.cancel", "Cancel", "Cancelar"),
        ("timeout_warning", "Closing in 9s", "Fechando em 9s"),
        (
            "url_mode.opening",
            "Opening external page",
            "Abrindo página externa",
        ),
        ("field_required", "Required", "Obrigatório"),
    ];
    for (name, en, pt) in given {
        let key = format!("mcp.elicitation.{name}");
        let seconds = [("seconds", 9.into())];
        assert_eq!(Locale::EnUs.say(&key, &seconds), en);
        assert_eq!(Locale::PtBr.say(&key, &seconds), pt);
    }
}

#[test]
fn plurals_follow_each_language() {
    let say = |locale: Locale, count: Param| locale.say(TOO_LONG, &[("count", count)]);
    let table: [(Param, &str, &str); 6] = [
        (0.into(), "0 characters", "0 caractere"),
        (1.into(), "1 character", "1 caractere"),
        (1.0.into(), "1 character", "1 caractere"),
        (1.5.into(), "1.5 characters", "1,5 caractere"),
        (2.into(), "2 characters", "2 caracteres"),
        (1_000_000.into(), "1000000 characters", "1000000 caracteres"),
    ];
    for (count, en, pt) in table {
        assert_eq!(say(Locale::EnUs, count), format!("Use at most {en}"));
        assert_eq!(say(Locale::PtBr, count), format!("Use no máximo {pt}"));
    }
    assert_eq!(
        say(Locale::EnUs, "many".into()),
        "Use at most many characters"
    );
}

#[test]
fn numbers_have_the_decimal_sign_of_their_language() {
    let table: [(Param, &str, &str); 8] = [
        (12_345.into(), "12345", "12345"),
        ((-7).into(), "-7", "-7"),
        (
            u64::MAX.into(),
            "18446744073709551615",
            "18446744073709551615",
        ),
        (0.25.into(), "0.25", "0,25"),
        (3.0.into(), "3", "3"),
        (1e300.into(), "1e300", "1e300"),
        (2.5e-9.into(), "2.5e-9", "2,5e-9"),
        ("1.5".into(), "1.5", "1.5"),
    ];
    for (min, en, pt) in table {
        let params = [("min", min)];
        assert_eq!(
            Locale::EnUs.say(TOO_SMALL, &params),
            format!("Enter {en} or more")
        );
        assert_eq!(
            Locale::PtBr.say(TOO_SMALL, &params),
            format!("Digite {pt} ou mais")
        );
    }
}

#[test]
fn a_limit_of_a_schema_is_a_parameter() {
    let table = [
        ("18446744073709551615", Param::Integer(u64::MAX.into())),
        ("-3", Param::Integer(-3)),
        ("0.1", Param::Decimal(0.1)),
        ("2.0", Param::Decimal(2.0)),
    ];
    for (json, param) in table {
        let number: Number = serde_json::from_str(json).unwrap();
        assert_eq!(Param::from(&number), param);
    }
}

#[test]
fn braces_in_a_parameter_mean_nothing() {
    let said = Locale::EnUs.say(
        ASKS_FOR_TOOL,
        &[("server", "{tool}".into()), ("tool", "{server".into())],
    );
    assert_eq!(said, "{tool} ({server) asks");
}

#[test]
fn what_is_missing_stays_visible() {
    let said = Locale::EnUs.say(ASKS_FOR_TOOL, &[("tool", "book".into())]);
    assert_eq!(said, "{server} (book) asks");
    assert_eq!(
        Locale::EnUs.say(TOO_LONG, &[]),
        "Use at most {count} characters"
    );
    assert_eq!(Locale::PtBr.say("no.such.{key}", &[]), "no.such.{key}");
}

#[test]
fn the_language_is_found_in_whatever_names_it() {
    use Locale::{EnUs, PtBr};
    let table = [
        ("pt", PtBr),
        ("PT-br", PtBr),
        ("pt-PT", PtBr),
        ("pt_BR.UTF-8", PtBr),
        ("pt_BR@latin", PtBr),
        ("pt:en", PtBr),
        ("en:pt", EnUs),
        ("en-GB", EnUs),
        ("pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7", PtBr),
        ("en;q=0.3, pt;q=0.7", PtBr),
        ("fr-FR, fr;q=0.9, pt;q=0.1", PtBr),
        ("pt;q=0, en;q=0.1", EnUs),
        ("pt;q=0.5, *;q=0.9", EnUs),
        ("pt, en", PtBr),
        ("pt;q=nan, en;q=0.1", EnUs),
        ("pt;q=7, en;q=0.1", EnUs),
        ("ptolemaic", EnUs),
        ("C", EnUs),
        ("POSIX", EnUs),
        ("", EnUs),
        (";;,,::", EnUs),
    ];
    for (preferred, locale) in table {
        assert_eq!(Locale::negotiate(preferred), locale, "{preferred:?}");
    }
}

proptest! {
    #[test]
    fn parameters_come_out_as_they_went_in(server in ".*", tool in ".*") {
        let params = [("server", server.as_str().into()), ("tool", tool.as_str().into())];
        prop_assert_eq!(
            Locale::PtBr.say(ASKS_FOR_TOOL, &params),
            format!("{server} ({tool}) pergunta")
        );
    }
}
