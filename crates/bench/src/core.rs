//! `midcall-core`: forms and checks beside the `jsonschema` crate and AJV.

use jsonschema::{Draft, Validator};
use midcall_core::{Form, Limits, Values};
use serde_json::Value;

use crate::ajv::Ajv;
use crate::side::{Side, figure};

const FIVE_FIELDS: &str = r#"{"type":"object","properties":{
    "name":{"type":"string","title":"Name","minLength":1,"maxLength":80},
    "email":{"type":"string","format":"email"},
    "guests":{"type":"integer","minimum":1,"maximum":12},
    "table":{"type":"string","enum":["window","garden","bar"]},
    "newsletter":{"type":"boolean","default":false}
},"required":["name","email","guests"]}"#;
const FIVE_VALUES: &str = r#"{"name":"Ana Souza","email":"ana@example.org","guests":4,"table":"garden","newsletter":true}"#;

/// The same with a `pattern` in the place of the choice.
const WITH_PATTERN: &str = r#"{"type":"object","properties":{
    "name":{"type":"string","title":"Name","minLength":1,"maxLength":80},
    "email":{"type":"string","format":"email"},
    "guests":{"type":"integer","minimum":1,"maximum":12},
    "voucher":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{4}$"},
    "newsletter":{"type":"boolean","default":false}
},"required":["name","email","guests"]}"#;
const PATTERN_VALUES: &str = r#"{"name":"Ana Souza","email":"ana@example.org","guests":4,"voucher":"MC-2026","newsletter":true}"#;

/// Every figure of this area.
pub fn run() {
    let mut ajv = Ajv::start();
    one_shot(&mut ajv);
    let budget = "≤ 0.3 µs, aim: AJV";
    check(
        "check, 5 fields",
        budget,
        FIVE_FIELDS,
        FIVE_VALUES,
        &mut ajv,
    );
    check(
        "check, 5 fields, a pattern",
        budget,
        WITH_PATTERN,
        PATTERN_VALUES,
        &mut ajv,
    );
}

/// A question comes, is answered and forgotten: from texts to a verdict.
fn one_shot(ajv: &mut Ajv) {
    let limits = Limits::default();
    let ours = Side::here("ours", || {
        let form = Form::read(FIVE_FIELDS, &limits).expect("a form");
        let values = Values::read(FIVE_VALUES, &limits).expect("values");
        form.check(values).expect("values that fit")
    });
    let jsonschema = Side::here("jsonschema", || {
        let validator = validator(FIVE_FIELDS);
        let values: Value = serde_json::from_str(FIVE_VALUES).expect("values");
        validator.validate(&values).expect("values that fit");
    });
    let node = Side::new("AJV", |times| {
        ajv.run("oneShot", FIVE_FIELDS, FIVE_VALUES, times)
    });
    figure(
        "one-shot, 5 fields",
        "≤ 20 µs, ≥ 50 × AJV",
        ours,
        vec![jsonschema, node],
    );
}

/// The form is there already and one more set of values comes.
fn check(name: &str, budget: &str, schema: &str, content: &str, ajv: &mut Ajv) {
    let limits = Limits::default();
    let form = Form::read(schema, &limits).expect("a form");
    let values = Values::read(content, &limits).expect("values");
    let validator = validator(schema);
    let json: Value = serde_json::from_str(content).expect("values");

    assert!(form.problems(&values).is_empty());
    let ours = Side::here("ours", || form.problems(&values));
    let jsonschema = Side::here("jsonschema", || validator.is_valid(&json));
    let node = Side::new("AJV", |times| ajv.run("check", schema, content, times));
    figure(name, budget, ours, vec![jsonschema, node]);
}

fn validator(schema: &str) -> Validator {
    let schema = serde_json::from_str(schema).expect("a schema");
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .build(&schema)
        .expect("a schema")
}
