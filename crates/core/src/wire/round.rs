//! A round of 2026-07-28: the server answers a call with what it needs, the
//! client repeats the call with what it found.

use std::fmt;

use serde_json::Value;

use super::{
    Era, Input, InputRequests, InputResponses, JsonObject, Members, Revision, Unreadable,
    Unsayable,
    fault::only,
    members::{object, put, put_rest, put_some, take, take_meta, take_text},
    meta,
};

/// A result that says: answer these first, then call again.
///
/// ```
/// use midcall_core::wire::{InputRequiredResult, Retry};
/// # use serde_json::json;
///
/// let result = json!({"resultType": "input_required", "requestState": "opaque"});
/// let round = InputRequiredResult::read(result)?;
///
/// let retry = Retry { input_responses: None, request_state: round.request_state };
/// let first = json!({"name": "book_table"}).as_object().unwrap().clone();
/// assert_eq!(
///     json!(retry.write(first)),
///     json!({"name": "book_table", "requestState": "opaque"}),
/// );
/// # Ok::<(), midcall_core::wire::Unreadable>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequiredResult {
    /// What to answer. Empty when the server only wants to be called again.
    pub input_requests: InputRequests,
    /// What to bring back unchanged.
    pub request_state: Option<RequestState>,
    /// The server's `_meta`.
    pub meta: Option<Members>,
    /// Members we do not know.
    pub rest: Members,
}

/// A server's memory between rounds, kept by the client. Opaque to all others,
/// and not printed: it may hold what a person answered before.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestState(pub String);

impl InputRequiredResult {
    /// The `resultType` of such a result.
    pub const RESULT_TYPE: &str = "input_required";

    /// Whether a result is such a one.
    pub fn is(result: &JsonObject) -> bool {
        result.get("resultType").and_then(Value::as_str) == Some(Self::RESULT_TYPE)
    }

    /// Reads a result.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        let mut result = object(json, "result")?;
        if !Self::is(&result) {
            return Err(Unreadable::Unfit {
                member: "resultType",
                expected: "\"input_required\"",
            });
        }
        take(&mut result, "resultType");
        let input_requests = take(&mut result, "inputRequests");
        let request_state = take_text(&mut result, "requestState")?.map(RequestState);
        if input_requests.is_none() && request_state.is_none() {
            return Err(Unreadable::NothingAsked);
        }
        let mut input_requests = match input_requests {
            Some(requests) => InputRequests::read(requests)?,
            None => InputRequests::default(),
        };
        let mut meta = take_meta(&mut result);
        for (key, request) in &mut input_requests.0 {
            if let Input::Elicit(params) = &mut request.input {
                meta::lower(key, &mut meta, &mut params.meta);
            }
        }
        Ok(InputRequiredResult {
            input_requests,
            request_state,
            meta,
            rest: Members(result),
        })
    }

    /// Writes the result.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        let modern = revision.era() == Era::Modern;
        only(modern, "`input_required` result", revision)?;
        let (mut input_requests, mut meta) = (self.input_requests.clone(), self.meta.clone());
        for (key, request) in &mut input_requests.0 {
            if let Input::Elicit(params) = &mut request.input {
                meta::lift(key, &mut params.meta, &mut meta);
            }
        }
        let mut result = JsonObject::new();
        put(&mut result, "resultType", Self::RESULT_TYPE);
        // At least one of the two must be there, be it an empty one.
        if !self.input_requests.0.is_empty() || self.request_state.is_none() {
            put(
                &mut result,
                "inputRequests",
                input_requests.write(revision)?,
            );
        }
        put_some(&mut result, "requestState", &self.request_state);
        put_some(&mut result, "_meta", &meta);
        put_rest(&mut result, &self.rest);
        Ok(result)
    }

    /// How long the server wants its questions to wait, if it says.
    pub fn timeout_ms(&self) -> Option<u64> {
        meta::timeout_ms(self.meta.as_ref())
    }
}

