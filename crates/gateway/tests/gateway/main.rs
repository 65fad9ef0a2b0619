//! Stories on the real binary, and what holds for the workspace as a whole.

mod arrows;
mod catalog;
mod demo;
mod doctor;
mod http;
mod install;
mod lint;
mod mistakes;
mod program;
mod status;
mod words;
mod wrap;
