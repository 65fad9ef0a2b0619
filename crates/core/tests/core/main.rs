//! What the crate promises to those who use it.

mod catalog;
mod check;
mod form;
mod hostile;
mod link;
mod oracle;
mod seal;
mod secret;
mod tell;
mod wire;
