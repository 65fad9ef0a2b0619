//! A client comes back for a call, by a state that it was given.

use crate::moment::Moment;
use midcall_core::wire::{code, member};

use super::save::Held;
use super::{Out, Output, Session};
use crate::call::{
    AtClient, Call, CallId, Declared, Name, Named, Place, QuestionId, TellBy, Waiter, What, digest,
};
use crate::frame::{Frame, Id, Members, Object};
use crate::leg::client::modern;

/// What is answered to a state that isn't good for a call. Whatever is wrong with it, that looks the same from outside.
pub fn invalid_state(id: &Id) -> Frame {
    let told = "midcall: this requestState is not valid for this call";
    Frame::error(Some(id), code::INVALID_PARAMS, told)
}

impl Session {
    /// Hears a request that brings a state which was given out here; false if it brings none.
    pub(super) fn comes_back(
        &mut self,
        now: Moment,
        frame: &Frame,
        id: &Id,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        let state = modern::state(members).filter(|_| self.client.told == TellBy::Results);
        let Some(name) = state.and_then(|state| Name::of_ours(&state)) else {
            return false;
        };
        let Some(Named::Call(call)) = self.ledger.named(name) else {
            return false;
        };
        let waiter = Waiter::new(now, id.clone(), members.progress_token);
        let declared = Some(Box::new(modern::declared(members)));
        self.retries(now, (call, name), frame, waiter, declared, out);
        true
    }

    /// The client repeats a call with a state that it was given.
    fn retries(
        &mut self,
        now: Moment,
        (id, state): (CallId, Name),
        frame: &Frame,
        waiter: Waiter,
        declared: Option<Box<Declared>>,
        out: Out<'_>,
    ) {
        let digest = digest(frame);
        let call = self.ledger.calls.get(id);
        let is_meant = |call: &&Call| {
            digest
                .as_ref()
                .is_some_and(|digest| call.audience.knows(state, digest))
        };
        let Some(call) = call.filter(is_meant) else {
            return out.push(Output::ToClient(invalid_state(&waiter.id)));
        };
        let is_last = call.audience.is_last_state(state);
        if self.hands_out(id, &waiter, out) {
            return;
        }
        let replaced = self.ledger.calls.change(id, |call| {
            let replaced = call.audience.maker().map(|waiter| waiter.id.clone());
            if let Some(replaced) = &replaced {
                call.audience.leave(replaced);
            }
            call.audience.declared = declared;
            call.audience.join(waiter);
            replaced
        });
        if let Some(replaced) = replaced.flatten() {
            let told = "midcall: the call was made again meanwhile";
            out.push(Output::ToClient(Frame::error(
                Some(&replaced),
                code::INVALID_REQUEST,
                told,
            )));
        }
        self.hears_responses(now, (id, is_last), frame, out);
        self.ledger.untold.push(id);
    }

    /// Hears the answers that a client brings with a call.
    fn hears_responses(
        &mut self,
        now: Moment,
        (id, is_last): (CallId, bool),
        frame: &Frame,
        out: Out<'_>,
    ) {
        let peeked = frame.peek();
        let responses = peeked.and_then(|(_, members)| Object::read(members.responses?));
        let responses = responses.unwrap_or_default();
        for (question, key) in self.told_in(id) {
            // What isn't answered, or not so that it fits, is asked again. The answers to earlier states have been heard.
            let response = responses
                .get(&key)
                .filter(|json| is_last && json.starts_with('{'));
            let is_heard =
                response.is_some_and(|response| self.heard_in_round(now, question, response, out));
            if !is_heard {
                self.ledger
                    .questions
                    .change(question, |question| set_told(&mut question.place, false));
            }
        }
    }

