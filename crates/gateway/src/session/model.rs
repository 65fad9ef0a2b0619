//! Questions that a model is told to ask the person.
//!
//! The call in which one comes up is parked: the model gets a result that says what to ask, and the server never notices.
//! The model answers with the added tool, and gets the result of the call, or the next question. What it says isn't taken
//! for a human's word.

use crate::moment::Moment;
use midcall_core::model::{
    self, AddedTool, ModelAnswer, Pending, QuestionFacts, ToolHints, ToolList,
};
use midcall_core::wire::Modes;
use midcall_desk::{By, Outcome, Route};

use super::save::Held;
use super::settle::Settled;
use super::{Out, Output, Session};
use crate::call::{
    CallId, CallKind, Called, EndedQuestion, How, Name, Named, Place, Question, QuestionId, Waiter,
};
use crate::frame::{Frame, Id, Members};
use crate::route::Plan;

const BY: By = By {
    route: Route::Model,
    human: false,
};

impl Session {
    /// Whether a model may ask it, and there is a call to tell it in. None if that depends on tools of which no list has
    /// passed by.
    pub(super) fn model_may(&self, question: &Question, plan: &Plan) -> Option<bool> {
        let Some(elicitation) = question.elicitation() else {
            return Some(false);
        };
        let calls = &self.ledger.calls;
        if calls.tellable(question.origin).is_none() {
            return Some(false);
        }
        let facts = QuestionFacts::from(elicitation);
        let may = |hints: &[ToolHints]| {
            model::may_ask(facts, hints.iter().copied(), plan.model_may_confirm).is_ok()
        };
        if self
            .servers
            .get(self.server_of(question))
            .listing
            .is_known()
        {
            let tools = calls.tools(question.origin);
            let hints: Vec<_> = tools.map(|(tool, _)| self.tools.hints(tool)).collect();
            return Some(may(&hints));
        }
        let destroys = ToolHints {
            destructive: Some(true),
            ..ToolHints::default()
        };
        // Whatever the tools say, or only if none of them says that it destroys something.
        match (may(&[destroys]), may(&[])) {
            (true, _) => Some(true),
            (false, false) => Some(false),
            (false, true) => None,
        }
    }

    /// Tells the model what to ask, in a call that is open, or in the next that is.
    pub(super) fn ask_model(
        &mut self,
        _now: Moment,
        mut question: Question,
        out: Out<'_>,
    ) -> QuestionId {
        let (token, name) = Name::mint();
        question.place = Place::Model {
            name,
            told_in: None,
            token: Some(token),
        };
        let origin = question.origin;
        let id = self.ledger.questions.add(question);
        let calls = &self.ledger.calls;
        let collector = calls.collected(origin).and_then(|id| {
            let waiters = calls.get(id)?.audience.waiters();
            let collector = waiters.iter().find(|waiter| waiter.until.is_some())?;
            Some((id, collector.clone()))
        });
        let maker = || {
            let id = calls.awaited(origin)?;
            Some((id, calls.get(id)?.audience.maker()?.clone()))
        };
        if let Some((call, waiter)) = collector.or_else(maker) {
            self.ledger
                .calls
                .change(call, |call| call.audience.leave(&waiter.id));
            self.tell_model(id, call, waiter, out);
        }
        id
    }

    /// Answers a request with a question that came up in a call.
    pub(super) fn tell_model(
        &mut self,
        id: QuestionId,
        call: CallId,
        answered: Waiter,
        out: Out<'_>,
    ) {
        self.ledger
            .calls
            .change(call, |call| call.audience.expect());
        let tool = self.tools.send_name();
        let is_structured = self.may_be_structured(call);
        let locale = self.setup.locale;
        let told = self.ledger.questions.change(id, |question| {
            let Place::Model {
                told_in,
                token,
                name,
            } = &mut question.place
            else {
                return None;
            };
            *told_in = Some(call);
            let token = token.get_or_insert_with(|| {
                let (token, minted) = Name::mint();
                *name = minted;
                token
            });
            let token = token.clone();
            let mut told = Pending::of(question.elicitation()?, token.reveal(), &tool);
            told.is_structured = is_structured;
            Some(Frame::result(&answered.id, &told.result(locale)))
        });
        if let Some(told) = told.flatten() {
            let told = Output::ToClient(self.replied(told));
            self.tells(call, told, Held::Name(answered), out);
        }
    }

    /// Answers a call of one of the added tools; false if it is the server's.
    pub(super) fn is_added(
        &mut self,
        now: Moment,
        id: &Id,
        modes: Option<Modes>,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        let called = self.tools.called(members.name);
        if called == Called::Theirs {
            return false;
        }
        let added = self.added_tools(modes);
        match called {
            Called::Ours(AddedTool::Await) if added.await_ || self.has_claimed(members) => {
                self.collects(now, id.clone(), members, out);
            }
            Called::Either(AddedTool::Await) if added.await_ && self.has_claimed(members) => {
                self.collects(now, id.clone(), members, out);
            }
            Called::Ours(AddedTool::Send) if added.send || self.has_asked(members) => {
                self.model_answers(now, id.clone(), members, out);
            }
            Called::Either(AddedTool::Send) if added.send && self.has_asked(members) => {
                self.model_answers(now, id.clone(), members, out);
            }
            _ => return false,
        }
        true
    }

