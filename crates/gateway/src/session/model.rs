//! Questions that a model is told to ask the person.
//!
//! The call in which one comes up is parked: the model gets a result that says what to ask, and
//! the server never notices. The model answers with the added tool, and gets the result of the
//! call, or the next question. What it says is not taken for a human's word.

use std::collections::VecDeque;

use midcall_core::Elicitation;
use midcall_core::model::{self, ModelAnswer, Pending};
use midcall_desk::{By, Outcome, Route};
use tokio::time::Instant;

use super::calls::Wants;
use super::candidates::Candidates;
use super::question::{At, Question};
use super::questions::Turn;
use super::{Act, Session};
use crate::claim::{Claimed, tools};
use crate::frame::{Frame, Id, Members};
use crate::route::Plan;
use crate::token::Token;

/// A question as the model knows it.
pub struct Model {
    /// What it answers by.
    name: Token,
    /// The claim of the call it was told in, once it was.
    told_in: Option<Token>,
    /// When it closes by itself.
    pub until: Instant,
}

/// Questions that have ended, the oldest first: for whoever answers late, or twice.
#[derive(Default)]
pub struct Answered(VecDeque<Ended>);

struct Ended {
    name: Token,
    told_in: Option<Token>,
    how: How,
}

enum How {
    /// The model answered, and this is what it said.
    Said([u8; 32]),
    /// Nobody did.
    Otherwise(&'static str),
}

/// How many are remembered.
const REMEMBERED: usize = 256;

const BY: By = By {
    route: Route::Model,
    human: false,
};

impl Session {
    /// Whether a model may ask it, and there is a call to tell it in.
    pub(super) fn model_may(
        &self,
        elicitation: &Elicitation,
        calls: &Candidates,
        plan: &Plan,
    ) -> bool {
        let mut claimed = self.claims.claimed();
        let can_be_told =
            claimed.any(|call| self.is_candidate(calls, call)) || self.oldest_tool(calls).is_some();
        let called = self.calls.tools().map(|(tool, _)| tool);
        let tools = called.chain(self.claims.tools());
        let hints = tools.map(|tool| self.tools.hints(tool));
        let may_risk = plan.model_may_confirm == Some(true);
        can_be_told && model::may_ask(elicitation.into(), hints, may_risk).is_ok()
    }

    /// Tells the model what to ask, in a call that is open, or in the next that is.
    pub(super) fn ask_model(
        &mut self,
        now: Instant,
        mut question: Question,
        id: Option<Id>,
        acts: &mut Vec<Act>,
    ) {
        let patience = self.patience(&question.elicitation);
        question.at = At::Model(Model {
            name: Token::random(),
            told_in: None,
            until: now + patience,
        });
        let calls = question.calls.clone();
        let turn = self.questions.add(id, question);
        for call in self.claims.running() {
            if self.is_candidate(&calls, &call)
                && let Some(waiter) = self.claims.interrupt(&call)
            {
                self.calls.close(&waiter);
                return self.tell_model(turn, &call, &waiter, acts);
            }
        }
        if let Some(call) = self.oldest_tool(&calls)
            && let Some(closed) = self.calls.close(&call)
        {
            self.claims.let_go(call.clone(), closed);
            self.tell_model(turn, &call, &call, acts);
        }
    }

    /// Answers a request with a question that came up in a call.
    fn tell_model(&mut self, turn: Turn, call: &Id, answered: &Id, acts: &mut Vec<Act>) {
        let tool = self.tools.send_name();
        let claim = self.claims.of(call).cloned();
        let told = self.questions.change(turn, |question| {
            let At::Model(model) = &mut question.at else {
                return None;
            };
            model.told_in = claim;
            let told = Pending::of(&question.elicitation, model.name.reveal(), tool);
            Some(Frame::result(answered, &told.result(self.rules.locale)))
        });
        acts.extend(told.flatten().map(Act::ToClient));
    }

    /// The oldest call of a tool in which a question can have come up.
    fn oldest_tool(&self, calls: &Candidates) -> Option<Id> {
        match calls {
            Candidates::Only(call) => {
                let nth = self.calls.nth(call)?;
                self.calls.oldest_tool(|it| it == nth)
            }
            Candidates::Before(next) => self.calls.oldest_tool(|nth| nth < *next),
        }
    }

    /// Whether a call is one of the tool that answers for the person.
    pub(super) fn is_send(&self, members: &Members<'_>) -> bool {
        self.needs_model() && self.tools.is_send(members.name)
    }

