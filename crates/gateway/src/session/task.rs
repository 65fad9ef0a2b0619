//! Calls that a modern server makes tasks of, for a client that knows nothing of tasks.
//!
//! The task is asked again and again how far it is. What it needs is asked once however often the task names it, and
//! every answer is sent at once. Its result is that of the call.

use std::collections::HashSet;

use crate::moment::Moment;
use midcall_core::wire::code;
use midcall_desk::Withdrawn;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ask::MOST_QUESTIONS;
use super::save::Held;
use super::{Out, Output, Session};
use crate::call::{CallId, Happened, MOST_MISSES, QuestionId, Stage, Task, Update, WantedBy};
use crate::frame::{Frame, Id, Members};
use crate::leg::server::legacy;
use crate::leg::server::modern::{self, TaskTold};

impl Session {
    /// The server makes a task of a call.
    pub(super) fn task(&mut self, now: Moment, id: CallId, told: &TaskTold, _out: Out<'_>) {
        let task = Task::new(now, told.task_id.clone(), told.poll_interval_ms);
        self.ledger
            .calls
            .change(id, |call| call.on(now, Happened::Task(task)));
    }

    /// Asks how far a task is.
    pub(super) fn poll(&mut self, id: CallId, out: Out<'_>) {
        let own = self.own_ids.fresh();
        let Some(frame) = self.about_task(id, |facts, call, task, offer| {
            modern::poll(facts, call, &own, task, offer)
        }) else {
            return;
        };
        let Some(at) = self.ledger.calls.get(id).map(|call| call.server) else {
            return;
        };
        out.push(Output::ToServer(at, frame));
        self.ledger.calls.change(id, |call| {
            if let Some(task) = call.task_mut() {
                task.poll_at = None;
                task.polling = Some(own);
            }
        });
    }

    /// Sends a task the answers that there are.
    pub(super) fn update(&mut self, id: CallId, out: Out<'_>) {
        let answers = self
            .ledger
            .calls
            .change(id, |call| std::mem::take(&mut call.rounds_mut().answers));
        let Some(answers) = answers.filter(|answers| !answers.is_empty()) else {
            return;
        };
        let own = self.own_ids.fresh();
        self.send_update(
            id,
            Update {
                id: own,
                answers,
                misses: 0,
            },
            out,
        );
    }

    fn send_update(&mut self, id: CallId, update: Update, out: Out<'_>) {
        let frame = self.about_task(id, |facts, call, task, offer| {
            modern::update(facts, call, &update.id, task, &update.answers, offer)
        });
        let Some(at) = self.ledger.calls.get(id).map(|call| call.server) else {
            return;
        };
        if let Some(frame) = frame {
            self.tells(id, Output::ToServer(at, frame), Held::Server, out);
            self.answers_sent(id, out);
        }
        self.ledger.calls.change(id, |call| {
            if let Some(task) = call.task_mut() {
                task.updates.push(update);
            }
        });
    }

    /// A request about the task of a call.
    fn about_task(
        &self,
        id: CallId,
        write: impl FnOnce(
            &crate::leg::server::ServerFacts,
            &Frame,
            &str,
            &crate::leg::server::Offer<'_>,
        ) -> Frame,
    ) -> Option<Frame> {
        let call = self.ledger.calls.get(id)?;
        let Stage::Task(task) = call.stage() else {
            return None;
        };
        let facts = &self.servers.get(call.server).facts;
        Some(write(
            facts,
            call.request.bytes.as_ref()?,
            &task.id,
            &self.offer(call),
        ))
    }

    /// Ends the task of a call that nobody waits for.
    pub(super) fn end_task(&mut self, id: CallId, out: Out<'_>) {
        let own = self.own_ids.fresh();
        let end = self.about_task(id, |facts, call, task, offer| {
            modern::end_task(facts, call, &own, task, offer)
        });
        let at = self.ledger.calls.get(id).map(|call| call.server);
        out.extend(end.zip(at).map(|(end, at)| Output::ToServer(at, end)));
    }

    /// The server answers what it was asked or told about a task.
    pub(super) fn told_of_task(
        &mut self,
        now: Moment,
        id: CallId,
        at: &Id,
        members: &Members<'_>,
        out: Out<'_>,
    ) {
        let update = self.ledger.calls.change(id, |call| {
            let task = call.task_mut()?;
            if task.polling.as_ref() == Some(at) {
                task.polling = None;
                return None;
            }
            let place = task.updates.iter().position(|update| update.id == *at)?;
            Some(task.updates.remove(place))
        });
        let update = update.flatten();
        if let Some(error) = members.error {
            let error: Value = serde_json::from_slice(error).unwrap_or_default();
            return self.missed(now, id, update, &error, out);
        }
        if update.is_some() {
            // Each update has answers of its own, and the server may still refuse another.
            let is_last =
                |stage: &Stage| matches!(stage, Stage::Task(task) if task.updates.is_empty());
            let stage = self.ledger.calls.get(id).map(|call| call.stage());
            if stage.is_some_and(is_last) {
                self.answers_arrived(id, out);
            }
            return;
        }
        let told = members.result.map(serde_json::from_slice::<TaskTold>);
        let Some(Ok(told)) = told else {
            return self.fail(now, id, "midcall: the server's task cannot be read", out);
        };
        match &*told.status {
            "completed" => {
                let result = told.result.as_deref().map_or("{}", RawValue::get);
                self.finish(now, id, Frame::raw_result(&Id::from(0), result), out);
            }
            "failed" => {
                let error = told
                    .error
                    .unwrap_or_else(|| refused("the server's task failed"));
                self.finish(now, id, error_frame(&error), out);
            }
            "cancelled" => {
                let error = refused("the server took its task back");
                self.finish(now, id, error_frame(&error), out);
            }
            _ => self.goes_on(now, id, told, out),
        }
    }

