//! Bytes in and out: pipes, lines, the server's process.

pub mod child;
mod lines;
mod outbox;
mod pipe;

pub use lines::{Line, Lines};
pub use outbox::Outbox;
pub use pipe::{Reading, Writing};