    /// The questions that the client was told in a call, and by which keys.
    fn told_in(&self, call: CallId) -> Vec<(QuestionId, String)> {
        let questions = &self.ledger.questions;
        let told =
            questions
                .of_call(call)
                .into_iter()
                .filter_map(|id| match &questions.get(id)?.place {
                    Place::Client {
                        at:
                            AtClient::Round {
                                call: at,
                                key,
                                is_told: true,
                            },
                        ..
                    } if *at == call => Some((id, key.clone())),
                    _ => None,
                });
        told.collect()
    }

    /// Tells clients what they were asked since they were told last.
    pub(super) fn tell_rounds(&mut self, out: Out<'_>) {
        for call in std::mem::take(&mut self.ledger.untold) {
            self.tell_round(call, out);
        }
    }

    fn tell_round(&mut self, id: CallId, out: Out<'_>) {
        let Some(call) = self.ledger.calls.get(id) else {
            return;
        };
        let Some(waiter) = call.audience.maker().filter(|_| call.is_open()) else {
            return;
        };
        let waiter = waiter.clone();
        let mut requests = Object::default();
        let mut told = Vec::new();
        for question_id in self.ledger.questions.of_call(id) {
            let Some(question) = self.ledger.questions.get(question_id) else {
                continue;
            };
            let Place::Client {
                at:
                    AtClient::Round {
                        call,
                        key,
                        is_told: false,
                    },
                rendition,
                ..
            } = &question.place
            else {
                continue;
            };
            if *call == id {
                requests.set(
                    key.clone(),
                    self.round_request(&question.what, rendition.as_deref()),
                );
                told.push(question_id);
            }
        }
        if told.is_empty() {
            return;
        }
        for question in &told {
            self.ledger
                .questions
                .change(*question, |question| set_told(&mut question.place, true));
        }
        let state = self.gives_state(id, &waiter.id, told, None);
        let told = Output::ToClient(modern::round(&waiter.id, &requests, &state));
        self.tells(id, told, Held::Name(waiter), out);
    }

    /// Takes a waiting request out of a call, and gives the state by which its client comes back: the newest, if it was
    /// given with the same questions (`told`), or with none now as then.
    pub(super) fn gives_state(
        &mut self,
        id: CallId,
        waiter: &Id,
        told: Vec<QuestionId>,
        away_until: Option<Moment>,
    ) -> String {
        let given = self.ledger.calls.change(id, |call| {
            call.audience.leave(waiter);
            call.audience.away_until = away_until;
            if let Some(newest) = call.audience.newest_state(&told) {
                return newest.to_owned();
            }
            let (token, name) = Name::mint();
            let digest = match call.audience.has_names() {
                true => None,
                false => call.request.digest(),
            };
            let given = token.reveal().to_owned();
            call.audience.state(name, digest);
            call.audience.has_newest(token, told);
            given
        });
        given.unwrap_or_default()
    }

    /// One question in the words of a round.
    fn round_request(
        &self,
        what: &What,
        rendition: Option<&midcall_core::wire::Telling>,
    ) -> String {
        match what {
            What::Other { method, params } => {
                modern::request(method, params.as_ref().map(|params| params.get()))
            }
            What::Unread(_, params) => {
                let method = midcall_core::wire::ElicitRequestParams::METHOD;
                modern::request(method, params.as_ref().map(|params| params.get()))
            }
            What::Elicit(elicitation) => {
                let mut params = modern::question(elicitation.params());
                if let Some(rendition) = rendition
                    && let Some(mut told) = Object::read(params.clone().as_bytes())
                {
                    told.put(member::REQUESTED_SCHEMA, &rendition.schema);
                    params = told.write();
                }
                if let Some(message) = super::verdict::warning(elicitation, self.setup.locale)
                    && let Some(mut told) = Object::read(params.clone().as_bytes())
                {
                    told.put("message", &message);
                    params = told.write();
                }
                modern::request(
                    midcall_core::wire::ElicitRequestParams::METHOD,
                    Some(&params),
                )
            }
        }
    }
}

fn set_told(place: &mut Place, told: bool) {
    if let Place::Client {
        at: AtClient::Round { is_told, .. },
        ..
    } = place
    {
        *is_told = told;
    }
}
