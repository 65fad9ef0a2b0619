//! A server that is offered over HTTP, with everything needed to serve it.

use std::time::Duration;

use super::settings::{MAX_MESSAGE, MB};
use crate::route::{ServerEra, Setup};
use crate::transport::front::Bounds;
use crate::transport::server::ServerAddress;

/// A server, where its endpoint is and how sessions with it are set up.
#[derive(Clone)]
pub struct Hosted {
    /// What people call it.
    pub name: String,
    /// Where its endpoint is.
    pub path: String,
    pub address: ServerAddress,
    pub setup: Setup,
    pub era: ServerEra,
    pub bounds: Bounds,
}

/// How many sessions a server may have, how long an unused session is kept, and the longest
/// message.
pub const BOUNDS: Bounds = Bounds {
    sessions: 128,
    idle: Duration::from_secs(30 * 60),
    message: MAX_MESSAGE * MB,
};
