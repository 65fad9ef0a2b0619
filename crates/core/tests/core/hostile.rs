//! What strangers may send to wear us out, and where it ends.
//!
//! Nothing is timed: each story ends in an error, in a bound on what came out, or in a verdict
//! that a slower way would never reach while a test waits.

use midcall_core::{Fault, Form, FormError, Kind, Limits, Problem, Values};
use serde_json::{Map, Value, json};

fn read(schema: Value) -> Result<Form, FormError> {
    Form::from_value(schema, &Limits::default())
}

fn problems(form: &Form, content: Value) -> Vec<Problem> {
    let Value::Object(content) = content else {
        panic!("content is an object");
    };
    form.problems(&Values::from(content))
}

/// A form of so many required integers.
fn integers(count: usize) -> Value {
    let names = || (0..count).map(|n| format!("f{n}"));
    let properties: Map<_, _> = names()
        .map(|name| (name, json!({"type": "integer"})))
        .collect();
    json!({"type": "object", "properties": properties, "required": names().collect::<Vec<_>>()})
}

/// As many problems as are ever told, and a few for the place where counting stops.
const MANY: usize = 110;

#[test]
fn a_megabyte_of_schema_is_not_parsed() {
    let limits = Limits::default();
    let schema = "{".repeat(1_000_000);
    let refused = FormError::TooLong {
        limit: limits.schema_bytes,
    };
    assert_eq!(Form::read(&schema, &limits), Err(refused));
}

#[test]
fn ten_thousand_fields_are_refused_unless_they_are_wanted() {
    let mut limits = Limits::default();
    limits.schema_bytes = 10_000_000;
    let refused = FormError::TooManyFields {
        limit: limits.fields,
    };
    let fields = Form::from_value(integers(10_000), &limits);
    assert_eq!(fields, Err(refused.clone()));
    let names: Vec<_> = (0..10_000).map(|n| n.to_string()).collect();
    assert_eq!(read(json!({"required": names})), Err(refused));

    limits.fields = 10_000;
    let form = Form::from_value(integers(10_000), &limits).unwrap();
    let content = |value: Value| -> Value {
        let named = (0..10_000).rev().map(|n| (format!("f{n}"), value.clone()));
        named.collect()
    };
    assert_eq!(problems(&form, content(json!(1))), []);
    assert!(problems(&form, content(json!("1"))).len() <= MANY);
}

#[test]
fn nesting_without_end_is_refused_before_it_is_followed() {
    let limits = Limits::default();
    let deep = r#"{"properties":{"a":"#.repeat(10_000) + "{}" + &"}}".repeat(10_000);
    assert!(matches!(
        Form::read(&deep, &limits),
        Err(FormError::NotJson(_))
    ));
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(Values::read(&deep, &limits).is_err());
}

#[test]
fn groups_end_where_the_limit_says() {
    let mut schema = json!({"type": "boolean"});
    for _ in 0..50 {
        schema = json!({"type": "object", "properties": {"a": schema}});
    }
    let limits = Limits::default();
    let form = read(schema).unwrap();
    assert_eq!(form.walk().len(), limits.nesting + 1);
    let (path, deepest) = form.walk().pop().unwrap();
    assert_eq!(path, "/a".repeat(limits.nesting + 1));
    assert!(matches!(deepest.kind, Kind::Json(_)));
}

/// A backtracking engine needs 2^100000 steps for some of these.
#[test]
fn patterns_run_in_linear_time_or_not_at_all() {
    let a = "a".repeat(19_999);
    for (pattern, enforced, text, fits) in [
        ("(a+)+$", true, format!("{a}b"), false),
        ("^(a+)+$", true, a.clone(), true),
        ("^(a|a)*$", true, format!("{a}b"), false),
        ("^(a|aa)+$", true, format!("{a}b"), false),
        ("^(.*)*x$", true, a.clone(), false),
        (r"^(a|a)*\1?$", false, format!("{a}b"), true),
        ("^(?=(a+)+$)b", false, a.clone(), true),
        ("(((a{30}){30}){30})", false, a.clone(), true),
        ("a{1000000000}", false, a.clone(), true),
        (&"(".repeat(1_000), false, a.clone(), true),
    ] {
        let it = json!({"type": "string", "pattern": pattern});
        let form = read(json!({"type": "object", "properties": {"it": it}})).unwrap();
        assert_eq!(form.unenforced().is_empty(), enforced, "{pattern}");
        let found = problems(&form, json!({"it": text}));
        assert_eq!(found.is_empty(), fits, "{pattern}");
    }
}

