//! What a peer might send to harm us: refused or answered, in how much time and memory.

mod bounds;
mod crowd;
mod ordinary;

use std::time::Instant;

use midcall_core::{Form, Limits, Values};
use serde_json::{Map, Value, json};

use crate::MEMORY;
use crate::side::median;

const ROUNDS: usize = 5;

/// Prints a line for each of them.
pub fn run() {
    bounds::run();
    crowd::run();
    schemas();
}

/// Prints `name: ours X (refused|answered), peak M` for forms that are made to be dear.
fn schemas() {
    let megabyte = format!(
        r#"{{"type":"object","properties":{{"a":{{"type":"string","title":"{}"}}}}}}"#,
        "x".repeat(1 << 20)
    );
    let fields: Vec<_> = (0..10_000)
        .map(|n| format!(r#""f{n}":{{"type":"string"}}"#))
        .collect();
    let fields = format!(
        r#"{{"type":"object","properties":{{{}}}}}"#,
        fields.join(",")
    );
    // Short enough to get past the limit on bytes.
    let nested = r#"{"properties":{"a":"#.repeat(10_000) + "{}" + &"}}".repeat(10_000);
    let many_a = format!(r#"{{"a":"{}!"}}"#, "a".repeat(10_000));

    // What one definition holds, two hundred fields have.
    let it = json!({"$ref": "#/$defs/it"});
    let options: Vec<_> = (0..2_000).map(|n| n.to_string()).collect();
    let options = json!({"type": "string", "enum": options});
    let options = multiplied(json!({"type": "array", "items": it}), options);
    let words = json!({"type": "string", "description": "x".repeat(240_000)});
    let words = multiplied(it.clone(), words);
    let rules = json!({"anyOf": vec![json!({"minLength": 5_000}); 2_400]});
    let ruled = json!({"type": "string", "not": it, "default": "x".repeat(1_000)});
    let rules = multiplied(ruled, rules);
    let long: Map<_, _> = (0..200)
        .map(|n| (format!("f{n}"), "x".repeat(5_000).into()))
        .collect();
    let long = Value::Object(long).to_string();

    let patterns: Map<_, _> = (0..200)
        .map(|n| {
            let pattern = format!("^([a-z]?[0-9]?){{400}}b{n}$");
            let text = json!({"type": "string", "pattern": pattern, "default": "a".repeat(900)});
            (format!("f{n}"), text)
        })
        .collect();
    let patterns = json!({"type": "object", "properties": patterns}).to_string();

    survive(
        "hostile, 2,000 options in each of 200 fields",
        &options,
        "{}",
    );
    survive(
        "hostile, 240 kB to read in each of 200 fields",
        &words,
        "{}",
    );
    survive(
        "hostile, a rule of 4,800 nodes in each of 200 fields",
        &rules,
        &long,
    );
    survive("hostile, 200 patterns", &patterns, "{}");
    survive("hostile, schema of 1 MB", &megabyte, "{}");
    survive("hostile, 10,000 fields", &fields, "{}");
    survive("hostile, nesting of 10,000", &nested, "{}");
    // No linear engine runs a back-reference; without it the pattern is run.
    for pattern in [r"^(a|a)*\1?$", "^(a|a)*$"] {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}});
        let name = format!("hostile, pattern {pattern} on 10,000 a and a !");
        survive(&name, &schema.to_string(), &many_a);
    }
}

/// A form of 200 fields that lead to one definition, and the definition.
fn multiplied(field: Value, it: Value) -> String {
    let fields: Map<_, _> = (0..200).map(|n| (format!("f{n}"), field.clone())).collect();
    json!({"type": "object", "$defs": {"it": it}, "properties": fields}).to_string()
}

fn survive(name: &str, schema: &str, content: &str) {
    let mut verdict = "";
    let mut peak = 0;
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            MEMORY.reset_peak_usage();
            let before = MEMORY.current_usage();
            let start = Instant::now();
            verdict = if is_answered(schema, content) {
                "answered"
            } else {
                "refused"
            };
            let taken = start.elapsed();
            peak = peak.max(MEMORY.peak_usage().saturating_sub(before));
            taken.as_secs_f64()
        })
        .collect();
    println!(
        "{name}: ours {} ({verdict}), peak {:.1} kB",
        median(&mut times),
        peak as f64 / 1e3
    );
}

fn is_answered(schema: &str, content: &str) -> bool {
    let limits = Limits::default();
    let (Ok(form), Ok(values)) = (Form::read(schema, &limits), Values::read(content, &limits))
    else {
        return false;
    };
    form.problems(&values);
    for (_, field) in form.walk() {
        field.default();
    }
    true
}
