//! The bell: a second connection that sees other processes' commits.
//!
//! A commit gives no event of its own: the last one comes with the write before the flush, milliseconds before the
//! commit can be seen. So an event only opens a window in which `PRAGMA data_version` is asked often.

use super::super::{Access, Result, Ring, Watch};
use super::conn::{Store, open_again};
use rusqlite::Connection;
use std::time::{Duration, Instant};

/// Whatever the events say, the file is looked at so often.
const SAFETY: Duration = Duration::from_secs(1);

/// Hangs a bell over the file, with a connection of its own.
///
/// # Errors
/// The file cannot be opened again.
pub(super) fn watch(store: &Store) -> Result<Box<dyn Watch>> {
    // It has read once, which keeps the log's file in place: nobody else can remove it under the watch.
    let conn = open_again(&store.file, Access::Read)?;
    let version = version(&conn)?;
    let ears = Ears::of(store);
    Ok(Box::new(Bell {
        conn,
        version,
        ears,
        first: true,
    }))
}

struct Bell {
    conn: Connection,
    version: i64,
    ears: Ears,
    first: bool,
}

fn version(conn: &Connection) -> Result<i64> {
    Ok(conn
        .prepare_cached(sql!("data_version"))?
        .query_row([], |row| row.get(0))?)
}

impl Watch for Bell {
    fn wait(&mut self, timeout: Duration) -> Result<Ring> {
        let end = Instant::now() + timeout;
        if std::mem::take(&mut self.first) || self.changed()? {
            return Ok(Ring::Rang);
        }
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Ring::Quiet);
            }
            let heard = self.ears.listen(left.min(SAFETY));
            if self.changed()? || (heard && self.follow_up(end)?) {
                return Ok(Ring::Rang);
            }
        }
    }
}

impl Bell {
    fn changed(&mut self) -> Result<bool> {
        let now = version(&self.conn)?;
        Ok(std::mem::replace(&mut self.version, now) != now)
    }

    /// After an event: often for 5 ms, then each millisecond for 100 ms; a further event begins anew.
    fn follow_up(&mut self, end: Instant) -> Result<bool> {
        let mut heard = Instant::now();
        while heard.elapsed() < Duration::from_millis(105) && Instant::now() < end {
            if self.changed()? {
                return Ok(true);
            }
            let often = heard.elapsed() < Duration::from_millis(5);
            let nap = if often {
                Duration::from_micros(200)
            } else {
                Duration::from_millis(1)
            };
            if self.ears.listen(nap) {
                heard = Instant::now();
            }
        }
        Ok(false)
    }
}

/// Hears that a file is written, or only that time passes.
struct Ears {
    #[cfg(target_os = "linux")]
    events: Option<std::os::fd::OwnedFd>,
}

#[cfg(target_os = "linux")]
impl Ears {
    fn of(store: &Store) -> Self {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let hang = || -> rustix::io::Result<std::os::fd::OwnedFd> {
            let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            let log = super::place::beside(&store.file.path, "-wal");
            match add_watch(&events, &log, WatchFlags::MODIFY) {
                // With a rollback journal the file itself is written.
                Err(rustix::io::Errno::NOENT) => {}
                watched => drop(watched?),
            }
            add_watch(&events, &store.file.path, WatchFlags::MODIFY)?;
            if let Some(folder) = store.file.path.parent() {
                add_watch(&events, folder, WatchFlags::CREATE | WatchFlags::DELETE)?;
            }
            Ok(events)
        };
        // Without events (a limit of the system, another filesystem) the safety look remains.
        Self {
            events: hang().ok(),
        }
    }

    fn listen(&mut self, timeout: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Some(events) = &self.events else {
            std::thread::sleep(timeout.min(POLL));
            return false;
        };
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(events, PollFlags::IN)];
        if !matches!(poll(&mut fds, Some(&timeout)), Ok(1..)) {
            return false;
        }
        let mut bin = [0; 4096];
        while matches!(rustix::io::read(events, &mut bin), Ok(1..)) {}
        true
    }
}

/// Without events the file is looked at so often.
const POLL: Duration = Duration::from_millis(50);

#[cfg(not(target_os = "linux"))]
impl Ears {
    fn of(_: &Store) -> Self {
        Self {}
    }

    fn listen(&mut self, timeout: Duration) -> bool {
        std::thread::sleep(timeout.min(POLL));
        false
    }
}
