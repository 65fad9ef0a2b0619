//! Stories on the real binary, and what holds for the workspace as a whole.

mod arrows;
mod catalog;
mod http;
mod lint;
mod wrap;
