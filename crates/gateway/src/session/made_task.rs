//! A client makes a task of a question (2025-11-25): its answer comes when the server fetches it.
//!
//! Only a client does so that declared it, and that gets every question, because its server is told of that. Everybody
//! else is asked without a task, which the specification wants of receivers that know none.

use midcall_core::wire::code;

use super::ask::ServerRequest;
use super::settle::Settled;
use super::{Out, Output, Session};
use crate::call::{AtClient, MadeTask, Place, Question, ServerId, TellBy, WantedBy};
use crate::frame::{Frame, Members};
use crate::leg::server::legacy;
use crate::moment::Moment;

impl Session {
    /// True if the client may make a task of a question.
    pub(super) fn may_be_task(&self, wanted_by: &WantedBy) -> bool {
        let is_first = matches!(wanted_by, WantedBy::Request(ServerId::First, _));
        let makes_tasks =
            self.client.told == TellBy::Requests && self.client.declared().makes_tasks;
        is_first && makes_tasks && !self.servers.first.facts.has_rounds()
    }

    /// The client has made a task of a question, which has left the ledger. Its server is told what that is called.
    pub(super) fn made_task(
        &mut self,
        question: Question,
        task: String,
        frame: &Frame,
        out: Out<'_>,
    ) {
        let WantedBy::Request(server, id) = question.wanted_by else {
            return;
        };
        let Place::Client {
            since, rendition, ..
        } = question.place
        else {
            return;
        };
        let made = MadeTask {
            what: question.what,
            since,
            until: question.deadline,
            rendition,
        };
        self.ledger.tasks.add(task, made);
        out.push(Output::ToServer(server, frame.with_id(&id)));
    }

    /// A server wants the result of a task of the client; false if it isn't a question's. The client is asked for it as
    /// it was for the answer, so that it is checked like one.
    pub(super) fn fetches_answer(
        &mut self,
        now: Moment,
        request: &ServerRequest<'_>,
        members: &Members<'_>,
        out: Out<'_>,
    ) -> bool {
        let wanted_by = WantedBy::Request(request.from, request.id.clone());
        let task = legacy::named_task(members);
        let Some(made) = task.and_then(|task| self.ledger.tasks.fetch(&task)) else {
            if self.ledger.tasks.has_forgotten() {
                let why = "this task isn't known any more".to_owned();
                let refused = Settled::Refused(code::INVALID_PARAMS, why);
                self.turn_away(now, wanted_by, refused, out);
            }
            return self.ledger.tasks.has_forgotten();
        };
        if let Err(settled) = self.admits(request.from, &request.id) {
            self.turn_away(now, wanted_by, settled, out);
            return true;
        }
        let (told, id) = self.for_client(request.frame, request.id.clone());
        out.push(self.to_client(request.origin.only(), told));
        let place = Place::Client {
            at: AtClient::Request(id),
            since: made.since,
            rendition: made.rendition,
        };
        let deadline = now + self.setup.patience();
        let question = Question::new(made.what, wanted_by, request.origin, place, deadline);
        self.ledger.questions.add(question);
        true
    }
}
