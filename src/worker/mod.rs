//! The worker: runs a command for each message.
//!
//! The caller's thread is the store thread: it owns the handle, the ledger and every verdict, and sleeps in one place.
//! A slot is a thread that owns one command at a time, and ends it by itself when its lease passes: the store thread may
//! hang in a call. The bell thread owns the store's watch. Signals are events. Nothing here prints but what commands
//! wrote: the caller's `say` hears the rest.

#![expect(
    dead_code,
    unused_imports,
    reason = "the slots and the store thread that use these land next"
)]

mod capture;
mod command;
mod environment;
#[cfg(test)]
mod fake;
pub mod guard;
mod lease;
mod note;
mod plan;
mod template;
mod unix;
pub mod verdict;

pub use command::{Command, Input, Output, Unfit};
pub use note::{Ending, Fate, Note, Summary, Why};
pub use plan::{Limits, Missing, Mode, Plan, Promise, Source, Terms};
pub use verdict::ExitMap;
