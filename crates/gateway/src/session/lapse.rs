//! Questions that the client is asked, and does not answer in time.
//!
//! Between two peers of the legacy era that is the server's own business: it asked, and it has
//! patience of its own. Who asks by a result has none, nor can a client be told there that its
//! time is over; and what the gateway itself asks, nobody else ends.

use std::time::Duration;

use midcall_core::Elicitation;
use midcall_desk::Outcome;
use tokio::time::Instant;

use super::question::{At, WantedBy};
use super::questions::Turn;
use super::{Act, Session};
use crate::frame::Frame;

/// How many questions are remembered that ended so.
const REMEMBERED: usize = 10_000;

/// What a server may want its question to wait at most.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Session {
    /// From now on, questions that the client does not answer in time end here.
    pub fn keep_time(&mut self) {
        self.keeps_time = true;
    }

    /// How long a question waits.
    pub(super) fn patience(&self, elicitation: &Elicitation) -> Duration {
        let wanted = elicitation.timeout_ms.map(Duration::from_millis);
        wanted.unwrap_or(self.rules.patience).min(LONGEST)
    }

    /// Until when the client may answer, if that ends here.
    pub(super) fn client_until(
        &self,
        now: Instant,
        elicitation: &Elicitation,
        wanted_by: &WantedBy,
    ) -> Option<Instant> {
        let is_ours = !matches!(wanted_by, WantedBy::Server(_));
        (self.keeps_time || is_ours).then(|| now + self.patience(elicitation))
    }

    /// When the next question to the client ends by itself.
    pub(super) fn client_lapses_at(&self) -> Option<Instant> {
        let questions = self.questions.iter();
        let times = questions.filter_map(|(_, question)| match question.at {
            At::Client { until, .. } => until,
            _ => None,
        });
        times.min()
    }

    /// Ends questions that the client did not answer in time.
    pub(super) fn client_lapses(&mut self, now: Instant, acts: &mut Vec<Act>) {
        if self.client_lapses_at().is_none_or(|at| at > now) {
            return;
        }
        let is_late =
            |at: &At| matches!(at, At::Client { until: Some(until), .. } if *until <= now);
        let questions = self.questions.iter();
        let late = questions.filter(|(_, question)| is_late(&question.at));
        let late: Vec<Turn> = late.map(|(turn, _)| turn).collect();
        for turn in late {
            if let Some(id) = self.questions.id(turn) {
                acts.push(Act::ToClient(Frame::cancelled(id)));
                if self.lapsed.len() < REMEMBERED {
                    self.lapsed.insert(id.clone());
                }
            }
            if let Some(question) = self.questions.remove(turn) {
                self.question_ended(now, question, Outcome::TimedOut, acts);
            }
        }
    }
}
