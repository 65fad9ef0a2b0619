//! Where the work on a call is, and what may happen to it there.
//!
//! [`Call::on`] is a table, and the only code that changes a stage.

use std::time::Duration;

use crate::moment::Moment;
use midcall_core::wire::RequestState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::link::{LinkEnd, NamedLink, Needs, Refusal, Retold};
use super::rounds::{Answers, MOST_PAUSES, MOST_ROUNDS};
use super::task::Raw;
use super::{Call, LegacyTask, Rounds, Task};
use crate::frame::{Frame, Id};

/// How long a server may take to say that a call which was taken back is a task by now.
const TASK_STARTS: Duration = Duration::from_secs(10 * 60);

/// What the client hears of a call that the server had when the process ended that had sent it.
const INTERRUPTED: &str = "the gateway restarted while the server was working on this call. The tool may have run: it is not \
    known whether it did";

/// Where the work on a call is.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// The server gets the call again at this time.
    Paused {
        until: Moment,
        why: Pause,
    },
    /// The server makes a task of it (2026-07-28).
    Task(Task),
    /// It was taken back. Until then, the server may still say that it has made a task of it.
    Cancelled {
        sent: Sent,
        until: Moment,
    },
    /// It is over. The result is kept while somebody may come for it.
    Done {
        #[serde(serialize_with = "super::record::result")]
        result: Frame,
        until: Moment,
    },
}

/// Why a call pauses.
#[derive(Serialize, Deserialize)]
pub enum Pause {
    /// The server only wants it again.
    Server,
    /// What a link leads to takes its time. The error that named the link, if it was one.
    Link(Option<Frame>),
}

/// A call as the server has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// The id that the server knows it by. Another process has another.
    #[serde(skip, default = "Id::nobodys")]
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
    /// Its server isn't open, so it can't be sent yet.
    NotOpen,
    /// The process that had it is gone. It may go to the server again though the server may have it (`repeats`), or not.
    Interrupted {
        repeats: bool,
    },
    Sent(Sent),
    /// The server needs so many answers before it can go on.
    Round {
        state: Option<RequestState>,
        asks: usize,
        /// What it asks again, by key: links that somebody has answered for.
        again: Vec<(String, NamedLink)>,
    },
    /// The server needs links followed.
    Links {
        named: Vec<NamedLink>,
        error: Frame,
    },
    /// Somebody agreed to open a link, and what it leads to may take so long.
    Consented {
        link: usize,
        patience: Duration,
    },
    /// What a link leads to is done.
    Finished {
        link: usize,
    },
    /// A person said no to a link, perhaps after it was opened.
    Refused {
        link: usize,
        refusal: Refusal,
    },
    /// A link that nobody has opened won't be.
    Unopened(LinkEnd),
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
    /// Put those links to somebody that are new: by the place in the server's list, their numbers.
    Follow(Vec<Option<usize>>),
    /// End the call, for which links weren't followed. The error that named them, if it was one.
    Unlinked(Option<Frame>, LinkEnd),
    /// End the call with this error.
    Fail(&'static str),
}

impl Call {
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Hears what happened to it, and says what is to be done. What can't happen in its stage changes nothing.
    pub fn on(&mut self, now: Moment, happened: Happened) -> Todo {
        match happened {
            Happened::Consented { link, patience } => {
                let links = &mut self.rounds_mut().links;
                links.agree(link, now, patience);
                self.followed(now)
            }
            Happened::Finished { link } => {
                self.rounds_mut().links.finish(link);
                self.followed(now)
            }
            Happened::Refused { link, refusal } => self.refused(link, refusal),
            happened => match &self.stage {
                Stage::Confirming | Stage::Queued => self.before_server(happened),
                Stage::AtServer(_) => self.at_server(now, happened),
                Stage::Asking { .. } => self.asking(happened),
                Stage::Paused { .. } => self.paused(now, happened),
                Stage::Task(_) => self.in_task(now, happened),
                Stage::Cancelled { .. } | Stage::Done { .. } => Todo::Nothing,
            },
        }
    }

    fn before_server(&mut self, happened: Happened) -> Todo {
        match happened {
            Happened::Ready => {
                self.stage = Stage::Queued;
                Todo::Send
            }
            happened => self.leaves(happened),
        }
    }

