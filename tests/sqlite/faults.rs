//! The disk fails in the middle: the k-th write, flush or cut of the file or its log, for every k. What was answered
//! with success is there, and the next command finds a whole file.

use super::{open, put};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const CALLS: &str = "pwrite64,fsync,fdatasync,ftruncate";

fn traced(path: &Path, inject: Option<&str>, args: &[&str]) -> Output {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-q", "-o"])
        .arg(path.with_file_name("trace"));
    for suffix in ["", "-wal", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        strace.arg("-P").arg(name);
    }
    strace.args(["-e", &format!("trace={CALLS}")]);
    if let Some(inject) = inject {
        strace.args(["-e", &format!("inject={CALLS}:{inject}")]);
    }
    strace
        .arg(env!("CARGO_BIN_EXE_qops"))
        .arg("-u")
        .arg(format!("sqlite:{}", path.display()))
        .args(args)
        .env("HOME", path.parent().unwrap())
        .output()
        .expect("strace is installed")
}

fn count(path: &Path) -> i64 {
    let conn = rusqlite::Connection::open(path).unwrap();
    let whole: String = conn
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(whole, "ok");
    conn.query_row("SELECT count(*) FROM qops_message", [], |row| row.get(0))
        .unwrap()
}

/// Runs a command with the k-th call failing, for every k until none fails any more.
fn for_every_call(
    error: &str,
    query: &str,
    args: impl Fn(&Path) -> Vec<String>,
    check: impl Fn(&Path, &Output, &str),
) {
    for k in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.db");
        let url = format!("sqlite:{}{query}", path.display());
        let mut store = super::open_url(&url, qops::backend::Access::Write).unwrap();
        put(store.as_mut(), "a", b"first").unwrap();
        drop(store);
        let args = args(&path);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let out = traced(&path, Some(&format!("error={error}:when={k}")), &args);
        let hit = fs::read_to_string(folder.path().join("trace"))
            .unwrap()
            .contains("(INJECTED)");
        let said = format!(
            "{error}, call {k}: {:?} {}",
            out.status,
            String::from_utf8_lossy(&out.stderr)
        );
        check(&path, &out, &said);
        if !hit {
            assert!(k > 3, "nothing was hit");
            assert_eq!(out.status.code(), Some(0), "{said}");
            return;
        }
    }
}

#[test]
fn an_enqueue_that_was_answered_is_there() {
    for query in ["", "?journal=delete"] {
        for error in ["EIO", "ENOSPC"] {
            for_every_call(
                error,
                query,
                |_| ["enqueue", "a", "second"].map(str::to_owned).to_vec(),
                |path, out, said| {
                    let there = count(path);
                    match out.status.code() {
                        Some(0) => assert_eq!(there, 2, "{said}"),
                        Some(8) => {
                            assert!(there == 1 || there == 2, "{there}: {said}");
                            assert!(out.stdout.is_empty(), "{said}");
                        }
                        other => panic!("{other:?}: {said}"),
                    }
                    put(open(path).as_mut(), "a", b"third").unwrap();
                    assert_eq!(count(path), there + 1, "{said}");
                },
            );
        }
    }
}

#[test]
fn what_is_gone_has_run() {
    for error in ["EIO", "ENOSPC"] {
        for_every_call(
            error,
            "",
            |path| {
                let ran = path.with_file_name("ran").display().to_string();
                let line = format!("cat >> {ran}; echo >> {ran}");
                ["work", "a", "--lease", "300ms", "--shell", &line]
                    .map(str::to_owned)
                    .to_vec()
            },
            |path, out, said| {
                let ran = fs::read_to_string(path.with_file_name("ran")).unwrap_or_default();
                let code = out.status.code();
                assert!(matches!(code, Some(0 | 8)), "{said}");
                if count(path) == 0 {
                    assert!(ran.contains("first"), "it is gone and never ran: {said}");
                    return;
                }
                // Held by a claim whose answer was lost, or never claimed: it runs when the disk is well again.
                let out = Command::new(env!("CARGO_BIN_EXE_qops"))
                    .arg("-u")
                    .arg(format!("sqlite:{}", path.display()))
                    .args(["work", "a", "--wait", "--shell", "cat >> \"$QOPS_RAN\""])
                    .env("QOPS_RAN", path.with_file_name("ran"))
                    .status()
                    .unwrap();
                assert!(out.success() && count(path) == 0, "{said}");
                let ran = fs::read_to_string(path.with_file_name("ran")).unwrap();
                assert!(ran.contains("first"), "{said}");
            },
        );
    }
}

/// The flush of the log comes before the answer.
#[test]
fn nothing_is_answered_before_it_is_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    put(open(&path).as_mut(), "a", b"first").unwrap();
    let log = folder.path().join("trace");
    let out = Command::new("strace")
        .args([
            "-f",
            "-q",
            "-y",
            "-e",
            "trace=pwrite64,fsync,fdatasync,write",
            "-o",
        ])
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_qops"))
        .arg("-u")
        .arg(format!("sqlite:{}", path.display()))
        .args(["enqueue", "a", "x"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "2\n");
    let trace = fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = trace.lines().collect();
    let last = |what: &dyn Fn(&str) -> bool| lines.iter().rposition(|line| what(line));
    let written = last(&|line| line.contains("pwrite64(") && line.contains("q.db-wal")).unwrap();
    let flushed = last(&|line| line.contains("sync(") && line.contains("q.db-wal")).unwrap();
    let answered = last(&|line| line.contains("write(1<")).unwrap();
    assert!(written < flushed && flushed < answered, "{trace}");
}
