//! Questions that the client or its model is asked, and does not answer in time.
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

    /// Ends questions that were not answered in time.
    pub(super) fn lapse(&mut self, now: Instant, acts: &mut Vec<Act>) {
        for turn in self.questions.late(now) {
            match self.questions.get(turn).map(|question| &question.at) {
                Some(At::Client { .. }) => {
                    self.end_at_client(now, turn, Outcome::TimedOut, acts);
                }
                _ => {
                    if let Some(question) = self.questions.remove(turn) {
                        self.question_ended(now, question, Outcome::TimedOut, acts);
                    }
                }
            }
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
