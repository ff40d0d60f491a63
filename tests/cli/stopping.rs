//! Signals to verbs other than work: after the chunk, with a report, and the code of the signal.

use crate::World;
use crate::bulk::counts;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn start(world: &World, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qops"));
    command.args(args);
    world.around(&mut command);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns once the process hears the signal instead of being ended by it.
fn hears(child: &Child, signal: Signal) {
    let path = format!("/proc/{}/status", child.id());
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        let status = std::fs::read_to_string(&path).unwrap();
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap();
        let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
        if caught >> (signal.as_raw() - 1) & 1 == 1 {
            return;
        }
        std::thread::yield_now();
    }
    panic!("the process does not hear the signal");
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn ended(child: Child) -> (i32, String) {
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), err)
}

#[test]
fn a_long_change_stops_after_the_chunk_and_goes_on_when_it_is_run_again() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let world = World::new();
        assert_eq!(world.sh("seq 1 12000 | qops enqueue q --lines").code, 0);
        // Others write: the first chunk waits until the signal has come.
        let lock = rusqlite::Connection::open(world.file()).unwrap();
        lock.execute_batch("BEGIN IMMEDIATE").unwrap();
        let purge = start(&world, &["purge", "q", "--all", "--yes"]);
        hears(&purge, signal);
        send(&purge, signal);
        lock.execute_batch("ROLLBACK").unwrap();
        drop(lock);
        let (got, err) = ended(purge);
        assert_eq!(got, code, "{err}");
        let (left, _) = counts(&world, "q");
        assert_eq!(left, 7_000, "{err}");
        assert!(err.contains("stopped: deleted 5,000 messages"), "{err}");
        assert_eq!(world.run(&["purge", "q", "--all", "--yes"]).code, 0);
        assert_eq!(counts(&world, "q"), (0, 0));
    }
}

#[test]
fn a_stream_stops_after_the_batch_and_says_how_many_stand() {
    let world = World::new();
    let mut child = start(&world, &["enqueue", "q", "--lines", "-o", "id"]);
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a\nb\n").unwrap();
    // The ids come once the messages stand.
    let mut ids = [0; 4];
    child.stdout.as_mut().unwrap().read_exact(&mut ids).unwrap();
    assert_eq!(&ids, b"1\n2\n");
    send(&child, Signal::INT);
    let (code, err) = ended(child);
    assert_eq!(code, 130, "{err}");
    assert!(err.contains("stopped: 2 messages stand"), "{err}");
    drop(input);
    assert_eq!(counts(&world, "q"), (2, 0));
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let world = World::new();
    world.put("q", &[b"x"]);
    let lock = rusqlite::Connection::open(world.file()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let purge = start(&world, &["purge", "q", "--all", "--yes"]);
    hears(&purge, Signal::INT);
    send(&purge, Signal::INT);
    // The first was taken: a signal that is pending would swallow the second.
    let path = format!("/proc/{}/status", purge.id());
    let pending = || {
        let status = std::fs::read_to_string(&path).unwrap();
        status.lines().any(|line| {
            line.strip_prefix("ShdPnd:")
                .is_some_and(|mask| mask.trim().bytes().any(|c| c != b'0'))
        })
    };
    while pending() {
        std::thread::yield_now();
    }
    send(&purge, Signal::INT);
    let (code, err) = ended(purge);
    assert_eq!(code, 130, "{err}");
    lock.execute_batch("ROLLBACK").unwrap();
    drop(lock);
    assert_eq!(counts(&world, "q"), (1, 0));
}
