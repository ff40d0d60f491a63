//! The connection: how a file is opened, how a transaction runs, and what SQLite's errors mean.

use super::super::target::{Durability, SqliteFile};
use super::super::{Access, Error, Kind, OpenOptions, Result, Target};
use super::place::{
    beside, create_file, exists, filesystem, refuse_log, refuse_network, regular, why_not,
};
use super::schema;
use crate::queue::{QueueName, Skew, Timestamp};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An open file.
pub(super) struct Store {
    /// The only connection that writes for this handle.
    pub(super) conn: Connection,
    /// Where it is, and how it is kept.
    pub(super) file: SqliteFile,
    /// Who we are in leases and history.
    pub(super) identity: String,
    /// What this handle may do.
    pub(super) access: Access,
    /// Nothing but our tables stands in the file: its journal, mode and reserve are ours to keep.
    pub(super) ours: bool,
    /// What is known of the room on its disk.
    pub(super) disk: super::full::Disk,
    skew: Skew,
}

/// A queue's row.
pub(super) struct QueueRow {
    /// Its number in the other tables.
    pub(super) id: i64,
    /// Nothing is handed out.
    pub(super) paused: bool,
    /// Starts before a message is dead, if it is set.
    pub(super) max_attempts: Option<u32>,
    /// In microseconds, if it is set.
    pub(super) lease_us: Option<i64>,
    /// Waits in microseconds, with commas between them, if they are set.
    pub(super) backoff_us: Option<String>,
    /// In microseconds, if it is set; below zero: for ever.
    pub(super) window_us: Option<i64>,
    /// In microseconds, if it is set.
    pub(super) ttl_us: Option<i64>,
}

impl Store {
    /// Opens a file. Also answers whether the store came into being just now.
    pub(super) fn open(target: &Target, options: &OpenOptions) -> Result<(Self, bool)> {
        Self::open_on(target, options, filesystem)
    }

    /// The same on a disk of the kind that `disk` says.
    pub(super) fn open_on(
        target: &Target,
        options: &OpenOptions,
        disk: fn(&Path) -> Option<u64>,
    ) -> Result<(Self, bool)> {
        let file = target
            .sqlite()
            .ok_or_else(|| Error::bug("the target is no SQLite file"))?
            .clone();
        regular(&file.path)?;
        let there = exists(&file.path)?;
        if options.access == Access::Read && !there {
            let what = format!("there is no store at {}", file.path.display());
            return Err(
                Error::new(Kind::NotFound, what).with("store", file.path.display().to_string())
            );
        }
        let disk = disk(&file.path);
        refuse_network(&file, disk)?;
        if matches!(options.access, Access::Write | Access::Init) {
            create_file(&file.path)?;
        }
        let opened = if options.access == Access::Plan && !there {
            in_memory(&file)
        } else {
            connect(&file, options.access)
        };
        let conn = match opened {
            // Even the log's shared memory needs room.
            Err(error)
                if error.kind() == Kind::Full && super::full::make_room_to_open(&file.path) =>
            {
                connect(&file, options.access)?
            }
            Err(error) if error.kind() == Kind::Corrupt => return Err(not_ours(&file.path, error)),
            conn => conn?,
        };
        let mut store = Self {
            conn,
            identity: options.identity.clone(),
            access: options.access,
            ours: false,
            disk: super::full::Disk::default(),
            skew: options.skew.clone(),
            file,
        };
        let created = schema::ready(&mut store)?;
        if disk.is_some() && schema::journal_mode(&store.conn)? == "wal" {
            // Whatever the URL says: an application's file, or one that is only read, keeps its journal.
            refuse_log(&store.file, disk)?;
        }
        super::full::prepare(&mut store)?;
        Ok((store, created))
    }

