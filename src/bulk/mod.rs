//! Walks over many messages: in chunks, with a limit, stopped between two chunks, never in one.

pub mod walk;

pub use walk::{Ended, Look, Looked, Report, Walk, change, look};
