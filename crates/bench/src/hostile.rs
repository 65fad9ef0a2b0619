//! What a server might send to harm us: refused or answered, in how much time and memory.

use std::time::Instant;

use midcall_core::{Form, Limits, Values};
use serde_json::json;

use crate::MEMORY;
use crate::side::median;

const ROUNDS: usize = 5;

/// Prints `name: ours X (refused|answered), peak M` for each of them.
pub fn run() {
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
    true
}
