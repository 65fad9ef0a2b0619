//! The questions of a call, in its record.

use midcall_core::{Asker, Elicitation, ElicitationError, Limits};
use midcall_desk::By;
use serde::{Deserialize, Serialize};

use crate::call::task::Raw;
use crate::call::{AtClient, CallId, DeskState, Name, Origin, Place, Question, WantedBy, What};
use crate::moment::Moment;
use crate::route::Routes;

/// A question of a call. It names no other call and no other question.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredQuestion {
    what: StoredWhat,
    wanted_by: StoredWanted,
    place: StoredPlace,
    deadline: Moment,
    others: Routes,
}

#[derive(Serialize, Deserialize)]
enum StoredWhat {
    Elicit(StoredElicitation),
    Unread(StoredElicitation, Option<Raw>),
    Other { method: String, params: Option<Raw> },
}

/// A question for people. The form is read again from the params.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredElicitation {
    params: Raw,
    #[serde(with = "StoredAsker")]
    asker: Asker,
    timeout_ms: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Asker", deny_unknown_fields)]
struct StoredAsker {
    server: String,
    version: Option<String>,
    tool: Option<String>,
    host: Option<String>,
    links: Vec<String>,
}

/// Which part of its call wants it.
#[derive(Serialize, Deserialize)]
enum StoredWanted {
    Round(String),
    Approval,
    /// The number of a link of the call.
    Link(usize),
}

#[derive(Serialize, Deserialize)]
enum StoredPlace {
    /// The client got it in a result of the call, by this key.
    Round {
        key: String,
        since: Moment,
    },
    Desk {
        opened: Option<By>,
    },
    /// The model was told of it.
    Model {
        name: Name,
    },
    /// Somebody is still to be found, or the client that had it is gone.
    Nowhere,
}

impl Question {
    /// The question in the record of a call; none if it belongs to another, or the answer is for a connection.
    pub(super) fn stored(&self, call: CallId) -> Option<StoredQuestion> {
        let wanted_by = match &self.wanted_by {
            WantedBy::Round(of, key) if *of == call => StoredWanted::Round(key.clone()),
            WantedBy::Approval(of) if *of == call => StoredWanted::Approval,
            WantedBy::Link(of, nth) if *of == call => StoredWanted::Link(*nth),
            _ => return None,
        };
        let place = match &self.place {
            Place::Client {
                at: AtClient::Round { key, .. },
                since,
                ..
            } => StoredPlace::Round {
                key: key.clone(),
                since: *since,
            },
            Place::Desk(DeskState::Opened(by)) => StoredPlace::Desk { opened: Some(*by) },
            Place::Desk(_) => StoredPlace::Desk { opened: None },
            Place::Model {
                name,
                told_in: Some(_),
                ..
            } => StoredPlace::Model { name: *name },
            Place::Client { .. } | Place::Model { .. } | Place::Undecided => StoredPlace::Nowhere,
        };
        Some(StoredQuestion {
            what: StoredWhat::of(&self.what),
            wanted_by,
            place,
            deadline: self.deadline,
            others: self.others.clone(),
        })
    }
}

impl StoredQuestion {
    /// Changes every time in it.
    pub fn rebase(&mut self, rebase: impl Fn(&mut Moment)) {
        rebase(&mut self.deadline);
        if let StoredPlace::Round { since, .. } = &mut self.place {
            rebase(since);
        }
    }

    /// The question in another ledger. The form is read again.
    pub fn restore(self, call: CallId, limits: &Limits) -> Result<Question, ElicitationError> {
        let what = self.what.restore(limits)?;
        let wanted_by = match self.wanted_by {
            StoredWanted::Round(key) => WantedBy::Round(call, key),
            StoredWanted::Approval => WantedBy::Approval(call),
            StoredWanted::Link(nth) => WantedBy::Link(call, nth),
        };
        let place = match self.place {
            StoredPlace::Round { key, since } => Place::Client {
                at: AtClient::Round {
                    call,
                    key,
                    is_told: true,
                },
                since,
                rendition: None,
            },
            StoredPlace::Desk { opened } => {
                Place::Desk(opened.map_or(DeskState::Coming, DeskState::Opened))
            }
            StoredPlace::Model { name } => Place::Model {
                name,
                token: None,
                told_in: Some(call),
            },
            StoredPlace::Nowhere => Place::Undecided,
        };
        let origin = Origin::Only(call);
        let mut question = Question::new(what, wanted_by, origin, place, self.deadline);
        question.others = self.others;
        Ok(question)
    }
}

impl StoredWhat {
    fn of(what: &What) -> Self {
        match what {
            What::Elicit(elicitation) => Self::Elicit(StoredElicitation::of(elicitation)),
            What::Unread(stand_in, params) => {
                Self::Unread(StoredElicitation::of(stand_in), params.clone())
            }
            What::Other { method, params } => Self::Other {
                method: method.clone(),
                params: params.clone(),
            },
        }
    }

    fn restore(self, limits: &Limits) -> Result<What, ElicitationError> {
        Ok(match self {
            Self::Elicit(elicitation) => What::Elicit(Box::new(elicitation.restore(limits)?)),
            Self::Unread(stand_in, params) => {
                What::Unread(Box::new(stand_in.restore(limits)?), params)
            }
            Self::Other { method, params } => What::Other { method, params },
        })
    }
}

impl StoredElicitation {
    fn of(elicitation: &Elicitation) -> Self {
        Self {
            params: elicitation.params().to_owned(),
            asker: elicitation.asker.clone(),
            timeout_ms: elicitation.timeout_ms,
        }
    }

    fn restore(self, limits: &Limits) -> Result<Elicitation, ElicitationError> {
        let mut elicitation = Elicitation::read(self.params.get(), self.asker, limits)?;
        elicitation.timeout_ms = self.timeout_ms;
        Ok(elicitation)
    }
}
