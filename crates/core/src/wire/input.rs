//! What 2026-07-28 asks a client for, and what the client answers, by key.

use serde_json::Value;

use super::{
    ElicitRequestParams, ElicitResult, JsonObject, Members, Revision, Unreadable, Unsayable,
    members::{object, put, put_rest, put_some, take_members, take_text},
};

/// The requests a client must answer, in the server's order and by its keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputRequests(pub Vec<(String, InputRequest)>);

/// One request a client must answer.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequest {
    /// What is wanted.
    pub input: Input,
    /// Members we do not know beside `method` and `params`.
    pub rest: Members,
}

/// What a server wants from its client.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all are elicitations")]
pub enum Input {
    /// A person's answer: `elicitation/create`.
    Elicit(ElicitRequestParams),
    /// A model's answer: `sampling/createMessage`. The params pass unopened.
    Sampling(Option<Members>),
    /// The client's roots: `roots/list`. The params pass unopened.
    Roots(Option<Members>),
    /// Something a later extension may bring.
    Other {
        /// Its method.
        method: String,
        /// Its params, which pass unopened.
        params: Option<Members>,
    },
}

const SAMPLING: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";

impl InputRequests {
    /// Reads `inputRequests`.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        object(json, "inputRequests")?
            .into_iter()
            .map(|(key, json)| match InputRequest::read(json) {
                Ok(request) => Ok((key, request)),
                Err(why) => Err(why.within(&key)),
            })
            .collect::<Result<_, _>>()
            .map(InputRequests)
    }

    /// Writes `inputRequests`.
    pub fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        self.0
            .iter()
            .map(|(key, request)| Ok((key.clone(), request.write(revision)?.into())))
            .collect()
    }
}

impl InputRequest {
    fn read(json: Value) -> Result<Self, Unreadable> {
        let mut request = object(json, "request")?;
        let method = take_text(&mut request, "method")?.ok_or(Unreadable::Missing("method"))?;
        let params = take_members(&mut request, "params")?;
        let input = match method.as_str() {
            ElicitRequestParams::METHOD => {
                let params = params.ok_or(Unreadable::Missing("params"))?;
                Input::Elicit(ElicitRequestParams::read(params.into())?)
            }
            SAMPLING => Input::Sampling(params),
            ROOTS => Input::Roots(params),
            _ => Input::Other { method, params },
        };
        Ok(InputRequest {
            input,
            rest: Members(request),
        })
    }

    fn write(&self, revision: Revision) -> Result<JsonObject, Unsayable> {
        let params = match &self.input {
            Input::Elicit(params) => Some(Members(params.write(revision)?)),
            Input::Sampling(params) | Input::Roots(params) | Input::Other { params, .. } => {
                params.clone()
            }
        };
        let mut request = JsonObject::new();
        put(&mut request, "method", self.input.method());
        put_some(&mut request, "params", &params);
        put_rest(&mut request, &self.rest);
        Ok(request)
    }
}

impl Input {
    /// The method that a legacy server would send.
    pub fn method(&self) -> &str {
        match self {
            Input::Elicit(_) => ElicitRequestParams::METHOD,
            Input::Sampling(_) => SAMPLING,
            Input::Roots(_) => ROOTS,
            Input::Other { method, .. } => method,
        }
    }
}

impl From<Input> for InputRequest {
    fn from(input: Input) -> Self {
        InputRequest {
            input,
            rest: Members::default(),
        }
    }
}

/// A client's answers by the keys of the requests. Each is a result as the
/// client wrote it; only those of elicitations are ever opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputResponses(pub Members);

impl InputResponses {
    /// Reads `inputResponses`.
    pub fn read(json: Value) -> Result<Self, Unreadable> {
        object(json, "inputResponses").map(|responses| InputResponses(Members(responses)))
    }

    /// Writes `inputResponses`.
    pub fn write(&self) -> JsonObject {
        self.0.0.clone()
    }

    /// The answer to an elicitation. `None` if that key was not answered.
    pub fn elicit_result(&self, key: &str) -> Option<Result<ElicitResult, Unreadable>> {
        let result = self.0.get(key)?.clone();
        Some(ElicitResult::read(result).map_err(|why| why.within(key)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::Action;

    #[test]
    fn requests_of_every_kind_keep_order_and_members() {
        let json = json!({
            "z": {"method": "roots/list", "id": 7},
            "a": {"method": "sampling/createMessage", "params": {"maxTokens": 9}},
            "m": {"method": "x/new", "params": {"deep": [1]}, "more": true},
            "e": {"method": "elicitation/create", "params": {
                "mode": "form", "message": "Why?", "requestedSchema": {"type": "object"},
            }},
        });
        let requests = InputRequests::read(json.clone()).unwrap();
        let methods: Vec<_> = requests.0.iter().map(|(_, it)| it.input.method()).collect();
        assert_eq!(
            methods,
            [
                "roots/list",
                "sampling/createMessage",
                "x/new",
                "elicitation/create"
            ]
        );
        let written = requests.write(Revision::V2026_07_28).unwrap();
        // As text, so that order counts.
        assert_eq!(Value::Object(written).to_string(), json.to_string());
    }

    #[test]
    fn what_cannot_be_read_is_found_by_its_key() {
        for (json, expected) in [
            (json!([]), "`inputRequests` must be a JSON object"),
            (json!({"k": 1}), "in `k`: `request` must be a JSON object"),
            (json!({"k": {}}), "in `k`: `method` is missing"),
            (
                json!({"k": {"method": "roots/list", "params": 3}}),
                "in `k`: `params` must be a JSON object",
            ),
            (
                json!({"k": {"method": "elicitation/create"}}),
                "in `k`: `params` is missing",
            ),
        ] {
            let unreadable = InputRequests::read(json).unwrap_err();
            assert_eq!(unreadable.to_string(), expected);
        }
    }

    #[test]
    fn answers_are_opened_one_by_one() {
        let responses = InputResponses::read(json!({
            "yes": {"action": "accept", "content": {"n": 1}},
            "odd": {"role": "assistant"},
        }))
        .unwrap();
        let yes = responses.elicit_result("yes").unwrap().unwrap();
        assert_eq!(yes.action(), Action::Accept);
        let odd = responses.elicit_result("odd").unwrap().unwrap_err();
        assert_eq!(odd.to_string(), "in `odd`: `action` is missing");
        assert_eq!(responses.elicit_result("none"), None);
    }

    #[test]
    fn debug_shows_which_keys_were_answered_and_not_how() {
        let responses = InputResponses::read(json!({"pin": {"content": {"pin": "s3cr3t"}}}));
        assert_eq!(
            format!("{:?}", responses.unwrap()),
            r#"InputResponses({"pin"})"#
        );
    }
}
