//! Bytes in and out: pipes, lines, the server as one end of a session (its process, or its address),
//! and clients that come over HTTP.

pub mod child;
pub mod front;
mod lines;
mod outbox;
mod oversized;
mod pipe;
mod pipes;
pub mod process;
pub mod remote;
pub mod server;

pub use lines::{Line, Lines};
pub use outbox::Outbox;
pub use oversized::Instead;
pub use pipe::{Reading, Writing};
pub use pipes::Pipes;
