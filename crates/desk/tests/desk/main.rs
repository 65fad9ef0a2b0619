//! What a desk promises, as those who ask and those who answer live it.

mod crowd;
mod model;
mod stories;
mod surfaces;
mod world;
