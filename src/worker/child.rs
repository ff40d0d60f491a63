//! One command: its start, its payload, its output, its end, and the end of everything that it started.

use super::command::{Command, Output};
use super::environment::{self, Base};
use super::launch;
use super::ledger::Job;
use super::relay::{Sinks, Stream};
use super::scratch::Scratch;
use super::signal;
use super::slot::{Hand, Urgency};
use super::start::{self, Refusal};
use super::unix::{self, Reaper};
use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal};
use std::sync::RwLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What every command of a run shares.
#[derive(Debug)]
pub(super) struct Kit {
    /// What is run.
    pub(super) command: Command,
    /// The environment that all have in common.
    pub(super) base: Base,
    /// Where their output goes.
    pub(super) sinks: Sinks,
    /// Where payloads lie that are handed over as files.
    pub(super) scratch: Scratch,
    /// A command that runs longer is ended.
    pub(super) timeout: Option<Duration>,
    /// From TERM to KILL.
    pub(super) kill_after: Duration,
    /// Only a process that is a worker and nothing else makes orphans its own.
    pub(super) reaper: Option<Reaper>,
    /// Open while commands may be started; whoever closes it knows that none is just being started.
    pub(super) gate: RwLock<Gate>,
    /// Commands at once.
    pub(super) jobs: usize,
    /// A command ended well without reading its payload: known already, so nobody looks again.
    pub(super) unread: AtomicBool,
}

/// Whether commands may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Open,
    Closed,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    /// By itself, with this code.
    Exit(u8),
    /// By this signal, not ours.
    Signal(i32),
    /// It ran out of time and was ended.
    Timeout,
    /// Its lease was lost: it was ended, or never began.
    Lost,
    /// It was ended because the worker stops, or never began.
    Stopped,
    /// It never began: the message cannot be an argument.
    Unusable(String),
    /// It never began: the system refuses to execute the command.
    CannotRun(String),
    /// It never began: the system had no room for it.
    NoRoom(String),
}

/// One run.
#[derive(Debug)]
pub(super) struct Ran {
    /// How it ended.
    pub(super) how: How,
    /// From the spawn to the end; nothing: it never began.
    pub(super) took: Duration,
    /// What is kept of its stderr.
    pub(super) stderr: Vec<u8>,
    /// It ended well and had read nothing of its payload, and no argument held it.
    pub(super) unread: bool,
    /// It did not end well, and nobody reads the output that it had from us: that may be why.
    pub(super) cut_off: bool,
}

impl Ran {
    /// Whether a command ran at all.
    pub(super) fn began(&self) -> bool {
        !self.took.is_zero()
    }

    /// No command ran.
    pub(super) fn never(how: How) -> Self {
        Self {
            how,
            took: Duration::ZERO,
            stderr: vec![],
            unread: false,
            cut_off: false,
        }
    }

    /// A command may have run, and nobody saw its end.
    pub(super) fn unseen(took: Duration) -> Self {
        Self {
            took: took.max(INSTANT),
            ..Self::never(How::Lost)
        }
    }
}

/// Why a command is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Timeout,
    Lost,
    Stopped,
}

struct Closing {
    cause: Cause,
    kill_at: Instant,
}

/// The shortest run: nothing stands for one that never began.
const INSTANT: Duration = Duration::from_nanos(1);
/// The most that a pipe holds, and no more than that can wait in it after the end of a command.
const LEFT_IN_PIPES: usize = 1 << 20;
/// Without a thing to wait on for the end of a command, so often it is looked for.
const LOOK: Duration = Duration::from_millis(5);
/// At least so often the lease is looked at: a poll does not count the time in which the machine slept.
const TICK: Duration = Duration::from_secs(1);

/// Runs one command to its end.
pub(super) fn run(kit: &Kit, job: &Job, hand: &Hand, buffer: &mut [u8]) -> Ran {
    let started = match start::start(kit, job, hand) {
        Ok(started) => started,
        Err(Refusal::Stopped) => return Ran::never(How::Stopped),
        Err(Refusal::Lost) => return Ran::never(How::Lost),
        Err(Refusal::Unusable(why)) => return Ran::never(How::Unusable(why)),
        Err(Refusal::CannotRun(why)) => return Ran::never(How::CannotRun(why)),
        Err(Refusal::NoRoom(why)) => return Ran::never(How::NoRoom(why)),
    };
    let mut run = Run {
        kit,
        job,
        hand,
        pid: started.pid,
        leash: Leash::on(started.pid),
        started,
        began: Instant::now(),
        reaped: Instant::now(),
        closing: None,
        termed: vec![],
    };
    run.wait(buffer);
    run.end(buffer)
}

/// Ends a command and all of its group if it is dropped while the command runs: whoever watched it has panicked.
pub(super) struct Leash(Option<Pid>);

impl Leash {
    pub(super) fn on(pid: Pid) -> Self {
        Self(Some(pid))
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            unix::signal_group(pid, Signal::KILL);
            let _ = launch::wait(pid);
        }
    }
}

