//! Letting go of calls that are older than their client may bear.
//!
//! Only while a question waits at the desk, and only for clients that do not know of it: one
//! that asks by itself knows why it waits.

use midcall_core::model::WAIT_SECONDS;
use midcall_core::wire::code;
use serde_json::Value;
use tokio::time::Instant;

use super::calls::Wants;
use super::{Act, Confirm, Session};
use crate::claim::Waiting;
use crate::claim::tools::Added;
use crate::frame::{Frame, Id, Members};

impl Session {
    /// Whether the client may have to be told to wait.
    fn may_let_go(&self) -> bool {
        !self.in_rounds && self.rules.hold.is_some() && self.leaves_some()
    }

    /// The tools that the client is shown besides the server's.
    pub(super) fn added_tools(&self) -> Added {
        let send = self.needs_model();
        Added {
            await_: send || self.may_let_go(),
            send,
            wait: self.wait_seconds(),
        }
    }

    /// How long a call of one of them waits. A client that is let go early gives up early.
    pub(super) fn wait_seconds(&self) -> f64 {
        let hold = self.rules.hold.map(|hold| hold.as_secs_f64());
        hold.map_or(WAIT_SECONDS, |hold| hold.clamp(1.0, WAIT_SECONDS))
    }

    /// Whether it matters what tools there are.
    pub(super) fn reads_tools(&self) -> bool {
        self.added_tools().await_
            || self.server.runs_tasks
            || self.rules.confirm == Confirm::Destructive
            || self.rules.policy.confirms()
    }

    /// When the next call is let go.
    pub(super) fn lets_go_at(&self) -> Option<Instant> {
        let hold = self.rules.hold?;
        let since = self.calls.oldest()?;
        let may = self.somebody_thinks() && self.may_let_go() && self.claims.has_room();
        may.then(|| since + hold)
    }

    /// Lets calls go that are too old, and tells those who collect them that it takes longer.
    pub(super) fn let_go(&mut self, now: Instant, acts: &mut Vec<Act>) {
        if self.lets_go_at().is_some_and(|at| at <= now)
            && let Some(hold) = self.rules.hold
        {
            for (id, wants) in self.calls.older(hold, now) {
                if self.claims.has_room() {
                    self.let_one_go(id, wants, acts);
                }
            }
        }
        if self.claims.wakes_at().is_some_and(|at| at <= now) {
            let (words, waiting) = self.waiting();
            let told = self.claims.woke(now, &words, &waiting);
            self.collected(told, acts);
        }
    }

    fn let_one_go(&mut self, id: Id, wants: Wants, acts: &mut Vec<Act>) {
        let Some(closed) = self.calls.close(&id) else {
            return;
        };
        let told = if wants == Wants::Tool {
            let claim = self.claims.let_go(id.clone(), closed);
            let (words, waiting) = self.waiting();
            Frame::result(&id, &waiting.result(claim.reveal(), &words))
        } else {
            let words = self.waiting_words("mcp.elicitation.wait.elsewhere");
            self.claims.abandon(id.clone(), closed);
            Frame::error(Some(&id), code::INTERNAL_ERROR, &words)
        };
        acts.push(Act::ToClient(told));
    }

    /// Whether a call is one of the tool that collects results.
    pub(super) fn is_claim(&self, members: &Members<'_>) -> bool {
        self.added_tools().await_ && self.tools.is_await(members.name)
    }

    /// A call of that tool.
    pub(super) fn collect(
        &mut self,
        now: Instant,
        id: Id,
        members: &Members<'_>,
        acts: &mut Vec<Act>,
    ) {
        let params = members.params;
        let params = params.and_then(|params| serde_json::from_slice::<Value>(params).ok());
        let arguments = params.as_ref().map(|params| &params["arguments"]);
        let arguments = arguments.unwrap_or(&Value::Null);
        let claim = arguments["claim"].as_str().unwrap_or_default();
        let seconds = arguments["waitSeconds"].as_f64();
        let claimed = self.claims.find(claim, now);
        self.join(
            now,
            id,
            claimed,
            seconds.unwrap_or_else(|| self.wait_seconds()),
            members,
            acts,
        );
    }

    /// Calls of the added tools are answered.
    pub(super) fn collected(&mut self, told: Vec<(Id, Frame)>, acts: &mut Vec<Act>) {
        for (id, frame) in told {
            self.calls.close(&id);
            acts.push(Act::ToClient(frame));
        }
    }

    /// What is told to a client that waits for a result.
    fn waiting(&mut self) -> (String, Waiting) {
        let mut questions = self.questions.iter();
        let person_thinks =
            questions.any(|(_, question)| question.waits() && question.is_at_desk());
        drop(questions);
        if person_thinks {
            let words = self.waiting_words("mcp.elicitation.wait.claim");
            (words, self.waiting.clone())
        } else {
            let words = self.waiting_words("mcp.elicitation.wait.running");
            (words, Waiting::default())
        }
    }

    fn waiting_words(&mut self, key: &str) -> String {
        let tool = self.tools.await_name();
        let page = self.waiting.page.as_deref().unwrap_or_default();
        let server = self.server.asker.server.as_str();
        let params = [
            ("server", server.into()),
            ("page", page.into()),
            ("tool", tool.into()),
        ];
        self.rules.locale.say(key, &params)
    }
}
