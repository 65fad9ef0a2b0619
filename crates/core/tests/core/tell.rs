//! A form in the words of each revision, and the answer back in the server's own.

use std::sync::LazyLock;

use jsonschema::Validator;
use midcall_core::catalog::Locale;
use midcall_core::wire::{Changed, Revision, Telling};
use midcall_core::{Form, Limits, Values};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use Revision::{V2025_06_18 as OLDEST, V2025_11_25 as MIDDLE, V2026_07_28 as NEWEST};

fn form(properties: Value, required: &[&str]) -> Form {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Form::from_value(schema, &Limits::default()).unwrap()
}

fn tell(form: &Form, revision: Revision) -> Telling {
    Telling::of(form, revision, Locale::EnUs)
}

fn values(json: Value) -> Values {
    Values::from(json.as_object().unwrap().clone())
}

fn back(telling: &Telling, form: &Form, typed: Value) -> Value {
    Value::Object(telling.back(form, values(typed)).unwrap().into_object())
}

#[test]
fn each_field_is_said_in_the_words_of_the_revision() {
    for (field, revision, told, changed) in [
        // What every revision says, it says unchanged.
        (
            json!({"type": "string", "title": "T", "description": "D", "minLength": 1, "maxLength": 9,
                "format": "email"}),
            OLDEST,
            None,
            vec![],
        ),
        (
            json!({"type": "boolean", "default": false}),
            OLDEST,
            None,
            vec![],
        ),
        (
            json!({"type": "integer", "minimum": -1, "maximum": 1.5}),
            OLDEST,
            None,
            vec![],
        ),
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            OLDEST,
            None,
            vec![],
        ),
        (
            json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
            OLDEST,
            None,
            vec![],
        ),
        (
            json!({"type": "string", "default": "x", "x-hint": 1}),
            MIDDLE,
            None,
            vec![],
        ),
        (
            json!({"type": "number", "default": 0}),
            NEWEST,
            None,
            vec![],
        ),
        (
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
            MIDDLE,
            None,
            vec![],
        ),
        (
            json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "minItems": 1,
                "default": ["a"]}),
            NEWEST,
            None,
            vec![],
        ),
        // Options.
        (
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
            OLDEST,
            Some(json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "b"]})),
            vec![Changed::OptionsReworded],
        ),
        (
            json!({"type": "string", "anyOf": [{"const": "a", "title": "A"}]}),
            MIDDLE,
            Some(json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]})),
            vec![Changed::OptionsReworded],
        ),
        (
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A", "description": "the first"}]}),
            NEWEST,
            Some(json!({"type": "string", "oneOf": [{"const": "a", "title": "A: the first"}]})),
            vec![Changed::OptionExplained],
        ),
        (
            json!({"type": "integer", "enum": [1, 2], "default": 2}),
            NEWEST,
            Some(json!({"type": "string", "enum": ["1", "2"], "description": "If left empty: 2"})),
            vec![Changed::OptionsAsText, Changed::DefaultAsHint],
        ),
        (
            json!({"type": "array", "items": {"enum": ["a"]}}),
            MIDDLE,
            Some(json!({"type": "array", "items": {"type": "string", "enum": ["a"]}})),
            vec![],
        ),
        // Rules that only a hint can carry.
        (
            json!({"type": "string", "pattern": "^x", "description": "D.", "default": "xy"}),
            OLDEST,
            Some(json!({"type": "string", "description": "D. Must match ^x. If left empty: xy"})),
            vec![Changed::PatternAsHint, Changed::DefaultAsHint],
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}),
            NEWEST,
            Some(
                json!({"type": "number", "description": "Enter a number above 0. Enter a multiple of 0.5"}),
            ),
            vec![Changed::BoundAsHint],
        ),
        (
            json!({"type": "string", "format": "textarea"}),
            NEWEST,
            Some(json!({"type": "string"})),
            vec![Changed::FormatLeftOut],
        ),
        (
            json!({"type": ["string", "null"], "not": {"const": "x"}}),
            NEWEST,
            Some(json!({"type": "string"})),
            vec![Changed::RuleLeftOut, Changed::NullLeftOut],
        ),
        // Kinds that no revision has.
        (
            json!({"type": "array", "items": {"type": "string"}, "maxItems": 3}),
            NEWEST,
            Some(json!({"type": "string",
                     "description": "Give at most 3 items. Separate several with commas"})),
            vec![Changed::TagsAsText],
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "title": "Lots"}),
            NEWEST,
            Some(
                json!({"type": "string", "title": "Lots", "description": "Write the answer as JSON"}),
            ),
            vec![Changed::JsonAsText],
        ),
    ] {
        let telling = tell(&form(json!({"f": field}), &[]), revision);
        let expected = told.unwrap_or(field);
        assert_eq!(telling.schema["properties"]["f"], expected, "in {revision}");
        let changes: Vec<Changed> = telling.changes.iter().map(|change| change.what).collect();
        assert_eq!(changes, changed, "{expected} in {revision}");
    }
}

