//! qops operates work queues.
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let _ = args;
    ExitCode::SUCCESS
}
