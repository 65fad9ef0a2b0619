//! Every message in `fixtures/wire/<revision>/` is read and, written again in
//! the same revision, comes out as it went in. The same messages are then
//! damaged at random: they may be refused, but must neither break anything nor
//! be printed.

use std::{error::Error, fs, path::Path};

use midcall_core::wire::*;
use proptest::{prelude::*, sample::Index};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    /// The type that reads it.
    what: String,
    /// Why it is here, for people.
    note: String,
    json: Value,
}

#[test]
fn messages_of_2025_06_18_come_out_as_they_went_in() {
    round_trip(Revision::V2025_06_18, 13);
}

#[test]
fn messages_of_2025_11_25_come_out_as_they_went_in() {
    round_trip(Revision::V2025_11_25, 31);
}

#[test]
fn messages_of_2026_07_28_come_out_as_they_went_in() {
    round_trip(Revision::V2026_07_28, 41);
}

/// `at_least` notices when a folder lost its files.
fn round_trip(revision: Revision, at_least: usize) {
    let fixtures = fixtures(revision);
    assert!(fixtures.len() >= at_least, "only {}", fixtures.len());
    for Fixture { what, note, json } in fixtures {
        let written = rewrite(&what, json.clone(), revision)
            .unwrap_or_else(|why| panic!("{what}, {note}: {why}"));
        assert_eq!(Value::Object(written), json, "{what}, {note}");
    }
}

proptest! {
    #[test]
    fn what_is_once_understood_is_said_the_same_ever_after(
        (what, json) in damaged(),
        revision in prop::sample::select(&Revision::ALL),
    ) {
        if let Ok(once) = rewrite(&what, json, revision) {
            let twice = rewrite(&what, Value::Object(once.clone()), revision);
            prop_assert_eq!(once, twice.unwrap());
        }
    }

    #[test]
    fn what_a_person_typed_is_never_printed((_, json) in damaged()) {
        let printed = [
            format!("{:?}", ElicitResult::read(json.clone())),
            format!("{:?}", InputResponses::read(json.clone())),
            format!("{:?}", an_object(json).map(|params| Retry::read(&params))),
        ];
        prop_assert!(!printed.concat().contains(TYPED), "{:?}", printed);
    }
}

/// Stands for what a person typed.
const TYPED: &str = "s3cr3t";

/// Fixtures of which a few values, anywhere, were replaced by others.
fn damaged() -> impl Strategy<Value = (String, Value)> {
    let fixtures: Vec<_> = Revision::ALL[2..]
        .iter()
        .copied()
        .flat_map(fixtures)
        .collect();
    let path = prop::collection::vec(any::<Index>(), 1..5);
    let value = prop::sample::select(vec![
        json!(TYPED),
        json!({ "x": TYPED }),
        json!([TYPED]),
        json!({}),
        json!(null),
        json!(true),
        json!(0.5),
        json!("accept"),
        json!("url"),
        json!("input_required"),
    ]);
    let damages = prop::collection::vec((path, value), 0..4);
    (prop::sample::select(fixtures), damages).prop_map(|(fixture, damages)| {
        let mut json = fixture.json;
        for (path, value) in damages {
            replace(&mut json, &path, value);
        }
        (fixture.what, json)
    })
}

/// Replaces the value at a path, or where the path leaves the document.
fn replace(json: &mut Value, path: &[Index], value: Value) {
    match (json, path.split_first()) {
        (Value::Object(object), Some((index, path))) if !object.is_empty() => {
            let index = index.index(object.len());
            replace(object.values_mut().nth(index).unwrap(), path, value);
        }
        (Value::Array(array), Some((index, path))) if !array.is_empty() => {
            replace(index.get_mut(array), path, value);
        }
        (json, _) => *json = value,
    }
}

fn fixtures(revision: Revision) -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/wire")
        .join(revision.as_str());
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            serde_json::from_slice(&fs::read(&path).unwrap())
                .unwrap_or_else(|why| panic!("{}: {why}", path.display()))
        })
        .collect()
}

/// Reads a message by the name of its type and writes it again.
fn rewrite(what: &str, json: Value, to: Revision) -> Result<JsonObject, Box<dyn Error>> {
    Ok(match what {
        "ClientCapabilities" => {
            let mut capabilities = an_object(json)?;
            let modes = Modes::read(&capabilities);
            capabilities.remove("elicitation");
            modes.declare(&mut capabilities, to);
            capabilities
        }
        "CreateTaskResult" => CreateTaskResult::read(json)?.write(to)?,
        "ElicitRequestParams" => ElicitRequestParams::read(json)?.write(to)?,
        "ElicitResult" => ElicitResult::read(json)?.write(),
        "ElicitationCompleteParams" => ElicitationCompleteParams::read(json)?.write(to)?,
        "GetTaskResult" => Task::read(json)?.write_result(to)?,
        "InputRequiredResult" => InputRequiredResult::read(json)?.write(to)?,
        "InputResponses" => InputResponses::read(json)?.write(),
        "MissingClientCapability" => MissingClientCapability::read(json)?.write(to)?,
        "Retry" => {
            let mut params = an_object(json)?;
            let retry = Retry::read(&params)?;
            params.remove("inputResponses");
            params.remove("requestState");
            retry.write(params)
        }
        "TaskStatusNotification" => Task::read(json)?.write(to)?,
        "UnsupportedVersion" => UnsupportedVersion::read(json)?.write(),
        "UpdateTaskParams" => UpdateTaskParams::read(json)?.write(to)?,
        "UrlElicitationRequired" => UrlElicitationRequired::read(json)?.write(to)?,
        _ => return Err(format!("no type is called {what}").into()),
    })
}

fn an_object(json: Value) -> Result<JsonObject, serde_json::Error> {
    serde_json::from_value(json)
}