#[test]
fn a_choice_of_several_becomes_switches_and_comes_back_as_a_list() {
    let form = form(
        json!({"extras": {"type": "array", "title": "Extras", "description": "What you need",
            "items": {"type": "string", "enum": ["dog", "bar"]}, "minItems": 1, "default": ["bar"]}}),
        &["extras"],
    );
    let telling = tell(&form, OLDEST);
    assert_eq!(
        Value::Object(telling.schema.clone()),
        json!({"type": "object", "properties": {
            "extras.dog": {"type": "boolean", "default": false, "title": "Extras: dog",
                           "description": "What you need. Give at least 1 item"},
            "extras.bar": {"type": "boolean", "default": true, "title": "Extras: bar"},
        }})
    );
    for (typed, meant) in [
        (
            json!({"extras.dog": true, "extras.bar": true}),
            json!({"extras": ["dog", "bar"]}),
        ),
        (
            json!({"extras.bar": false, "extras.dog": true}),
            json!({"extras": ["dog"]}),
        ),
        (
            json!({"extras.dog": false, "extras.bar": false}),
            json!({"extras": []}),
        ),
        (json!({}), json!({})),
    ] {
        assert_eq!(back(&telling, &form, typed), meant);
    }
    let refused = telling
        .back(&form, values(json!({"extras.dog": "yes"})))
        .unwrap_err();
    assert_eq!(json!(refused.problems)[0]["path"], "/extras");
}

#[test]
fn groups_become_longer_names_and_come_back_as_groups() {
    let form = form(
        json!({
            "home": {"type": "object", "title": "Home", "required": ["street"], "properties": {
                "street": {"type": "string"},
                "country": {"type": "string", "title": "Country", "default": "PT"},
            }},
            "office": {"type": "object", "required": ["street"], "properties": {
                "street": {"type": "string"}, "a/b": {"type": "array", "items": {"type": "string"}},
            }},
        }),
        &["office"],
    );
    let telling = tell(&form, OLDEST);
    let told = &telling.schema["properties"];
    assert_eq!(told["home.street"]["title"], "Home: street");
    assert_eq!(told["home.country"]["description"], "If left empty: PT");
    assert_eq!(
        telling.schema["required"],
        json!(["office.street"]),
        "an optional group demands nothing"
    );
    let changed: Vec<&str> = telling
        .changes
        .iter()
        .map(|change| change.path.as_str())
        .collect();
    assert_eq!(
        changed,
        ["/home", "/home/country", "/office", "/office/a~1b"]
    );

    for (typed, meant) in [
        (
            json!({"office.street": "Rua A"}),
            json!({"office": {"street": "Rua A"}}),
        ),
        (
            json!({"home.street": "Rua B", "office.street": "Rua A", "office.a/b": "x, y,, z"}),
            json!({"home": {"street": "Rua B", "country": "PT"},
                "office": {"street": "Rua A", "a/b": ["x", "y", "z"]}}),
        ),
    ] {
        let meant_back = back(&telling, &form, typed);
        assert_eq!(meant_back, meant);
        assert!(form.check(values(meant_back)).is_ok());
    }
}

