//! Forms and the `jsonschema` crate agree, whatever is asked and whatever is typed.
//!
//! A form's schema is drawn together with content that almost fits it: lengths and bounds are
//! small, so that values fall on both sides, and now and then a value has another type, is
//! missing, or has a name nobody asked for.

use std::cell::Cell;

use midcall_core::{Fault, Form, Limits, Problem, Values};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::Union;
use serde_json::{Map, Value, json};

use crate::check::oracle;

pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A sub-schema and a value that may fit it.
type Drawn = (Value, Value);

fn read(schema: &Value) -> Form {
    Form::from_value(schema.clone(), &Limits::default()).unwrap()
}

fn values(content: &Value) -> Values {
    Values::from(content.as_object().unwrap().clone())
}

#[test]
fn a_form_refuses_exactly_what_the_oracle_refuses() {
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    proptest!(config(1_000), |((schema, content) in form(2))| {
        let problems = read(&schema).problems(&values(&content));
        let valid = oracle(&schema).is_valid(&content);
        let count = if valid { &accepted } else { &refused };
        count.set(count.get() + 1);
        prop_assert_eq!(problems.is_empty(), valid, "{:?}", problems);
    });
    let (accepted, refused) = (accepted.get(), refused.get());
    assert!(
        accepted > 200 && refused > 200,
        "{accepted} and {refused}: one-sided"
    );
}

