//! The tests of `midcall-core` that need more than one of its files.

mod wire;
