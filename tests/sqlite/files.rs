//! Opening: what is made, with which mode, and what is refused.

use super::{claim, open, open_url, put};
use qops::backend::{Access, Kind, Run};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::Barrier;

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn r56_files_and_new_folders_are_private_whatever_the_umask() {
    let folder = tempfile::tempdir().unwrap();
    // Of the default store alone the folders are made.
    let line = "umask 000; exec \"$0\" enqueue a x";
    let out = Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_qops")])
        .env("XDG_DATA_HOME", folder.path().join("deep"))
        .env("XDG_CONFIG_HOME", folder.path())
        .env_remove("QOPS_URL")
        .env_remove("QOPS_CONTEXT")
        .output()
        .unwrap();
    assert!(out.status.success());
    for suffix in ["", "-wal", "-shm", ".reserve"] {
        let file = folder.path().join(format!("deep/qops/qops.db{suffix}"));
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(mode(&folder.path().join("deep/qops")), 0o700);
    assert_eq!(mode(&folder.path().join("deep")), 0o700);
}

#[test]
fn thirty_two_may_start_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let start = Barrier::new(32);
    std::thread::scope(|scope| {
        for n in 0..32 {
            let (path, start) = (&path, &start);
            scope.spawn(move || {
                start.wait();
                let mut store = open(path);
                put(store.as_mut(), "a", format!("{n}").as_bytes()).unwrap();
            });
        }
    });
    let mut store = open(&path);
    assert_eq!(claim(store.as_mut(), "a", 100).unwrap().len(), 32);
}

#[test]
fn reading_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/q.db");
    let error = open_url(&format!("sqlite:{}", path.display()), Access::Read)
        .err()
        .unwrap();
    assert_eq!(
        (error.kind(), error.context("store").is_some()),
        (Kind::NotFound, true)
    );
    assert!(!folder.path().join("none").exists());
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text =
        "just some notes, long enough to be read as a header of a database file, but it is none. "
            .repeat(20);
    fs::write(&path, &text).unwrap();
    for access in [Access::Read, Access::Write, Access::Init] {
        let error = open_url(&format!("sqlite:{}", path.display()), access)
            .err()
            .unwrap();
        assert_eq!(error.kind(), Kind::Corrupt, "{error}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let error = open_url(
        &format!("sqlite:{}", folder.path().display()),
        Access::Write,
    )
    .err()
    .unwrap();
    assert_eq!(error.kind(), Kind::Config, "a directory: {error}");
}

#[test]
fn an_applications_file_wants_init_and_keeps_its_ways() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let url = format!("sqlite:{}", path.display());
    let app = rusqlite::Connection::open(&path).unwrap();
    app.execute_batch("CREATE TABLE payment(id INTEGER PRIMARY KEY); PRAGMA user_version=7;")
        .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    for access in [Access::Read, Access::Write] {
        let error = open_url(&url, access).err().unwrap();
        assert_eq!(
            (
                error.kind(),
                error.hinted().map(ToString::to_string).as_deref()
            ),
            (Kind::Schema, Some("qops init"))
        );
    }
    let mut store = open_url(&url, Access::Init).unwrap();
    assert!(!store.migrate(Run::Dry).unwrap().statements.is_empty());
    assert!(
        open_url(&url, Access::Write).is_err(),
        "a dry run changed something"
    );
    assert_eq!(store.migrate(Run::Do).unwrap().from, 0);
    assert!(
        store.migrate(Run::Do).unwrap().statements.is_empty(),
        "a second run has nothing to do"
    );
    let mut store = open(&path);
    put(store.as_mut(), "a", b"x").unwrap();
    let journal: String = app
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .unwrap();
    let version: i64 = app
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(
        (journal.as_str(), version, mode(&path)),
        ("delete", 7, 0o640)
    );
    assert!(!folder.path().join("app.db.reserve").exists());
}