    /// True if a call answers a question that the model was told to ask.
    pub(super) fn has_asked(&self, members: &Members<'_>) -> bool {
        let sent = super::tools::model_answer(members.params);
        let name = Name::of(&sent.elicit_id);
        self.ledger.questions.named(name).is_some() || self.ledger.ended.find(name).is_some()
    }

    /// A call of the tool that answers for the person.
    pub(super) fn model_answers(
        &mut self,
        now: Moment,
        id: Id,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let sent = super::tools::model_answer(members.params);
        let name = Name::of(&sent.elicit_id);
        let question_id = match self.ledger.named(name) {
            Some(Named::Question(question)) => question,
            _ => return self.model_answers_late(now, id, members, &sent, out),
        };
        let question = self.ledger.questions.get(question_id);
        let Some(elicitation) = question.and_then(Question::elicitation) else {
            return;
        };
        let answer = match sent.result {
            Ok(result) => elicitation.answer(result, &self.setup.limits),
            Err(why) => {
                return self.reply(Frame::result(&id, &model::error(&why.to_string())), out);
            }
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(unfit) => {
                let told = model::unfit(&unfit, self.setup.locale);
                return self.reply(Frame::result(&id, &told), out);
            }
        };
        let Some(question) = self.ledger.questions.remove(question_id) else {
            return;
        };
        let told_in = match question.place {
            Place::Model { told_in, .. } => told_in,
            Place::Client { .. } | Place::Desk(_) | Place::Undecided => None,
        };
        let how = How::Answered(sent.digest);
        self.ledger.ended.add(EndedQuestion { name, told_in, how });
        self.settle(
            now,
            question,
            Settled::Ended(Outcome::Answered(answer, BY)),
            out,
        );
        self.joins(
            told_in,
            self.collector(now, id, self.wait_seconds(), members),
            out,
        );
    }

    /// The tool was called for a question that is over.
    fn model_answers_late(
        &mut self,
        now: Moment,
        id: Id,
        members: &Members<'_>,
        sent: &ModelAnswer,
        out: Out<'_>,
    ) {
        let ended = self.ledger.ended.find(Name::of(&sent.elicit_id));
        let told_in = ended.and_then(|ended| ended.told_in);
        let key = match ended.map(|ended| &ended.how) {
            // Clients give up on that call too, and make it again.
            Some(How::Answered(digest)) if *digest == sent.digest => {
                return self.joins(
                    told_in,
                    self.collector(now, id, self.wait_seconds(), members),
                    out,
                );
            }
            Some(How::Answered(_)) => "mcp.elicitation.model.answered",
            Some(How::Otherwise(key)) => key,
            None => "mcp.elicitation.model.unknown",
        };
        let mut words = self.say(key);
        if let Some(call) = told_in {
            // The call went on without the answer.
            let claim = self.gives_claim(call);
            let tool = self.tools.await_name();
            let params = [
                ("tool", tool.as_ref().into()),
                ("claim", claim.as_str().into()),
            ];
            let collect = "mcp.elicitation.model.collect";
            words = format!("{words}. {}", self.setup.locale.say(collect, &params));
        }
        let told = Output::ToClient(self.replied(Frame::result(&id, &model::error(&words))));
        match told_in {
            Some(call) => {
                let is_guest = self.client.hears_guest;
                self.tells(call, told, Held::Result { is_guest }, out);
            }
            None => out.push(told),
        }
    }

    /// The oldest question for the model that came up in a call.
    pub(super) fn to_be_told(&self, call: CallId) -> Option<QuestionId> {
        let server = self.ledger.calls.get(call)?.server;
        let questions = &self.ledger.questions;
        questions.to_be_told(call, server, self.is_shared)
    }

    /// True if the tool of a call may promise structured content.
    pub(super) fn may_be_structured(&self, call: CallId) -> bool {
        let request = self.ledger.calls.get(call).map(|call| &call.request);
        let tool = request.filter(|request| request.kind == CallKind::Tool);
        tool.is_some_and(|request| self.tools.may_be_structured(request.name.as_deref()))
    }

    /// A list of tools as the client is shown it, if that differs.
    pub(super) fn listed(&mut self, id: CallId, response: &Frame) -> Option<Frame> {
        let modes = self
            .ledger
            .calls
            .get(id)
            .map(|call| self.declared(call).modes);
        let added = self.added_tools(modes);
        let (_, members) = response.peek()?;
        let list = ToolList::read(members.result?)?;
        self.tools.learn(&list);
        if list.is_last() {
            let server = self.ledger.calls.get(id)?.server;
            self.servers.get_mut(server).listing.has_passed();
        }
        self.tools.listed(response, list, added)
    }
}
