//! How each leg is opened, era by era. Nothing here does I/O.

pub mod legacy;
