//! Any Unix: process groups, and looking from time to time. What leaves its group escapes.

use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

/// Time since some instant. Elsewhere than on Linux this clock may stand still while the machine sleeps.
pub(in crate::worker) fn uptime() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}

/// Tells nothing: the caller looks from time to time.
#[derive(Debug)]
pub(in crate::worker) struct Exit(PhantomData<()>);

impl Exit {
    /// Of a child that was not waited for yet.
    pub(in crate::worker) fn of(_pid: Pid) -> Self {
        Self(PhantomData)
    }

    /// Nothing to wait on.
    #[expect(clippy::unused_self, reason = "the twin of one that has something")]
    pub(in crate::worker) fn fd(&self) -> Option<PollFd<'_>> {
        None
    }
}

/// Wakes a thread from its poll.
#[derive(Debug)]
pub(in crate::worker) struct Wake {
    read: OwnedFd,
    write: OwnedFd,
}

impl Wake {
    /// So many descriptors one has.
    pub(in crate::worker) const DESCRIPTORS: usize = 2;

    /// One that has not rung.
    pub(in crate::worker) fn new() -> io::Result<Self> {
        let (read, write) = super::pipe()?;
        for end in [&read, &write] {
            rustix::fs::fcntl_setfl(end, rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self { read, write })
    }

    /// What becomes readable when it has rung.
    pub(in crate::worker) fn fd(&self) -> PollFd<'_> {
        PollFd::new(&self.read, PollFlags::IN)
    }

    /// Rings.
    pub(in crate::worker) fn ring(&self) {
        // A full pipe wakes as well.
        let _ = rustix::io::write(&self.write, b"!");
    }

    /// It was heard, and may ring again.
    pub(in crate::worker) fn hear(&self) {
        let mut buffer = [0; 64];
        while rustix::io::read(&self.read, &mut buffer).is_ok_and(|length| length > 0) {}
    }
}

/// How many files this process has open: a guess.
pub(in crate::worker) fn open_files() -> usize {
    16
}

/// Orphans go to the system's first process here.
#[derive(Debug)]
pub(in crate::worker) struct Reaper(PhantomData<()>);

impl Reaper {
    /// Nothing to do.
    #[expect(clippy::unnecessary_wraps, reason = "the twin of one that can fail")]
    pub(in crate::worker) fn new() -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    /// None that we could know.
    #[expect(clippy::unused_self, reason = "the twin of one that has something")]
    pub(in crate::worker) fn strays(&self) -> Vec<Pid> {
        vec![]
    }

    /// None that we could know.
    #[expect(clippy::unused_self, reason = "the twin of one that has something")]
    pub(in crate::worker) fn everyone(&self) -> Vec<Pid> {
        vec![]
    }
}

/// None that we could know.
pub(in crate::worker) fn descendants(_of: Pid) -> Vec<Pid> {
    vec![]
}

/// Not known.
pub(in crate::worker) fn carries(_pid: Pid, _marks: &[Vec<u8>]) -> bool {
    false
}

/// Not known: none is taken for ignored.
pub(crate) fn ignored_signals() -> Vec<i32> {
    vec![]
}

/// Our own program.
pub(in crate::worker) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}