    fn at_server(&mut self, now: Moment, happened: Happened) -> Todo {
        let Stage::AtServer(sent) = &self.stage else {
            return Todo::Nothing;
        };
        let may_move = !sent.is_again && sent.task.is_none();
        match happened {
            Happened::Round { state, asks, again } => {
                let rounds = self.rounds_mut();
                rounds.state = state;
                rounds.answers = Answers::default();
                let retold = rounds.links.retell(again, &mut rounds.answers);
                self.asked(now, asks, retold)
            }
            Happened::Links { named, error } => {
                self.answers_arrived();
                let needs = self.rounds_mut().links.named(now, named);
                self.needs(needs, Some(error))
            }
            Happened::WrongEra if may_move && !self.has_moved() => {
                self.rounds_mut().moved = true;
                self.stage = Stage::Queued;
                Todo::Send
            }
            Happened::Task(task) => {
                self.answers_arrived();
                self.becomes(Stage::Task(task))
            }
            Happened::Interrupted { repeats: true } if sent.task.is_none() => {
                self.stage = Stage::Queued;
                Todo::Send
            }
            Happened::Interrupted { .. } => Todo::Fail(INTERRUPTED),
            Happened::TakenBack => {
                let (sent, until) = (sent.clone(), now + TASK_STARTS);
                self.becomes(Stage::Cancelled { sent, until })
            }
            happened => self.leaves(happened),
        }
    }

    fn has_moved(&self) -> bool {
        self.rounds.as_ref().is_some_and(|rounds| rounds.moved)
    }

    fn asking(&mut self, happened: Happened) -> Todo {
        let Stage::Asking { left, error } = &mut self.stage else {
            return Todo::Nothing;
        };
        match happened {
            Happened::Answered {
                key,
                result,
                outcome,
            } => {
                *left = left.saturating_sub(1);
                let is_last = *left == 0;
                self.rounds_mut().answers.add(key, result, outcome);
                if is_last { Todo::Send } else { Todo::Nothing }
            }
            Happened::Unopened(end) => match error {
                Some(error) => Todo::Unlinked(Some(error.clone()), end),
                None => Todo::Nothing,
            },
            Happened::NotOpen => self.becomes(Stage::Queued),
            happened => self.leaves(happened),
        }
    }

    fn paused(&mut self, now: Moment, happened: Happened) -> Todo {
        match (&self.stage, happened) {
            (Stage::Paused { until, .. }, Happened::Due) if *until <= now => Todo::Send,
            (_, Happened::NotOpen) => self.becomes(Stage::Queued),
            (_, happened) => self.leaves(happened),
        }
    }

    fn in_task(&mut self, now: Moment, happened: Happened) -> Todo {
        match (&self.stage, happened) {
            (Stage::Task(task), Happened::Due) if task.poll_at.is_some_and(|at| at <= now) => {
                Todo::Poll
            }
            (
                _,
                Happened::Answered {
                    key,
                    result,
                    outcome,
                },
            ) => {
                self.rounds_mut().answers.add(key, result, outcome);
                Todo::Update
            }
            (_, Happened::Round { again, .. }) => {
                let rounds = self.rounds_mut();
                rounds.answers = Answers::default();
                rounds.links.retell(again, &mut rounds.answers);
                Todo::Update
            }
            (_, Happened::Over { result, until }) => self.becomes(Stage::Done { result, until }),
            _ => Todo::Nothing,
        }
    }

    /// What may happen wherever the work is, but in a task: the call is sent, or it is over.
    fn leaves(&mut self, happened: Happened) -> Todo {
        match happened {
            Happened::Sent(sent) => {
                if let Some(rounds) = &mut self.rounds {
                    rounds.links.send();
                }
                self.attempts = self.attempts.saturating_add(1);
                self.becomes(Stage::AtServer(sent))
            }
            Happened::Over { result, until } => self.becomes(Stage::Done { result, until }),
            _ => Todo::Nothing,
        }
    }

