//! A full disk: what is finished is acknowledged, nothing is half written. On a small filesystem of its own, in memory;
//! mounting one takes root, and without root the cases say that they did not run.

use super::{claim, done, open, put};
use qops::backend::{Backend, Kind, Settled};
use qops::queue::Delivery;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A filesystem in memory, unmounted at the end.
struct Small(
    PathBuf,
    #[expect(dead_code, reason = "the folder lives as long as the mount")] tempfile::TempDir,
);

impl Small {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("small");
        fs::create_dir(&at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(&at)
            .status();
        match mounted {
            Ok(status) if status.success() => Some(Self(at, folder)),
            // Root that cannot mount (a container without the right) is told apart from a fault of the test.
            _ if std::env::var_os("CI").is_some() && rustix::process::geteuid().is_root() => {
                panic!("root cannot mount a tmpfs here: the full disk was not tested")
            }
            _ => {
                eprintln!("NOT RUN: a tmpfs cannot be mounted without root");
                None
            }
        }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        Command::new("umount")
            .arg("-l")
            .arg(&self.0)
            .status()
            .unwrap();
    }
}

/// Puts messages in until the disk is full; answers how many.
fn fill(store: &mut dyn Backend, payload: &[u8]) -> usize {
    for n in 0.. {
        match put(store, "a", payload) {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), Kind::Full, "{error}");
                assert!(error.context("path").is_some() && error.hint_text().is_some());
                return n;
            }
        }
    }
    unreachable!("a disk without end")
}

fn eat_all(folder: &Path) {
    let mut block = vec![7_u8; 1 << 20];
    for n in 0.. {
        let file = folder.join(format!("thief{n}"));
        match fs::write(&file, &block) {
            Ok(()) => {}
            Err(_) if block.len() > 4096 => block.truncate(block.len() / 2),
            Err(_) => return,
        }
    }
}

fn all_done(store: &mut dyn Backend, got: &[Delivery]) {
    for some in got.chunks(250) {
        let settled = done(store, some).or_else(|error| {
            assert_eq!(error.kind(), Kind::Full, "{error}");
            done(store, some)
        });
        assert!(settled.unwrap().iter().all(|one| *one == Settled::Yes));
    }
}

fn whole(path: &Path) {
    let conn = rusqlite::Connection::open(path).unwrap();
    let answer: String = conn
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(answer, "ok");
}

/// Fills the disk by `filler` after a claim of what was there first, and acknowledges all that was claimed.
fn scene(size: &str, payload: usize, leased: usize, filler: impl Fn(&mut dyn Backend, &Path)) {
    let Some(disk) = Small::mount(size) else {
        return;
    };
    let path = disk.0.join("q.db");
    let mut store = open(&path);
    let body = vec![b'x'; payload];
    for _ in 0..leased {
        put(store.as_mut(), "a", &body).unwrap();
    }
    let mut got = Vec::new();
    while got.len() < leased {
        got.extend(claim(store.as_mut(), "a", 100).unwrap());
    }
    filler(store.as_mut(), &disk.0);
    all_done(store.as_mut(), &got);
    assert!(
        claim(store.as_mut(), "a", 1).is_err_and(|error| error.kind() == Kind::Full)
            || payload == 0
    );
    drop(store);
    whole(&path);
}

#[test]
fn r55_filled_by_enqueue() {
    scene("2m", 200, 500, |store, _| {
        fill(store, &[b'y'; 200]);
    });
    scene("8m", 200, 2_000, |store, _| {
        fill(store, &[b'y'; 200]);
    });
    scene("8m", 20_000, 50, |store, _| {
        fill(store, &vec![b'y'; 20_000]);
    });
    scene("64m", 20_000, 300, |store, _| {
        fill(store, &vec![b'y'; 20_000]);
    });
}

#[test]
fn r55_filled_by_another_file() {
    for (size, payload, leased) in [("2m", 200, 500), ("8m", 20_000, 50), ("64m", 200, 5_000)] {
        scene(size, payload, leased, |store, folder| {
            eat_all(folder);
            fill(store, &vec![b'y'; payload]);
        });
    }
}

#[test]
fn r55_another_takes_the_released_space() {
    for (size, payload, leased) in [("2m", 200, 500), ("8m", 200, 2_000), ("64m", 20_000, 300)] {
        scene(size, payload, leased, |store, folder| {
            fill(store, &vec![b'y'; payload]);
            eat_all(folder);
        });
    }
}
