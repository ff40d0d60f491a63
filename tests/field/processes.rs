//! Many processes at one file.

use super::{Ran, World, ended};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::time::{Duration, Instant};

fn no_lock_is_seen(ran: &Ran) {
    let err = ran.err.to_lowercase();
    for word in ["locked", "busy", "deadlock"] {
        assert!(!err.contains(word), "{}", ran.err);
    }
}

fn all(children: Vec<Child>) -> Vec<Ran> {
    children.into_iter().map(ended).collect()
}

/// Eight workers: every message is run, and once.
#[test]
fn r52_eight_workers_run_each_message_once() {
    let world = World::new();
    let lines = super::lines(800, 1);
    world.feed(&["enqueue", "q", "--lines"], &lines).is(0);
    let workers = (0..8)
        .map(|_| {
            world
                .qops(&["work", "q", "--", "printenv", "QOPS_ID"])
                .spawn()
                .expect("a worker")
        })
        .collect();
    let mut runs: BTreeMap<String, u32> = BTreeMap::new();
    for ran in all(workers) {
        let ran = ran.is(0);
        no_lock_is_seen(&ran);
        for id in ran.lines() {
            *runs.entry(id.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(runs.len(), 800);
    assert!(runs.values().all(|n| *n == 1));
    assert_eq!(world.count("q", "ready") + world.count("q", "running"), 0);
}

/// Sixteen writers at once, again and again: nobody is told of a lock.
#[test]
fn r53_sixteen_writers_see_no_lock() {
    let world = World::new();
    world.run(&["enqueue", "q", "first"]).is(0);
    let mut expected = 1;
    for round in 0..4 {
        let writers = (0..16)
            .map(|n| {
                let text = format!(
                    "for i in 1 2 3 4 5; do qops enqueue q {round}.{n}.$i >/dev/null || exit; done"
                );
                let mut shell = world.program("bash");
                shell.args(["-c", &text]);
                shell.spawn().expect("a writer")
            })
            .collect();
        for ran in all(writers) {
            let ran = ran.is(0);
            no_lock_is_seen(&ran);
        }
        expected += 16 * 5;
    }
    assert_eq!(world.count("q", "ready"), expected);
}

/// A producer that is killed wherever it is: a key is taken if and only if its message is there.
#[test]
fn r64_a_key_is_there_if_and_only_if_its_message_is() {
    use std::io::Write as _;
    let world = World::new();
    world.run(&["enqueue", "q", "seed"]).is(0);
    let mut stopped = 0;
    for round in 0..20_u64 {
        let before = world.sql("SELECT count(*) FROM qops_dedup");
        let mut producer = world.qops(&["enqueue", "q", "--ndjson", "--key-from", ".id"]);
        producer.stdin(std::process::Stdio::piped());
        let mut producer = producer.spawn().expect("a producer");
        let mut input = producer.stdin.take().expect("its input");
        let writer = std::thread::spawn(move || {
            for n in 0..200_000 {
                if writeln!(input, "{{\"id\":\"{round}.{n}\"}}").is_err() {
                    return;
                }
            }
        });
        // Every other time in the middle of a batch that follows one that stands.
        if round % 2 == 0 {
            super::eventually("a batch stands", || {
                world.sql("SELECT count(*) FROM qops_dedup") != before
            });
        }
        let until = Instant::now() + Duration::from_millis(10 + round * 7 % 61);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        producer.kill().expect("a kill");
        stopped += u32::from(ended(producer).code.is_none());
        writer.join().expect("a writer");
        let orphans = "SELECT count(*) FROM qops_dedup d LEFT JOIN qops_message m ON m.id=d.message_id WHERE m.id IS NULL";
        let bare = "SELECT count(*) FROM qops_message m WHERE m.key IS NOT NULL AND NOT EXISTS(SELECT 1 FROM qops_dedup d WHERE d.queue_id=m.queue_id AND d.key=m.key)";
        assert_eq!(
            (world.sql(orphans), world.sql(bare)),
            ("0".into(), "0".into())
        );
    }
    assert!(stopped > 10, "{stopped} were in the middle");
    assert_eq!(world.sql("PRAGMA integrity_check"), "ok");
    assert_ne!(
        world.sql("SELECT count(*) FROM qops_dedup"),
        "0",
        "some came through"
    );
}

/// Many processes with the same keys: a message a key, and everybody has its id.
#[test]
fn r66_many_processes_with_the_same_keys() {
    let world = World::new();
    let lines: Vec<String> = (0..100).map(|n| format!("{{\"id\":{n}}}")).collect();
    let file = world.write("events", &lines.join("\n"));
    let file = file.to_str().expect("a path");
    let writers = (0..24)
        .map(|_| {
            world
                .qops(&[
                    "enqueue",
                    "q",
                    "--ndjson",
                    "--file",
                    file,
                    "--key-from",
                    ".id",
                    "-o",
                    "id",
                ])
                .spawn()
                .expect("a writer")
        })
        .collect();
    let mut answers = BTreeSet::new();
    for ran in all(writers) {
        let ran = ran.is(0);
        no_lock_is_seen(&ran);
        assert_eq!(ran.lines().len(), 100);
        answers.insert(ran.text().to_owned());
    }
    assert_eq!(answers.len(), 1, "the same ids for everybody, in order");
    assert_eq!(world.count("q", "ready"), 100);
}

/// Workers, a purge, replays, drains and lapsing leases at once: no lock reaches anybody.
#[test]
fn r73_everything_at_once_shows_no_lock() {
    let world = World::new();
    let lines = super::lines(400, 1);
    world.feed(&["enqueue", "q", "--lines"], &lines).is(0);
    let mut children = vec![];
    let mut start = |args: &[&str], times: u32| {
        for _ in 0..times {
            children.push(world.qops(args).spawn().expect("a start"));
        }
    };
    let failing = "[ $((QOPS_ID % 5)) != 0 ]";
    start(
        &[
            "work",
            "q",
            "--max-attempts",
            "1",
            "--lease",
            "1s",
            "--shell",
            failing,
        ],
        10,
    );
    start(&["requeue", "q", "--all", "--yes"], 3);
    start(&["drain", "q", "--yes"], 3);
    start(&["purge", "q", "--grep", "77", "--yes"], 3);
    start(
        &["claim", "q", "-n", "5", "--lease", "1ms", "-o", "ndjson"],
        6,
    );
    start(&["enqueue", "q", "late"], 4);
    start(&["stats", "q", "--exact"], 4);
    for ran in all(children) {
        no_lock_is_seen(&ran);
        // 1: nothing to claim, or a message ended dead. 3: some were running.
        assert!(
            matches!(ran.code, Some(0 | 1 | 3)),
            "{:?} {}",
            ran.code,
            ran.err
        );
    }
    assert_eq!(world.sql("PRAGMA integrity_check"), "ok");
    world.run(&["drain", "q", "--yes"]);
    world.run(&["work", "q", "--wait", "--", "true"]).is(0);
    let left: u64 = ["ready", "delayed", "blocked", "running", "dead"]
        .iter()
        .map(|state| world.count("q", state))
        .sum();
    assert_eq!(left, 0);
}
