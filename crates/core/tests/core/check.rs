//! The validation table, which the browser's JavaScript runs too.
//!
//! `fixtures/check/*.json` says what is wrong with which content. Here each case is held
//! against the form, and against the `jsonschema` crate as an oracle: content is valid
//! there exactly when it has no problem here. Where the two differ on purpose, the table says
//! `"oracle": false` and why.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use midcall_core::catalog::Locale;
use midcall_core::{Form, Limits, Problem, Values};
use serde::Deserialize;
use serde_json::Value;

/// One file, read as strictly as a table deserves: a misspelled member would silence a case.
type File = Vec<Entry>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    schema: Value,
    cases: Vec<Case>,
    #[serde(default = "asked")]
    oracle: bool,
    why: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: Option<String>,
    content: Value,
    problems: Vec<Expected>,
    /// The fields that only the server can check.
    #[serde(default)]
    unchecked: Vec<String>,
    #[serde(default = "asked")]
    oracle: bool,
    why: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Expected {
    path: String,
    key: String,
}

fn asked() -> bool {
    true
}

#[test]
fn every_case_of_the_table_holds() {
    const FEWEST: usize = 350;

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/check");
    let mut names = HashSet::new();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let entries: File =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{stem}: {error}"));
        for entry in entries {
            let name = format!("{stem}: {}", entry.name);
            ran += entry.cases.len();
            wrong.extend(
                entry
                    .run()
                    .into_iter()
                    .map(|what| format!("{name}: {what}")),
            );
            assert!(names.insert(name.clone()), "{name}: stands there twice");
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    assert!(ran >= FEWEST, "only {ran} cases ran");
}

impl Entry {
    /// Runs the cases and tells what is wrong with them.
    fn run(&self) -> Vec<String> {
        let limits = Limits::default();
        let form = match Form::from_value(self.schema.clone(), &limits) {
            Ok(form) => form,
            Err(error) => return vec![error.to_string()],
        };
        let oracle = self.oracle.then(|| oracle(&self.schema));
        let keys: HashSet<&str> = Locale::keys().collect();
        let (mut names, mut contents) = (HashSet::new(), HashSet::new());
        let mut wrong = Vec::new();
        if self.oracle == self.why.is_some() {
            wrong.push("`oracle: false` and `why` go together".to_owned());
        }
        for case in &self.cases {
            let text = case.content.to_string();
            let name = case.name.as_ref().unwrap_or(&text);
            let mut tell = |what: String| wrong.push(format!("{name}: {what}"));
            if case.oracle == case.why.is_some() {
                tell("`oracle: false` and `why` go together".into());
            }
            if !names.insert(name.clone()) || !contents.insert(text.clone()) {
                tell("stands there twice".into());
            }
            for Expected { key, .. } in &case.problems {
                if !keys.contains(key.as_str()) {
                    tell(format!("{key} is not in the catalog"));
                }
            }
            let Value::Object(content) = case.content.clone() else {
                tell("content is an object".into());
                continue;
            };
            let (problems, unchecked) = match form.check(Values::from(content)) {
                Ok(checked) => (Vec::new(), checked.unchecked().to_vec()),
                Err(unfit) => (unfit.problems, Vec::new()),
            };
            let expected = |problem: Problem| Expected {
                key: problem.key().to_owned(),
                path: problem.path,
            };
            let found: Vec<Expected> = problems.into_iter().map(expected).collect();
            if found != case.problems {
                tell(format!("found {found:?}, expected {:?}", case.problems));
            }
            if unchecked != case.unchecked {
                let expected = &case.unchecked;
                tell(format!(
                    "unchecked are {unchecked:?}, expected {expected:?}"
                ));
            }
            if let Some(oracle) = oracle.as_ref().filter(|_| case.oracle) {
                let valid = oracle.is_valid(&case.content);
                if valid != case.problems.is_empty() {
                    tell(format!("the oracle says valid = {valid}"));
                }
            }
        }
        wrong
    }
}

/// A validator that knows nothing of forms.
pub fn oracle(schema: &Value) -> Validator {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .with_email_options(jsonschema::EmailOptions::default().without_display_text())
        .build(schema)
        .unwrap()
}
