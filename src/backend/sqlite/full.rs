//! A full disk must not keep finished work from being acknowledged.
//!
//! Three things see to that. The writer takes the log in by itself and looks at the answer: SQLite's own automatic
//! checkpoint fails in silence on a full disk, and what is committed in the log but not yet in the file then grows until
//! not even an acknowledgement fits. A reserve beside the file is given up when the disk is full. And then the log is
//! restarted at once, before anybody else takes the space, so that acknowledgements rewrite it in place; it is never cut
//! off, because its length is the second reserve.

use super::super::{Access, Claimed, Error, Exchange, Exchanged, Kind, Result, Settled, Verdict};
use super::conn::Store;
use super::place::beside;
use super::settle;
use crate::queue::time::size_text_up;
use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The reserve of a disk with room.
const RESERVE: u64 = 8 << 20;
/// A smaller one saves nothing.
const LEAST: u64 = 256 << 10;
/// SQLite's page.
const PAGE: u64 = 4096;
/// What stands before each page in the log.
const FRAME: u64 = 24;
/// So many acknowledgements a transaction on a full disk: few pages each.
const ACKS: usize = 100;

/// What is known of the disk.
pub(super) struct Disk {
    full: bool,
    reserve: u64,
}

impl Default for Disk {
    fn default() -> Self {
        Self {
            full: false,
            reserve: RESERVE,
        }
    }
}

impl Disk {
    /// No room: nothing is enqueued and nothing claimed.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// So many bytes of payload a transaction, so that what it leaves in the log fits the reserve.
    pub(super) fn aim(&self) -> usize {
        usize::try_from(self.reserve / 8).unwrap_or(usize::MAX)
    }

    /// So many pages may stand in the log alone.
    fn pages(&self) -> i64 {
        i64::try_from((self.reserve / PAGE / 4).clamp(8, 1_000)).unwrap_or(1_000)
    }
}

/// The reserve's path.
pub(super) fn reserve_path(store: &Store) -> PathBuf {
    beside(&store.file.path, ".reserve")
}

/// Bytes that are free for us on the disk of a path.
pub(super) fn free(path: &Path) -> Option<u64> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Sets the checkpoint's bounds and keeps the reserve. In an application's own file SQLite's own checkpoints go on.
pub(super) fn prepare(store: &mut Store) -> Result<()> {
    if !store.ours {
        store
            .conn
            .pragma_update(None, "wal_autocheckpoint", 1_000)?;
        return Ok(());
    }
    if matches!(store.access, Access::Read | Access::Plan) {
        return Ok(());
    }
    let path = reserve_path(store);
    if let Ok(there) = fs::symlink_metadata(&path) {
        store.disk.reserve = there.len().clamp(LEAST, RESERVE);
        return Ok(());
    }
    keep_reserve(store);
    // Somebody gave the reserve up, and the room has not come back: what still fits belongs to acknowledgements.
    let is_kept = fs::symlink_metadata(&path).is_ok();
    store.disk.full = !is_kept && free(&store.file.path).is_some_and(|free| free < LEAST);
    Ok(())
}

/// Makes the reserve if the disk has room for it: 8 MiB, or an eighth of what is free. Without room there is none, and
/// `doctor` says so.
fn keep_reserve(store: &mut Store) {
    let free = free(&store.file.path).unwrap_or(0);
    if free < 4 * LEAST {
        store.disk.reserve = LEAST;
        return;
    }
    let size = RESERVE.min((free / 8).max(LEAST));
    store.disk.reserve = size;
    let path = reserve_path(store);
    let made = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    // Another process may have made it in this moment; then it is there, which is all that is wanted.
    let Ok(file) = made else { return };
    if allocate(&file, size).is_err() {
        drop(fs::remove_file(&path));
    }
}

/// Takes the space for real: a file with a hole in it keeps nothing free.
fn allocate(mut file: &fs::File, size: u64) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    if rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, size).is_ok() {
        return Ok(());
    }
    let block = [0x5a; 16 << 10];
    for _ in 0..size.div_ceil(block.len() as u64) {
        std::io::Write::write_all(&mut file, &block)?;
    }
    file.sync_all()
}

/// Refuses to take more in while the disk is full.
pub(super) fn admit(store: &mut Store) -> Result<()> {
    if !store.disk.full {
        return Ok(());
    }
    if free(&store.file.path).unwrap_or(0) >= 4 * store.disk.reserve {
        store.disk.full = false;
        keep_reserve(store);
        return Ok(());
    }
    Err(say(store, Error::new(Kind::Full, "the disk is full")))
}