#[test]
fn long_lists_are_answered_with_a_few_problems() {
    let entries = |entry: &str| format!("[{}{entry}]", format!("{entry},").repeat(199_999));
    for (items, entry) in [
        (json!({"type": "string"}), "1"),
        (json!({"type": "string", "minLength": 2}), r#""""#),
        (json!({"type": "string", "enum": ["a"]}), "{}"),
        (json!({"type": "integer"}), r#""""#),
    ] {
        let list = json!({"type": "array", "items": items, "maxItems": 3, "uniqueItems": true});
        let form = read(json!({"type": "object", "properties": {"it": list}})).unwrap();
        let content = format!("{{\"it\":{}}}", entries(entry));
        let values = Values::read(&content, &Limits::default()).unwrap();
        let found = form.problems(&values);
        assert!(
            (1..=MANY).contains(&found.len()),
            "{entry}: {}",
            found.len()
        );
    }
}

/// Comparing each with each would take 2 * 10^10 comparisons.
#[test]
fn a_duplicate_is_found_among_many() {
    let list = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true});
    let form = read(json!({"type": "object", "properties": {"it": list}})).unwrap();
    let mut entries: Vec<_> = (0..200_000).map(|n| n.to_string()).collect();
    assert_eq!(problems(&form, json!({"it": entries})), []);
    entries.push("0".into());
    let found = problems(&form, json!({"it": entries}));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].fault, Fault::Duplicate);
}

#[test]
fn unknown_names_without_end_are_answered_with_a_few_problems() {
    let form = read(json!({"type": "object", "additionalProperties": false})).unwrap();
    let content: Value = (0..50_000).map(|n| (n.to_string(), json!(n))).collect();
    assert!(problems(&form, content).len() <= MANY);
}

/// Each definition holds two groups of the next: 2^20 fields, written in a page.
#[test]
fn definitions_that_double_end_at_the_limit_of_fields() {
    let definitions: Map<_, _> = (0..20)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            let group = json!({"type": "object", "properties": {"a": next, "b": next}});
            (format!("d{n}"), group)
        })
        .collect();
    let schema = json!({"type": "object", "$defs": definitions,
        "properties": {"it": {"$ref": "#/$defs/d0"}}});
    let mut limits = Limits::default();
    let form = Form::from_value(schema.clone(), &limits).unwrap();
    assert_eq!(form.walk().len(), 31, "2^5 - 1: what lies deeper is JSON");

    limits.nesting = 20;
    let refused = FormError::TooManyFields {
        limit: limits.fields,
    };
    assert_eq!(Form::from_value(schema, &limits), Err(refused));
}

#[test]
fn definitions_that_hold_themselves_end() {
    let schema = |node: Value| json!({"type": "object", "$defs": {"Node": node}, "properties": {"it": {"$ref": "#/$defs/Node"}}});
    let again = json!({"$ref": "#/$defs/Node"});
    for (node, fields) in [
        (again.clone(), 1),
        (json!({"type": "object", "properties": {"next": again}}), 5),
        (json!({"type": "array", "items": again}), 1),
        (json!({"anyOf": [again, {"type": "null"}]}), 1),
        (json!({"type": "string", "allOf": [again]}), 1),
    ] {
        let form = read(schema(node.clone())).unwrap();
        assert_eq!(form.walk().len(), fields, "{node}");
        assert!(!form.unenforced().is_empty(), "{node}");
        assert!(form.repairs.len() <= 20, "{node}");
        problems(
            &form,
            json!({"it": {"next": {"next": {"next": [[], null]}}}}),
        );
    }
    // Ten of itself in each: 10^5 fields within the nesting that is allowed.
    let many: Map<_, _> = (0..10).map(|n| (n.to_string(), again.clone())).collect();
    let wide = schema(json!({"type": "object", "properties": many}));
    assert!(matches!(read(wide), Err(FormError::TooManyFields { .. })));
}

/// A rule of 2^40 branches is not followed; the form is asked all the same.
#[test]
fn rules_that_fan_out_are_not_enforced() {
    let definitions: Map<_, _> = (0..40)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"anyOf": [next, next]}))
        })
        .collect();
    let it = json!({"type": "string", "allOf": [{"$ref": "#/$defs/d0"}]});
    let form =
        read(json!({"type": "object", "$defs": definitions, "properties": {"it": it}})).unwrap();
    assert_eq!(form.unenforced(), ["/it"]);
    assert_eq!(problems(&form, json!({"it": "a"})), []);
    assert_eq!(problems(&form, json!({"it": 1}))[0].fault, Fault::NotText);
}

