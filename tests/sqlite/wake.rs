//! The bell hears another connection's commit.

use super::{open, put, queue};
use qops::backend::Ring;
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