    /// A link was opened, or what it leads to is done.
    fn followed(&mut self, now: Moment) -> Todo {
        let links = &mut self.rounds.get_or_insert_default().links;
        match &mut self.stage {
            Stage::Asking {
                left,
                error: Some(error),
            } => {
                *left = links.left();
                if *left > 0 {
                    return Todo::Nothing;
                }
                if links.are_finished() {
                    return Todo::Send;
                }
                let (needs, error) = (links.again(now), error.clone());
                self.needs(needs, Some(error))
            }
            Stage::Paused {
                why: Pause::Link(_),
                ..
            } if links.are_finished() => Todo::Send,
            _ => Todo::Nothing,
        }
    }

    /// A person said no to a link.
    fn refused(&mut self, link: usize, refusal: Refusal) -> Todo {
        let rounds = self.rounds.get_or_insert_default();
        let asked_as = rounds.links.refuse(link, refusal.clone());
        match &self.stage {
            Stage::Asking {
                error: Some(error), ..
            }
            | Stage::Paused {
                why: Pause::Link(Some(error)),
                ..
            } => Todo::Unlinked(Some(error.clone()), LinkEnd::Refused),
            // The server hears it as the answer to what it asks again.
            Stage::Paused {
                why: Pause::Link(None),
                ..
            } => match asked_as {
                Some(key) => {
                    rounds.answers.replace(key, refusal.result, refusal.outcome);
                    self.counted(Todo::Send)
                }
                None => Todo::Nothing,
            },
            _ => Todo::Nothing,
        }
    }

    /// The server answered with links, as an error or as questions of a round.
    fn needs(&mut self, needs: Needs, error: Option<Frame>) -> Todo {
        match needs {
            Needs::Consent(new) => {
                let left = new.iter().flatten().count();
                self.stage = Stage::Asking { left, error };
                Todo::Follow(new)
            }
            Needs::Time(until) => {
                let why = Pause::Link(error);
                self.becomes(Stage::Paused { until, why })
            }
            Needs::End(end) => Todo::Unlinked(error, end),
        }
    }

    /// The server answered with a round: its questions are asked, or the call pauses if there are none.
    fn asked(&mut self, now: Moment, asks: usize, retold: Retold) -> Todo {
        let rounds = self.rounds.get_or_insert_default();
        if asks == 0 && retold == Retold::Refusal {
            return self.counted(Todo::Send);
        }
        if asks == 0 && retold == Retold::Accepts {
            let needs = rounds.links.again(now);
            return self.needs(needs, None);
        }
        if asks == 0 {
            rounds.pauses += 1;
            if rounds.pauses > MOST_PAUSES {
                return Todo::Fail("the server wants to be called again without end");
            }
            let until = now + rounds.pause();
            let why = Pause::Server;
            return self.becomes(Stage::Paused { until, why });
        }
        rounds.pauses = 0;
        let todo = self.counted(Todo::Ask);
        if todo == Todo::Ask {
            let error = None;
            self.stage = Stage::Asking { left: asks, error };
        }
        todo
    }

    /// Counts a round that the server gets answers to; what to do instead if there were too many.
    fn counted(&mut self, todo: Todo) -> Todo {
        let rounds = self.rounds.get_or_insert_default();
        rounds.count += 1;
        match rounds.count > MOST_ROUNDS {
            true => Todo::Fail("the server asks in more than 10 rounds"),
            false => todo,
        }
    }

    /// The server has what the call brought it. Until then, it may have to be sent again.
    fn answers_arrived(&mut self) {
        if let Some(rounds) = &mut self.rounds {
            (rounds.answers, rounds.state) = (Answers::default(), None);
        }
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

    /// True if it pauses because a person is busy with what a link leads to.
    pub fn awaits_link(&self) -> bool {
        let why = match &self.stage {
            Stage::Paused { why, .. } => Some(why),
            _ => None,
        };
        matches!(why, Some(Pause::Link(_)))
    }

    /// True if it has a record wherever calls are written down: its client was told to come back for it.
    pub fn is_record(&self) -> bool {
        let is_cancelled = matches!(self.stage, Stage::Cancelled { .. });
        self.request.bytes.is_some() && self.audience.has_names() && !is_cancelled
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
            Stage::Paused { until, .. }
            | Stage::Done { until, .. }
            | Stage::Cancelled { until, .. } => Some(*until),
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
