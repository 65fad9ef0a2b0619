//! What a desk promises, as those who ask and those who answer live it.

mod again;
mod crowd;
mod delivery;
mod model;
mod stories;
mod surfaces;
mod world;
