//! Payloads that a command wants as a file: in a folder of this run that only we may enter.

use super::guard;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The folder of a run; made when it is first needed.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
    made: OnceLock<()>,
    next: AtomicU64,
}

impl Scratch {
    /// Of this run. The outer process takes the folder away if we cannot.
    pub(super) fn new(run: &str) -> Self {
        Self {
            folder: guard::scratch(run),
            made: OnceLock::new(),
            next: AtomicU64::new(0),
        }
    }

    /// A file that holds a payload.
    pub(super) fn put(&self, payload: &[u8]) -> io::Result<File> {
        if self.made.get().is_none() {
            match DirBuilder::new().mode(0o700).create(&self.folder) {
                Ok(()) => {
                    let _ = self.made.set(());
                }
                // Another slot was first. Somebody else's folder would have had to guess our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(number.to_string());
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let guard = File(path);
        file.write_all(payload)?;
        Ok(guard)
    }
}

impl Scratch {
    /// Takes the folder away with all that is in it.
    pub(super) fn remove(&self) {
        if self.made.get().is_some() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
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
}