    /// The store's now: the machine's clock.
    pub(super) fn now(&self) -> Timestamp {
        let clock = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
        };
        Timestamp(clock.saturating_add(self.skew.micros()))
    }

    /// Runs `work` in one writing transaction, at one instant taken under its lock: all of it stands, or nothing.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Connection, Timestamp) -> Result<T>,
    ) -> Result<T> {
        if let Err(error) = self.run(sql!("begin")) {
            return Err(super::full::notice(self, error.into()));
        }
        let now = self.now();
        let mut done = work(&self.conn, now).and_then(|value| match self.run(sql!("commit")) {
            Ok(()) => Ok(value),
            // What a failed flush left on the disk is known to nobody.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
                Err(Error::from(error).maybe_done())
            }
            Err(error) => Err(Error::from(error)),
        });
        // SQLite has rolled back by itself after some errors; then there is nothing left to do.
        if done.is_err()
            && !self.conn.is_autocommit()
            && let Err(rollback) = self.run(sql!("rollback"))
        {
            done = done.map_err(|error| error.with("rollback", rollback.to_string()).maybe_done());
        }
        match done {
            Ok(value) => {
                super::full::after_commit(self);
                Ok(value)
            }
            Err(error) => Err(super::full::notice(self, error)),
        }
    }

    /// Runs `work` on one state of the file. It also spares each of its statements a lock of its own.
    pub(super) fn read<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.run(sql!("begin_read"))?;
        let done = work();
        // After some errors SQLite has ended it by itself.
        if self.conn.is_autocommit() {
            return done;
        }
        let ended = self.run(sql!("commit"));
        if ended.is_err() && !self.conn.is_autocommit() {
            self.run(sql!("rollback"))?;
        }
        let value = done?;
        ended?;
        Ok(value)
    }

    fn run(&self, statement: &str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(statement)?.execute([]).map(drop)
    }

    /// A queue that must be there.
    pub(super) fn queue(&self, name: &QueueName) -> Result<QueueRow> {
        find_queue(&self.conn, name)?.ok_or_else(|| no_queue(name))
    }
}

fn not_ours(path: &Path, error: Error) -> Error {
    Error::new(
        Kind::Corrupt,
        format!("{} is no SQLite database, or a damaged one", path.display()),
    )
    .with("path", path.display().to_string())
    .because(error)
    .hint("it is left as it is; name another file with -u sqlite:PATH")
}

/// The error of a queue that was never there.
pub(super) fn no_queue(name: &QueueName) -> Error {
    Error::new(Kind::NotFound, format!("there is no queue '{name}'")).with("queue", name.as_str())
}

/// A queue's row, if it is there.
pub(super) fn find_queue(conn: &Connection, name: &QueueName) -> Result<Option<QueueRow>> {
    let row = conn
        .prepare_cached(sql!("queue_by_name"))?
        .query_row([name.as_str()], |row| {
            Ok(QueueRow {
                id: row.get(0)?,
                paused: row.get::<_, Option<i64>>(1)?.is_some(),
                max_attempts: row.get(2)?,
                lease_us: row.get(3)?,
                backoff_us: row.get(4)?,
                window_us: row.get(5)?,
                ttl_us: row.get(6)?,
            })
        })
        .optional()?;
    Ok(row)
}

fn connect(file: &SqliteFile, access: Access) -> Result<Connection> {
    // Never SQLITE_OPEN_CREATE: the file was made above, with its mode. Without the right to write SQLite falls back to
    // reading by itself.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(&file.path, flags)
        .map_err(Error::from)
        .and_then(|mut conn| tune(&mut conn, file, access).map(|()| conn));
    match opened {
        Err(error) if not_let_in(&error) => {
            read_alone(file, access).unwrap_or_else(|| Err(why_not(&file.path, error)))
        }
        opened => opened.map_err(|error| error.with("path", file.path.display().to_string())),
    }
}

/// Whether the system did not let SQLite at the file, or at what it keeps beside it.
fn not_let_in(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    let code = source
        .and_then(|source| source.downcast_ref::<rusqlite::Error>())
        .and_then(rusqlite::Error::sqlite_error_code);
    // A journal that must be played back and cannot be removed is an I/O error.
    matches!(
        code,
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure)
    )
}

/// What a file that is not there would be like.
fn in_memory(file: &SqliteFile) -> Result<Connection> {
    let mut conn = Connection::open_in_memory()?;
    tune(&mut conn, file, Access::Plan)?;
    Ok(conn)
}

/// One more connection to a file that is open already.
pub(super) fn open_again(file: &SqliteFile, access: Access) -> Result<Connection> {
    connect(file, access)
}

