//! The rounds of a call at a modern server: what it needs is asked, and the call made again.

use std::borrow::Cow;
use std::time::Duration;

use memchr::memmem;
use midcall_core::is_ambiguous;
use midcall_core::wire::{
    Asked, ElicitRequestParams, Input, InputRequiredResult, InputResponses, JsonObject, Members,
    Retry, code, meta,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Step;
use super::back::{Back, LED_IN};
use crate::frame::{Frame, Id, Members as Peeked, ROUND, repeats};

/// How often a server may ask in one call.
const MOST_ROUNDS: usize = 10;

/// How many questions of a server may be open, in all its calls.
const MOST_ASKED: usize = 1_000;

/// How long a server that only wants to be called again is left alone, the first time and at
/// most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often it may want that in a row.
const MOST_PAUSES: u32 = 1_000;

/// What somebody is asked: by which key, by what method, and with what params.
type Wanted = (String, String, Option<JsonObject>);

impl Back {
    /// The server needs answers before it can go on with a call.
    pub(super) fn round(&mut self, now: Instant, id: &Id, result: &[u8], steps: &mut Vec<Step>) {
        let refused =
            |why: &str| json!({"code": code::INTERNAL_ERROR, "message": format!("midcall: {why}")});
        if is_unclear(result) {
            let why = "what the server asks has a member twice, or in other letters";
            return self.fail(id, &refused(why), steps);
        }
        let result = serde_json::from_slice::<Value>(result).ok();
        let mut round = match result.map(InputRequiredResult::read) {
            Some(Ok(round)) => round,
            Some(Err(why)) => {
                return self.fail(
                    id,
                    &refused(&format!("what the server asks cannot be read: {why}")),
                    steps,
                );
            }
            None => return self.fail(id, &refused("what the server asks is not JSON"), steps),
        };
        let state = round.request_state.take();
        let wants = self.wanted(id, round);
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        call.state = state;
        if wants.is_empty() {
            call.pauses += 1;
            if call.pauses > MOST_PAUSES {
                return self.fail(
                    id,
                    &refused("the server wants to be called again without end"),
                    steps,
                );
            }
            let pause = FIRST_PAUSE.saturating_mul(1 << (call.pauses - 1).min(10));
            let at = now + pause.min(LONGEST_PAUSE);
            call.again = Some(at);
            self.due.insert((at, id.clone()));
            return;
        }
        call.rounds += 1;
        call.pauses = 0;
        if call.rounds > MOST_ROUNDS {
            return self.fail(
                id,
                &refused("the server asks in more than 10 rounds"),
                steps,
            );
        }
        self.ask(id, wants, steps);
    }

    /// What a server needs for a call that somebody has to be asked, by its keys. The rest is
    /// answered.
    pub(super) fn wanted(&mut self, id: &Id, round: InputRequiredResult) -> Vec<Wanted> {
        let timeout = round.timeout_ms();
        let mut wants = Vec::new();
        let Some(call) = self.calls.get_mut(id) else {
            return wants;
        };
        for (key, request) in round.input_requests.0 {
            match request.input {
                Input::Elicit(mut params) => {
                    if let Asked::Url {
                        url,
                        elicitation_id,
                    } = &mut params.asked
                    {
                        if call.followed.contains(url) {
                            // Not finished yet.
                            call.answers.insert(key, json!({"action": "accept"}));
                            continue;
                        }
                        call.links.insert(key.clone(), url.clone());
                        elicitation_id.get_or_insert_with(|| {
                            self.own_ids.fresh().as_json().trim_matches('"').to_owned()
                        });
                    }
                    let Ok(mut params) = params.write(LED_IN) else {
                        continue;
                    };
                    if let Some(timeout) = timeout {
                        let told = params.entry("_meta").or_insert_with(|| json!({}));
                        told[meta::TIMEOUT] = timeout.into();
                    }
                    wants.push((key, ElicitRequestParams::METHOD.to_owned(), Some(params)));
                }
                other => {
                    let method = other.method().to_owned();
                    let params = match other {
                        Input::Sampling(params)
                        | Input::Roots(params)
                        | Input::Other { params, .. } => params,
                        Input::Elicit(_) => None,
                    };
                    wants.push((key, method, params.map(|params| params.0)));
                }
            }
        }
        wants
    }

    /// Asks the session, unless that is too much.
    pub(super) fn ask(&mut self, id: &Id, wants: Vec<Wanted>, steps: &mut Vec<Step>) {
        if self.asked.len() + wants.len() > MOST_ASKED {
            let why = "midcall: the server asks too much at once";
            let error = json!({"code": code::INTERNAL_ERROR, "message": why});
            return self.fail(id, &error, steps);
        }
        if let Some(call) = self.calls.get_mut(id) {
            call.left += wants.len();
        }
        for (key, method, params) in wants {
            let ask = self.own_ids.fresh();
            self.asked.insert(ask.clone(), (id.clone(), key));
            steps.push(Step::In(Frame::request(
                &ask,
                &method,
                &params.unwrap_or_default(),
            )));
        }
    }

    /// The session answers a question of ours.
    pub(super) fn answered(&mut self, id: &Id, members: &Peeked<'_>, steps: &mut Vec<Step>) {
        let Some((of, key)) = self.asked.remove(id) else {
            return;
        };
        let Some(call) = self.calls.get_mut(&of) else {
            return;
        };
        let result = members.result.map(serde_json::from_slice::<JsonObject>);
        match result {
            Some(Ok(mut result)) => {
                // How a question ended is told beside the answers.
                if let Some(Value::Object(told)) = result.get_mut("_meta")
                    && let Some(outcome) = told.shift_remove(meta::OUTCOME)
                {
                    call.outcomes.insert(key.clone(), outcome);
                    if told.is_empty() {
                        result.shift_remove("_meta");
                    }
                }
                let link = call.links.remove(&key);
                if result
                    .get("action")
                    .is_some_and(|action| action == "accept")
                {
                    call.followed.extend(link);
                }
                call.answers.insert(key, Value::Object(result));
            }
            // There is no place for errors in a round.
            _ => {
                let error = members
                    .error
                    .unwrap_or(b"{\"code\":-32603,\"message\":\"midcall: no answer\"}");
                let error: Value = serde_json::from_slice(error).unwrap_or_default();
                return self.fail(&of, &error, steps);
            }
        }
        call.left -= 1;
        if call.task.is_some() {
            self.update(&of, steps);
        } else if call.left == 0 {
            self.again(&of, steps);
        }
    }

    /// A call comes to an end before the server has finished it.
    pub(super) fn fail(&mut self, id: &Id, error: &Value, steps: &mut Vec<Step>) {
        if let Some(call) = self.calls.remove(id) {
            self.ids.remove(&call.at);
            self.take_back(id, steps);
            self.end_task(&call, steps);
            let message = json!({"jsonrpc": "2.0", "error": error});
            steps.extend(
                Frame::write(&message)
                    .with(&["id"], id.as_json())
                    .map(Step::In),
            );
        }
    }

    /// Nobody waits for what was asked in a call.
    pub(super) fn take_back(&mut self, call: &Id, steps: &mut Vec<Step>) {
        let gone = self.asked.extract_if(|_, (of, _)| of == call);
        steps.extend(gone.map(|(id, _)| Step::In(Frame::cancelled(&id))));
    }

    /// Makes a call again, with what was found out for it.
    pub(super) fn again(&mut self, id: &Id, steps: &mut Vec<Step>) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        if call.task.is_some() {
            return self.poll(id, steps);
        }
        let at = self.own_ids.fresh();
        let answers = std::mem::take(&mut call.answers);
        let retry = Retry {
            input_responses: (!answers.is_empty()).then(|| InputResponses(Members(answers))),
            request_state: call.state.take(),
        };
        let mut params = retry.write(call.params.clone());
        for (key, outcome) in std::mem::take(&mut call.outcomes) {
            meta::put_outcome(&mut params, &key, outcome);
        }
        call.again = None;
        call.at = at.clone();
        self.ids.insert(at.clone(), id.clone());
        steps.push(Step::Out(Frame::request(&at, &call.method, &params)));
    }
}

/// Whether a result needs answers first, or some readers think so.
pub fn is_round(result: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed<'a> {
        #[serde(borrow)]
        result_type: Option<Cow<'a, str>>,
    }
    let round = InputRequiredResult::RESULT_TYPE;
    match serde_json::from_slice::<Typed<'_>>(result) {
        Ok(typed) if !repeats(result, &ROUND) => typed.result_type.as_deref() == Some(round),
        _ => {
            let has = |text: &[u8]| memmem::find(result, text).is_some();
            has(round.as_bytes()) || has(b"\\u")
        }
    }
}

/// True if a result that needs answers first can be read in two ways.
pub fn is_unclear(result: &[u8]) -> bool {
    repeats(result, &ROUND) || str::from_utf8(result).is_ok_and(is_ambiguous)
}
