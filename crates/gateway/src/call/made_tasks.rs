//! Questions that the client has made tasks of (2025-11-25), for as long as a server may fetch their answers.

use std::collections::{BTreeSet, HashMap, VecDeque};

use midcall_core::wire::Telling;

use super::What;
use crate::moment::Moment;

/// Tasks of the client by their names, the latest thousand of them.
#[derive(Default)]
pub struct MadeTasks {
    tasks: HashMap<String, MadeTask>,
    /// Their names, the oldest first.
    order: VecDeque<String>,
    /// Those whose answers nobody has fetched, by when nobody waits for them any more.
    open: BTreeSet<(Moment, String)>,
    /// True if there were more than are remembered.
    has_forgotten: bool,
}

/// A question that the client has made a task of.
#[derive(Clone)]
pub struct MadeTask {
    pub what: What,
    /// When the client was asked.
    pub since: Moment,
    /// Until when somebody may think about it.
    pub until: Moment,
    /// The form in words that the client knows, if those aren't the server's.
    pub rendition: Option<Box<Telling>>,
}

/// How many are remembered.
const MOST: usize = 1_000;

impl MadeTasks {
    /// The client has made a task of a question.
    pub fn add(&mut self, name: String, task: MadeTask) {
        let until = task.until;
        match self.tasks.insert(name.clone(), task) {
            Some(before) => drop(self.open.remove(&(before.until, name.clone()))),
            None => self.order.push_back(name.clone()),
        }
        self.open.insert((until, name));
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
            && let Some(task) = self.tasks.remove(&oldest)
        {
            self.open.remove(&(task.until, oldest));
            self.has_forgotten = true;
        }
    }

    /// A server wants the answer: the question, if the client has made a task of one by this name.
    pub fn fetch(&mut self, name: &str) -> Option<MadeTask> {
        let task = self.tasks.get(name)?;
        self.open.remove(&(task.until, name.to_owned()));
        Some(task.clone())
    }

    /// True if a task that isn't known may be a question all the same.
    pub fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// True if somebody may think about one of them.
    pub fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Nobody waits any more for those whose time is up.
    pub fn lapse(&mut self, now: Moment) {
        while self.open.first().is_some_and(|(until, _)| *until <= now) {
            self.open.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn task(until: Moment) -> MadeTask {
        let (method, params) = (String::new(), None);
        MadeTask {
            what: What::Other { method, params },
            since: until,
            until,
            rendition: None,
        }
    }

    #[test]
    fn so_many_tasks_are_remembered_and_it_is_known_that_there_were_more() {
        let (now, later) = (Moment::now(), Moment::now() + Duration::from_secs(9));
        let mut tasks = MadeTasks::default();
        for nth in 0..MOST {
            tasks.add(nth.to_string(), task(later));
            tasks.add(nth.to_string(), task(later)); // Another by the same name.
        }
        assert!(!tasks.has_forgotten());
        tasks.add("one more".to_owned(), task(later));
        assert!(tasks.has_forgotten() && tasks.fetch("0").is_none());
        assert_eq!((tasks.tasks.len(), tasks.open.len()), (MOST, MOST));
        assert!(tasks.fetch("1").is_some() && tasks.fetch("1").is_some());
        assert_eq!(tasks.open.len(), MOST - 1);
        tasks.lapse(now);
        assert!(tasks.are_open());
        tasks.lapse(later);
        assert!(!tasks.are_open());
    }
}
