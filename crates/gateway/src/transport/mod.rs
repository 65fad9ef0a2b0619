//! Bytes in and out: pipes, lines, the server's process, the server as a session knows it.

pub mod child;
mod lines;
mod outbox;
mod pipe;
pub mod process;
pub mod upstream;

pub use lines::{Line, Lines};
pub use outbox::Outbox;
pub use pipe::{Reading, Writing};
