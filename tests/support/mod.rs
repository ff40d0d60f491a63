//! What the suite stands on: the reference model, and the stages on which every backend is played.

pub mod model;
pub mod pg;
pub mod stage;