/// With one field, each rule decides alone.
#[test]
fn a_field_refuses_exactly_what_the_oracle_refuses() {
    proptest!(config(3_000), |((schema, value) in field(0))| {
        let schema = json!({"type": "object", "properties": {"it": schema}});
        let content = json!({"it": value});
        let problems = read(&schema).problems(&values(&content));
        let valid = oracle(&schema).is_valid(&content);
        prop_assert_eq!(problems.is_empty(), valid, "{:?}", problems);
    });
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn problems_are_in_form_order_whatever_the_order_of_the_content(
        (schema, content) in form(2),
    ) {
        let form = read(&schema);
        let known: Vec<String> = form.walk().into_iter().map(|(path, _)| path).collect();
        let place = |problem: &Problem| {
            let known = |path: &str| known.iter().position(|known| known == path);
            known(&problem.path).or_else(|| known(problem.path.rsplit_once('/')?.0))
        };
        // A name nobody asked for has no place in the form.
        let fields = |content: &Value| -> Vec<Problem> {
            let problems = form.problems(&values(content)).into_iter();
            problems.filter(|problem| !problem.path.ends_with("/other")).collect()
        };
        let found = fields(&content);
        prop_assert!(found.is_sorted_by_key(place), "{:?}", found);
        prop_assert_eq!(found, fields(&reversed(content)));
    }

    #[test]
    fn no_problem_shows_what_was_typed((schema, content) in form(1)) {
        const MARK: &str = "s3cr3t";
        let content = marked(content, MARK);
        let values = values(&content);
        let seen = format!("{values:?}");
        let said = match read(&schema).check(values) {
            Ok(checked) => format!("{checked:?}"),
            Err(unfit) => {
                let json = serde_json::to_string(&unfit.problems).unwrap();
                format!("{unfit} {unfit:?} {json}")
            }
        };
        prop_assert!(!(seen + &said).contains(MARK), "{}", said);
    }

    /// What a person emptied is left out, and would get its default at a second filling; so
    /// emptied fields are not drawn here. Surfaces fill once.
    #[test]
    fn filling_again_changes_nothing((schema, content) in form(1)) {
        let form = read(&schema);
        let once = form.fill(values(&without_empty(content)));
        prop_assert_eq!(form.fill(once.clone()).into_object(), once.into_object());
    }

    #[test]
    fn what_is_filled_in_fits_and_what_cannot_be_is_missing((schema, _) in form(1)) {
        let form = read(&schema);
        for problem in form.problems(&form.fill(Values::default())) {
            prop_assert_eq!(problem.fault, Fault::Required);
        }
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn no_input_makes_it_panic(schema in hostile(), shared in hostile(), content in hostile()) {
        let asked = json!({"$defs": {"type": shared}, "properties": {"it": schema}});
        for schema in [schema, asked] {
            if let Ok(form) = Form::from_value(schema, &Limits::default()) {
                let values = values(&json!({"it": content, "type": content}));
                form.problems(&values);
                form.unenforced();
                let filled = form.fill(values);
                form.problems(&filled);
                let _ = format!("{form:?} {filled:?}");
            }
        }
    }
}

// What is drawn.

/// A form with a few fields, and content for it.
pub fn form(depth: u32) -> BoxedStrategy<Drawn> {
    // `/` and `~` are escaped in paths; one name has the other as its beginning.
    const NAMES: [&str; 6] = ["name", "a/b", "m~n", "na", "Nome é", ""];
    const MOST: usize = 4;
    let names = subsequence(&NAMES, 0..=MOST).prop_shuffle();
    let parts = (
        names,
        prop::collection::vec((field(depth), any::<bool>(), 0..8_u8), MOST),
        select(vec![
            None,
            Some(json!(true)),
            Some(json!(false)),
            Some(json!({"type": "string"})),
        ]),
        prop::option::weighted(0.1, scalar()),
    );
    parts
        .prop_map(|(names, fields, extra, other)| {
            let (mut properties, mut required) = (Map::new(), Vec::new());
            let mut content = Map::new();
            for (name, ((schema, value), wanted, luck)) in names.into_iter().zip(fields) {
                properties.insert(name.into(), schema);
                if wanted {
                    required.push(json!(name));
                }
                if luck > 0 {
                    content.insert(name.into(), value);
                }
            }
            let mut schema = json!({"type": "object", "properties": properties});
            if !required.is_empty() {
                schema["required"] = Value::Array(required);
            }
            if let Some(extra) = extra {
                schema["additionalProperties"] = extra;
            }
            if let Some(other) = other {
                content.insert("other".into(), other);
            }
            (schema, Value::Object(content))
        })
        .boxed()
}

/// A field of any kind, and a value that usually has its type.
fn field(depth: u32) -> BoxedStrategy<Drawn> {
    // Boxed: these types nest so deeply that a debug build runs out of stack.
    let leaf = Union::new([
        text().boxed(),
        number().boxed(),
        integer().boxed(),
        switch().boxed(),
        choice().boxed(),
        choices().boxed(),
        tags().boxed(),
    ]);
    // Only fields of one value have a default here: see `fill_once` in `form` about groups.
    let leaf = (leaf, prop::bool::weighted(0.3)).prop_map(|((mut schema, value), suggested)| {
        if suggested {
            schema["default"] = value.clone();
        }
        (schema, value)
    });
    let leaf = leaf.boxed();
    let kind = match depth {
        0 => leaf,
        _ => prop_oneof![7 => leaf, 2 => form(depth - 1)].boxed(),
    };
    let other = prop::option::weighted(0.1, scalar());
    (kind, other, nullable())
        .prop_map(|((schema, value), other, nullable)| (nullable(schema), other.unwrap_or(value)))
        .boxed()
}

/// The ways peers say that `null` is a value too.
fn nullable() -> impl Strategy<Value = fn(Value) -> Value> {
    fn no(schema: Value) -> Value {
        schema
    }
    fn any_of(schema: Value) -> Value {
        json!({"anyOf": [schema, {"type": "null"}], "default": null})
    }
    fn one_of(schema: Value) -> Value {
        json!({"oneOf": [{"type": "null"}, schema]})
    }
    fn two_types(mut schema: Value) -> Value {
        // Options beside the type refuse null again; that is told in `form`.
        let has_options = ["oneOf", "anyOf"]
            .iter()
            .any(|name| schema.get(name).is_some());
        if let Some(kind) = schema.get("type").filter(|_| !has_options) {
            schema["type"] = json!([kind, "null"]);
        }
        schema
    }
    prop_oneof![
        7 => Just(no as fn(Value) -> Value),
        1 => Just(any_of as fn(Value) -> Value),
        1 => Just(one_of as fn(Value) -> Value),
        1 => Just(two_types as fn(Value) -> Value),
    ]
}

/// A value that is probably not what a field wants.
fn scalar() -> impl Strategy<Value = Value> {
    select(vec![
        Value::Null,
        json!(false),
        json!(true),
        json!(0),
        json!(1),
        json!(1.5),
        json!(""),
        json!("5"),
        json!("true"),
        json!([]),
        json!(["a"]),
        json!([null]),
        json!({}),
        json!({"other": 1}),
    ])
}

fn words() -> impl Strategy<Value = String> {
    // One to four bytes, one and two UTF-16 units, a combining accent.
    let letters = select(vec![
        'a', 'b', 'B', '1', ' ', '\n', 'é', '日', '😀', '\u{301}',
    ]);
    prop::collection::vec(letters, 0..6).prop_map(String::from_iter)
}

fn text() -> impl Strategy<Value = Drawn> {
    prop_oneof![3 => plain_text(), 1 => matched_text(), 2 => formatted_text()]
}

fn plain_text() -> impl Strategy<Value = Drawn> {
    let rules = (prop::option::of(0..4_u64), prop::option::of(0..6_u64));
    (rules, words()).prop_map(|((min, max), text)| {
        let rules = [
            ("minLength", min.map(Value::from)),
            ("maxLength", max.map(Value::from)),
        ];
        (ruled("string", rules), text.into())
    })
}

fn matched_text() -> impl Strategy<Value = Drawn> {
    let pattern = prop_oneof![
        select(vec![
            "^a",
            "b$",
            "^[a-z]+$",
            r"\d",
            r"^\w*$",
            r"^\S+$",
            "^.{2,3}$",
            "",
            r"^(?:a|b|😀)*$"
        ])
        .prop_map(str::to_owned),
        "\\^?[a-cé]{0,2}(\\[ab\\][*+?])?\\$?",
    ];
    (pattern, words()).prop_map(|(pattern, text)| {
        (
            ruled("string", [("pattern", Some(pattern.into()))]),
            text.into(),
        )
    })
}

fn formatted_text() -> impl Strategy<Value = Drawn> {
    let day = || {
        (select(vec![1900, 2000, 2023, 2024]), 0..14_u8, 26..33_u8)
            .prop_map(|(year, month, day)| format!("{year}-{month:02}-{day:02}"))
    };
    let time = (
        22..25_u8,
        58..61_u8,
        58..62_u8,
        select(vec!["Z", "z", "+00:00", "-01:00", "", "+24:00"]),
    )
        .prop_map(|(h, m, s, offset)| format!("{h:02}:{m:02}:{s:02}{offset}"));
    let moment =
        (day(), select(vec!["T", "t", " "]), time).prop_map(|(day, t, time)| day + t + &time);
    prop_oneof![
        "[a.]{1,3}@?[b.-]{1,3}".prop_map(|text| ("email", text)),
        "(https?|1x|)(:)?(//)?[a-z.\\[%é ]{0,4}(:8)?(/[%a#?{]{0,3})?"
            .prop_map(|text| ("uri", text)),
        day().prop_map(|text| ("date", text)),
        moment.prop_map(|text| ("date-time", text)),
    ]
    .prop_map(|(format, text)| {
        (
            ruled("string", [("format", Some(format.into()))]),
            text.into(),
        )
    })
}

/// Numbers around zero, and around 2^53 where doubles begin to skip integers.
fn any_number() -> impl Strategy<Value = Value> {
    const FIRST_SKIPPED: i64 = (1 << 53) + 1;
    prop_oneof![
        4 => (-6..7_i64).prop_map(Value::from),
        2 => (-24..25_i32).prop_map(|quarters| json!(f64::from(quarters) / 4.0)),
        2 => (-30..31_i32).prop_map(|tenths| json!(f64::from(tenths) / 10.0)),
        1 => (FIRST_SKIPPED - 2..FIRST_SKIPPED + 3).prop_map(Value::from),
        1 => select(vec![json!(u64::MAX), json!(u64::MAX - 1), json!(i64::MIN), json!(1e300), json!(5e-324), json!(-0.0)]),
    ]
}

fn number() -> impl Strategy<Value = Drawn> {
    ranged("number", any_number().boxed())
}

fn integer() -> impl Strategy<Value = Drawn> {
    // Integers beyond 64 bits are refused on purpose: they would not be kept as typed.
    let kept = |value: &Value| value.as_f64().is_some_and(|value| value.abs() < 1e20);
    ranged(
        "integer",
        any_number().prop_filter("fits 64 bits", kept).boxed(),
    )
}

fn ranged(kind: &'static str, value: BoxedStrategy<Value>) -> impl Strategy<Value = Drawn> {
    let bound = || prop::option::weighted(0.3, any_number());
    let step = prop::option::weighted(
        0.3,
        select(vec![
            json!(1),
            json!(2),
            json!(3),
            json!(0.1),
            json!(0.25),
            json!(1.5),
            json!(2.0),
        ]),
    );
    (bound(), bound(), bound(), bound(), step, value).prop_map(
        move |(min, max, above, below, step, value)| {
            let rules = [
                ("minimum", min),
                ("maximum", max),
                ("exclusiveMinimum", above),
                ("exclusiveMaximum", below),
                ("multipleOf", step),
            ];
            (ruled(kind, rules), value)
        },
    )
}

fn switch() -> impl Strategy<Value = Drawn> {
    any::<bool>().prop_map(|value| (json!({"type": "boolean"}), value.into()))
}

/// Options in one of the shapes there are, without a type or with the one they have.
fn options() -> impl Strategy<Value = Value> {
    let texts = subsequence(vec![json!("a"), json!("b"), json!("é"), json!("")], 1..4);
    let numbers = subsequence(
        vec![
            json!(0),
            json!(1),
            json!(1.5),
            json!(9_007_199_254_740_993_u64),
        ],
        1..4,
    );
    let options = prop_oneof![3 => texts.prop_map(|some| ("string", some)), 1 => numbers.prop_map(|some| ("number", some))];
    let shape = select(vec!["enum", "enumNames", "oneOf", "anyOf", "const"]);
    (options, shape, any::<bool>()).prop_map(|((kind, options), shape, typed)| {
        let long = || -> Value {
            options
                .iter()
                .map(|value| json!({"const": value, "title": "One"}))
                .collect()
        };
        let mut schema = match shape {
            "enum" => json!({"enum": options}),
            "enumNames" => json!({"enum": options, "enumNames": vec!["One"; options.len()]}),
            "const" => json!({"const": options[0]}),
            _ => json!({shape: long()}),
        };
        if typed {
            schema["type"] = json!(kind);
        }
        schema
    })
}

fn option() -> impl Strategy<Value = Value> {
    select(vec![
        json!("a"),
        json!("b"),
        json!("é"),
        json!(""),
        json!(0),
        json!(1),
        json!(1.0),
        json!(9_007_199_254_740_993_u64),
    ])
}

fn choice() -> impl Strategy<Value = Drawn> {
    (options(), option())
}

fn choices() -> impl Strategy<Value = Drawn> {
    listed(options().boxed(), option().boxed())
}

fn tags() -> impl Strategy<Value = Drawn> {
    let items = prop_oneof![plain_text(), matched_text()].prop_map(|(schema, _)| schema);
    listed(items.boxed(), words().prop_map(Value::from).boxed())
}

fn listed(
    items: BoxedStrategy<Value>,
    entry: BoxedStrategy<Value>,
) -> impl Strategy<Value = Drawn> {
    let count = (
        prop::option::weighted(0.3, 0..3_u64),
        prop::option::weighted(0.3, 0..4_u64),
        prop::option::weighted(0.3, any::<bool>()),
    );
    let entry = prop_oneof![19 => entry, 1 => scalar()];
    (items, count, prop::collection::vec(entry, 0..4)).prop_map(
        |(items, (min, max, unique), entries)| {
            let rules = [
                ("items", Some(items)),
                ("minItems", min.map(Value::from)),
                ("maxItems", max.map(Value::from)),
                ("uniqueItems", unique.map(Value::from)),
            ];
            (ruled("array", rules), entries.into())
        },
    )
}

fn ruled<const N: usize>(kind: &str, rules: [(&str, Option<Value>); N]) -> Value {
    let rules = rules
        .into_iter()
        .filter_map(|(name, rule)| Some((name.to_owned(), rule?)));
    let mut schema = Map::from_iter(rules);
    schema.insert("type".into(), kind.into());
    Value::Object(schema)
}

/// JSON made of the words that schemas are made of, in no sensible order.
fn hostile() -> impl Strategy<Value = Value> {
    const WORDS: [&str; 36] = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "enumNames",
        "const",
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "$ref",
        "$defs",
        "definitions",
        "default",
        "title",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "multipleOf",
        "minItems",
        "uniqueItems",
        "prefixItems",
        "patternProperties",
        "unevaluatedProperties",
        "object",
        "string",
        "array",
        "null",
        "integer",
        "#/$defs/type",
        "#/$defs/$ref",
        "(a+)+\\1",
    ];
    let word = select(&WORDS[..]);
    let leaf = prop_oneof![
        4 => word.clone().prop_map(Value::from),
        2 => any_number(),
        2 => scalar(),
        1 => ".{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let members = prop::collection::vec((word.clone(), inner.clone()), 0..6);
        prop_oneof![
            5 => members.prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
            1 => prop::collection::vec(inner, 0..4).prop_map(Value::from),
        ]
    })
}

// What is done to content.

fn reversed(content: Value) -> Value {
    match content {
        Value::Object(members) => members
            .into_iter()
            .rev()
            .map(|(name, value)| (name, reversed(value)))
            .collect(),
        other => other,
    }
}

fn marked(content: Value, mark: &str) -> Value {
    match content {
        Value::String(text) => Value::String(text + mark),
        Value::Array(entries) => entries
            .into_iter()
            .map(|entry| marked(entry, mark))
            .collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, marked(value, mark)))
            .collect(),
        other => other,
    }
}

fn without_empty(content: Value) -> Value {
    let is_empty = |value: &Value| *value == "" || *value == json!([]) || *value == json!({});
    match content {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, without_empty(value)))
            .filter(|(_, value)| !is_empty(value))
            .collect(),
        other => other,
    }
}
