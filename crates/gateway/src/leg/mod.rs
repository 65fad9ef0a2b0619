//! The words of each era, as clients and servers say them.
//!
//! Each message that Midcall sends is a function of facts and arguments. Facts are what a peer said of itself for as
//! long as it is connected; no leg remembers anything by a call or a question.

pub mod client;
pub mod news;
pub mod server;
pub mod wrong_era;

use midcall_core::wire::{Era, Revision};

use crate::call::TellBy;

/// The newest revision in which a leg is opened by `initialize`.
pub const NEWEST_LEGACY: Revision = Revision::V2025_11_25;

/// Where a result says who the server is.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// How much a request wants to hear of what happens.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// How clients of an era are asked and told to wait.
impl From<Era> for TellBy {
    fn from(era: Era) -> Self {
        match era {
            Era::Legacy => Self::Requests,
            Era::Modern => Self::Results,
        }
    }
}