    /// The server didn't say how far a task is, or didn't take answers. It may just not have been reached, and answers
    /// that it has already aren't counted twice.
    fn missed(
        &mut self,
        now: Moment,
        id: CallId,
        update: Option<Update>,
        error: &Value,
        out: Out<'_>,
    ) {
        let may_pass = error["code"] == code::INTERNAL_ERROR;
        match update {
            Some(update) if may_pass && update.misses < MOST_MISSES => {
                let misses = update.misses + 1;
                let again = Update {
                    id: self.own_ids.fresh(),
                    misses,
                    ..update
                };
                return self.send_update(id, again, out);
            }
            Some(_) => {}
            None => {
                let waits = self.ledger.calls.change(id, |call| {
                    let task = call
                        .task_mut()
                        .filter(|task| may_pass && task.misses < MOST_MISSES)?;
                    task.misses += 1;
                    task.poll_at = Some(now + task.pause);
                    Some(())
                });
                if waits.flatten().is_some() {
                    return;
                }
            }
        }
        self.fail_with(now, id, error_frame(error), out);
    }

    /// A task needs answers, or time.
    fn goes_on(&mut self, now: Moment, id: CallId, told: TaskTold, out: Out<'_>) {
        let mut wanted = told.input_requests.unwrap_or_else(|| json!({}));
        let keys: HashSet<String> = wanted
            .as_object()
            .into_iter()
            .flat_map(|it| it.keys().cloned())
            .collect();
        for question in self.unwanted(id, &keys) {
            self.drop_question(question, Withdrawn::ByServer, out);
            self.left_round(now, id);
        }
        self.ledger.calls.change(id, |call| {
            if let Some(task) = call.task_mut() {
                task.goes_on(now, told.poll_interval_ms);
                if let Some(wanted) = wanted.as_object_mut() {
                    wanted.retain(|key, _| task.asked.insert(key.clone()));
                }
            }
        });
        let again = self.ledger.calls.change(id, |call| {
            let task = call.task_mut()?;
            let again = task.take_unsure(|key| keys.contains(key));
            (!again.is_empty()).then(|| call.rounds_mut().answers.extend(again))
        });
        if again.flatten().is_some() {
            self.update(id, out);
        }
        if wanted.as_object().is_some_and(|wanted| wanted.is_empty()) {
            return;
        }
        match modern::task_round(wanted) {
            Ok(round) => {
                let (wants, again) = self.wants(id, round);
                if self.ledger.questions.len() + wants.len() + again.len() > MOST_QUESTIONS {
                    return self.fail(now, id, "midcall: the server asks too much at once", out);
                }
                let happened = Happened::Round {
                    state: None,
                    asks: wants.len(),
                    again,
                };
                let todo = self.ledger.calls.change(id, |call| call.on(now, happened));
                self.renews_links(id, out);
                self.ask_each(now, id, wants, out);
                self.does(now, id, todo, out); // Some may need nobody.
            }
            Err(why) => self.fail(now, id, &format!("midcall: {why}"), out),
        }
    }

    /// The questions of a task that it doesn't want to know any more.
    fn unwanted(&self, call: CallId, keys: &HashSet<String>) -> Vec<QuestionId> {
        let questions = &self.ledger.questions;
        let is_unwanted = |id: &QuestionId| match questions.get(*id).map(|it| &it.wanted_by) {
            Some(WantedBy::Round(of, key)) => *of == call && !keys.contains(key),
            _ => false,
        };
        questions
            .of_call(call)
            .into_iter()
            .filter(is_unwanted)
            .collect()
    }

    /// True if it is news of a task of 2025-11-25 that the client knows nothing of.
    pub(super) fn is_own_task(&self, members: &Members<'_>) -> bool {
        let task = legacy::named_task(members);
        task.is_some_and(|task| self.ledger.calls.runs_task(&task))
    }
}

fn refused(why: &str) -> Value {
    json!({"code": code::INTERNAL_ERROR, "message": format!("midcall: {why}")})
}

fn error_frame(error: &Value) -> Frame {
    Frame::write(&json!({"jsonrpc": "2.0", "id": null, "error": error}))
}
