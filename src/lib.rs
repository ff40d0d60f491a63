//! qops operates work queues.

pub mod backend;
pub mod bulk;
pub mod config;
pub mod queue;
pub mod ui;
pub mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let _: Vec<OsString> = args.into_iter().collect();
    ExitCode::SUCCESS
}
