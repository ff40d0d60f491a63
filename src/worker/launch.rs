//! The call that makes a process: `posix_spawn`, from an environment that is laid out once a run.
//!
//! The standard library's builder copies the whole environment three times for each command, which costs more than all
//! that this worker itself does about a message.

use nix::fcntl::OFlag;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::stat::Mode;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// What a command's descriptor is to be.
#[derive(Debug)]
pub(super) enum End {
    /// Ours, as it is.
    Ours,
    /// `/dev/null`.
    Null,
    /// This one; it is closed here when the command has it.
    Pipe(OwnedFd),
}

/// A command with all that it is given.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    /// Its path; nothing is searched.
    pub(super) program: &'a CStr,
    /// With the name that it is called by before the arguments.
    pub(super) args: &'a [&'a CStr],
    /// `NAME=VALUE`.
    pub(super) environment: &'a [&'a CStr],
    /// What it reads from.
    pub(super) stdin: End,
    /// Where its output goes.
    pub(super) stdout: End,
    /// Where its errors go.
    pub(super) stderr: End,
}

impl Launch<'_> {
    /// Starts it as the leader of a process group of its own, with no signal blocked and SIGPIPE as the system sets it.
    ///
    /// # Errors
    /// The system's own, among them why the program cannot be executed.
    pub(super) fn start(self) -> io::Result<Pid> {
        let mut attributes = PosixSpawnAttr::init()?;
        attributes.set_flags(
            PosixSpawnFlags::POSIX_SPAWN_SETPGROUP
                | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
                | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK,
        )?;
        attributes.set_pgroup(nix::unistd::Pid::from_raw(0))?;
        attributes.set_sigmask(&SigSet::empty())?;
        let mut usual = SigSet::empty();
        // The runtime ignores it for us; a command in a pipeline lives by it.
        usual.add(Signal::SIGPIPE);
        attributes.set_sigdefault(&usual)?;
        let mut actions = PosixSpawnFileActions::init()?;
        give(&mut actions, &self.stdin, 0, OFlag::O_RDONLY)?;
        give(&mut actions, &self.stdout, 1, OFlag::O_WRONLY)?;
        give(&mut actions, &self.stderr, 2, OFlag::O_WRONLY)?;
        let pid = posix_spawn(
            self.program,
            &actions,
            &attributes,
            self.args,
            self.environment,
        )?;
        Pid::from_raw(pid.as_raw()).ok_or_else(|| io::ErrorKind::Other.into())
    }
}

fn give(
    actions: &mut PosixSpawnFileActions,
    end: &End,
    as_number: RawFd,
    way: OFlag,
) -> io::Result<()> {
    match end {
        End::Ours => {}
        End::Null => actions.add_open(as_number, c"/dev/null", way, Mode::empty())?,
        End::Pipe(fd) => actions.add_dup2(fd.as_raw_fd(), as_number)?,
    }
    Ok(())
}

/// Waits for a child and takes its end from the system.
///
/// # Errors
/// It is no child of ours, or somebody took its end before.
pub(super) fn wait(pid: Pid) -> io::Result<WaitStatus> {
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A word for the system.
///
/// # Errors
/// It has a NUL byte in it.
pub(super) fn word(bytes: impl Into<Vec<u8>>) -> io::Result<CString> {
    Ok(CString::new(bytes)?)
}
