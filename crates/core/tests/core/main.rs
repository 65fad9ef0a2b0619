//! What the crate promises to those who use it.

mod catalog;
mod check;
mod oracle;
mod seal;
