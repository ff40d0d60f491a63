//! Where a file lies: how it comes into being, what the system says about it, and disks on which it must not lie.

use super::super::target::{Journal, SqliteFile};
use super::super::{Error, Kind, Result};
use rustix::fs::Access as May;
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The path of a file that SQLite or we keep beside the database.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether something is there, a link that leads nowhere too.
///
/// # Errors
/// The system does not tell.
pub(super) fn exists(path: &Path) -> Result<bool> {
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

/// Why SQLite could not open a file: it says "unable to open" for everything, and the system knows better. Nothing is
/// opened here: closing a second descriptor of the file would drop the locks that this process holds on it.
pub(super) fn why_not(path: &Path, error: Error) -> Error {
    let shown = path.display();
    let with = |kind, what: String| Error::new(kind, what).with("path", shown.to_string());
    if let Err(system) = fs::metadata(path) {
        return file_error(path, system);
    }
    if let Err(system) = rustix::fs::access(path, May::READ_OK) {
        return file_error(path, system.into());
    }
    let folder = folder_of(path);
    if rustix::fs::access(folder, May::WRITE_OK).is_err() {
        return with(
            Kind::ReadOnly,
            format!(
                "{} cannot be written, and SQLite keeps its log in it",
                folder.display()
            ),
        )
        .because(error);
    }
    error.with("path", shown.to_string())
}

/// Refuses what is there and is no file, before SQLite waits for a pipe's other end or takes a device for an empty store.
///
/// # Errors
/// What it is instead.
pub(super) fn regular(path: &Path) -> Result<()> {
    let shown = path.display();
    let what = match fs::metadata(path) {
        Ok(meta) if meta.is_file() => return Ok(()),
        Ok(meta) if meta.is_dir() => format!("{shown} is a directory"),
        Ok(_) => format!("{shown} is no regular file"),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            format!("{shown} is a link that leads round in a circle")
        }
        // The opening says the rest, and says it better.
        Err(_) => return Ok(()),
    };
    Err(Error::new(Kind::Config, what).with("path", shown.to_string()))
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Makes the file before SQLite opens it, so that nobody else can ever read it: mode 0600 whatever the umask, in
/// folders of mode 0700. One that is there stays as it is.
pub(super) fn create_file(path: &Path) -> Result<()> {
    // One thread at a time: closing the file that was made would drop the locks that another thread of this process
    // has taken on it meanwhile.
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if exists(path)? {
        return Ok(());
    }
    create_folder(folder_of(path))?;
    // Exclusive: a link that somebody puts there in this moment is not followed.
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

fn create_folder(folder: &Path) -> Result<()> {
    let new: Vec<&Path> = folder
        .ancestors()
        .take_while(|folder| !folder.exists())
        .collect();
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| file_error(folder, error))?;
    for folder in new {
        // A folder outlives a power cut when the one that it stands in was flushed. SQLite flushes the last one alone;
        // like SQLite, this does not insist where a disk cannot flush folders.
        if let Ok(above) = fs::File::open(folder_of(folder)) {
            drop(above.sync_all());
        }
    }
    Ok(())
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
        0x786f_4256 => "a VirtualBox shared folder",
        0xbacb_acbc => "a VMware shared folder",
        0x7c7c_6673 => "a Parallels shared folder",
        0x0bd0_0bd0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x7461_636f => "OCFS2",
        0x0116_1970 => "GFS2",
        _ => return None,
    })
}

/// The magic number of the disk that a path lies on, or would lie on.
#[cfg(target_os = "linux")]
pub(super) fn filesystem(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|path| path.exists())?;
    let magic = rustix::fs::statfs(there).ok()?.f_type;
    // The kernel's number is signed on some machines; its low 32 bits are the magic.
    Some(u64::from(
        u32::try_from(i128::from(magic) & 0xffff_ffff).ok()?,
    ))
}

/// Elsewhere than on Linux it is not known.
#[cfg(not(target_os = "linux"))]
pub(super) fn filesystem(_: &Path) -> Option<u64> {
    None
}

/// Refuses what the URL asks for, before anything is made.
pub(super) fn refuse_network(file: &SqliteFile, magic: Option<u64>) -> Result<()> {
    if file.journal == Journal::Delete {
        return Ok(());
    }
    refuse_log(file, magic)
}

/// Refuses a write-ahead log on a disk of this kind.
pub(super) fn refuse_log(file: &SqliteFile, magic: Option<u64>) -> Result<()> {
    let Some(name) = magic.and_then(network_filesystem) else {
        return Ok(());
    };
    let path = file.path.display();
    let what = format!("{path} lies on {name}, where a write-ahead log loses messages");
    Err(Error::new(Kind::Schema, what)
        .with("path", path.to_string())
        .hint("put the file on a local disk, or add ?journal=delete to its URL if one machine alone uses it"))
}
