//! qops operates work queues.
//!
//! Arguments come in at [`cli`], become a typed request, pass one checked door into a [`backend`], and rows come out
//! through [`ui`]. [`worker`] and [`bulk`] stand side by side and use the same door. [`queue`] is what all of them speak
//! of, and [`config`] says which store is meant.

pub mod backend;
pub mod bulk;
pub mod cli;
pub mod config;
pub mod queue;
pub mod ui;
pub mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program with its arguments, its own name first, and answers its exit code. It can be called again.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    cli::main(args.into_iter().collect()).into()
}