/// A file in a folder where no shared memory can be made is still readable if nothing stands beside it that belongs to
/// it: no log, and no journal of a writer that died.
fn read_alone(file: &SqliteFile, access: Access) -> Option<Result<Connection>> {
    let size = |suffix| fs::symlink_metadata(beside(&file.path, suffix)).map(|meta| meta.len());
    let log = match (size("-wal"), size("-shm")) {
        (Err(_), _) | (Ok(0), Err(_)) => false,
        (Ok(_), _) => true,
    };
    let journal = size("-journal").is_ok_and(|size| size > 0);
    if !matches!(access, Access::Read | Access::Plan) || log || journal {
        return None;
    }
    let path = file.path.to_str()?;
    let encoded = percent_encoding::utf8_percent_encode(path, percent_encoding::NON_ALPHANUMERIC);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut conn =
        Connection::open_with_flags(format!("file:{encoded}?immutable=1"), flags).ok()?;
    tune(&mut conn, file, access).ok()?;
    Some(Ok(conn))
}

/// Settings of the connection; none of them changes the file.
fn tune(conn: &mut Connection, file: &SqliteFile, access: Access) -> Result<()> {
    conn.set_prepared_statement_cache_capacity(128);
    conn.busy_handler(Some(wait_for_lock))?;
    // A one-shot process that closes last would pay for a checkpoint; workers and our own checkpoints do it instead.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Else a statement whose plan looked at a bound value is compiled anew for every value.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    let synchronous = match file.durability {
        // With a rollback journal FULL does not flush its removal: a power cut could bring it, and what was before the
        // last commit, back. With a log both are the same.
        Durability::Full => "EXTRA",
        Durability::Normal => "NORMAL",
    };
    conn.pragma_update(None, "synchronous", synchronous)?;
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "journal_size_limit", 64 << 20)?;
    conn.pragma_update(None, "cache_size", -16_384)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    if cfg!(target_os = "macos") {
        conn.pragma_update(None, "fullfsync", true)?;
    }
    if matches!(access, Access::Read | Access::Plan) {
        conn.pragma_update(None, "query_only", true)?;
    }
    // The first page is read here, so that what is wrong with the file shows before anything is asked of it.
    conn.query_row(sql!("has_meta"), [], |_| Ok(()))?;
    Ok(())
}

/// Waits for another writer: short naps first, then longer ones of uneven length so that no process starves; about
/// fifteen seconds in all.
fn wait_for_lock(tries: i32) -> bool {
    let nap = match tries {
        ..50 => 50,
        50..500 => fastrand::u64(300..900),
        500..3_500 => fastrand::u64(2_000..6_000),
        _ => return false,
    };
    std::thread::sleep(Duration::from_micros(nap));
    true
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        // A statement of ours says nothing to anybody, at any length.
        if let rusqlite::Error::SqlInputError {
            error: failure,
            msg,
            ..
        } = error
        {
            return Self::from(rusqlite::Error::SqliteFailure(failure, Some(msg)));
        }
        let (kind, what) = match error.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
            ) => (Kind::Busy, "another process holds the store"),
            Some(ErrorCode::ReadOnly) => (Kind::ReadOnly, "the store can only be read"),
            Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                (Kind::Denied, "the store refuses")
            }
            Some(ErrorCode::DiskFull) => (Kind::Full, "the disk is full"),
            Some(ErrorCode::NotADatabase) => (Kind::Corrupt, "the file is not a SQLite database"),
            Some(ErrorCode::DatabaseCorrupt) => (Kind::Corrupt, "the database is damaged"),
            Some(ErrorCode::CannotOpen) => (Kind::Unreachable, "the store cannot be opened"),
            Some(ErrorCode::TooBig) => (Kind::TooLarge, "the message is too large for the store"),
            Some(ErrorCode::OutOfMemory) => (Kind::Unreachable, "there is no memory left"),
            Some(ErrorCode::SystemIoFailure) if no_room(&error) => (Kind::Full, "the disk is full"),
            Some(ErrorCode::SystemIoFailure) => {
                (Kind::Unreachable, "the disk does not answer as it should")
            }
            _ => (Kind::Bug, "the store answered what nobody expected"),
        };
        Self::new(kind, what).because(error)
    }
}

/// The shared memory of the log could not grow: that, too, is a full disk.
fn no_room(error: &rusqlite::Error) -> bool {
    const SHM_SIZE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
    matches!(error, rusqlite::Error::SqliteFailure(failure, _) if failure.extended_code == SHM_SIZE)
}
