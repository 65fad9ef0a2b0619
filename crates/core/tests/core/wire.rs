//! Every message in `fixtures/wire/<revision>/` is read and, written again in
//! the same revision, comes out as it went in.

use std::{fs, path::Path};

use midcall_core::wire::*;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    /// The type that reads it.
    what: String,
    /// Why it is here, for people.
    #[serde(rename = "note")]
    _note: String,
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

/// `at_least` notices a folder that lost its files, or was not found.
fn round_trip(revision: Revision, at_least: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/wire")
        .join(revision.as_str());
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display();
        let text = fs::read_to_string(&path).unwrap();
        let fixture: Fixture =
            serde_json::from_str(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let written = rewrite(&fixture.what, fixture.json.clone(), revision)
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(Value::Object(written), fixture.json, "{name}");
        count += 1;
    }
    assert!(
        count >= at_least,
        "only {count} files in {}",
        folder.display()
    );
}

/// Reads a message by the name of its type and writes it again.
fn rewrite(
    what: &str,
    json: Value,
    to: Revision,
) -> Result<JsonObject, Box<dyn std::error::Error>> {
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
