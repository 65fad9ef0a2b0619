//! Where a round belongs, and the state by which its client comes back to it.
//!
//! A state is sealed for the person, the method, what is called and its arguments. It holds the
//! name of a round, and what was said so far where the tool may run again. A call that waits in this
//! process is found by its state for as long as it waits. For any other, a state expires a while
//! after its questions have.

use midcall_core::seal::{Context, OpenError};
use midcall_core::wire::{
    Input, InputRequest, InputRequests, InputRequiredResult, JsonObject, Members, RequestState,
    Revision, member, meta,
};
use rmcp::ErrorData;
use rmcp::model::{CustomResult, ServerResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asks::Settings;
use crate::call::{Call, Method};
use crate::journal::{Journal, Record};
use crate::park::Round;
use crate::running::Outcome;
use crate::shared::{Page, SharedError, Stage};
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
    /// A round of ours.
    Ours(State),
    /// What the handler itself gave.
    Theirs(String),
}

/// What a state of ours holds. No `Debug`: it has what people typed.
#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    #[serde(rename = "n")]
    pub round: String,
    /// What was said in the call, if its tool may run again.
    #[serde(rename = "j", default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// What finds the call in the store that replicas share. The rest is there.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    #[serde(skip)]
    pub is_expired: bool,
}

/// Why a round cannot be told.
pub(crate) enum Untold {
    /// More would have to travel than a state may hold.
    TooLong(usize),
    Store(SharedError),
    /// Another process goes on with the call.
    Lost,
    Other(ErrorData),
}

/// Before a state that the handler itself gave. Ours is base64, which has no such sign.
const THEIRS: &str = "handler:";

/// Says in a round that its retry may be sent again, by a gateway that does not know whether the first one
/// arrived: it joins the call, and runs no tool a second time.
const JOINS: &str = "dev.midcall/joins";

/// Longer than any state of ours.
pub(crate) const LONGEST: usize = 3_072;

impl Place {
    /// Says a round, and notes for other replicas that it is told.
    pub async fn tell(&self, round: &Round, call: &Call) -> Result<JsonObject, Untold> {
        let told = self.say(round, call)?;
        let (Some(shared), Some(journal)) = (&call.shared, &call.journal) else {
            return Ok(told);
        };
        let page = Page {
            round: round.name.clone(),
            record: journal.record(),
            stage: Stage::Told(Value::Object(told.clone())),
        };
        match shared.tell(&page, round.patience()).await {
            Ok(true) => Ok(told),
            Ok(false) => Err(Untold::Lost),
            Err(error) => Err(Untold::Store(error)),
        }
    }

    /// Says a round in the words of the modern era.
    fn say(&self, round: &Round, call: &Call) -> Result<JsonObject, Untold> {
        let settings = &call.asks.settings;
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
        if !call.may_run_twice() {
            said.insert(JOINS.into(), true.into());
        }
        if let Some(ms) = longest.into_iter().flatten().max() {
            said.insert(meta::TIMEOUT.into(), ms.into());
        }
        let told = InputRequiredResult {
            input_requests: InputRequests(requests.collect()),
            request_state: Some(self.seal(round, call)?),
            meta: Some(said).filter(|said| !said.is_empty()),
            rest: Members::default(),
        };
        written(&told)
    }

    /// Has a modern client call again, without asking it anything: what it was asked in this round is
    /// answered, and the tool waits for something else.
    pub fn later(&self, round: &Round, call: &Call) -> Result<JsonObject, Untold> {
        written(&InputRequiredResult {
            input_requests: InputRequests::default(),
            request_state: Some(self.seal(round, call)?),
            meta: None,
            rest: Members::default(),
        })
    }

    /// The same with the state that the client brought.
    pub fn again(&self, state: &str) -> Result<JsonObject, Untold> {
        written(&InputRequiredResult {
            input_requests: InputRequests::default(),
            request_state: Some(RequestState(state.to_owned())),
            meta: None,
            rest: Members::default(),
        })
    }

    fn seal(&self, round: &Round, call: &Call) -> Result<RequestState, Untold> {
        let settings = &call.asks.settings;
        let (journal, is_shared) = (call.journal.as_deref(), call.shared.is_some());
        let state = State {
            round: round.name.clone(),
            record: journal.filter(|_| !is_shared).map(Journal::record),
            seed: journal.filter(|_| is_shared).map(Journal::seed),
            is_expired: false,
        };
        let other = |why: String| Untold::Other(internal(why));
        let state = serde_json::to_vec(&state).map_err(|why| other(why.to_string()))?;
        let wait = round.patience().saturating_add(settings.kept);
        let expires = (settings.now)().saturating_add(wait.as_secs().saturating_add(1));
        let keys = &settings.keys;
        let sealed = keys.seal_text(&state, &self.context(), Some(expires), token::bits());
        let sealed = sealed.map_err(|why| other(why.to_string()))?;
        if sealed.len() > LONGEST {
            return Err(Untold::TooLong(sealed.len()));
        }
        Ok(RequestState(sealed))
    }

    /// Reads a state. None if it is not good here, whyever.
    pub fn open(&self, state: &str, settings: &Settings) -> Option<Brought> {
        if let Some(theirs) = state.strip_prefix(THEIRS) {
            return Some(Brought::Theirs(theirs.to_owned()));
        }
        if state.len() > LONGEST {
            return None;
        }
        let (keys, context) = (&settings.keys, self.context());
        let (plain, is_expired) = match keys.open_text(state, &context, (settings.now)()) {
            Err(OpenError::Expired(_)) => (keys.open_text(state, &context, 0), true),
            read => (read, false),
        };
        let state: State = serde_json::from_slice(&plain.ok()?).ok()?;
        Some(Brought::Ours(State {
            is_expired,
            ..state
        }))
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

fn written(round: &InputRequiredResult) -> Result<JsonObject, Untold> {
    let told = round.write(Revision::V2026_07_28);
    told.map_err(|why| Untold::Other(internal(why.to_string())))
}

fn internal(why: String) -> ErrorData {
    ErrorData::internal_error(why, None)
}
