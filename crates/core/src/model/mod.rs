//! Asking by the model: what holds for every server and client.
//!
//! A client that cannot ask a person has a model that can. The call in which a question comes up
//! returns what to ask, and the model hands in what the person said with an added tool. A client
//! that can't wait for a person collects the result of its call with another. Gateway and
//! `midcall-server` follow the same rules and say the same words, so a model meets one way of
//! doing this.
//!
//! | | |
//! |---|---|
//! | [`may_ask()`] | whether a model may be asked at all |
//! | [`ToolHints`], [`KnownTools`] | what a server's tools say of themselves |
//! | [`AddedTool`], [`await_tool`], [`send_tool`], [`ToolList`] | the added tools, and the list that they are in |
//! | [`Pending`], [`Waiting`] | what a call returns instead of its result |
//! | [`ModelAnswer`] | what comes back |
//! | [`unfit`], [`unknown_claim`], [`too_many_collect`], [`error`] | the results of a call that could not be done: an answer that doesn't fit, a claim that isn't known or that too many collect by, anything else |
//!
//! Elsewhere: the call that waits meanwhile, which questions are open, and who may answer them
//! (the gateway's session, `midcall-server`'s `park`).

mod added;
mod answer;
mod known;
mod list;
mod may_ask;
mod pending;
mod results;

pub use added::{AddedTool, WAIT_SECONDS, await_tool, send_tool};
pub use answer::ModelAnswer;
pub use known::{KnownTools, ToolHints};
pub use list::{ToolList, widened};
pub use may_ask::{NotForModels, QuestionFacts, may_ask};
pub use pending::{Pending, Waiting};
pub use results::{error, too_many_collect, unfit, unknown_claim};
