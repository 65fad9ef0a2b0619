//! What the crate promises to those who use it.

mod catalog;
mod link;
mod seal;
mod secret;
mod tell;
mod wire;
