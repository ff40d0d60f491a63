//! The outer process: what cron, systemd and the person see.
//!
//! It opens no store. It starts the worker as a process of its own in a group of its own, passes signals and the exit
//! code on, and ends whatever a killed worker leaves. The worker in turn learns from a pipe that the outer one died. So
//! killing either leaves no command behind; killing both in the same instant does.

use super::unix::{self, Reaper};
use rustix::fs::{FileType, fstat};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Tells a worker that its standard input is the outer process's pipe: the pipe's inode, a number of this run, and what
/// the outer process hands over.
pub(super) const VARIABLE: &str = "QOPS_GUARD";

/// What the outer process answers when the worker was killed.
pub const KILLED: u8 = 137;

/// Which of the two processes this is.
#[derive(Debug)]
pub enum Role {
    /// The one that was started: it calls [`run_outer`] and nothing else.
    Outer,
    /// The worker.
    Inner(Pipe),
}

/// The worker's end of the pipe to the outer process.
#[derive(Debug)]
pub struct Pipe {
    read: OwnedFd,
    /// The name of this run, which its processes carry in their environment.
    pub(super) run: String,
    handed: String,
}

/// Which of the two processes this is. A variable that somebody else has set does not deceive it: our standard input
/// has to be that very pipe.
#[must_use]
pub fn role() -> Role {
    std::env::var(VARIABLE)
        .ok()
        .and_then(|value| pipe_of(&value))
        .map_or(Role::Outer, Role::Inner)
}

fn pipe_of(value: &str) -> Option<Pipe> {
    let (inode, rest) = value.split_once('-')?;
    let (run, handed) = rest.split_once('-')?;
    let stdin = rustix::stdio::stdin();
    let stat = fstat(stdin).ok()?;
    let is_it =
        FileType::from_raw_mode(stat.st_mode) == FileType::Fifo && inode.parse() == Ok(stat.st_ino);
    let read = is_it
        .then(|| rustix::io::fcntl_dupfd_cloexec(stdin, 3).ok())
        .flatten()?;
    Some(Pipe {
        read,
        run: run.to_owned(),
        handed: handed.to_owned(),
    })
}

impl Pipe {
    /// What the outer process found out and hands over, as it gave it to [`run_outer`].
    #[must_use]
    pub fn handed(&self) -> &str {
        &self.handed
    }

    /// Calls `gone` when the outer process has died. Nothing ever comes through the pipe but its end.
    pub(super) fn watch(self, gone: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut read = File::from(self.read);
        std::thread::Builder::new()
            .name("guard".into())
            .spawn(move || {
                loop {
                    match read.read(&mut [0; 16]) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Ok(0) | Err(_) => break gone(),
                        Ok(_) => {}
                    }
                }
            })
            .map(drop)
    }
}

/// Where a run keeps payloads that its commands want as files.
pub(super) fn scratch(run: &str) -> PathBuf {
    std::env::temp_dir().join(format!("qops-work-{run}"))
}

/// A number that another run does not have.
pub(super) fn new_run() -> String {
    format!("{:016x}", fastrand::u64(..))
}

/// Runs the worker in a process of its own with these arguments (the program's name first), and answers its exit code:
/// [`KILLED`] if it was killed. Nothing of it is left then. The worker alone reads what is `handed` to it, by
/// [`Pipe::handed`].
///
/// # Errors
/// The worker could not be started.
pub fn run_outer(args: impl IntoIterator<Item = OsString>, handed: &str) -> io::Result<u8> {
    let reaper = Reaper::new()?;
    let ignored = unix::ignored_signals();
    let heard = [SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT]
        .into_iter()
        .filter(|signal| !ignored.contains(signal))
        .chain([SIGCHLD]);
    // Before the spawn: its end must not be missed.
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    let (read, write) = unix::pipe()?;
    let run = new_run();
    let mut args = args.into_iter();
    let name = args.next().unwrap_or_else(|| "qops".into());
    let mut worker = Command::new(unix::own_program()?)
        .arg0(name)
        .args(args)
        .env(VARIABLE, format!("{}-{run}-{handed}", fstat(&read)?.st_ino))
        .stdin(Stdio::from(read))
        .process_group(0)
        .spawn()?;
    let pid = rustix::process::Pid::from_child(&worker);
    let status = 'ended: loop {
        for signal in signals.wait() {
            if signal == SIGCHLD {
                if let Some(status) = worker.try_wait()? {
                    break 'ended status;
                }
                continue;
            }
            if let Some(signal) = named(signal) {
                unix::signal_process(pid, signal);
            }
            if signal == SIGTSTP {
                // The worker's commands run on; we stop as whoever sent this expects.
                signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
            }
        }
    };
    unix::end_everyone(&reaper, Duration::from_secs(10));
    drop(write);
    let _ = std::fs::remove_dir_all(scratch(&run));
    Ok(match (status.code(), status.signal()) {
        (Some(code), None) => u8::try_from(code).unwrap_or(KILLED),
        _ => KILLED,
    })
}

fn named(signal: i32) -> Option<rustix::process::Signal> {
    rustix::process::Signal::from_named_raw(signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_alone_makes_no_worker() {
        for value in ["", "1", "1-x", "-", "x-y", "1-x-2", "--"] {
            assert!(pipe_of(value).is_none(), "{value}");
        }
    }

    #[test]
    fn the_end_of_the_outer_process_is_heard() {
        let (read, write) = unix::pipe().unwrap();
        let pipe = Pipe {
            read,
            run: new_run(),
            handed: String::new(),
        };
        let (tell, told) = std::sync::mpsc::channel();
        pipe.watch(move || tell.send(()).unwrap()).unwrap();
        assert!(told.try_recv().is_err());
        drop(write);
        told.recv_timeout(Duration::from_secs(10)).unwrap();
    }
}