/// What a client adds to the params of a call that it repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retry {
    /// Its answers, if it was asked anything.
    pub input_responses: Option<InputResponses>,
    /// The exact state it was given, if it was given one.
    pub request_state: Option<RequestState>,
}

impl Retry {
    /// Reads them out of the params of a call. A first call has neither.
    pub fn read(params: &JsonObject) -> Result<Self, Unreadable> {
        let present = |member| params.get(member).filter(|value| !value.is_null());
        Ok(Retry {
            input_responses: present("inputResponses")
                .map(|json| InputResponses::read(json.clone()))
                .transpose()?,
            request_state: match present("requestState") {
                None => None,
                Some(Value::String(state)) => Some(RequestState(state.clone())),
                Some(_) => {
                    return Err(Unreadable::Unfit {
                        member: "requestState",
                        expected: "a string",
                    });
                }
            },
        })
    }

    /// Makes the params of the repeated call from those of the one before.
    ///
    /// All other members stay as and where they are. What an earlier round
    /// left there goes: a state is sent only if the last result gave one.
    pub fn write(&self, mut params: JsonObject) -> JsonObject {
        let responses = self.input_responses.as_ref().map(|it| it.0.clone());
        replace(&mut params, "inputResponses", responses.map(Value::from));
        let state = self.request_state.clone();
        replace(&mut params, "requestState", state.map(Value::from));
        params
    }
}

impl From<RequestState> for Value {
    fn from(state: RequestState) -> Self {
        Value::String(state.0)
    }
}

impl fmt::Debug for RequestState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestState({} bytes)", self.0.len())
    }
}