#[test]
fn a_newer_schema_is_refused_with_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute("UPDATE qops_meta SET version=9, min_client=9", [])
        .unwrap();
    for access in [Access::Read, Access::Write, Access::Init] {
        let opened = open_url(&format!("sqlite:{}", path.display()), access);
        let error = match opened {
            Ok(mut store) => store.migrate(Run::Do).err().unwrap(),
            Err(error) => error,
        };
        assert_eq!(error.kind(), Kind::Schema);
        assert!(
            error.what().contains('9') && error.what().contains('1'),
            "{error}"
        );
    }
    other
        .execute("UPDATE qops_meta SET version=9, min_client=1", [])
        .unwrap();
    put(open(&path).as_mut(), "a", b"x").unwrap();
}

#[test]
fn durability_and_journal_are_what_the_url_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open_url(
        &format!("sqlite:{}?journal=delete", path.display()),
        Access::Write,
    )
    .unwrap();
    put(store.as_mut(), "a", b"x").unwrap();
    assert!(!folder.path().join("q.db-wal").exists());
    let other = rusqlite::Connection::open(&path).unwrap();
    let journal: String = other
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .unwrap();
    assert_eq!(journal, "delete");
    // Opened without the parameter it stays as it was made.
    put(open(&path).as_mut(), "a", b"y").unwrap();
    let journal: String = other
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .unwrap();
    assert_eq!(journal, "delete");
}

#[test]
fn a_dry_look_at_the_schema_makes_no_file() {
    use qops::backend::Run;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/q.db");
    let url = format!("sqlite:{}", path.display());
    let plan = |url: &str| {
        let mut store = open_url(url, Access::Plan).unwrap();
        store.migrate(Run::Dry).unwrap()
    };
    let migrated = plan(&url);
    assert_eq!(migrated.from, 0);
    assert!(
        migrated
            .statements
            .iter()
            .any(|sql| sql.contains("qops_message"))
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    put(open(&path).as_mut(), "jobs", b"x").unwrap();
    assert!(plan(&url).statements.is_empty());
}

/// A power cut after the answer must not bring the rollback journal back, and with it the state before.
#[test]
fn the_removal_of_a_rollback_journal_is_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/q.db?journal=delete", folder.path().display());
    drop(open_url(&url, Access::Write).unwrap());
    let log = folder.path().join("trace");
    let status = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-e",
            "trace=unlink,unlinkat,fsync,fdatasync,write",
            "-o",
        ])
        .arg(&log)
        .args([env!("CARGO_BIN_EXE_qops"), "-u", &url, "enqueue", "a", "x"])
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let trace = fs::read_to_string(log).unwrap();
    let removed = trace
        .rfind("q.db-journal\")")
        .unwrap_or_else(|| panic!("{trace}"));
    let place = format!("<{}>)", folder.path().display());
    let flushed = trace[removed..]
        .lines()
        .any(|line| line.contains("sync(") && line.contains(&place));
    assert!(flushed, "{trace}");
}

#[test]
fn two_handles_of_one_process_do_not_drop_each_others_locks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Whatever else this process does with the file, nobody else gets the lock.
    drop(open_url(&format!("sqlite:{}", path.display()), Access::Read).unwrap());
    let out = Command::new("sqlite3")
        .arg(&path)
        .arg("BEGIN IMMEDIATE")
        .output()
        .unwrap();
    assert!(!out.status.success(), "another process got the lock");
}

#[test]
fn a_writer_waits_for_another_instead_of_failing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = Barrier::new(2);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut store = open(&path);
            waiting.wait();
            put(store.as_mut(), "a", b"x")
        });
        waiting.wait();
        // Another one waits for as long as every kind of nap is tried, and gives up.
        let out = Command::new("sqlite3")
            .args(["-cmd", ".timeout 600"])
            .arg(&path)
            .arg("BEGIN IMMEDIATE")
            .output()
            .unwrap();
        assert!(!out.status.success(), "the lock was not held");
        assert!(!writer.is_finished(), "it did not wait");
        holder.execute_batch("ROLLBACK").unwrap();
        writer.join().unwrap().unwrap();
    });
}
