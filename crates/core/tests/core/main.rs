//! What midcall-core promises to those who use it.

mod link;
mod secret;
