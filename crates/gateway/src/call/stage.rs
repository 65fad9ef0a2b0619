//! Where the work on a call is, and what may happen to it there.
//!
//! [`Call::on`] is a table, and the only code that changes a stage.

use std::time::Duration;

use crate::moment::Moment;
use midcall_core::wire::RequestState;
use serde_json::Value;

use super::rounds::{Answers, MOST_PAUSES, MOST_ROUNDS};
use super::task::Raw;
use super::{Call, LegacyTask, Rounds, Task};
use crate::frame::{Frame, Id};

/// How long a server may take to say that a call which was taken back is a task by now.
const TASK_STARTS: Duration = Duration::from_secs(10 * 60);

/// Where the work on a call is.
pub enum Stage {
    /// A person must approve the call first. No server has seen it.
    Confirming,
    /// Its server isn't open yet.
    Queued,
    AtServer(Sent),
    /// The server has answered with questions, or with the error that names links: `left` of them have no answer.
    Asking {
        left: usize,
        error: Option<Frame>,
    },
    /// The server only wants the call again, at this time.
    Paused(Moment),
    /// The server makes a task of it (2026-07-28).
    Task(Task),
    /// It was taken back. Until then, the server may still say that it has made a task of it.
    Cancelled {
        sent: Sent,
        until: Moment,
    },
    /// It is over. The result is kept while somebody may come for it.
    Done {
        result: Frame,
        until: Moment,
    },
}

/// A call as the server has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// The id that the server knows it by.
    pub id: Id,
    /// True if it was sent before, under another id.
    pub is_again: bool,
    /// What Midcall makes of it, if its tool can only be called as a task (2025-11-25).
    pub task: Option<LegacyTask>,
}

/// What happens to a call.
pub enum Happened {
    /// A person approved it, or its server is open now.
    Ready,
    Sent(Sent),
    /// The server needs so many answers before it can go on.
    Round {
        state: Option<RequestState>,
        asks: usize,
        answered: Answers,
    },
    /// The server needs so many links followed.
    Links {
        asks: usize,
        error: Frame,
    },
    /// The server can do it in the other era only.
    WrongEra,
    /// The server makes a task of it (2026-07-28).
    Task(Task),
    /// A question of a round or a task has its answer.
    Answered {
        key: String,
        result: Raw,
        outcome: Option<Value>,
    },
    /// A link has served its purpose.
    Followed,
    /// The time came that the call waits for.
    Due,
    /// The client took it back.
    TakenBack,
    Over {
        result: Frame,
        until: Moment,
    },
}

/// What is to be done then.
#[derive(Debug, PartialEq)]
pub enum Todo {
    Nothing,
    /// Send the call to its server, with what was found out for it.
    Send,
    /// Put the questions to somebody.
    Ask,
    /// Ask the server how far the task is.
    Poll,
    /// Send the task the answers that there are.
    Update,
    /// End the call with this error.
    Fail(&'static str),
}

impl Call {
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Hears what happened to it, and says what is to be done. What can't happen in its stage changes nothing.
    pub fn on(&mut self, now: Moment, happened: Happened) -> Todo {
        let rounds = &mut self.rounds;
        match (&mut self.stage, happened) {
            (Stage::Confirming | Stage::Queued, Happened::Ready) => {
                self.stage = Stage::Queued;
                Todo::Send
            }
            (
                Stage::Confirming
                | Stage::Queued
                | Stage::Asking { .. }
                | Stage::Paused(_)
                | Stage::AtServer(_),
                Happened::Sent(sent),
            ) => self.becomes(Stage::AtServer(sent)),
            (
                Stage::AtServer(_),
                Happened::Round {
                    state,
                    asks,
                    answered,
                },
            ) => {
                let rounds = rounds.get_or_insert_default();
                rounds.state = state;
                rounds.answers = answered;
                self.asked(now, asks)
            }
            (Stage::AtServer(_), Happened::Links { asks, error }) => {
                let error = Some(error);
                self.stage = Stage::Asking { left: asks, error };
                Todo::Ask
            }
            (Stage::AtServer(sent), Happened::WrongEra)
                if !sent.is_again
                    && sent.task.is_none()
                    && !rounds.as_ref().is_some_and(|it| it.moved) =>
            {
                rounds.get_or_insert_default().moved = true;
                self.stage = Stage::Queued;
                Todo::Send
            }
            (Stage::AtServer(_), Happened::Task(task)) => self.becomes(Stage::Task(task)),
            (
                Stage::Asking { left, .. },
                Happened::Answered {
                    key,
                    result,
                    outcome,
                },
            ) => {
                *left = left.saturating_sub(1);
                let is_last = *left == 0;
                rounds
                    .get_or_insert_default()
                    .answers
                    .add(key, result, outcome);
                if is_last { Todo::Send } else { Todo::Nothing }
            }
            (
                Stage::Task(_),
                Happened::Answered {
                    key,
                    result,
                    outcome,
                },
            ) => {
                rounds
                    .get_or_insert_default()
                    .answers
                    .add(key, result, outcome);
                Todo::Update
            }
            (Stage::Task(_), Happened::Round { answered, .. }) => {
                rounds.get_or_insert_default().answers = answered;
                Todo::Update
            }
            (
                Stage::Asking {
                    left,
                    error: Some(_),
                },
                Happened::Followed,
            ) => {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    Todo::Send
                } else {
                    Todo::Nothing
                }
            }
            (Stage::Paused(until), Happened::Due) if *until <= now => Todo::Send,
            (Stage::Task(task), Happened::Due) if task.poll_at.is_some_and(|at| at <= now) => {
                Todo::Poll
            }
            (Stage::AtServer(sent), Happened::TakenBack) => {
                let (sent, until) = (sent.clone(), now + TASK_STARTS);
                self.becomes(Stage::Cancelled { sent, until })
            }
            (Stage::Cancelled { .. } | Stage::Done { .. }, Happened::Over { .. }) => Todo::Nothing,
            (_, Happened::Over { result, until }) => self.becomes(Stage::Done { result, until }),
            _ => Todo::Nothing,
        }
    }