struct Run<'a> {
    kit: &'a Kit,
    job: &'a Job,
    hand: &'a Hand,
    pid: Pid,
    leash: Leash,
    started: start::Started<'a>,
    began: Instant,
    /// When ended orphans were last taken from the system.
    reaped: Instant,
    closing: Option<Closing>,
    /// Strays that were asked to end.
    termed: Vec<Pid>,
}

impl Run<'_> {
    /// Feeds, reads and watches the command until its process has ended; it is not reaped then.
    fn wait(&mut self, buffer: &mut [u8]) {
        let exit = unix::Exit::of(self.pid);
        loop {
            let pause = self.pause(exit.fd().is_some());
            let ready = self.poll(&exit, pause);
            if ready.input {
                self.started.feed();
            }
            let Self { started, kit, .. } = self;
            if ready.stdout
                && let Some(stream) = &mut started.stdout
            {
                stream.read(buffer);
            }
            if ready.stderr {
                started.stderr.read(buffer);
            }
            started.give(&kit.sinks, ready.stdout_sink, ready.stderr_sink);
            if ready.poked {
                self.hand.hear();
            }
            if ready.exit || exit.fd().is_none() && self.has_ended() {
                break;
            }
            self.judge();
        }
        // While its leader is not reaped the group's number cannot be another's.
        unix::signal_group(self.pid, Signal::KILL);
    }

    fn has_ended(&self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.pid), look), Ok(None))
    }

    /// How long to wait for something to happen.
    fn pause(&self, exit_is_told: bool) -> Duration {
        let now = Instant::now();
        let mut pause = TICK;
        if !exit_is_told {
            pause = LOOK;
        }
        if self.started.waits_for_pen(&self.kit.sinks) {
            pause = pause.min(LOOK);
        }
        if let Some(closing) = &self.closing {
            let left = closing.kill_at.saturating_duration_since(now);
            // Once killed, what still forks is killed again and again.
            return pause.min(if left.is_zero() { LOOK } else { left });
        }
        let time = self.kit.timeout.map_or(TICK, |timeout| {
            (self.began + timeout).saturating_duration_since(now)
        });
        pause.min(time).min(self.job.lease.left())
    }

    fn poll(&self, exit: &unix::Exit, pause: Duration) -> Ready {
        let started = &self.started;
        let sinks = &self.kit.sinks;
        let out = started.stdout.as_ref();
        let wanted = [
            (exit.fd(), Name::Exit),
            (Some(self.hand.fd()), Name::Poke),
            (started.input_fd(), Name::Input),
            (started.stderr.readable(), Name::Stderr),
            (started.stderr.writable(&sinks.stderr), Name::StderrSink),
            (out.and_then(Stream::readable), Name::Stdout),
            (
                out.and_then(|stream| stream.writable(&sinks.stdout)),
                Name::StdoutSink,
            ),
        ];
        let (mut fds, mut names) = (Vec::with_capacity(7), Vec::with_capacity(7));
        for (fd, name) in wanted {
            if let Some(fd) = fd {
                fds.push(fd);
                names.push(name);
            }
        }
        let mut ready = Ready::default();
        let timeout = Timespec {
            tv_sec: i64::try_from(pause.as_secs()).unwrap_or(1),
            // A part of a nanosecond more, so that a deadline has passed when we wake.
            tv_nsec: i64::from(pause.subsec_nanos().saturating_add(1).min(999_999_999)),
        };
        if poll(&mut fds, Some(&timeout)).is_err() {
            return ready;
        }
        for (fd, name) in fds.iter().zip(&names) {
            if fd.revents().is_empty() {
                continue;
            }
            match name {
                Name::Exit => ready.exit = true,
                Name::Poke => ready.poked = true,
                Name::Input => ready.input = true,
                Name::Stdout => ready.stdout = true,
                Name::Stderr => ready.stderr = true,
                Name::StdoutSink => ready.stdout_sink = true,
                Name::StderrSink => ready.stderr_sink = true,
            }
        }
        ready
    }

    /// Ends the command where there is a reason.
    fn judge(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.reaped) >= TICK
            && let Some(reaper) = &self.kit.reaper
        {
            self.reaped = now;
            reaper.strays().into_iter().for_each(unix::reap);
        }
        if self.closing.is_none() {
            let cause = if self.job.lease.over() {
                Cause::Lost
            } else if self.hand.urgency() > Urgency::None {
                Cause::Stopped
            } else if self
                .kit
                .timeout
                .is_some_and(|timeout| now >= self.began + timeout)
            {
                Cause::Timeout
            } else {
                return;
            };
            self.closing = Some(Closing {
                cause,
                kill_at: now + self.kit.kill_after,
            });
            self.signal_all(Signal::TERM);
            // What is stopped has to go on to hear it.
            self.signal_all(Signal::CONT);
        }
        if let Some(closing) = &mut self.closing {
            if self.hand.urgency() == Urgency::Kill {
                closing.kill_at = now;
            }
            if now >= closing.kill_at {
                self.signal_all(Signal::KILL);
            }
        }
    }

    /// To the group, to what left it, and to orphans of this command.
    fn signal_all(&mut self, signal: Signal) {
        let below = unix::descendants(self.pid);
        unix::signal_group(self.pid, signal);
        for pid in below {
            unix::signal_process(pid, signal);
        }
        for pid in self.strays() {
            unix::signal_process(pid, signal);
            self.termed.push(pid);
        }
    }

    /// Orphans of this command. With one command at once every orphan is its; else its mark tells.
    fn strays(&self) -> Vec<Pid> {
        let Some(reaper) = &self.kit.reaper else {
            return vec![];
        };
        let strays = reaper.strays();
        if self.kit.jobs == 1 || strays.is_empty() {
            return strays;
        }
        let mark = environment::mark(&self.job.delivery);
        strays
            .into_iter()
            .filter(|pid| unix::carries(*pid, &mark))
            .collect()
    }

    /// Takes its end, ends what it left behind, and says what there is to say.
    fn end(mut self, buffer: &mut [u8]) -> Ran {
        let took = self.began.elapsed().max(INSTANT);
        let unread = self.started.unread();
        let status = launch::wait(self.pid);
        // From now on its number may be another's.
        self.leash.0 = None;
        self.sweep();
        self.flush(buffer);
        let Self {
            kit,
            job,
            hand,
            closing,
            started,
            ..
        } = self;
        let how = match (closing.map(|closing| closing.cause), status) {
            (Some(Cause::Timeout), _) => How::Timeout,
            (Some(Cause::Stopped), _) => How::Stopped,
            // Lost, or its end was taken by somebody else: nobody knows whether it went well.
            (Some(Cause::Lost), _) | (None, Err(_)) => How::Lost,
            // It ended while we were stopped or asleep: somebody else may have the message.
            (None, _) if job.lease.over() => How::Lost,
            (None, Ok(status)) => match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => How::Exit(u8::try_from(code).unwrap_or(u8::MAX)),
                (None, Some(signal)) => How::Signal(signal),
                (None, None) => How::Signal(0),
            },
        };
        if let Some(stdout) = started.stdout {
            stdout.finish(&kit.sinks.stdout);
        }
        let stderr = started.stderr.finish(&kit.sinks.stderr);
        let failed = matches!(how, How::Exit(1..) | How::Signal(_));
        let cut_off = failed && kit.command.output == Output::Pass && signal::output_is_closed();
        if cut_off {
            hand.output_is_closed();
        }
        Ran {
            cut_off,
            unread: unread && how == How::Exit(0),
            how,
            took,
            stderr,
        }
    }

    /// Ends what left the group: TERM, then KILL, and takes their ends from the system.
    fn sweep(&mut self) {
        let kill_at = self.closing.as_ref().map_or_else(
            || Instant::now() + self.kit.kill_after,
            |closing| closing.kill_at,
        );
        let mut pause = Duration::from_micros(100);
        loop {
            let strays = self.strays();
            if strays.is_empty() {
                return;
            }
            let kill = Instant::now() >= kill_at || self.hand.urgency() == Urgency::Kill;
            for pid in strays {
                if kill {
                    unix::signal_process(pid, Signal::KILL);
                } else if !self.termed.contains(&pid) {
                    unix::signal_process(pid, Signal::TERM);
                    unix::signal_process(pid, Signal::CONT);
                    self.termed.push(pid);
                }
                unix::reap(pid);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LOOK);
        }
    }

    /// Reads the rest of its output and writes it out. A reader who does not read holds us up as it would hold up the
    /// command, until the lease ends or the worker is told to end at once.
    fn flush(&mut self, buffer: &mut [u8]) {
        // More than a pipe can hold comes from somebody who is no part of the command.
        let mut left = LEFT_IN_PIPES;
        let Self { started, kit, .. } = self;
        loop {
            if left > 0 {
                let read: usize = streams_of(started).map(|stream| stream.read(buffer)).sum();
                left = left.saturating_sub(read);
                // A stream that owes too much is not read for now, and is not at its end.
                let held_up = streams_of(started).any(|stream| stream.is_held_up());
                if read == 0 && !held_up || left == 0 {
                    left = 0;
                    streams_of(started).for_each(Stream::close);
                }
            }
            let owes = streams_of(started).any(|stream| stream.owes());
            if left == 0 && !owes || self.job.lease.over() || self.hand.urgency() > Urgency::None {
                return;
            }
            if owes {
                started.give_within(&kit.sinks, LOOK);
            }
        }
    }
}

fn streams_of<'s>(started: &'s mut start::Started<'_>) -> impl Iterator<Item = &'s mut Stream> {
    started.stdout.iter_mut().chain([&mut started.stderr])
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is the readiness of one descriptor"
)]
struct Ready {
    exit: bool,
    poked: bool,
    input: bool,
    stdout: bool,
    stderr: bool,
    stdout_sink: bool,
    stderr_sink: bool,
}

#[derive(Clone, Copy)]
enum Name {
    Exit,
    Poke,
    Input,
    Stdout,
    Stderr,
    StdoutSink,
    StderrSink,
}
