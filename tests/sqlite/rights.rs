//! What a user meets who may not do everything. The commands run as such a user: root's rights would hide it all.

use super::{claim, open, put};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user and group of nobody.
const NOBODY: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

struct Scene {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Where this test was built may be closed to others.
        let program = folder.path().join("qops");
        // By a process of its own: a descriptor that may write would pass to what other tests start, and busy the file.
        let copied = Command::new("cp")
            .args([Path::new(env!("CARGO_BIN_EXE_qops")), &program])
            .status();
        assert!(copied.unwrap().success());
        let scene = Self { folder, program };
        set_mode(scene.folder.path(), 0o755);
        fs::create_dir(scene.data()).unwrap();
        scene
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.data().join(format!("q.db{suffix}"))
    }

    /// Everything in the folder is the user's own.
    fn give(&self) {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        for entry in fs::read_dir(self.data()).unwrap() {
            std::os::unix::fs::chown(entry.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        std::os::unix::fs::chown(self.data(), Some(NOBODY), Some(NOBODY)).unwrap();
    }

    fn run(&self, args: &[&str]) -> (i32, String) {
        let nobody = NOBODY.to_string();
        let mut command = Command::new("setpriv");
        if rustix::process::geteuid().is_root() {
            command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups"]);
        }
        let out = command
            .arg(&self.program)
            .arg("-u")
            .arg(format!("sqlite:{}", self.file("").display()))
            .args(args)
            .env_clear()
            .env("HOME", "/nonexistent")
            .current_dir("/")
            .output()
            .unwrap();
        let said = [out.stdout, out.stderr].map(|text| String::from_utf8(text).unwrap());
        (out.status.code().unwrap(), said.concat())
    }

    /// As a backup or a package leaves it: all in one file.
    fn settle(&self) {
        let conn = rusqlite::Connection::open(self.file("")).unwrap();
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
        drop(conn);
        for suffix in ["-wal", "-shm", ".reserve"] {
            drop(fs::remove_file(self.file(suffix)));
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        set_mode(&self.data(), 0o700);
    }
}

#[test]
fn a_read_only_folder_is_read_and_not_written() {
    let scene = Scene::new();
    put(open(&scene.file("")).as_mut(), "a", b"x").unwrap();
    scene.settle();
    scene.give();
    set_mode(&scene.data(), 0o555);
    let (code, said) = scene.run(&["peek", "a", "-o", "raw"]);
    assert_eq!((code, said.trim()), (0, "x"));
    for args in [&["enqueue", "a", "y"][..], &["work", "a", "--", "true"]] {
        let (code, said) = scene.run(args);
        assert_eq!(code, 5, "{said}");
        assert!(said.contains("data cannot be written"), "{said}");
    }
}

#[test]
fn a_log_that_cannot_be_read_is_never_passed_over() {
    let scene = Scene::new();
    let mut store = open(&scene.file(""));
    put(store.as_mut(), "a", b"x").unwrap();
    drop(store);
    assert!(fs::metadata(scene.file("-wal")).unwrap().len() > 0);
    fs::remove_file(scene.file("-shm")).unwrap();
    scene.give();
    set_mode(&scene.data(), 0o555);
    let (code, said) = scene.run(&["peek", "a", "-o", "raw"]);
    assert!(
        code == 5 || (code == 0 && said.trim() == "x"),
        "{code}: {said}"
    );
}

#[test]
fn a_journal_of_a_writer_that_died_is_never_passed_over() {
    let scene = Scene::new();
    let path = scene.file("");
    let url = format!("sqlite:{}?journal=delete", path.display());
    let mut store = super::open_url(&url, qops::backend::Access::Write).unwrap();
    put(store.as_mut(), "a", b"x").unwrap();
    drop(store);
    // A writer is killed while its half-written pages stand in the file and what was before in the journal.
    let aside = scene.folder.path().join("aside");
    fs::create_dir(&aside).unwrap();
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer
        .execute_batch(
            "PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000)
             INSERT INTO qops_enqueue(queue, payload) SELECT 'a', hex(randomblob(100)) FROM n;",
        )
        .unwrap();
    for suffix in ["", "-journal"] {
        fs::copy(scene.file(suffix), aside.join(format!("q.db{suffix}"))).unwrap();
    }
    drop(writer);
    for suffix in ["", "-journal"] {
        fs::copy(aside.join(format!("q.db{suffix}")), scene.file(suffix)).unwrap();
    }
    assert!(fs::metadata(scene.file("-journal")).unwrap().len() > 512);
    scene.give();
    set_mode(&scene.data(), 0o555);
    let (code, said) = scene.run(&["peek", "a", "-n", "0", "-o", "raw"]);
    assert_eq!(code, 5, "{said}");
    // Whoever may write heals it.
    set_mode(&scene.data(), 0o755);
    let (code, said) = scene.run(&["peek", "a", "-n", "0", "-o", "raw"]);
    assert_eq!((code, said.trim()), (0, "x"));
}

#[test]
fn a_closed_file_or_folder_is_said_to_be_closed() {
    let scene = Scene::new();
    put(open(&scene.file("")).as_mut(), "a", b"x").unwrap();
    scene.settle();
    scene.give();
    for (path, mode, open) in [(scene.file(""), 0o000, 0o600), (scene.data(), 0o000, 0o755)] {
        set_mode(&path, mode);
        for args in [
            &["queues"][..],
            &["peek", "a"],
            &["enqueue", "a", "y"],
            &["init"],
        ] {
            let (code, said) = scene.run(args);
            assert_eq!(code, 5, "{args:?} at {}: {said}", path.display());
            assert!(said.contains("ermission denied"), "{said}");
        }
        set_mode(&path, open);
    }
}

#[test]
fn a_read_only_file_is_read_and_not_written() {
    let scene = Scene::new();
    put(open(&scene.file("")).as_mut(), "a", b"x").unwrap();
    scene.settle();
    scene.give();
    set_mode(&scene.file(""), 0o444);
    let (code, said) = scene.run(&["peek", "a", "-o", "raw"]);
    assert_eq!((code, said.trim()), (0, "x"));
    let (code, said) = scene.run(&["enqueue", "a", "y"]);
    assert_eq!(code, 5, "{said}");
    set_mode(&scene.file(""), 0o600);
    let mut store = open(&scene.file(""));
    assert_eq!(claim(store.as_mut(), "a", 10).unwrap().len(), 1);
}
