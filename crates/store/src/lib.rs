//! Where records live while people think, and how nodes talk about them.
//!
//! A [`Store`] keeps versioned records by scope and tells of their changes; a [`Post`] carries
//! messages between the nodes that share one. Both have a memory implementation here; SQLite
//! and Redis are crates of their own. [`contract`] is what all of them must pass.
//!
//! Elsewhere: what a record means (`midcall-desk`).

pub mod contract;
mod memory;
mod post;
mod store;

pub use memory::Memory;
pub use post::{Letter, Mailroom, NodeId, Post, PostError};
pub use store::{Change, Changes, Key, Missed, Record, Store, StoreError, Version};
