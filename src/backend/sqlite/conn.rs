//! The connection: how a file is opened, how a transaction runs, and what SQLite's errors mean.

use super::super::target::{Durability, Journal, SqliteFile};
use super::super::{Access, Error, Kind, OpenOptions, Result, Target};
use super::schema;
use crate::queue::{QueueName, Skew, Timestamp};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An open file.
pub(super) struct Store {
    pub(super) conn: Connection,
    pub(super) file: SqliteFile,
    pub(super) identity: String,
    pub(super) access: Access,
    /// Nothing but our tables stands in the file: its journal, mode and reserve are ours to keep.
    pub(super) ours: bool,
    pub(super) disk: super::full::Disk,
    skew: Skew,
}

/// A queue's row.
pub(super) struct QueueRow {
    pub(super) id: i64,
    pub(super) paused: bool,
    pub(super) max_attempts: Option<u32>,
    pub(super) lease_us: Option<i64>,
    pub(super) backoff_us: Option<String>,
    pub(super) window_us: Option<i64>,
    pub(super) ttl_us: Option<i64>,
}

impl Store {
    /// Opens a file. Also answers whether the store came into being just now.
    pub(super) fn open(target: &Target, options: &OpenOptions) -> Result<(Self, bool)> {
        let file = target
            .sqlite()
            .ok_or_else(|| Error::bug("the target is no SQLite file"))?
            .clone();
        let there = exists(&file.path)?;
        if options.access == Access::Read && !there {
            let what = format!("there is no store at {}", file.path.display());
            return Err(
                Error::new(Kind::NotFound, what).with("store", file.path.display().to_string())
            );
        }
        if matches!(options.access, Access::Write | Access::Init) {
            create_file(&file.path)?;
        }
        refuse_network(&file)?;
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
        self.run(sql!("begin"))
            .map_err(|error| self.explain(error))?;
        let now = self.now();
        let done = work(&self.conn, now).and_then(|value| match self.run(sql!("commit")) {
            Ok(()) => Ok(value),
            // What a failed flush left on the disk is known to nobody.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
                Err(Error::from(error).maybe_done())
            }
            Err(error) => Err(Error::from(error)),
        });
        if done.is_err() && !self.conn.is_autocommit() {
            // SQLite has rolled back by itself after some errors; then there is nothing left to do.
            self.run(sql!("rollback"))
                .map_err(|error| self.explain(error))?;
        }
        match done {
            Ok(value) => {
                super::full::after_commit(self);
                Ok(value)
            }
            Err(error) => Err(super::full::notice(self, error)),
        }
    }

    fn run(&self, statement: &str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(statement)?.execute([]).map(drop)
    }

    /// An error of this file in our words, with its path.
    pub(super) fn explain(&self, error: rusqlite::Error) -> Error {
        Error::from(error).with("path", self.file.path.display().to_string())
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

fn exists(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(file_error(path, error)),
    }
}

/// What the system says about a path, in our kinds.
pub(super) fn file_error(path: &Path, error: std::io::Error) -> Error {
    use std::io::ErrorKind as Io;
    let kind = match error.kind() {
        Io::NotFound | Io::NotADirectory => Kind::NotFound,
        Io::PermissionDenied => Kind::Denied,
        Io::ReadOnlyFilesystem => Kind::ReadOnly,
        Io::StorageFull | Io::QuotaExceeded => Kind::Full,
        Io::InvalidFilename | Io::InvalidInput | Io::IsADirectory => Kind::Config,
        _ => Kind::Unreachable,
    };
    Error::new(kind, format!("cannot open {}", path.display()))
        .with("path", path.display().to_string())
        .because(error)
}

/// Makes the file before SQLite opens it, so that nobody else can ever read it: mode 0600 whatever the umask, in
/// folders of mode 0700. One that is there stays as it is.
fn create_file(path: &Path) -> Result<()> {
    if exists(path)? {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| file_error(folder, error))?;
    }
    match fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
    {
        Ok(file) => {
            let private = fs::Permissions::from_mode(0o600);
            file.set_permissions(private)
                .map_err(|error| file_error(path, error))
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(file_error(path, error)),
    }
}

/// The name of a filesystem on which SQLite's shared memory or locks do not work between machines, by the magic number
/// of statfs(2).
pub(super) fn network_filesystem(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => "SMB",
        0x0102_1997 => "9P",
        0x6573_5546 => "FUSE",
        0x00c3_6400 => "Ceph",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x786f_4256 => "VirtualBox shared folder",
        0x0bd0_0bd0 => "Lustre",
        0x7461_636f => "OCFS2",
        0x0116_1970 => "GFS2",
        _ => return None,
    })
}

fn refuse_network(file: &SqliteFile) -> Result<()> {
    if file.journal == Journal::Delete {
        return Ok(());
    }
    match filesystem(&file.path).and_then(network_filesystem) {
        None => Ok(()),
        Some(name) => Err(wal_on_network(&file.path, name)),
    }
}

fn wal_on_network(path: &Path, name: &str) -> Error {
    let what = format!(
        "{} lies on {name}, where a write-ahead log loses messages",
        path.display()
    );
    Error::new(Kind::Schema, what)
        .with("path", path.display().to_string())
        .hint("put the file on a local disk, or add ?journal=delete to its URL if one machine alone uses it")
}

#[cfg(target_os = "linux")]
pub(super) fn filesystem(path: &Path) -> Option<u64> {
    let magic = rustix::fs::statfs(path).ok()?.f_type;
    // The kernel's number is signed on some machines; its low 32 bits are the magic.
    Some(u64::from(
        u32::try_from(i128::from(magic) & 0xffff_ffff).ok()?,
    ))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn filesystem(_: &Path) -> Option<u64> {
    None
}

fn connect(file: &SqliteFile, access: Access) -> Result<Connection> {
    // Never SQLITE_OPEN_CREATE: the file was made above, with its mode. Without the right to write SQLite falls back to
    // reading by itself.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(&file.path, flags)
        .map_err(|error| open_error(&file.path, error))?;
    if let Err(error) = tune(&mut conn, file, access) {
        return read_alone(file, access).unwrap_or(Err(error));
    }
    Ok(conn)
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

/// A file in a folder where no shared memory can be made is still readable if no log stands beside it.
fn read_alone(file: &SqliteFile, access: Access) -> Option<Result<Connection>> {
    let log = fs::metadata(beside(&file.path, "-wal")).map_or(0, |log| log.len());
    if !matches!(access, Access::Read | Access::Plan) || log > 0 {
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

/// The path of a file that SQLite or we keep beside the database.
pub(super) fn beside(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn open_error(path: &Path, error: rusqlite::Error) -> Error {
    // SQLite says "unable to open" for everything; the system knows why.
    let system = fs::OpenOptions::new().read(true).open(path).err();
    let directory = fs::metadata(path).is_ok_and(|meta| meta.is_dir());
    match system {
        Some(system) => file_error(path, system),
        None if directory => Error::new(Kind::Config, format!("{} is a directory", path.display())),
        None => Error::from(error).with("path", path.display().to_string()),
    }
}

/// Settings of the connection; none of them changes the file.
fn tune(conn: &mut Connection, file: &SqliteFile, access: Access) -> Result<()> {
    conn.set_prepared_statement_cache_capacity(128);
    conn.busy_handler(Some(wait_for_lock))?;
    // A one-shot process that closes last would pay for a checkpoint; workers and our own checkpoints do it instead.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    let synchronous = match file.durability {
        Durability::Full => "FULL",
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
