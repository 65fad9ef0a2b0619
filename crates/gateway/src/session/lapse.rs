//! Questions that the client is asked, and does not answer in time.
//!
//! Every question has a deadline, so that none takes a place for ever. Servers may have less patience of their own.

use std::time::Duration;

use midcall_core::Elicitation;
use midcall_desk::Outcome;
use tokio::time::Instant;

use super::question::At;
use super::questions::Turn;
use super::{Act, Session};
use crate::frame::Frame;

/// What a server may want its question to wait at most.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Session {
    /// How long a question waits.
    pub(super) fn patience(&self, elicitation: &Elicitation) -> Duration {
        let wanted = elicitation.timeout_ms.map(Duration::from_millis);
        wanted.unwrap_or(self.rules.patience).min(LONGEST)
    }

    /// When the next question to the client ends by itself.
    pub(super) fn client_lapses_at(&self) -> Option<Instant> {
        let questions = self.questions.iter();
        let times = questions.filter_map(|(_, question)| match question.at {
            At::Client { until, .. } => Some(until),
            _ => None,
        });
        times.min()
    }

    /// Ends questions that the client did not answer in time.
    pub(super) fn client_lapses(&mut self, now: Instant, acts: &mut Vec<Act>) {
        if self.client_lapses_at().is_none_or(|at| at > now) {
            return;
        }
        let is_late = |at: &At| matches!(at, At::Client { until, .. } if *until <= now);
        let questions = self.questions.iter();
        let late = questions.filter(|(_, question)| is_late(&question.at));
        let late: Vec<Turn> = late.map(|(turn, _)| turn).collect();
        for turn in late {
            self.end_at_client(now, turn, Outcome::TimedOut, acts);
        }
    }

    /// Ends a question that the client is asked. What it still answers counts no more.
    pub(super) fn end_at_client(
        &mut self,
        now: Instant,
        turn: Turn,
        outcome: Outcome,
        acts: &mut Vec<Act>,
    ) {
        if let Some(id) = self.questions.id(turn) {
            acts.push(Act::ToClient(Frame::cancelled(id)));
        }
        if let Some(question) = self.questions.remove(turn) {
            self.question_ended(now, question, outcome, acts);
        }
    }
}