#[test]
fn other_dress_comes_back_as_what_was_meant() {
    let form = form(
        json!({
            "size": {"type": "integer", "enum": [1, 2]},
            "on": {"enum": [true, "true"]},
            "data": {"type": "array", "items": {"type": "integer"}},
            "name": {"type": "string", "default": "Ana"},
            "n": {"type": "integer", "default": 3},
        }),
        &["name"],
    );
    let telling = tell(&form, OLDEST);
    assert_eq!(
        telling.schema.get("required"),
        None,
        "a default makes an empty answer complete"
    );
    assert_eq!(
        back(
            &telling,
            &form,
            json!({"size": "2", "data": "[1, 2]", "n": 0})
        ),
        json!({"size": 2, "data": [1, 2], "n": 0, "name": "Ana"})
    );
    assert_eq!(
        back(
            &telling,
            &form,
            json!({"size": "7", "data": " ", "more": 1})
        ),
        json!({"size": "7", "name": "Ana", "n": 3, "more": 1}),
        "what is not an option stays for the check to refuse"
    );
    let refused = telling
        .back(&form, values(json!({"data": "[1"})))
        .unwrap_err();
    assert_eq!(
        json!(refused.problems)[0]["key"],
        "mcp.elicitation.problem.not_json"
    );
}

#[test]
fn told_names_never_collide() {
    let form = form(
        json!({
            "a.b": {"type": "string"},
            "a": {"type": "object", "properties": {"b": {"type": "string"}}},
        }),
        &[],
    );
    let telling = tell(&form, NEWEST);
    let names: Vec<&String> = telling.schema["properties"]
        .as_object()
        .map(Map::keys)
        .unwrap()
        .collect();
    assert_eq!(names, ["a.b", "a.b_"]);
    assert_eq!(
        back(&telling, &form, json!({"a.b": "flat", "a.b_": "nested"})),
        json!({"a.b": "flat", "a": {"b": "nested"}})
    );
}

#[test]
fn hints_are_in_the_persons_language() {
    let form = form(
        json!({"t": {"type": "array", "items": {"type": "string"}}}),
        &[],
    );
    let telling = Telling::of(&form, NEWEST, Locale::PtBr);
    let hint = &telling.schema["properties"]["t"]["description"];
    assert_eq!(hint, "Separe vários com vírgulas");
}

#[test]
fn what_a_program_fills_in_is_no_answer() {
    let form = form(
        json!({
            "city": {"type": "string", "default": "Lisbon"},
            "name": {"type": ["string", "null"]},
            "extras": {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1},
            "home": {"type": "object", "required": ["street"], "properties": {
                "street": {"type": "string"}, "country": {"type": "string", "default": "PT"}}},
            "more": {"type": "object", "properties": {"x": {"type": "string"}}},
            "twin": {"enum": [1, "1"]},
        }),
        &["city", "name", "more"],
    );
    for revision in [OLDEST, MIDDLE, NEWEST] {
        let telling = tell(&form, revision);
        let empty = json!({"city": "Lisbon", "name": null, "extras": [], "extras.a": false,
            "home.country": "PT", "twin": "1_"});
        let typed: Map<String, Value> = empty
            .as_object()
            .unwrap()
            .clone()
            .into_iter()
            .filter(|(name, _)| telling.schema["properties"].get(name).is_some())
            .collect();
        let meant = back(&telling, &form, Value::Object(typed));
        assert_eq!(
            meant,
            json!({"city": "Lisbon", "twin": "1", "name": null, "more": {}}),
            "{revision}"
        );
        assert!(form.check(values(meant)).is_ok(), "{revision}");
    }
    let emptied = back(&tell(&form, OLDEST), &form, json!({"city": ""}));
    assert_eq!(emptied["city"], "Lisbon", "as the person was told");
}

