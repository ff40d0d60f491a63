//! The start of a command: by `posix_spawn`, with everything that it is given.

use super::capture::Capture;
use super::child::{Gate, Kit};
use super::command::{Input, Output};
use super::environment;
use super::ledger::Job;
use super::relay::{Sinks, Stream, Style};
use super::scratch::File;
use super::slot::{Hand, Urgency};
use super::template::{Filling, Nul, Place, Word, fill};
use super::unix;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
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
}

/// A command that runs.
#[derive(Debug)]
pub(super) struct Started<'a> {
    pub(super) child: Child,
    pub(super) stdout: Option<Stream>,
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

/// Starts the command of a job. Where the system has no room for another process it is tried again, while the lease
/// lasts: that is no fault of the message, nor of the command.
pub(super) fn start<'a>(kit: &Kit, job: &'a Job, hand: &Hand) -> Result<Started<'a>, Refusal> {
    let mut pause = Duration::from_millis(50);
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
            Err(Failure::System(error)) => match weigh(&error) {
                Weight::Passes => {
                    hand.no_room(&error);
                    hand.wait(pause.min(job.lease.left()));
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                Weight::TooLong
                    if kit.command.has_any_place() || !job.delivery.message.headers.is_empty() =>
                {
                    return Err(Refusal::Unusable(format!(
                        "the message is too long for the command's arguments: {error}"
                    )));
                }
                Weight::TooLong | Weight::Final => {
                    return Err(Refusal::CannotRun(format!(
                        "cannot start '{}': {error}",
                        kit.command.program.display()
                    )));
                }
            },
        }
    }
}

enum Failure {
    System(io::Error),
    Refused(Refusal),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

enum Weight {
    Passes,
    TooLong,
    Final,
}

fn weigh(error: &io::Error) -> Weight {
    match Errno::from_io_error(error) {
        Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::TXTBSY) => {
            Weight::Passes
        }
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
        .map_err(|error| {
            Failure::Refused(Refusal::CannotRun(format!(
                "cannot write the payload to a file: {error}"
            )))
        })?;
    let mut command = Command::new(&kit.command.program);
    command.arg0(&kit.command.name).process_group(0).env_clear();
    let filling = Filling {
        payload,
        file: file.as_ref().map(File::path),
        id: message.id.as_str(),
        key: message.key.as_deref().unwrap_or(""),
        queue: message.queue.as_str(),
        attempt: job.attempt,
    };
    for word in &kit.command.args {
        command.arg(argument(word, &filling)?);
    }
    command.envs(kit.base.iter());
    command.envs(environment::of_message(
        &job.delivery,
        job.attempt,
        job.max_attempts,
    ));
    let mut input = None;
    let mut look = None;
    let mut fed = 0;
    match kit.command.input {
        Input::None => command.stdin(Stdio::null()),
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
            command.stdin(Stdio::from(read))
        }
    };
    let (err_read, err_write) = unix::pipe()?;
    command.stderr(Stdio::from(err_write));
    let lines = || Style::Lines(format!("[{}] ", message.id).into_bytes());
    let (stdout, style) = match kit.command.output {
        Output::Pass => {
            command.stdout(Stdio::inherit());
            (None, Style::Raw)
        }
        Output::Discard => {
            command.stdout(Stdio::null());
            (None, Style::Silent)
        }
        Output::Prefix => {
            let (read, write) = unix::pipe()?;
            command.stdout(Stdio::from(write));
            (Some(Stream::new(read, lines(), hand.slot, None)?), lines())
        }
    };
    let stderr = Stream::new(err_read, style, hand.slot, Some(Capture::default()))?;
    let gate = kit.gate.read().unwrap_or_else(PoisonError::into_inner);
    if *gate == Gate::Closed {
        return Err(Failure::Refused(Refusal::Stopped));
    }
    let child = command.spawn()?;
    drop(gate);
    // Our copies of the command's ends of the pipes go with it.
    drop(command);
    Ok(Started {
        child,
        stdout,
        stderr,
        input,
        payload,
        fed,
        look,
        _file: file,
    })
}

fn argument<'a>(word: &'a Word, filling: &Filling<'_>) -> Result<Cow<'a, OsStr>, Failure> {
    match word {
        Word::Fixed(word) => Ok(Cow::Borrowed(word)),
        Word::Made(pieces) => fill(pieces, filling).map(Cow::Owned).map_err(|Nul(place)| {
            let what = if place == Place::Payload {
                "payload"
            } else {
                "key"
            };
            Failure::Refused(Refusal::Unusable(format!(
                "the {what} has a NUL byte in it and cannot be an argument"
            )))
        }),
    }
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
