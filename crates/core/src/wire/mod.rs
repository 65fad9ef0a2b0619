//! MCP's JSON: what each revision says about questions, and how.
//!
//! Reading is lenient and keeps unknown members; writing is strict per
//! revision. A peer's small sins are forgiven once, here, so that the rest of
//! the code meets one shape for each thing. What a revision has no words for is
//! an [`Unsayable`] and never a guess.
//!
//! Every type has `read`, which takes JSON as a peer sent it, and `write`,
//! which takes a [`Revision`] where the shape depends on one. What only Midcall
//! says ([`ElicitationPending`]) has no `read`. Types keep the
//! specification's names. `Debug` of all of them prints no value a person or a
//! tool brought: see [`Members`].
//!
//! Elsewhere: what a `requestedSchema` means, JSON-RPC envelopes, transports.

mod capability;
pub mod code;
mod complete;
mod create;
mod error;
mod fault;
pub(crate) mod hints;
mod input;
mod level;
pub(crate) mod mark;
pub mod member;
mod members;
pub mod meta;
pub(crate) mod pending;
mod raw;
mod result;
mod revision;
mod round;
mod task;
mod tell;

pub use capability::{Mode, Modes};
pub use complete::ElicitationCompleteParams;
pub use create::{Asked, ElicitRequestParams};
pub use error::{MissingClientCapability, UnsupportedVersion, UrlElicitationRequired};
pub use fault::{Unreadable, Unsayable};
pub use input::{Input, InputRequest, InputRequests, InputResponses};
pub use level::LogLevel;
pub use members::{JsonObject, Members};
pub use pending::ElicitationPending;
pub use raw::RawParams;
pub use result::{Action, ElicitResult};
pub use revision::{Era, Revision, UnknownRevision};
pub use round::{InputRequiredResult, RequestState, Retry};
pub use task::{CreateTaskResult, TASKS_EXTENSION, Task, TaskState, UpdateTaskParams};
pub use tell::{Change, Changed, Telling};
