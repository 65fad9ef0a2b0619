//! Keys in, screens and answers out, without a terminal.

mod answers;
mod closed;
mod hostile;
mod lines;
mod links;
mod screens;
mod world;
