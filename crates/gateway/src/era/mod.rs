//! The two eras of the protocol, and how a session in one is led with peers of the other.
//!
//! Sessions are led in the legacy era, where both sides send requests. A modern client
//! ([`front`]) and a modern server ([`back`]) each get an interpreter of their own, who is not
//! there if nobody needs them ([`bridge`]).

mod ask;
mod back;
mod beside;
pub mod bridge;
mod call;
mod elsewhere;
mod follow;
mod front;
mod index;
mod kept;
pub mod legacy;
mod listen;
mod opening;
mod parked;
mod passing;
mod round;
mod task;
mod welcome;
mod words;

pub use ask::sorted;
pub use round::{is_round, is_unclear};
pub use words::refused_revision;

use crate::frame::Frame;

/// What an interpreter does with a message.
pub enum Step {
    /// The session hears it.
    In(Frame),
    /// The peer is sent it.
    Out(Frame),
}
