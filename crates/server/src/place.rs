//! Where a round belongs, and the state by which its client comes back to it.
//!
//! A state is sealed for the person, the method, what is called and its arguments. It holds the
//! name of a round and nothing else: the call itself waits in this process, and is good as long as
//! it does. A state that expired before it would have the client call again, and the tool run twice.

use midcall_core::seal::{Context, Keys};
use midcall_core::wire::{
    Input, InputRequest, InputRequests, InputRequiredResult, JsonObject, Members, RequestState,
    Revision, member, meta,
};
use rmcp::ErrorData;
use rmcp::model::{CustomResult, ServerResult};
use serde_json::Value;

use crate::asks::Settings;
use crate::call::Method;
use crate::park::Round;
use crate::running::Outcome;
use crate::token;

/// What is called, and by whom.
pub(crate) struct Place {
    pub principal: String,
    pub method: Method,
    pub name: String,
    pub arguments: [u8; 32],
}

/// A `requestState`, read.
pub(crate) enum Brought {
    /// The name of a round of ours.
    Ours(String),
    /// What the handler itself gave.
    Theirs(String),
}

/// Before a state that the handler itself gave. Ours is base64, which has no such sign.
const THEIRS: &str = "handler:";

/// Longer than any state of ours.
const LONGEST: usize = 4_096;

impl Place {
    /// Says a round in the words of the modern era.
    pub fn say(&self, round: &Round, settings: &Settings) -> Result<JsonObject, ErrorData> {
        let requests = round.asked.iter().map(|asking| {
            let mut params = asking.params(Revision::V2026_07_28, settings.locale);
            if let Some(said) = &mut params.meta {
                said.shift_remove(meta::TIMEOUT); // The round says it for all.
            }
            params.meta = params.meta.filter(|said| !said.is_empty());
            let request = InputRequest::from(Input::Elicit(params));
            (asking.key.clone(), request)
        });
        let mut said = Members::default();
        // One time for all: the longest, and none if one of them waits for the usual time.
        let times = round.asked.iter().map(|asking| asking.patience.told());
        let longest: Option<Vec<u64>> = times.collect();
        if let Some(ms) = longest.into_iter().flatten().max() {
            said.insert(meta::TIMEOUT.into(), ms.into());
        }
        let told = InputRequiredResult {
            input_requests: InputRequests(requests.collect()),
            request_state: Some(self.seal(&round.name, &settings.keys)?),
            meta: Some(said).filter(|said| !said.is_empty()),
            rest: Members::default(),
        };
        let unsayable = |why: midcall_core::wire::Unsayable| internal(why.to_string());
        told.write(Revision::V2026_07_28).map_err(unsayable)
    }

    /// Has a modern client call again, without asking it anything: what it was asked in this round is
    /// answered, and the tool waits for something else.
    pub fn later(&self, round: &Round, settings: &Settings) -> Result<JsonObject, ErrorData> {
        let told = InputRequiredResult {
            input_requests: InputRequests::default(),
            request_state: Some(self.seal(&round.name, &settings.keys)?),
            meta: None,
            rest: Members::default(),
        };
        let unsayable = |why: midcall_core::wire::Unsayable| internal(why.to_string());
        told.write(Revision::V2026_07_28).map_err(unsayable)
    }

    fn seal(&self, name: &str, keys: &Keys) -> Result<RequestState, ErrorData> {
        let sealed = keys.seal_text(name.as_bytes(), &self.context(), None, token::bits());
        sealed
            .map(RequestState)
            .map_err(|why| internal(why.to_string()))
    }

    /// Reads a state. None if it is not good here, whyever.
    pub fn open(&self, state: &str, keys: &Keys) -> Option<Brought> {
        if let Some(theirs) = state.strip_prefix(THEIRS) {
            return Some(Brought::Theirs(theirs.to_owned()));
        }
        if state.len() > LONGEST {
            return None;
        }
        let name = keys.open_text(state, &self.context(), 0).ok()?;
        String::from_utf8(name).ok().map(Brought::Ours)
    }

    /// Marks a state that the handler itself gives, to know it again.
    pub fn wrap(&self, mut outcome: Outcome) -> Outcome {
        let state = match &mut outcome {
            Ok(ServerResult::InputRequiredResult(round)) => round.request_state.as_mut(),
            // As services write it that are no handlers: layers too.
            Ok(ServerResult::CustomResult(CustomResult(Value::Object(round)))) => {
                match round.get_mut(member::REQUEST_STATE) {
                    Some(Value::String(state)) => Some(state),
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(state) = state {
            state.insert_str(0, THEIRS);
        }
        outcome
    }

    fn context(&self) -> Context {
        let method = match self.method {
            Method::Tool => "tool",
            Method::Prompt => "prompt",
            Method::Resource => "resource",
        };
        Context::new("midcall-server request state")
            .scope(&self.principal)
            .about(method)
            .about(&self.name)
            .about(self.arguments)
    }
}

fn internal(why: String) -> ErrorData {
    ErrorData::internal_error(why, None)
}

#[cfg(test)]
mod tests {
    use midcall_core::seal::Secret;

    use super::*;

    #[test]
    fn a_state_is_good_only_where_it_was_given() {
        let place = |principal: &str, name: &str| Place {
            principal: principal.into(),
            method: Method::Tool,
            name: name.into(),
            arguments: [7; 32],
        };
        let keys = Keys::new(Secret::from([1; 32]));
        let ana = place("ana", "delete");
        let brought = |place: &Place, state: &str, keys: &Keys| match place.open(state, keys) {
            Some(Brought::Ours(name)) => Some(name),
            Some(Brought::Theirs(_)) | None => None,
        };
        let RequestState(state) = ana.seal("round", &keys).unwrap();
        assert_eq!(brought(&ana, &state, &keys).as_deref(), Some("round"));
        for elsewhere in [place("eve", "delete"), place("ana", "list")] {
            assert_eq!(brought(&elsewhere, &state, &keys), None);
        }
        let others = Keys::new(Secret::from([2; 32]));
        assert_eq!(brought(&ana, &state, &others), None);
        assert_eq!(brought(&ana, &format!("{state}x"), &keys), None);
    }
}
