//! The example program in a real pseudo-terminal.

mod journeys;
mod pty;
