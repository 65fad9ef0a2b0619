//! An answer goes to whoever wanted it.

use crate::moment::Moment;
use midcall_core::Answer;
use midcall_core::wire::{ElicitResult, code, meta};
use midcall_desk::{By, Outcome, Unavailable};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ask::ServerRequest;
use super::links::OpenedLink;
use super::{Out, Output, Session, Waiting};
use crate::call::{
    AWAY, AtClient, CallId, DeskState, EndedQuestion, Happened, How, Place, Question, QuestionId,
    TellBy, WantedBy, What, told, with_outcome,
};
use crate::frame::{Frame, Id, Object};
use crate::route::{OnUnavailable, Route};

/// What became of a question.
pub enum Settled {
    /// The client's response, as the server is told it.
    Response(Frame),
    /// How it ended.
    Ended(Outcome),
    /// Nobody is asked: the code of the error, and why.
    Refused(i64, String),
}

/// What a server is told of its question.
enum Told {
    /// A response to a request of whatever id.
    Response(Frame),
    /// A result as JSON, and how the question ended.
    Result(String, Value),
}

impl Session {
    /// People see a question now.
    pub(super) fn asked(&mut self, id: QuestionId, waiting: Waiting) {
        self.ledger.questions.change(id, |question| {
            if let Place::Desk(state @ DeskState::Coming) = &mut question.place {
                *state = DeskState::There;
                question.waiting = waiting;
            }
        });
    }

    /// The desk didn't take a question.
    pub(super) fn refused(&mut self, now: Moment, id: QuestionId, why: String, out: Out<'_>) {
        let Some(question) = self.ledger.questions.remove(id) else {
            return;
        };
        let settled = match question.wanted_by.is_server() {
            true => Settled::Refused(code::INTERNAL_ERROR, why),
            false => Settled::Ended(Outcome::Unavailable(Unavailable::NoRoute)),
        };
        self.settle(now, question, settled, out);
    }

    /// Opening a link is consent, and that is all that the server asked for.
    pub(super) fn opened(&mut self, now: Moment, id: QuestionId, by: By, out: Out<'_>) {
        let wanted_by = self.ledger.questions.change(id, |question| {
            let is_link = question.is_link();
            let Place::Desk(state) = &mut question.place else {
                return None;
            };
            if !is_link || matches!(state, DeskState::Opened(_) | DeskState::Leaving) {
                return None;
            }
            *state = DeskState::Opened(by);
            Some(question.wanted_by.clone())
        });
        let Some(question) = self.ledger.questions.get(id) else {
            return;
        };
        match wanted_by.flatten() {
            None => {}
            Some(WantedBy::Link(call, link)) => {
                let patience = self.link_patience(question);
                self.consented(now, call, link, patience, out);
            }
            Some(wanted_by) => {
                let link = self.opened_link(question);
                let told = Told::ended(
                    &ElicitResult::accept(None),
                    json!({"state": "answered", "by": by}),
                );
                self.tell(now, wanted_by, told, link, out);
            }
        }
    }

    /// A question at the desk ended.
    pub(super) fn ended(&mut self, now: Moment, id: QuestionId, outcome: Outcome, out: Out<'_>) {
        let Some(question) = self.ledger.questions.remove(id) else {
            if matches!(outcome, Outcome::Answered(..)) {
                self.answered_late(id, out);
            }
            return;
        };
        if let Outcome::Answered(answer, _) = &outcome {
            let of = (question.wanted_by.clone(), question.origin);
            // The server was told that the link was opened. It hears of a no when it asks for the link again.
            let is_late_no =
                question.opened_by().is_some() && !matches!(answer, Answer::Accepted(_));
            self.is_answered(id, &question, answer, out);
            self.settle(now, question, Settled::Ended(outcome), out);
            return match (&of.0, is_late_no) {
                (WantedBy::Round(..), true) => {}
                _ => self.was_answered(id, of, out),
            };
        }
        let is_unseen = outcome == Outcome::Unavailable(Unavailable::NoRoute);
        if !is_unseen || !question.wanted_by.is_server() {
            return self.settle(now, question, Settled::Ended(outcome), out);
        }
        let plan = question
            .elicitation()
            .filter(|_| question.others.has(Route::Model))
            .map(|it| self.plan(it, question.origin));
        let unasked = match plan {
            Some(plan) => self.place(now, question, &plan, None, out).err(),
            None => Some(Box::new(question)),
        };
        if let Some(question) = unasked {
            self.asks_nobody(now, *question, out);
        }
    }