/// Takes the log in when enough stands in it alone.
pub(super) fn after_commit(store: &mut Store) {
    if !store.ours {
        return;
    }
    let Ok((_, log, done)) = checkpoint(store, sql!("checkpoint_noop")) else {
        return;
    };
    if log - done < store.disk.pages() {
        return;
    }
    // One that is not complete, without an error, has a reader in its way: not a full disk.
    if let Err(error) = checkpoint(store, sql!("checkpoint_passive"))
        && Error::from(error).kind() == Kind::Full
    {
        give_up_reserve(store);
    }
}

/// Busy, pages in the log, pages of them in the file.
fn checkpoint(store: &Store, statement: &str) -> rusqlite::Result<(i64, i64, i64)> {
    store
        .conn
        .prepare_cached(statement)?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// An error that says the disk is full makes it so; it comes back with the path and what is missing.
pub(super) fn notice(store: &mut Store, error: Error) -> Error {
    if error.kind() != Kind::Full {
        return error.with("path", store.file.path.display().to_string());
    }
    give_up_reserve(store);
    say(store, error)
}

fn give_up_reserve(store: &mut Store) {
    store.disk.full = true;
    if !store.ours {
        return;
    }
    drop(fs::remove_file(reserve_path(store)));
    // At once, before anybody else takes the space. A failure shows at the next write.
    drop(checkpoint(store, sql!("checkpoint_restart")));
}

fn say(store: &Store, error: Error) -> Error {
    let path = store.file.path.display().to_string();
    let missing = (4 * store.disk.reserve).saturating_sub(free(&store.file.path).unwrap_or(0));
    error
        .hint(format!(
            "make {} free on the disk of {path}, then run it again",
            size_text_up(missing)
        ))
        .with("path", path)
        .with("missing", missing.to_string())
}

/// Before a file is opened that does not open for want of room.
pub(super) fn make_room_to_open(path: &Path) -> bool {
    fs::remove_file(beside(path, ".reserve")).is_ok()
}

/// A turn that a full disk takes.
pub(super) fn done_alone(turn: &Exchange<'_>) -> bool {
    turn.claim.is_none() && turn.settle.iter().all(|one| one.verdict == Verdict::Done)
}

/// On a full disk: what is done, a few at a time. A turn with anything else in it is refused whole.
pub(super) fn settle_what_is_done(store: &mut Store, turn: &Exchange<'_>) -> Result<Exchanged> {
    if !done_alone(turn) {
        return Err(say(store, Error::new(Kind::Full, "the disk is full")));
    }
    let mut settled: Vec<Settled> = Vec::with_capacity(turn.settle.len());
    for few in turn.settle.chunks(ACKS) {
        let some = store.write(|conn, now| {
            few.iter()
                .map(|one| settle::settle(conn, one, now))
                .collect::<Result<Vec<_>>>()
        });
        match some {
            Ok(some) => settled.extend(some),
            // The chunks before it stand.
            Err(error) if !settled.is_empty() => return Err(error.maybe_done()),
            Err(error) => return Err(error),
        }
        keep_room_in_log(store);
    }
    Ok(Exchanged {
        settled,
        claimed: Ok(Claimed::default()),
    })
}

/// What is taken in is written over by the next acknowledgements. A reader in the way is waited for only when half of
/// the log's file is used. A failure shows at the next write.
fn keep_room_in_log(store: &Store) {
    let Ok((_, log, done)) = checkpoint(store, sql!("checkpoint_passive")) else {
        return;
    };
    let file = fs::metadata(beside(&store.file.path, "-wal")).map_or(0, |meta| meta.len());
    let frames = i64::try_from(file / (PAGE + FRAME)).unwrap_or(i64::MAX);
    if done < log && log.saturating_mul(2) > frames {
        drop(checkpoint(store, sql!("checkpoint_restart")));
    }
}

/// The log is taken in as far as readers allow; for `tend`.
pub(super) fn take_in(store: &mut Store) -> Result<()> {
    match checkpoint(store, sql!("checkpoint_passive")) {
        Ok(_) => Ok(()),
        Err(error) => {
            let error = Error::from(error);
            Err(notice(store, error))
        }
    }
}
