//! Linux: pidfd, subreaper, `/proc`, a clock that counts sleep.

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};
use rustix::process::{Pid, PidfdFlags, pidfd_open, set_child_subreaper};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::time::Duration;

/// Time on a clock that goes on while the machine sleeps.
pub(in crate::worker) fn uptime() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}

/// Tells when a child has ended.
#[derive(Debug)]
pub(in crate::worker) struct Exit(Option<OwnedFd>);

impl Exit {
    /// Of a child that was not waited for yet, so that its number is still its own.
    pub(in crate::worker) fn of(pid: Pid) -> Self {
        Self(pidfd_open(pid, PidfdFlags::empty()).ok())
    }

    /// What becomes readable then; without it the caller looks from time to time.
    pub(in crate::worker) fn fd(&self) -> Option<PollFd<'_>> {
        self.0.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN))
    }
}

/// Wakes a thread from its poll.
#[derive(Debug)]
pub(in crate::worker) struct Wake(OwnedFd);

impl Wake {
    /// So many descriptors one has.
    pub(in crate::worker) const DESCRIPTORS: usize = 1;

    /// One that has not rung.
    pub(in crate::worker) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(
            0,
            EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC,
        )?))
    }

    /// What becomes readable when it has rung.
    pub(in crate::worker) fn fd(&self) -> PollFd<'_> {
        PollFd::new(&self.0, PollFlags::IN)
    }

    /// Rings.
    pub(in crate::worker) fn ring(&self) {
        // One that cannot count further has rung already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// It was heard, and may ring again.
    pub(in crate::worker) fn hear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

/// How many files this process has open; a guess where nobody tells.
pub(in crate::worker) fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(16, Iterator::count)
}

/// Makes orphans of our commands our own children, so that nothing escapes us.
#[derive(Debug)]
pub(in crate::worker) struct Reaper {
    /// Orphans come to the main thread, which starts no command; the slots' commands are listed under their threads.
    orphans: Option<File>,
}

impl Reaper {
    /// From now on orphans come to us.
    pub(in crate::worker) fn new() -> io::Result<Self> {
        set_child_subreaper(Some(rustix::process::getpid()))?;
        let path = format!(
            "/proc/self/task/{}/children",
            rustix::process::getpid().as_raw_nonzero()
        );
        Ok(Self {
            orphans: File::open(path).ok(),
        })
    }

    /// Orphans that are ours now, ended ones too.
    pub(in crate::worker) fn strays(&self) -> Vec<Pid> {
        let mut buffer = [0; 4096];
        let Some(file) = &self.orphans else {
            return vec![];
        };
        let length = file.read_at(&mut buffer, 0).unwrap_or(0);
        pids(&buffer[..length], length == buffer.len())
    }

    /// Every process that we may wait for, under whichever thread.
    #[expect(clippy::unused_self, reason = "only who is a reaper has all of them")]
    pub(in crate::worker) fn everyone(&self) -> Vec<Pid> {
        children(&PathBuf::from("/proc/self/task"))
    }
}

/// Reads a list of process numbers; the last of a list that was cut may be cut itself.
fn pids(text: &[u8], cut: bool) -> Vec<Pid> {
    let text = String::from_utf8_lossy(text);
    let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
    if cut {
        words.pop();
    }
    words
        .iter()
        .filter_map(|word| Pid::from_raw(word.parse().ok()?))
        .collect()
}

/// The children of every thread in a `task` folder.
fn children(tasks: &std::path::Path) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir(tasks) else {
        return vec![];
    };
    entries
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("children")).ok())
        .flat_map(|text| pids(&text, false))
        .collect()
}

/// Everything below a process that still hangs together with it.
pub(in crate::worker) fn descendants(of: Pid) -> Vec<Pid> {
    let mut found = vec![];
    let mut look = vec![of];
    while let Some(pid) = look.pop() {
        let tasks = format!("/proc/{}/task", pid.as_raw_nonzero());
        for child in children(&PathBuf::from(tasks)) {
            if !found.contains(&child) {
                found.push(child);
                look.push(child);
            }
        }
    }
    found
}

/// Whether all of these variables (`NAME=VALUE`) stand in the environment with which a process was started.
pub(in crate::worker) fn carries(pid: Pid, marks: &[Vec<u8>]) -> bool {
    std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).is_ok_and(|environment| {
        marks
            .iter()
            .all(|mark| environment.split(|byte| *byte == 0).any(|set| set == mark))
    })
}

/// The signals that were ignored when we were started (`nohup`, a background job): they stay so.
pub(crate) fn ignored_signals() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0);
    (1..=64)
        .filter(|signal| mask & (1 << (signal - 1)) != 0)
        .collect()
}

/// Our own program, even if its file was replaced meanwhile.
pub(in crate::worker) fn own_program() -> io::Result<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    let running = std::fs::metadata(&link)?;
    let same = |path: &PathBuf| {
        std::fs::metadata(path)
            .is_ok_and(|meta| meta.ino() == running.ino() && meta.dev() == running.dev())
    };
    // The path is preferred, so that a process list shows a name that says something.
    Ok(std::env::current_exe().ok().filter(same).unwrap_or(link))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    #[test]
    fn lists_of_processes_are_read() {
        let numbers = |text: &[u8], cut| {
            pids(text, cut)
                .iter()
                .map(|pid| pid.as_raw_nonzero().get())
                .collect::<Vec<_>>()
        };
        assert_eq!(numbers(b"12 345 ", false), [12, 345]);
        assert_eq!(numbers(b"", false), [0i32; 0]);
        assert_eq!(numbers(b"12 34", true), [12]);
    }

    #[test]
    fn descendants_and_their_environment_are_found() {
        let mut child = std::process::Command::new("/bin/sh")
            .args(["-c", "sleep 30 & echo; wait"])
            .env("QOPS_ID", "test-17")
            .process_group(0)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // The line comes after the fork.
        std::io::Read::read(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let pid = Pid::from_child(&child);
        let below = descendants(pid);
        assert_eq!(below.len(), 1);
        assert!(carries(pid, &[b"QOPS_ID=test-17".to_vec()]));
        assert!(!carries(pid, &[b"QOPS_ID=test-1".to_vec()]));
        super::super::signal_group(pid, rustix::process::Signal::KILL);
        child.wait().unwrap();
    }
}
