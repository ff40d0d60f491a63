//! The worker: runs a command for each message.
//!
//! The caller's thread is the store thread: it owns the handle, the ledger and every verdict, and sleeps in one place.
//! A slot is a thread that owns one command at a time, and ends it by itself when its lease passes: the store thread may
//! hang in a call. The bell thread owns the store's watch. Signals are events. Nothing here prints but what commands
//! wrote: the caller's `say` hears the rest.

mod bell;
mod capture;
mod child;
#[cfg(test)]
mod child_tests;
mod clock;
mod command;
mod descriptors;
mod ends;
mod environment;
#[cfg(test)]
mod fake;
mod full;
pub mod guard;
mod intake;
mod lane;
mod launch;
mod lease;
mod ledger;
mod link;
mod note;
mod pace;
mod plan;
mod relay;
mod run;
#[cfg(test)]
mod run_tests;
mod scratch;
mod settled;
mod signal;
mod slot;
mod start;
mod stopping;
mod template;
mod turn;
mod unix;
pub mod verdict;
mod want;

pub use command::{Command, Input, Output, Unfit};
pub use environment::header_variable;
pub use link::Reopen;
pub use note::{Ending, Fate, Note, Summary, Why};
pub use plan::{Limits, Missing, Mode, Plan, Promise, Source, Terms};
pub use run::run;
pub(crate) use unix::ignored_signals;
pub use verdict::ExitMap;