#[test]
fn rules_that_lead_far_down_are_not_enforced() {
    let definitions: Map<_, _> = (0..5_000)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/{}", n + 1)});
            (n.to_string(), json!({"items": next}))
        })
        .collect();
    let it = json!({"type": "array", "items": {"type": "array", "$ref": "#/$defs/0"}});
    let schema = json!({"type": "object", "$defs": definitions, "properties": {"it": it}});
    let form = Form::read(&schema.to_string(), &Limits::default()).unwrap();
    assert_eq!(form.unenforced(), ["/it"]);
}

#[test]
fn missing_fields_are_answered_with_a_few_problems() {
    let mut limits = Limits::default();
    (limits.fields, limits.schema_bytes) = (10_000, 10_000_000);
    let form = Form::from_value(integers(10_000), &limits).unwrap();
    assert!(problems(&form, json!({})).len() <= MANY);
}

/// Names are not keywords, and one pointer has one reading: otherwise the count of what a rule
/// costs could be led past the rule itself.
#[test]
fn the_cost_of_rules_cannot_be_hidden() {
    let mut definitions = Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        definitions.insert(format!("d{n}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d40".into(), json!({"type": "string"}));
    definitions.insert("a%41".into(), json!({}));
    definitions.insert("aA".into(), json!({"$ref": "#/$defs/d0"}));
    let bomb = json!({"$ref": "#/$defs/d0"});
    for inner in [
        json!({"type": "object", "properties": {"definitions": bomb}}),
        json!({"type": "object", "properties": {"$defs": bomb}}),
        json!({"type": "object", "properties": {"pattern": bomb}}),
        json!({"type": "object", "properties": {"enum": bomb}}),
        json!({"type": "array", "items": {"$ref": "#/$defs/a%41"}}),
    ] {
        let it = json!({"type": "array", "items": inner});
        let schema = json!({"type": "object", "$defs": definitions, "properties": {"it": it}});
        let form = read(schema).unwrap();
        assert_eq!(form.unenforced(), ["/it"], "{inner}");
    }
}

#[test]
fn long_names_and_many_slips_are_bounded() {
    let long = "g".repeat(1_000);
    let schema = json!({"type": "object", "properties": {long: {"type": "string"}}});
    let refused = read(schema).unwrap_err().to_string();
    assert_eq!(
        refused,
        "at `/properties`: a field's name is longer than 256 bytes"
    );
    let twice = json!({"type": "string", "enum": vec!["a"; 2_000]});
    let form = read(json!({"type": "object", "properties": {"it": twice}})).unwrap();
    assert!(form.repairs.len() <= MANY);
}

#[test]
fn large_values_are_not_held_against_dear_rules_for_ever() {
    let wide = json!({"allOf": vec![json!({"minimum": 0}); 4_000]});
    let it = json!({"type": "array", "items": {"type": "integer", "allOf": [wide]}});
    let form = read(json!({"type": "object", "properties": {"it": it}})).unwrap();
    assert_eq!(problems(&form, json!({"it": vec![1; 200_000]})), []);
    assert_eq!(problems(&form, json!({"it": [-1]})).len(), 1);

    let pattern = "([a-z]|[0-9]|[01a-f]|.)*[01]{1000}z";
    let it = json!({"type": "array", "items": {"type": "string", "pattern": pattern}});
    let form = read(json!({"type": "object", "properties": {"it": it}})).unwrap();
    let texts = vec!["01".repeat(9_999) + "z"; 50];
    assert!(problems(&form, json!({"it": texts})).len() <= MANY);
}

/// A form of 200 fields that all lead to one definition, and the definition.
fn shared(field: Value, it: Value) -> Value {
    let fields: Map<_, _> = (0..200).map(|n| (format!("f{n}"), field.clone())).collect();
    json!({"type": "object", "$defs": {"it": it}, "properties": fields})
}

#[test]
fn what_definitions_multiply_is_counted_in_all() {
    let limits = Limits::default();
    let it = json!({"$ref": "#/$defs/it"});
    let options: Vec<_> = (0..2_000).map(|n| n.to_string()).collect();
    let options = json!({"type": "string", "enum": options});
    let refused = FormError::TooManyOptionsInAll {
        limit: limits.options_in_all,
    };
    let lists = shared(json!({"type": "array", "items": it}), options.clone());
    assert_eq!(read(lists), Err(refused.clone()));
    assert_eq!(read(shared(it.clone(), options)), Err(refused.clone()));
    assert_eq!(
        refused.to_string(),
        "the form has more than 10000 options in all, counted for each field that has them"
    );

    let long = "x".repeat(240_000);
    let refused = FormError::TooManyWords {
        limit: limits.words_bytes,
    };
    for words in [
        json!({"type": "string", "title": long}),
        json!({"type": "string", "description": long}),
        json!({"type": "string", "enum": [long]}),
        json!({"type": "string", "oneOf": [{"const": "a", "title": long}]}),
        json!({"type": "string", "enum": ["a"], "enumNames": [long]}),
    ] {
        assert_eq!(read(shared(it.clone(), words)), Err(refused.clone()));
    }

    let refused = FormError::TooMuchInlined {
        limit: limits.inlined_bytes,
    };
    for rest in [
        json!({"type": "string", "default": long}),
        json!({"type": "string", "pattern": long}),
        json!({"type": "string", "x-rest": long}),
        json!({"type": "string", "not": {"const": long}}),
    ] {
        assert_eq!(read(shared(it.clone(), rest)), Err(refused.clone()));
    }
}

/// Comparing each with each would take 2 * 10^10 comparisons.
#[test]
fn options_are_compared_without_comparing_each_with_each() {
    let mut limits = Limits::default();
    (limits.options, limits.options_in_all) = (300_000, 300_000);
    (limits.schema_bytes, limits.words_bytes) = (10_000_000, 10_000_000);
    let mut options: Vec<_> = (0..200_000).map(|n| json!(n)).collect();
    options.extend([json!(7.0), json!(7.5), json!("7"), json!(7.5)]);
    let list = json!({"type": "array", "items": {"enum": options}});
    let schema = json!({"type": "object", "properties": {"it": list}});
    let form = Form::from_value(schema, &limits).unwrap();
    let Kind::Choices(choices) = &form.fields.get("it").unwrap().kind else {
        panic!()
    };
    assert_eq!(choices.offers.list.len(), 200_002);

    let mut chosen: Vec<_> = (0..200_000).map(|n| json!(f64::from(n))).collect();
    assert_eq!(problems(&form, json!({"it": chosen})), []);
    chosen.push(json!(-1));
    let found = problems(&form, json!({"it": chosen}));
    assert_eq!(found[0].fault, Fault::NotAnOption);
}

#[test]
fn rules_are_enforced_up_to_a_number_in_all() {
    let wide = json!({"anyOf": vec![json!({"minLength": 5_000}); 2_400]});
    let rule =
        json!({"type": "string", "not": {"$ref": "#/$defs/it"}, "default": "x".repeat(1_000)});
    let form = read(shared(rule, wide)).unwrap();
    let unenforced = form.unenforced();
    assert!((190..200).contains(&unenforced.len()), "{unenforced:?}");
    assert!(!unenforced.contains(&"/f0".to_owned()));

    let long = json!("x".repeat(5_000));
    let content = |value: &Value| -> Value {
        let named = (0..200).map(|n| (format!("f{n}"), value.clone()));
        named.collect()
    };
    let found = problems(&form, content(&long));
    assert_eq!(found.len(), 200 - unenforced.len(), "what is enforced");
    assert_eq!(problems(&form, content(&json!("x"))), []);
    let defaults = form
        .walk()
        .iter()
        .filter(|(_, f)| f.default().is_some())
        .count();
    assert_eq!(defaults, 200);
}

/// Compiling 200 of these takes 50 MB, and holding their defaults against them a second.
#[test]
fn patterns_are_enforced_up_to_a_number_in_all() {
    let form = |pattern: &dyn Fn(usize) -> String, default: &str| {
        let field = |n| json!({"type": "string", "pattern": pattern(n), "default": default});
        let fields: Map<_, _> = (0..200).map(|n| (format!("f{n}"), field(n))).collect();
        read(json!({"type": "object", "properties": fields})).unwrap()
    };
    let different = form(&|n| format!("^([a-z]?[0-9]?){{400}}b{n}$"), "a");
    let unenforced = different.unenforced();
    assert_eq!(unenforced.len(), 150);
    assert!(!unenforced.contains(&"/f49".to_owned()), "the first ones");
    let with_default = |form: &Form| {
        let fields = form.walk();
        let usable = fields.iter().filter(|(_, f)| f.default().is_some());
        usable.count()
    };
    assert_eq!(with_default(&different), 150);

    let same = form(&|_| "^x$".to_owned(), "a");
    assert_eq!(
        same.unenforced(),
        [""; 0],
        "one that is repeated counts once"
    );
    assert_eq!(with_default(&same), 0);
    let long = form(&|_| "^x$".to_owned(), &"a".repeat(1_001));
    assert_eq!(with_default(&long), 200, "looked at when it is sent");
}

#[test]
fn names_that_are_only_required_repeat_no_large_schema() {
    let names: Vec<_> = (0..199).map(|n| n.to_string()).collect();
    let large = json!({"default": vec![0; 100_000]});
    let schema = json!({"type": "object", "required": names, "additionalProperties": large});
    let limit = Limits::default().inlined_bytes;
    assert_eq!(read(schema), Err(FormError::TooMuchInlined { limit }));
}

/// 2,000 times 100 kB would have to be looked up.
#[test]
fn a_long_ref_leads_nowhere() {
    for (length, is_enforced) in [(900, true), (100_000, false)] {
        let name = "n".repeat(length);
        let far = json!({"$ref": format!("#/$defs/{name}")});
        let rule =
            json!({"type": "array", "not": {"allOf": vec![json!({"$ref": "#/$defs/far"}); 2_000]}});
        let form = read(json!({"type": "object", "properties": {"it": rule},
            "$defs": {"far": far, name: {"minItems": 1}}}))
        .unwrap();
        assert_eq!(form.unenforced().is_empty(), is_enforced, "{length}");
    }
}

/// Comparing each name with each field would take 10^7 comparisons, in a form that a server may send every moment.
#[test]
fn names_that_are_required_again_and_again_are_required_once() {
    let mut schema = integers(199);
    let names = schema["required"].as_array_mut().unwrap();
    names.extend(vec![json!("x"); 60_000]);
    let form = read(schema).unwrap();
    let required = form.fields.iter().filter(|field| field.required);
    assert_eq!(required.count(), 200);
    assert_eq!(form.fields.iter().last().unwrap().name, "x");
}

#[test]
fn all_rules_of_a_form_share_the_effort_of_a_check() {
    let wide = json!({"allOf": vec![json!({"minimum": 0}); 400]});
    let list = json!({"type": "array", "items": {"type": "integer", "allOf": [wide]}});
    let fields: Map<_, _> = (0..10).map(|n| (format!("f{n}"), list.clone())).collect();
    let form = read(json!({"type": "object", "properties": fields})).unwrap();
    assert_eq!(form.unenforced(), [""; 0]);
    let numbers = |wrong: usize| -> Value {
        let named = (0..10).map(|n| {
            let entry = if n == wrong { -1 } else { 1 };
            (format!("f{n}"), json!(vec![entry; 1_000]))
        });
        named.collect()
    };
    assert_eq!(problems(&form, numbers(0)).len(), 1);
    assert_eq!(problems(&form, numbers(9)), [], "by then it is spent");
    assert_eq!(problems(&form, json!({"f9": [-1]})).len(), 1);
}

#[test]
fn what_is_beyond_the_bounds_of_patterns_is_named() {
    let unchecked = |properties: &Value, content: &Value| {
        let form = read(json!({"type": "object", "properties": properties})).unwrap();
        let values = Values::read(&content.to_string(), &Limits::default()).unwrap();
        form.check(values).unwrap().unchecked().to_vec()
    };
    let text =
        json!({"a": {"type": "string", "pattern": "^é"}, "b": {"type": "string", "pattern": "^b"}});
    let bytes = |count: usize| "é".repeat(count / 2);
    for (content, expected) in [
        (json!({"a": bytes(40_000)}), vec![]),
        (json!({"a": bytes(40_002)}), vec!["/a"]),
        (json!({"a": bytes(40_000), "b": "b"}), vec!["/b"]),
    ] {
        assert_eq!(unchecked(&text, &content), expected);
    }
    // A form has fifty patterns at most, and of those that can't be run fifty are named.
    for (pattern, fields, first, named) in [("^a", 60, "/f050", 10), ("(?=a)", 120, "/f000", 50)] {
        let field = |n: usize| json!({"type": "string", "pattern": format!("{pattern}|{n}")});
        let names = || (0..fields).map(|n| format!("f{n:03}"));
        let properties: Map<_, _> = names().zip((0..fields).map(field)).collect();
        let content: Map<_, _> = names().map(|name| (name, json!("a"))).collect();
        let found = unchecked(&json!(properties), &json!(content));
        assert_eq!(
            (found[0].as_str(), found.len()),
            (first, named),
            "{pattern}"
        );
        assert!(found.is_sorted());
    }
}
