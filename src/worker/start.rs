//! The start of a command: by `posix_spawn`, with everything that it is given.

use super::capture::Capture;
use super::child::{Gate, Kit};
use super::command::{Command, Input, Output};
use super::environment;
use super::launch::{End, Launch, word};
use super::ledger::Job;
use super::relay::{Sinks, Stream, Style, Which};
use super::scratch::File;
use super::slot::{Hand, Urgency};
use super::template::{Filling, Nul, Place, Word, fill};
use super::unix;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Why a command did not begin.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The worker stops.
    Stopped,
    /// The lease is over.
    Lost,
    /// This message cannot be an argument.
    Unusable(String),
    /// The system refuses to execute the command, or we cannot give it what it wants.
    CannotRun(String),
    /// The system has no room for it, and the lease is not extended.
    NoRoom(String),
}

/// A command that runs.
#[derive(Debug)]
pub(super) struct Started<'a> {
    /// The leader of its group.
    pub(super) pid: Pid,
    /// Its output, where it goes through us.
    pub(super) stdout: Option<Stream>,
    /// Its errors, which always do.
    pub(super) stderr: Stream,
    input: Option<OwnedFd>,
    payload: &'a [u8],
    fed: usize,
    /// The command's end of its standard input, to see how much of it was read.
    look: Option<OwnedFd>,
    _file: Option<File>,
}

/// A pipe takes this much at once without blocking.
const ATOMIC: usize = 4096;

/// Starts the command of a job. Where the system has no room for another process, or the disk none for its file, it is
/// tried again while the lease is extended, and given back before it ends: that is no fault of the message, nor of the
/// command.
pub(super) fn start<'a>(kit: &Kit, job: &'a Job, hand: &Hand) -> Result<Started<'a>, Refusal> {
    let mut pause = Duration::from_millis(50);
    let at_first = job.lease.left();
    loop {
        if hand.urgency() > Urgency::None {
            return Err(Refusal::Stopped);
        }
        if job.lease.over() {
            return Err(Refusal::Lost);
        }
        match try_start(kit, job, hand) {
            Ok(started) => return Ok(started),
            Err(Failure::Refused(refusal)) => return Err(refusal),
            Err(Failure::System { error, at }) => match weigh(&error) {
                Weight::Passes => {
                    let why = format!("{at}{error}");
                    let left = job.lease.left();
                    if left < at_first / 4 {
                        return Err(Refusal::NoRoom(why));
                    }
                    hand.no_room(why);
                    hand.wait(pause.min(left / 4));
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                Weight::TooLong
                    if kit.command.has_any_place() || !job.delivery.message.headers.is_empty() =>
                {
                    return Err(Refusal::Unusable(format!(
                        "the message is too long for the command's arguments: {error}"
                    )));
                }
                Weight::TooLong | Weight::Final if at.is_empty() => {
                    return Err(Refusal::CannotRun(format!(
                        "cannot start '{}': {error}",
                        kit.command.program.display()
                    )));
                }
                Weight::TooLong | Weight::Final => {
                    return Err(Refusal::CannotRun(format!("{at}{error}")));
                }
            },
        }
    }
}

enum Failure {
    System {
        error: io::Error,
        /// What was being done, with a colon; empty: the start itself.
        at: String,
    },
    Refused(Refusal),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::System {
            error,
            at: String::new(),
        }
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        io::Error::from(error).into()
    }
}

enum Weight {
    Passes,
    TooLong,
    Final,
}

fn weigh(error: &io::Error) -> Weight {
    match Errno::from_io_error(error) {
        Some(
            Errno::AGAIN
            | Errno::NOMEM
            | Errno::MFILE
            | Errno::NFILE
            | Errno::TXTBSY
            | Errno::NOSPC
            | Errno::DQUOT,
        ) => Weight::Passes,
        Some(Errno::TOOBIG) => Weight::TooLong,
        _ => Weight::Final,
    }
}