    /// Tells whoever wanted to know what became of a question, which is in the ledger no more.
    pub(super) fn settle(
        &mut self,
        now: Moment,
        question: Question,
        settled: Settled,
        out: Out<'_>,
    ) {
        let left = question.told_in_round().map(|(call, _)| call);
        if let (Place::Model { name, told_in, .. }, Settled::Ended(outcome)) =
            (&question.place, &settled)
            && let Some(how) = How::without_answer(outcome)
        {
            let ended = EndedQuestion {
                name: *name,
                told_in: *told_in,
                how,
            };
            self.ledger.ended.add(ended);
        }
        match question.wanted_by.clone() {
            WantedBy::Approval(call) => self.approved(now, call, &outcome_of(settled), out),
            WantedBy::Link(call, link) => {
                self.link_ended(now, (call, link), &question, outcome_of(settled), out)
            }
            WantedBy::Sampling(from, id, frame) => {
                let request = ServerRequest {
                    from,
                    frame: &frame,
                    id,
                    origin: question.origin,
                };
                self.sampled(now, request, &outcome_of(settled), out);
            }
            // Whoever opened the link has answered already.
            WantedBy::Round(call, _) if question.opened_by().is_some() => {
                self.opened_link_ended(now, call, &question, outcome_of(settled), out)
            }
            _ if question.opened_by().is_some() => {}
            wanted_by => {
                let (told, link) = self.told(&question, settled);
                self.tell(now, wanted_by, told, link, out);
            }
        }
        if let Some(call) = left {
            self.left_round(now, call);
        }
    }

    /// What a server is told, and the link that the person agreed to open.
    fn told(&self, question: &Question, settled: Settled) -> (Told, Option<OpenedLink>) {
        let prefers_error = self.setup.on_unavailable == OnUnavailable::Error;
        match settled {
            Settled::Response(frame) => {
                let accepts = is_accepted(&frame);
                let link = accepts.then(|| self.opened_link(question)).flatten();
                (Told::Response(frame), link)
            }
            Settled::Ended(Outcome::Unavailable(why)) if prefers_error => {
                (Told::Response(unavailable(why)), None)
            }
            Settled::Ended(_) if matches!(question.what, What::Other { .. }) => {
                let words = "midcall: the client did not come back";
                (
                    Told::Response(Frame::error(None, code::INTERNAL_ERROR, words)),
                    None,
                )
            }
            Settled::Ended(outcome) => {
                let accepts = matches!(outcome, Outcome::Answered(Answer::Accepted(_), _));
                let link = accepts.then(|| self.opened_link(question)).flatten();
                let (result, told) = question.ended(outcome);
                (Told::ended(&result, told), link)
            }
            Settled::Refused(code, why) => (refused(&question.wanted_by, code, &why), None),
        }
    }

    /// Answers a server whose question never came into the ledger.
    pub(super) fn turn_away(
        &mut self,
        now: Moment,
        wanted_by: WantedBy,
        settled: Settled,
        out: Out<'_>,
    ) {
        let told = match settled {
            Settled::Response(frame) => Told::Response(frame),
            Settled::Ended(outcome) => Told::ended(&ElicitResult::cancel(), told(&outcome)),
            Settled::Refused(code, why) => refused(&wanted_by, code, &why),
        };
        self.tell(now, wanted_by, told, None, out);
    }

    /// Tells a server.
    fn tell(
        &mut self,
        now: Moment,
        wanted_by: WantedBy,
        told: Told,
        link: Option<OpenedLink>,
        out: Out<'_>,
    ) {
        match wanted_by {
            WantedBy::Request(server, id) => {
                out.push(Output::ToServer(server, told.into_frame(&id)))
            }
            WantedBy::Round(call, key) => match told.into_answer() {
                Ok((result, outcome)) => {
                    let todo = self.ledger.calls.change(call, |call| {
                        if let Some((named, patience)) = link {
                            call.rounds_mut().links.open(named, now, patience);
                        }
                        call.on(
                            now,
                            Happened::Answered {
                                key,
                                result,
                                outcome,
                            },
                        )
                    });
                    self.does(now, call, todo, out);
                }
                // A round has no place for errors.
                Err(error) => self.fail_with(now, call, error, out),
            },
            WantedBy::Approval(_) | WantedBy::Link(..) | WantedBy::Sampling(..) => {}
        }
    }

    /// Tells a server that its question ended, though nobody is there any more.
    pub(super) fn tell_ended(
        &mut self,
        now: Moment,
        question: Question,
        outcome: Outcome,
        out: Out<'_>,
    ) {
        match question.wanted_by.clone() {
            WantedBy::Sampling(from, id, frame) => {
                let request = ServerRequest {
                    from,
                    frame: &frame,
                    id,
                    origin: question.origin,
                };
                self.sampled(now, request, &outcome, out);
            }
            _ if question.opened_by().is_some() => {}
            wanted_by => {
                let (told, _) = self.told(&question, Settled::Ended(outcome));
                self.tell(now, wanted_by, told, None, out);
            }
        }
    }