/// Sets a member in its place, or takes it away.
fn replace(params: &mut JsonObject, member: &str, value: Option<Value>) {
    match value {
        Some(value) => put(params, member, value),
        None => drop(params.shift_remove(member)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(json: Value) -> JsonObject {
        object(json, "params").unwrap()
    }

    fn retry(responses: Option<Value>, state: Option<&str>) -> Retry {
        Retry {
            input_responses: responses.map(|json| InputResponses::read(json).unwrap()),
            request_state: state.map(|state| RequestState(state.to_owned())),
        }
    }

    #[test]
    fn a_round_must_want_something() {
        for (json, expected) in [
            (
                json!({"resultType": "input_required"}),
                "an `input_required` result must have `inputRequests` or `requestState`",
            ),
            (
                json!({"resultType": "input_required", "inputRequests": null, "_meta": {}}),
                "an `input_required` result must have `inputRequests` or `requestState`",
            ),
            (
                json!({"resultType": "complete", "requestState": "s"}),
                "`resultType` must be \"input_required\"",
            ),
            (
                json!({"resultType": "input_required", "requestState": {}}),
                "`requestState` must be a string",
            ),
        ] {
            let unreadable = InputRequiredResult::read(json).unwrap_err();
            assert_eq!(unreadable.to_string(), expected);
        }
    }

    #[test]
    fn an_empty_round_stays_a_valid_one() {
        let json = json!({"resultType": "input_required", "inputRequests": {}, "x": 1});
        let round = InputRequiredResult::read(json.clone()).unwrap();
        let written = round.write(Revision::V2026_07_28).unwrap();
        assert_eq!(Value::Object(written), json);
        assert_eq!(
            round.write(Revision::V2025_11_25).unwrap_err().to_string(),
            "MCP 2025-11-25 has no `input_required` result"
        );
    }

    #[test]
    fn a_round_may_say_how_long_it_waits() {
        let round = InputRequiredResult::read(json!({
            "resultType": "input_required", "requestState": "s", "_meta": {meta::TIMEOUT: 60000},
        }));
        assert_eq!(round.unwrap().timeout_ms(), Some(60000));
    }

    #[test]
    fn what_is_said_of_a_question_stands_beside_the_round_and_comes_back() {
        let question = |meta: Value| {
            json!({"method": "elicitation/create", "params":
                {"mode": "form", "message": "Why?", "requestedSchema": {"type": "object"}, "_meta": meta}})
        };
        let hints = json!({"/story": {"multiline": true}});
        let inside = json!({meta::HINTS: hints, meta::DESTRUCTIVE: true, "x": 1});
        let only_ours = json!({meta::HINTS: hints});
        let round = InputRequiredResult::read(json!({
            "resultType": "input_required", "requestState": "s", "_meta": {meta::TIMEOUT: 60000},
            "inputRequests": {"a": question(inside.clone()), "b": question(only_ours.clone())},
        }))
        .unwrap();
        let written = json!(round.write(Revision::V2026_07_28).unwrap());
        let params = |key: &str| &written["inputRequests"][key]["params"];
        assert_eq!(params("a")["_meta"], json!({"x": 1}), "not ours to move");
        assert_eq!(params("b").get("_meta"), None);
        assert_eq!(
            written["_meta"],
            json!({meta::TIMEOUT: 60000, meta::DESTRUCTIVE: {"a": true}, meta::HINTS: {"a": hints, "b": hints}})
        );
        // Read again, it is the same: members have no order.
        assert_eq!(InputRequiredResult::read(written).unwrap(), round);

        // What is no map by keys is left where it is.
        let odd = json!({"resultType": "input_required", "inputRequests": {"a": question(json!({}))},
            "_meta": {meta::DESTRUCTIVE: true, meta::HINTS: [1]}});
        let read = InputRequiredResult::read(odd.clone()).unwrap();
        let written = json!(read.write(Revision::V2026_07_28).unwrap());
        assert_eq!(written["_meta"], odd["_meta"]);
    }

    #[test]
    fn a_retry_changes_two_members_and_no_others() {
        let answers = json!({"k": {"action": "cancel"}});
        for (before, retry, after) in [
            (
                json!({"name": "t", "arguments": {"b": 1, "a": 2}, "_meta": {}}),
                retry(Some(answers.clone()), Some("s1")),
                json!({"name": "t", "arguments": {"b": 1, "a": 2}, "_meta": {},
                       "inputResponses": answers, "requestState": "s1"}),
            ),
            // The next round replaces what the last one said, in its place, ...
            (
                json!({"requestState": "s1", "name": "t", "inputResponses": {"old": {}}}),
                retry(Some(answers.clone()), Some("s2")),
                json!({"requestState": "s2", "name": "t", "inputResponses": answers}),
            ),
            // ... and what it did not give is not repeated.
            (
                json!({"requestState": "s1", "name": "t", "inputResponses": {}, "z": 1}),
                retry(None, None),
                json!({"name": "t", "z": 1}),
            ),
        ] {
            let written = Value::Object(retry.write(params(before)));
            // As text, so that order counts.
            assert_eq!(written.to_string(), after.to_string());
            let Value::Object(written) = written else {
                unreachable!()
            };
            assert_eq!(Retry::read(&written).unwrap(), retry);
        }
    }

    #[test]
    fn odd_retries_are_refused() {
        for (json, expected) in [
            (
                json!({"inputResponses": [1]}),
                "`inputResponses` must be a JSON object",
            ),
            (
                json!({"requestState": 1}),
                "`requestState` must be a string",
            ),
        ] {
            let unreadable = Retry::read(&params(json)).unwrap_err();
            assert_eq!(unreadable.to_string(), expected);
        }
        let first = Retry::read(&params(json!({"name": "t", "requestState": null})));
        assert_eq!(first, Ok(Retry::default()));
    }

    #[test]
    fn neither_state_nor_answers_are_printed() {
        let retry = retry(Some(json!({"pin": {"content": "s3cr3t"}})), Some("s3cr3t"));
        let printed = format!("{retry:?}");
        assert!(
            printed.contains("6 bytes") && !printed.contains("s3cr3t"),
            "{printed}"
        );
    }
}
