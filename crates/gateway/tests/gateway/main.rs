//! The gateway from outside, and the shape of the workspace it sits on top of.

mod arrows;