    /// A question isn't in a call's round any more. A client with nothing left to answer may still come for the result.
    pub(super) fn left_round(&mut self, now: Moment, call: CallId) {
        let questions = &self.ledger.questions;
        let of_call = questions.of_call(call);
        let mut told = of_call
            .iter()
            .filter_map(|id| questions.get(*id)?.told_in_round());
        if told.any(|(at, _)| at == call) {
            return;
        }
        self.ledger.calls.change(call, |call| {
            let is_away =
                call.request.told == TellBy::Results && call.audience.waiters().is_empty();
            if is_away && call.audience.away_until.is_none() {
                call.audience.away_until = Some(now + AWAY);
            }
        });
    }

    /// Ends a question that is asked somewhere, wherever that is.
    pub(super) fn end_question(
        &mut self,
        now: Moment,
        id: QuestionId,
        outcome: Outcome,
        out: Out<'_>,
    ) {
        let Some(question) = self.ledger.questions.get(id) else {
            return;
        };
        if let Place::Client {
            at: AtClient::Request(request),
            ..
        } = &question.place
        {
            out.push(Output::ToClient(Frame::cancelled(request)));
        }
        if let Some(question) = self.ledger.questions.remove(id) {
            self.settle(now, question, Settled::Ended(outcome), out);
        }
    }
}

impl Told {
    fn ended(result: &ElicitResult, outcome: Value) -> Self {
        Self::Result(json!(result.write()).to_string(), outcome)
    }

    /// The response to a request of this id.
    fn into_frame(self, id: &Id) -> Frame {
        match self {
            Self::Response(frame) => frame.with_id(id),
            Self::Result(result, outcome) => {
                let frame = Frame::raw_result(id, &result);
                with_outcome(&frame, outcome).unwrap_or(frame)
            }
        }
    }

    /// The answer in a round, and how its question ended; else the error.
    fn into_answer(self) -> Result<(Box<RawValue>, Option<Value>), Frame> {
        let frame = match self {
            Self::Response(frame) => frame,
            Self::Result(result, outcome) => {
                let result = RawValue::from_string(result).expect("our own results are JSON");
                return Ok((result, Some(outcome)));
            }
        };
        let result = frame
            .peek()
            .and_then(|(_, members)| Object::read(members.result?));
        let Some(mut result) = result else {
            return Err(frame);
        };
        // How a question ended is told beside the answers.
        let told = result.get("_meta").map(str::to_owned).unwrap_or_default();
        let mut told = Object::read(told.as_bytes()).unwrap_or_default();
        let outcome = told
            .get(meta::OUTCOME)
            .and_then(|said| serde_json::from_str(said).ok());
        if outcome.is_some() {
            told.remove(meta::OUTCOME);
            match told.is_empty() {
                true => result.remove("_meta"),
                false => result.set("_meta", told.write()),
            }
        }
        let result = RawValue::from_string(result.write());
        result.map(|result| (result, outcome)).map_err(|_| {
            let words = "midcall: the client's answer cannot be read: it is not JSON";
            Frame::error(None, code::INTERNAL_ERROR, words)
        })
    }
}

/// What a server is told of a question that is refused. Other keys of a round are asked whatever becomes of this one,
/// so there it is a cancelled question with the reason.
fn refused(wanted_by: &WantedBy, code: i64, why: &str) -> Told {
    match wanted_by {
        WantedBy::Round(..) => Told::ended(
            &ElicitResult::cancel(),
            json!({"state": "unavailable", "reason": why}),
        ),
        _ => Told::Response(Frame::error(None, code, &format!("midcall: {why}"))),
    }
}

/// The error that a server gets which prefers one.
fn unavailable(why: Unavailable) -> Frame {
    let why = match why {
        Unavailable::NoRoute => "no route leads to a person",
        Unavailable::StoreLost => "the store is gone",
        Unavailable::AskerGone => "whoever asked is gone",
    };
    let told = format!("midcall: nobody could be asked: {why}");
    Frame::error(None, code::INTERNAL_ERROR, &told)
}

fn outcome_of(settled: Settled) -> Outcome {
    match settled {
        Settled::Ended(outcome) => outcome,
        Settled::Response(_) | Settled::Refused(..) => Outcome::Unavailable(Unavailable::NoRoute),
    }
}

fn is_accepted(frame: &Frame) -> bool {
    let result = frame
        .peek()
        .and_then(|(_, members)| Object::read(members.result?));
    result.is_some_and(|result| result.get("action") == Some("\"accept\""))
}
