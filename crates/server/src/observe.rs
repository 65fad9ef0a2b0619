//! What observers are told, for metrics and audit: never what a person typed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::panicking;
use std::time::Duration;

use tokio::time::Instant;

use crate::call::Call;

/// How a question travels.
///
/// ```
/// use midcall_server::{Asks, Carrier};
/// let asks = Asks::new().on_ask(|asked| if asked.carrier == Carrier::Model {
///     println!("{} is asked for by a model", asked.key);
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Carrier {
    /// By a request to the client, in a legacy revision.
    Live,
    /// By a round of a modern revision: the client calls again with the answer.
    Round,
    /// By the model, which is told to ask the person. Its answers are not a human's.
    Model,
    /// By a file of answers, or by what was given beforehand.
    Script,
    /// There is no way: nobody is asked.
    Nobody,
}

/// A question was put.
///
/// ```
/// use midcall_server::Asks;
///
/// let asks = Asks::new()
///     .on_ask(|asked| println!("{} asks `{}` by {:?}", asked.name, asked.key, asked.carrier))
///     .on_answer(|answered| println!("{:?} after {:?}", answered.how, answered.took));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Asked<'a> {
    /// The tool or prompt that asks, or the resource.
    pub name: &'a str,
    /// The question, by [`Question::id`](crate::Question::id); those without are counted: `question1`.
    pub key: &'a str,
    /// How it travels.
    pub carrier: Carrier,
    /// Which time it is asked: more than once if an answer did not fit.
    pub time: u32,
}

/// A question has ended.
///
/// ```
/// use midcall_server::{Asks, How};
/// let asks = Asks::new().on_answer(|answered| if answered.how == How::TimedOut {
///     println!("nobody answered {} within {:?}", answered.asked.key, answered.took);
/// });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Answered<'a> {
    /// What had been asked.
    pub asked: Asked<'a>,
    /// How it ended.
    pub how: How,
    /// How long it took.
    pub took: Duration,
}

/// How a question ended.
///
/// ```
/// use midcall_server::How;
/// fn is_answer(how: How) -> bool {
///     matches!(how, How::Accepted | How::Declined | How::Cancelled)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum How {
    /// Accepted, and the content fits.
    Accepted,
    /// The person said no.
    Declined,
    /// The person put it away.
    Cancelled,
    /// The content did not fit: it is asked again, or an error.
    Unfit,
    /// Nobody answered in time.
    TimedOut,
    /// Nobody could be asked, or the client failed.
    Failed,
    /// Nobody waits for the answer any more: the tool went on without it, or the call was taken back.
    Dropped,
}

/// A question, as observers are told of it: that it is put, and how it ended. Exactly once each.
pub(crate) struct Observed<'a> {
    call: &'a Call,
    key: &'a str,
    carrier: Carrier,
    time: u32,
    since: Instant,
    how: How,
}

impl<'a> Observed<'a> {
    pub fn new(call: &'a Call, key: &'a str, carrier: Carrier, time: u32) -> Self {
        let observed = Self {
            call,
            key,
            carrier,
            time,
            since: Instant::now(),
            how: How::Dropped,
        };
        if let Some(observer) = &call.asks.settings.on_ask {
            observer(&observed.asked());
        }
        observed
    }

    pub fn ends(mut self, how: How) {
        self.how = how;
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            name: &self.call.name,
            key: self.key,
            carrier: self.carrier,
            time: self.time,
        }
    }
}

impl Drop for Observed<'_> {
    fn drop(&mut self) {
        let Some(observer) = &self.call.asks.settings.on_answer else {
            return;
        };
        let answered = Answered {
            asked: self.asked(),
            how: self.how,
            took: self.since.elapsed(),
        };
        match panicking() {
            // A second panic would end the process.
            true => drop(catch_unwind(AssertUnwindSafe(|| observer(&answered)))),
            false => observer(&answered),
        }
    }
}
