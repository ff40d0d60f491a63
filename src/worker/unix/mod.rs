//! What the system does for processes. Where it can do more than POSIX asks, that stands in one file, with a portable
//! twin beside it.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::ignored_signals;
#[cfg(target_os = "linux")]
pub(super) use linux::{Exit, Reaper, Wake, carries, descendants, open_files, own_program, uptime};

#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::ignored_signals;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::{
    Exit, Reaper, Wake, carries, descendants, open_files, own_program, uptime,
};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, waitid,
    waitpid,
};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A pipe, its end to read from first, that no command inherits.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((read.into(), write.into()))
}

/// Sends a signal to a process group. That it is gone is fine.
pub(super) fn signal_group(leader: Pid, signal: Signal) {
    let _ = kill_process_group(leader, signal);
}

/// Sends a signal to a process. That it is gone is fine.
pub(super) fn signal_process(pid: Pid, signal: Signal) {
    let _ = kill_process(pid, signal);
}

/// Takes a child's end from the system if it has ended. Never for "any child": that steals a slot's exit code.
pub(super) fn reap(pid: Pid) {
    let _ = waitpid(Some(pid), WaitOptions::NOHANG);
}

/// Whether no process, not even one that has ended, is ours to wait for.
pub(super) fn childless() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}

/// Ends every process that is still ours, and what they leave, until none is left or `limit` has passed. For the end of
/// a process whose threads start nothing any more.
pub(super) fn end_everyone(reaper: &Reaper, limit: Duration) {
    let began = std::time::Instant::now();
    while !childless() && began.elapsed() < limit {
        for pid in reaper.everyone() {
            signal_group(pid, Signal::KILL);
            signal_process(pid, Signal::KILL);
            reap(pid);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
