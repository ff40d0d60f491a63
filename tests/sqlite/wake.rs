//! The bell hears another connection's commit.

use super::{open, put, queue};
use qops::backend::{Backend, Ring};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn it_rings_first_and_for_what_comes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    put(store.as_mut(), "a", b"x").unwrap();
    let mut bell = store.watch(&[queue("a")]).unwrap();
    assert_eq!(bell.wait(Duration::from_secs(5)).unwrap(), Ring::Rang);
    assert_eq!(bell.wait(Duration::from_millis(150)).unwrap(), Ring::Quiet);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            let start = Instant::now();
            let ring = bell.wait(Duration::from_secs(20)).unwrap();
            (ring, start.elapsed(), bell)
        });
        // Whether the wait has begun or not, what comes is not missed.
        put(store.as_mut(), "a", b"y").unwrap();
        let (ring, took, mut bell) = waiting.join().unwrap();
        assert_eq!(ring, Ring::Rang);
        assert!(took < Duration::from_secs(10), "{took:?}");
        put(store.as_mut(), "a", b"z").unwrap();
        assert_eq!(
            bell.wait(Duration::ZERO).unwrap(),
            Ring::Rang,
            "what came between two waits"
        );
    });
}

/// A commit can be seen only after its flush, and gives no event then: the last event comes with the write before it.
/// The look a second would make half a second of it in the middle.
#[test]
fn it_rings_at_once_where_the_flush_is_slow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    put(store.as_mut(), "a", b"x").unwrap();
    let mut lags: Vec<Duration> = (0..5).map(|_| lag(&path, store.as_mut())).collect();
    lags.sort_unstable();
    assert!(lags[2] < Duration::from_millis(150), "{lags:?}");
}

/// How much later than the commit can be seen by anybody the bell rings.
fn lag(path: &Path, store: &mut dyn Backend) -> Duration {
    let mut bell = store.watch(&[queue("a")]).unwrap();
    bell.wait(Duration::ZERO).unwrap();
    let other = rusqlite::Connection::open(path).unwrap();
    let version = || -> i64 {
        let ask = "PRAGMA data_version";
        other.query_row(ask, [], |row| row.get(0)).unwrap()
    };
    let before = version();
    let waiting = thread::spawn(move || {
        let ring = bell.wait(Duration::from_secs(20)).unwrap();
        (ring, Instant::now())
    });
    let mut writer = Command::new("strace");
    writer
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync"])
        .args(["-e", "inject=fdatasync:delay_enter=10000"])
        .args([env!("CARGO_BIN_EXE_qops"), "enqueue", "a", "y", "-u"])
        .arg(format!("sqlite:{}", path.display()))
        .stdout(Stdio::null());
    let mut writer = writer.spawn().expect("strace is installed");
    while version() == before {
        thread::yield_now();
    }
    let seen = Instant::now();
    let (heard, at) = waiting.join().unwrap();
    assert_eq!(heard, Ring::Rang);
    assert!(writer.wait().unwrap().success());
    at.saturating_duration_since(seen)
}
