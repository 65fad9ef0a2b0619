//! What the crate promises to those who use it.

mod catalog;
mod check;
mod form;
mod hostile;
mod oracle;
mod seal;