    /// A call of that tool.
    pub(super) fn send(
        &mut self,
        now: Instant,
        id: Id,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        let sent = tools::model_answer(members.params);
        let found = self
            .questions
            .iter()
            .find_map(|(turn, question)| match &question.at {
                At::Model(model) if model.name.is(&sent.elicit_id) => Some((turn, question, model)),
                _ => None,
            });
        let Some((turn, question, model)) = found else {
            return self.send_again(now, id, members, &sent, acts);
        };
        let error = |told| Act::ToClient(Frame::result(&id, &told));
        let answer = match sent.result {
            Ok(result) => question.elicitation.answer(result, &self.rules.limits),
            Err(why) => return acts.push(error(model::error(&why.to_string()))),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(unfit) => {
                let told = model::unfit(&unfit, self.rules.locale);
                return acts.push(error(told));
            }
        };
        let claim = model.told_in.clone();
        self.answered
            .remember(model.name.clone(), claim.clone(), How::Said(sent.digest));
        if let Some(question) = self.questions.remove(turn) {
            self.question_ended(now, question, Outcome::Answered(answer, BY), acts);
        }
        self.go_on(now, id, claim, members, acts);
    }

    /// The tool was called for a question that is over.
    fn send_again(
        &mut self,
        now: Instant,
        id: Id,
        members: &Members<'_>,
        sent: &ModelAnswer,
        acts: &mut Vec<Act>,
    ) {
        let ended = self.answered.find(&sent.elicit_id);
        let claim = ended.and_then(|ended| ended.told_in.clone());
        let key = match ended.map(|ended| &ended.how) {
            // Clients give up on that call too, and make it again.
            Some(How::Said(digest)) if *digest == sent.digest => {
                return self.go_on(now, id, claim, members, acts);
            }
            Some(How::Said(_)) => "mcp.elicitation.model.answered",
            Some(How::Otherwise(key)) => key,
            None => "mcp.elicitation.model.unknown",
        };
        let mut words = self.say(key);
        if let Some(claim) = claim {
            // The call went on without the answer.
            let params = [
                ("tool", self.tools.await_name().into()),
                ("claim", claim.reveal().into()),
            ];
            let collect = "mcp.elicitation.model.collect";
            words = format!("{words}. {}", self.rules.locale.say(collect, &params));
        }
        acts.push(Act::ToClient(Frame::result(&id, &model::error(&words))));
    }

    /// A call of a tool of ours waits for the result of another, or is told what came up in it.
    pub(super) fn join(
        &mut self,
        now: Instant,
        id: Id,
        claimed: Claimed,
        seconds: f64,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        let told = match claimed {
            Claimed::Kept(frame) => frame.with(&["id"], id.as_json()),
            Claimed::Unknown => Some(Frame::result(&id, &model::unknown_claim())),
            Claimed::Running(call) => {
                if let Some(turn) = self.to_be_told(&call) {
                    return self.tell_model(turn, &call, &id, acts);
                }
                self.calls.open(id.clone(), Wants::Ours, members, now);
                self.claims.wait(&call, id, seconds, now);
                None
            }
        };
        acts.extend(told.map(Act::ToClient));
    }

    /// Goes on with the call in which a question was told.
    fn go_on(
        &mut self,
        now: Instant,
        id: Id,
        told_in: Option<Token>,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        let claimed = told_in.map_or(Claimed::Unknown, |claim| {
            self.claims.find(claim.reveal(), now)
        });
        self.join(now, id, claimed, self.wait_seconds(), members, acts);
    }

    /// The oldest question for the model that came up in a call.
    fn to_be_told(&self, call: &Id) -> Option<Turn> {
        let claim = self.claims.of(call);
        let is_of = |question: &Question| match &question.at {
            At::Model(Model {
                told_in: Some(told_in),
                ..
            }) => claim.is_some_and(|claim| claim.is(told_in.reveal())),
            At::Model(_) => self.is_candidate(&question.calls, call),
            _ => false,
        };
        let mut questions = self.questions.iter();
        questions
            .find(|(_, question)| is_of(question))
            .map(|(turn, _)| turn)
    }
}

impl Answered {
    /// Remembers a question that ended without the model's doing.
    pub fn ended(&mut self, model: &Model, outcome: &Outcome) {
        let how = match outcome {
            Outcome::Answered(..) => return,
            Outcome::TimedOut => How::Otherwise("mcp.elicitation.model.timed_out"),
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => {
                How::Otherwise("mcp.elicitation.model.withdrawn")
            }
        };
        self.remember(model.name.clone(), model.told_in.clone(), how);
    }

    fn remember(&mut self, name: Token, told_in: Option<Token>, how: How) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(Ended { name, told_in, how });
    }

    fn find(&self, name: &str) -> Option<&Ended> {
        self.0.iter().find(|ended| ended.name.is(name))
    }
}