fn try_start<'a>(kit: &Kit, job: &'a Job, hand: &Hand) -> Result<Started<'a>, Failure> {
    let message = &job.delivery.message;
    let payload = message.payload.as_slice();
    let file = kit
        .command
        .has(Place::File)
        .then(|| kit.scratch.put(payload))
        .transpose()
        .map_err(|error| Failure::System {
            error,
            at: format!(
                "cannot write the payload to a file in {}: ",
                kit.scratch.path().display()
            ),
        })?;
    let filling = Filling {
        payload,
        file: file.as_ref().map(File::path),
        id: message.id.as_str(),
        key: message.key.as_deref().unwrap_or(""),
        queue: message.queue.as_str(),
        attempt: job.attempt,
    };
    let args = arguments(&kit.command, &filling)?;
    let own = environment::of_message(&job.delivery, job.attempt, job.max_attempts)
        .into_iter()
        .map(|(name, value)| word(name + "=" + &value))
        .collect::<io::Result<Vec<_>>>()?;
    let mut input = None;
    let mut look = None;
    let mut fed = 0;
    let stdin = match kit.command.input {
        Input::None => End::Null,
        Input::Stdin => {
            let (read, write) = unix::pipe()?;
            let asks = !payload.is_empty()
                && !kit.command.has_any_place()
                && !kit.unread.load(Ordering::Relaxed);
            if asks {
                look = Some(rustix::io::fcntl_dupfd_cloexec(&read, 3)?);
            }
            if payload.len() <= ATOMIC {
                // An empty pipe takes this whole, so nobody has to wait for it to be writable.
                if !payload.is_empty() {
                    fed = rustix::io::write(&write, payload)?;
                }
            } else {
                rustix::fs::fcntl_setfl(&write, rustix::fs::OFlags::NONBLOCK)?;
            }
            input = (fed < payload.len()).then_some(write);
            End::Pipe(read)
        }
    };
    let (err_read, err_write) = unix::pipe()?;
    let lines = || Style::Lines(format!("[{}] ", message.id).into_bytes());
    let (out, stdout, style) = match kit.command.output {
        Output::Pass => (End::Ours, None, Style::Raw),
        Output::Discard => (End::Null, None, Style::Silent),
        Output::Prefix => {
            let (read, write) = unix::pipe()?;
            let stream = Stream::new(read, lines(), (hand.slot, Which::Stdout), None)?;
            (End::Pipe(write), Some(stream), lines())
        }
    };
    let stderr = Stream::new(
        err_read,
        style,
        (hand.slot, Which::Stderr),
        Some(Capture::default()),
    )?;
    let gate = kit.gate.read().unwrap_or_else(PoisonError::into_inner);
    if *gate == Gate::Closed {
        return Err(Failure::Refused(Refusal::Stopped));
    }
    let args: Vec<&CStr> = args.iter().map(CString::as_c_str).collect();
    let environment: Vec<&CStr> = kit.base.iter().chain(&own).map(CString::as_c_str).collect();
    let program = word(kit.command.program.as_os_str().as_bytes())?;
    let launch = Launch {
        program: &program,
        args: &args,
        environment: &environment,
        stdin,
        stdout: out,
        stderr: End::Pipe(err_write),
    };
    let pid = launch.start()?;
    drop(gate);
    Ok(Started {
        pid,
        stdout,
        stderr,
        input,
        payload,
        fed,
        look,
        _file: file,
    })
}

/// The command's name as it was typed, and its arguments.
fn arguments(command: &Command, filling: &Filling<'_>) -> Result<Vec<CString>, Failure> {
    let mut all = vec![word(command.name.as_bytes())?];
    for one in &command.args {
        all.push(match one {
            Word::Fixed(fixed) => word(fixed.as_bytes())?,
            Word::Made(pieces) => fill(pieces, filling)
                .map_err(|Nul(place)| unusable(place))
                .and_then(|made| Ok(word(made.into_vec())?))?,
        });
    }
    Ok(all)
}

fn unusable(place: Place) -> Failure {
    let what = if place == Place::Payload {
        "payload"
    } else {
        "key"
    };
    Failure::Refused(Refusal::Unusable(format!(
        "the {what} has a NUL byte in it and cannot be an argument"
    )))
}

impl Started<'_> {
    /// What to wait for to give it more of its payload.
    pub(super) fn input_fd(&self) -> Option<PollFd<'_>> {
        self.input
            .as_ref()
            .map(|input| PollFd::new(input, PollFlags::OUT))
    }

    /// Gives it what its standard input takes. That it reads no further is no failure.
    pub(super) fn feed(&mut self) {
        let Some(input) = &self.input else { return };
        match rustix::io::write(input, &self.payload[self.fed..]) {
            Ok(length) => self.fed += length,
            Err(Errno::INTR | Errno::AGAIN) => return,
            Err(_) => self.input = None,
        }
        if self.fed == self.payload.len() {
            self.input = None;
        }
    }

    /// Whether nothing of the payload was read, as far as anybody asked.
    pub(super) fn unread(&self) -> bool {
        self.fed > 0
            && self.look.as_ref().is_some_and(|look| {
                rustix::io::ioctl_fionread(look).is_ok_and(|left| left == self.fed as u64)
            })
    }

    /// Gives on what it wrote, to outputs that are ready.
    pub(super) fn give(&mut self, sinks: &Sinks, stdout: bool, stderr: bool) {
        if stdout && let Some(stream) = &mut self.stdout {
            stream.write(&sinks.stdout);
        }
        if stderr {
            self.stderr.write(&sinks.stderr);
        }
    }

    /// Whether something is owed to an output in which another command is in the middle of a line.
    pub(super) fn waits_for_pen(&self, sinks: &Sinks) -> bool {
        let waits = |stream: &Stream, sink| stream.owes() && stream.writable(sink).is_none();
        waits(&self.stderr, &sinks.stderr)
            || self
                .stdout
                .as_ref()
                .is_some_and(|stream| waits(stream, &sinks.stdout))
    }

    /// Writes to whichever output takes something within a moment.
    pub(super) fn give_within(&mut self, sinks: &Sinks, moment: Duration) {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(moment.subsec_nanos()),
        };
        let stdout = self
            .stdout
            .as_ref()
            .and_then(|stream| stream.writable(&sinks.stdout));
        let has_stdout = stdout.is_some();
        let mut fds: Vec<PollFd<'_>> = stdout
            .into_iter()
            .chain(self.stderr.writable(&sinks.stderr))
            .collect();
        if poll(&mut fds, Some(&timeout)).is_err() {
            return;
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let stdout = has_stdout && ready.next().unwrap_or(false);
        let stderr = ready.next().unwrap_or(false);
        self.give(sinks, stdout, stderr);
    }
}
