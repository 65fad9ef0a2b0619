//! The client answers a question: in a response, or in a call that it repeats.

use crate::moment::Moment;
use midcall_desk::{Outcome, Unavailable};

use super::settle::Settled;
use super::{Out, Session};
use crate::call::QuestionId;
use crate::frame::{Frame, Id, Members};
use crate::leg::client::legacy;
use crate::route::Route;

impl Session {
    /// The client answers a question that it got in a request.
    pub(super) fn heard(
        &mut self,
        now: Moment,
        id: QuestionId,
        frame: &Frame,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let Some(question) = self.ledger.questions.remove(id) else {
            return;
        };
        if question.may_be_task
            && let Some(task) = legacy::made_task(members)
        {
            return self.made_task(question, task, frame, out);
        }
        let settled = match question.hear(now, frame, &self.setup.limits) {
            Ok(response) => Settled::Response(response),
            Err(refused) => Settled::Response(refused.frame(&Id::from(0))),
        };
        self.take(now, question, members, settled, out);
    }

    /// The client answers a question that it got in a call's result; false if it has to be asked again.
    pub(super) fn heard_in_round(
        &mut self,
        now: Moment,
        id: QuestionId,
        response: &str,
        out: Out<'_>,
    ) -> bool {
        let frame = Frame::raw_result(&Id::from(0), response);
        let Some((_, members)) = frame.peek() else {
            return false;
        };
        let Some(question) = self.ledger.questions.get(id) else {
            return true;
        };
        let Ok(heard) = question.hear(now, &frame, &self.setup.limits) else {
            return false;
        };
        if let Some(question) = self.ledger.questions.remove(id) {
            self.take(now, question, &members, Settled::Response(heard), out);
        }
        true
    }

    /// Takes a client's answer, unless it came before a person can have read the question.
    fn take(
        &mut self,
        now: Moment,
        question: crate::call::Question,
        members: &Members<'_>,
        settled: Settled,
        out: Out<'_>,
    ) {
        let approves = self
            .setup
            .profile
            .as_ref()
            .is_some_and(|profile| profile.approves);
        let nobody = Settled::Ended(Outcome::Unavailable(Unavailable::NoRoute));
        let is_servers = question.wanted_by.is_server();
        let mut question = question;
        if question.is_unattended(now, members.result, approves) {
            tracing::warn!("the client answered at once: it has not asked anybody");
            if let Some(elicitation) = question.elicitation() {
                let plan = self.plan(elicitation, question.origin);
                let left = question.told_in_round().map(|(call, _)| call);
                question.others = plan.routes.clone().without(Route::Client);
                if !is_servers {
                    // A model can't agree for a person to what a model wants to do.
                    question.others = question.others.without(Route::Model);
                }
                question = match self.place(now, question, &plan, None, out) {
                    Ok(_) => return left.into_iter().for_each(|call| self.left_round(now, call)),
                    Err(question) => *question,
                };
            }
            if !is_servers {
                return self.settle(now, question, nobody, out);
            }
        }
        let settled = match is_servers {
            true => settled,
            false => match settled {
                Settled::Response(told)
                    if told.peek().is_some_and(|(_, it)| it.result.is_some()) =>
                {
                    question
                        .said(now, members, &self.setup.limits)
                        .map_or(nobody, Settled::Ended)
                }
                _ => nobody,
            },
        };
        self.settle(now, question, settled, out);
    }
}
