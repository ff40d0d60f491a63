//! Payloads that a command wants as a file: in a folder of this run that only we may enter.

use super::guard;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The folder of a run; made when it is first needed, and again when somebody tidied it away.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
    /// The folder that we made. Files are made through it: one that stands in its place is never written into.
    made: Mutex<Option<Arc<OwnedFd>>>,
    next: AtomicU64,
}

impl Scratch {
    /// Of this run. The outer process takes the folder away if we cannot.
    pub(super) fn new(run: &str) -> Self {
        Self {
            folder: guard::scratch(run),
            made: Mutex::default(),
            next: AtomicU64::new(0),
        }
    }

    /// The folder's path.
    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// A file that holds a payload. A folder that has gone is made again, once.
    ///
    /// # Errors
    /// The system's own; and what stands in the folder's place is not ours alone.
    pub(super) fn put(&self, payload: &[u8]) -> io::Result<File> {
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let create = |folder: &OwnedFd| {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            rustix::fs::openat(folder, &name, flags, Mode::RUSR | Mode::WUSR)
        };
        let folder = self.folder()?;
        let fd = match create(&folder) {
            Err(Errno::NOENT) => {
                self.forget(&folder);
                create(&*self.folder()?)?
            }
            other => other?,
        };
        let guard = File(self.folder.join(&name));
        std::fs::File::from(fd).write_all(payload)?;
        Ok(guard)
    }

    fn folder(&self) -> io::Result<Arc<OwnedFd>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*made {
            return Ok(Arc::clone(folder));
        }
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let folder = Arc::new(own(&self.folder)?);
        *made = Some(Arc::clone(&folder));
        Ok(folder)
    }

    /// This folder has gone; another slot may have made a new one already.
    fn forget(&self, gone: &Arc<OwnedFd>) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.take_if(|folder| Arc::ptr_eq(folder, gone));
    }

    /// Takes the folder away with all that is in it.
    pub(super) fn remove(&self) {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_some() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// Opens a folder that only we may enter. Its name could be read while it stood in a folder that everybody writes to:
/// what is there now may be somebody else's, and a command would be given what that one puts into it.
fn own(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&folder)?;
    let open_to_others = Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXG | Mode::RWXO);
    if stat.st_uid != rustix::process::geteuid().as_raw() || open_to_others {
        let what = format!("{} is not ours alone", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    Ok(folder)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.remove();
    }
}

/// One file; gone when its command has ended.
#[derive(Debug)]
pub(super) struct File(PathBuf);

impl File {
    /// Its absolute path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_payload_is_there_for_its_command_alone() {
        let scratch = Scratch::new(&guard::new_run());
        let one = scratch.put(b"one").unwrap();
        let two = scratch.put(b"\0\xff").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(one.path()), 0o600);
        assert_eq!(mode(one.path().parent().unwrap()), 0o700);
        assert_eq!(std::fs::read(two.path()).unwrap(), b"\0\xff");
        let (path, folder) = (one.path().to_owned(), scratch.folder.clone());
        drop(one);
        assert!(!path.exists());
        drop(two);
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_that_was_tidied_away_is_made_again() {
        let scratch = Scratch::new(&guard::new_run());
        drop(scratch.put(b"one").unwrap());
        std::fs::remove_dir_all(&scratch.folder).unwrap();
        let two = scratch.put(b"two").unwrap();
        let mode = std::fs::metadata(&scratch.folder).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
        assert_eq!(std::fs::read(two.path()).unwrap(), b"two");
    }

    #[test]
    fn what_somebody_put_in_its_place_is_not_written_into() {
        let scratch = Scratch::new(&guard::new_run());
        drop(scratch.put(b"one").unwrap());
        std::fs::remove_dir(&scratch.folder).unwrap();
        std::fs::create_dir(&scratch.folder).unwrap();
        let anybody = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(&scratch.folder, anybody).unwrap();
        let error = scratch.put(b"two").unwrap_err();
        assert!(error.to_string().contains("not ours alone"), "{error}");
        std::fs::remove_dir(&scratch.folder).unwrap();
        std::os::unix::fs::symlink("/", &scratch.folder).unwrap();
        scratch.put(b"three").unwrap_err();
        std::fs::remove_file(&scratch.folder).unwrap();
    }
}