/// What each revision allows in a `requestedSchema`, and nothing beside it.
fn strict(revision: Revision) -> Validator {
    let since = revision >= MIDDLE;
    let kind = |required: &[&str], own: Value| {
        let mut properties =
            json!({"title": {"type": "string"}, "description": {"type": "string"}});
        for (name, rule) in own.as_object().unwrap() {
            if since || name != "default" || own["type"]["const"] == "boolean" {
                properties[name] = rule.clone();
            }
        }
        json!({"type": "object", "properties": properties, "required": required,
            "additionalProperties": false})
    };
    let texts = json!({"type": "array", "items": {"type": "string"}, "minItems": 1});
    let option = json!({"type": "object", "required": ["const", "title"], "additionalProperties": false,
        "properties": {"const": {"type": "string"}, "title": {"type": "string"}}});
    let options = json!({"type": "array", "items": option, "minItems": 1});
    let text = json!({"type": "string"});
    let length = json!({"type": "integer", "minimum": 0});
    let mut kinds = vec![
        kind(
            &["type"],
            json!({"type": {"const": "string"}, "minLength": length, "maxLength": length,
            "format": {"enum": ["email", "uri", "date", "date-time"]}, "default": text}),
        ),
        kind(
            &["type"],
            json!({"type": {"enum": ["number", "integer"]}, "minimum": {"type": "number"},
            "maximum": {"type": "number"}, "default": {"type": "number"}}),
        ),
        kind(
            &["type"],
            json!({"type": {"const": "boolean"}, "default": {"type": "boolean"}}),
        ),
        kind(
            &["type", "enum"],
            json!({"type": {"const": "string"}, "enum": texts,
            "enumNames": texts, "default": text}),
        ),
    ];
    if since {
        let chosen = json!({"type": "array", "items": {"type": "string"}});
        let items = json!({"anyOf": [
            {"type": "object", "required": ["type", "enum"], "additionalProperties": false,
             "properties": {"type": {"const": "string"}, "enum": texts}},
            {"type": "object", "required": ["anyOf"], "additionalProperties": false,
             "properties": {"anyOf": options}},
        ]});
        kinds.push(kind(
            &["type", "oneOf"],
            json!({"type": {"const": "string"}, "oneOf": options,
            "default": text}),
        ));
        kinds.push(kind(
            &["type", "items"],
            json!({"type": {"const": "array"}, "items": items,
            "minItems": length, "maxItems": length, "default": chosen}),
        ));
    }
    let whole = json!({"type": "object", "required": ["type", "properties"], "properties": {
        "type": {"const": "object"},
        "properties": {"type": "object", "additionalProperties": {"anyOf": kinds}},
        "required": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
    }});
    jsonschema::validator_for(&whole).unwrap()
}

static STRICT: LazyLock<[(Revision, Validator); 3]> =
    LazyLock::new(|| [OLDEST, MIDDLE, NEWEST].map(|revision| (revision, strict(revision))));

proptest! {
    #![proptest_config(crate::oracle::config(1_000))]

    /// Whatever a server asks, a client of any revision gets a form it knows, and what it
    /// answers is either understood or told to be wrong.
    #[test]
    fn every_form_is_told_in_words_the_revision_has((schema, content) in crate::oracle::form(2)) {
        let form = Form::from_value(schema, &Limits::default()).unwrap();
        for (revision, strict) in STRICT.iter() {
            let telling = tell(&form, *revision);
            let told = Value::Object(telling.schema.clone());
            let wrong: Vec<String> = strict.iter_errors(&told).map(|e| e.to_string()).collect();
            prop_assert!(wrong.is_empty(), "{revision}: {told}\n{wrong:?}");
            let plain = telling.changes.is_empty();
            if let Ok(meant) = telling.back(&form, values(content.clone())) {
                let direct = form.problems(&form.trim(values(content.clone()))).is_empty();
                let mapped = form.problems(&meant).is_empty();
                prop_assert!(!plain || direct == mapped, "{revision}: {direct} {mapped}");
            }
        }
    }
}
