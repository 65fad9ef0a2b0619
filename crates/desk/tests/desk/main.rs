//! What a desk promises, as those who ask and those who answer live it.

mod model;
mod stories;
mod world;
