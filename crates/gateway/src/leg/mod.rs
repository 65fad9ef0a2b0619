//! The words of each era, as peers say them.

pub mod wrong_era;