    /// The server answered with a round: its questions are asked, or the call pauses if there are none.
    fn asked(&mut self, now: Moment, asks: usize) -> Todo {
        let rounds = self.rounds.get_or_insert_default();
        if asks == 0 {
            rounds.pauses += 1;
            if rounds.pauses > MOST_PAUSES {
                return Todo::Fail("the server wants to be called again without end");
            }
            let until = now + rounds.pause();
            return self.becomes(Stage::Paused(until));
        }
        rounds.count += 1;
        rounds.pauses = 0;
        if rounds.count > MOST_ROUNDS {
            return Todo::Fail("the server asks in more than 10 rounds");
        }
        self.stage = Stage::Asking {
            left: asks,
            error: None,
        };
        Todo::Ask
    }

    fn becomes(&mut self, stage: Stage) -> Todo {
        self.stage = stage;
        Todo::Nothing
    }

    /// What the server asked so far, and what was found out.
    pub fn rounds(&self) -> Option<&Rounds> {
        self.rounds.as_deref()
    }

    pub fn rounds_mut(&mut self) -> &mut Rounds {
        self.rounds.get_or_insert_default()
    }

    /// The task that the server makes of it (2026-07-28).
    pub fn task_mut(&mut self) -> Option<&mut Task> {
        match &mut self.stage {
            Stage::Task(task) => Some(task),
            _ => None,
        }
    }

    /// The call as the server has it, if it is there.
    pub fn sent(&self) -> Option<&Sent> {
        match &self.stage {
            Stage::AtServer(sent) => Some(sent),
            _ => None,
        }
    }

    /// True if Midcall makes a task of it, and the server hasn't said yet what that is called (2025-11-25).
    pub fn is_starting(&self) -> bool {
        match &self.stage {
            Stage::AtServer(sent) | Stage::Cancelled { sent, .. } => {
                sent.task == Some(LegacyTask::Starting)
            }
            _ => false,
        }
    }

    /// True if the server can come upon a question in it.
    pub fn is_at_server(&self) -> bool {
        matches!(self.stage, Stage::AtServer(_))
    }

    /// True until it is over or taken back.
    pub fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Done { .. } | Stage::Cancelled { .. })
    }

    /// Until when its result is kept, if it is over.
    pub fn kept_until(&self) -> Option<Moment> {
        match self.stage {
            Stage::Done { until, .. } => Some(until),
            _ => None,
        }
    }

    /// When something is to be done about it, whatever else happens.
    pub fn due(&self) -> Option<Moment> {
        let stage = match &self.stage {
            Stage::Paused(until) | Stage::Done { until, .. } | Stage::Cancelled { until, .. } => {
                Some(*until)
            }
            Stage::Task(task) => task.poll_at,
            _ => None,
        };
        let away = self.audience.away_until.filter(|_| self.is_open());
        let times = [stage, away, self.audience.late_at()];
        times.into_iter().flatten().min()
    }

    /// The ids that the server may answer by.
    pub fn server_ids(&self) -> impl Iterator<Item = &Id> {
        let (sent, task) = match &self.stage {
            Stage::AtServer(sent) | Stage::Cancelled { sent, .. } => (Some(&sent.id), None),
            Stage::Task(task) => (None, Some(task)),
            _ => (None, None),
        };
        sent.into_iter().chain(task.into_iter().flat_map(Task::ids))
    }
}
