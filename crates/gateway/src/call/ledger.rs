//! The one home of calls and questions: two tables, linked by ids.

use super::ended::EndedQuestions;
use super::made_tasks::MadeTasks;
use super::name::{GivenName, NameChange, NameUse, ToldNames};
use super::questions::Questions;
use super::receipts::Receipts;
use super::table::Calls;
use super::{Call, CallId, Name, Origin, Place, QuestionId, ServerId, Stage};

pub use super::table::Ability;

/// Calls, questions, people's answers on their way, and what may still be said about questions that are in the table no
/// more.
#[derive(Default)]
pub struct Ledger {
    pub calls: Calls,
    pub questions: Questions,
    pub ended: EndedQuestions,
    /// The names that others have been told of.
    told: ToldNames,
    /// Questions that the client has made tasks of.
    pub tasks: MadeTasks,
    pub receipts: Receipts,
    /// Calls whose client is to be told of new questions in them.
    pub untold: Vec<CallId>,
    #[cfg(test)]
    events: u64,
}

/// What a name leads to.
pub enum Named {
    Call(CallId),
    Question(QuestionId),
}

impl Ledger {
    /// What a client came back with.
    pub fn named(&self, name: Name) -> Option<Named> {
        let call = self.calls.named(name).map(Named::Call);
        call.or_else(|| self.questions.named(name).map(Named::Question))
    }

    /// The names that the client was given since this was asked last, and those that lead nowhere any more.
    pub fn renamed(&mut self) -> Vec<NameChange> {
        let mut renamed = std::mem::take(&mut self.calls.renamed);
        renamed.append(&mut self.questions.changes.renamed);
        renamed.append(&mut self.ended.renamed);
        let changes = renamed.into_iter().filter_map(|name| {
            let now = self.given(name);
            self.told.tell(name, now)
        });
        changes.collect()
    }

    /// A name, and what it leads to.
    fn given(&self, name: Name) -> Option<GivenName> {
        let (used_for, call, until, is_owed) = match self.named(name) {
            Some(Named::Call(id)) => {
                let call = self.calls.get(id)?;
                let is_owed = !call.audience.has_result;
                let used_for = call.audience.use_of(name);
                (used_for, Some(id), call.kept_until(), is_owed)
            }
            Some(Named::Question(id)) => match self.questions.get(id)?.place {
                Place::Model { told_in, .. } => (NameUse::Question, told_in, None, true),
                Place::Client { .. } | Place::Desk(_) | Place::Undecided => return None,
            },
            // Clients make the call again that answered it.
            None => {
                let told_in = self.ended.find(name)?.told_in;
                (NameUse::Question, told_in, None, false)
            }
        };
        Some(GivenName {
            name,
            used_for,
            call,
            until,
            is_owed,
        })
    }

    /// True if the client can still come back for a call by a claim or a state.
    pub fn has_names(&self) -> bool {
        let is_named = |call: &Call| {
            call.audience.has_names() && !matches!(call.stage(), Stage::Cancelled { .. })
        };
        self.calls.iter().any(|(_, call)| is_named(call))
    }

    /// The calls in which a request of a server can have come up, if its stream doesn't say.
    pub fn origin(&self, server: ServerId) -> Origin {
        Origin::Before(server, self.calls.next())
    }

    /// True if several calls that the question can have come up in are still open.
    pub fn has_candidates(&self, origin: Origin) -> bool {
        self.calls.candidates(origin).nth(1).is_some()
    }

    /// The questions that end with a call: they can have come up in no other.
    pub fn questions_of(&self, call: CallId) -> Vec<QuestionId> {
        let mut found = self.questions.of_call(call);
        let Some(server) = self.calls.get(call).map(|call| call.server) else {
            return found;
        };
        let mut open = self.calls.open_at(server);
        // An older one is open, in which any of them can have come up.
        if open.next() == Some(call) {
            let next = open.next();
            found.extend(self.questions.asked_between(server, call, next));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Compares all indexes with what they are made of.
    #[cfg(test)]
    pub fn check(&self) {
        self.calls.check();
        self.questions.check();
    }

    /// The same after every event; of a crowd, after one of a thousand, because it looks at everything.
    #[cfg(test)]
    pub fn check_sometimes(&mut self) {
        self.events += 1;
        let is_crowd = self.calls.iter().nth(100).is_some() || self.questions.len() > 100;
        if !is_crowd || self.events.is_multiple_of(1_000) {
            self.check();
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How often a call, a question or a tool was looked at.
    static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// A call, a question or a tool is looked at.
#[cfg(test)]
pub fn look() {
    LOOKS.set(LOOKS.get() + 1);
}

/// How often that was done in this thread.
#[cfg(test)]
pub fn looks() -> u64 {
    LOOKS.get()
}
