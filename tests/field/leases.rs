//! Leases, duplicates, replays.

use super::{World, claim, ended, eventually, settle};
use qops::backend::{Settled, Verdict};
use qops::queue::Skew;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A settle and a claim of the same message as its lease ends: one of the two wins, never both, and what is done stays
/// done.
#[test]
fn r01_a_late_reclaim_never_brings_back_what_is_done() {
    let world = World::new();
    world.run(&["enqueue", "q", "seed"]).is(0);
    let mut first = world.handle("first", Skew::default());
    let mut second = world.handle("second", Skew::default());
    let seed = claim(&mut *first, "q", 1, Duration::from_mins(1));
    assert_eq!(settle(&mut *first, &seed[0], Verdict::Done), Settled::Yes);
    let mut wins = [0, 0];
    for round in 0..120 {
        let batch = [qops::queue::NewMessage::new(super::queue("q"), &b"x"[..])];
        first
            .enqueue(&batch, qops::backend::Unit::Each)
            .expect("an enqueue");
        let lease = Duration::from_millis(4);
        let begun = Instant::now();
        let got = claim(&mut *first, "q", 1, lease).remove(0);
        let over = AtomicBool::new(false);
        let (settled, again) = std::thread::scope(|scope| {
            let reclaim = scope.spawn(|| {
                loop {
                    // Read before the claim, so that a last claim follows the settle.
                    let last = over.load(Ordering::SeqCst);
                    let got = claim(&mut *second, "q", 1, Duration::from_mins(1));
                    if last || !got.is_empty() {
                        return got;
                    }
                }
            });
            // Around the end of the lease, sooner and later.
            let at = begun + Duration::from_micros(3_000 + round % 20 * 100);
            while Instant::now() < at {
                std::hint::spin_loop();
            }
            let settled = settle(&mut *first, &got, Verdict::Done);
            over.store(true, Ordering::SeqCst);
            (settled, reclaim.join().expect("a claimer"))
        });
        assert_eq!(settled == Settled::Yes, again.is_empty(), "{settled:?}");
        if let Some(again) = again.first() {
            wins[1] += 1;
            assert!(matches!(settled, Settled::LeaseLost(_)), "{settled:?}");
            assert_eq!(settle(&mut *second, again, Verdict::Done), Settled::Yes);
        } else {
            wins[0] += 1;
        }
        assert!(
            claim(&mut *second, "q", 1, lease).is_empty(),
            "it stays done"
        );
    }
    assert_eq!(wins[0] + wins[1], 120);
}

/// Two claims of one worker: the older receipt settles nothing.
#[test]
fn r07_the_older_claim_of_the_same_worker_is_refused() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let receipt = |ran: &super::Ran| {
        let message: serde_json::Value = serde_json::from_slice(&ran.out).expect("a record");
        message["receipt"].as_str().expect("a receipt").to_owned()
    };
    let older = receipt(
        &world
            .run(&["claim", "q", "--lease", "1ms", "-o", "json"])
            .is(0),
    );
    let mut younger = String::new();
    eventually("its lease ends", || {
        let again = world.run(&["claim", "q", "-o", "json"]);
        if again.code == Some(0) {
            younger = receipt(&again);
        }
        again.code == Some(0)
    });
    let before = world.show("1");
    for verb in ["ack", "nack"] {
        let refused = world.run(&[verb, &older]).is(7);
        assert!(refused.err.contains('1'), "{}", refused.err);
        assert_eq!(world.show("1"), before, "{verb} changed nothing");
    }
    world.run(&["extend", &older, "--lease", "1h"]).is(7);
    assert_eq!(world.show("1"), before);
    world.run(&["ack", &younger]).is(0);
    world.run(&["ack", &younger]).is(7);
}

/// Draining what always fails: replays are counted and shown, and a drain takes only what was dead when it began.
#[test]
fn r68_a_drain_of_what_always_fails() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    for n in 0..5_u64 {
        let worked = world.run(&["work", "q", "--max-attempts", "1", "--", "false"]);
        assert_eq!(worked.code, Some(1), "{}", worked.err);
        let letter = world.show("1");
        assert_eq!(
            (letter["state"].as_str(), letter["replays"].as_u64()),
            (Some("dead"), Some(n))
        );
        world.run(&["drain", "q", "--yes"]).is(0);
    }
    assert_eq!(world.show("1")["replays"], 5);
    assert!(
        world.run(&["show", "1"]).is(0).text().contains('5'),
        "a person sees it"
    );
    assert_eq!(
        (world.count("q", "ready"), world.count("q", "dead")),
        (1, 0)
    );
}

/// A drain that is killed wherever it is: live and dead are as many as before.
#[test]
fn r68_a_killed_drain_conserves() {
    let world = World::new();
    let lines = super::lines(600, 1);
    world.feed(&["enqueue", "q", "--lines"], &lines).is(0);
    let mut db = world.handle("killer", Skew::default());
    for got in claim(&mut *db, "q", 600, Duration::from_mins(1)) {
        let dead = Verdict::Dead(qops::queue::Reason::Permanent);
        assert_eq!(settle(&mut *db, &got, dead), Settled::Yes);
    }
    let mut killed = 0;
    for n in 0..25 {
        if world.count("q", "dead") == 0 {
            break;
        }
        // A command for each letter, so that there is much to be in the middle of.
        let mut drain = world
            .qops(&["drain", "q", "--yes", "-j2", "--lease", "1s", "--", "true"])
            .spawn()
            .expect("a drain");
        let until = Instant::now() + Duration::from_millis(20 + n * 9 % 97);
        while Instant::now() < until && drain.try_wait().expect("a state").is_none() {
            std::hint::spin_loop();
        }
        drain.kill().expect("a kill");
        killed += u32::from(ended(drain).code.is_none());
        let (dead, ready) = (world.count("q", "dead"), world.count("q", "ready"));
        assert_eq!(ready, 0, "a letter never comes back by itself");
        assert!(dead <= 600);
        assert_eq!(
            world.sql("SELECT count(*) FROM qops_dead"),
            dead.to_string()
        );
    }
    assert!(killed > 0, "at least one was in the middle");
    let replayed = world.run(&["drain", "q", "--yes", "-o", "json"]);
    // Of what the last one held some is passed over, or all: its leases end a second later.
    assert!(
        matches!(replayed.code, Some(0 | 3 | 7)),
        "{:?} {}",
        replayed.code,
        replayed.err
    );
    let here = world.count("q", "dead") + world.count("q", "ready");
    assert_eq!(
        world.sql("SELECT (SELECT count(*) FROM qops_dead)+(SELECT count(*) FROM qops_message)"),
        here.to_string()
    );
}

/// Whatever the planner believes, a claim of so many takes no more.
#[test]
fn r71_a_claim_never_takes_more_than_its_limit() {
    let world = World::new();
    let lines = super::lines(1_500, 1);
    world.feed(&["enqueue", "q", "--lines"], &lines).is(0);
    // Statistics of another life: few rows where there are many, many where there are few.
    world.sql("ANALYZE; UPDATE sqlite_stat1 SET stat='1 1 1 1 1'; ANALYZE sqlite_schema");
    let mut db = world.handle("w", Skew::default());
    for round in 0..200 {
        if round == 100 {
            world.sql("UPDATE sqlite_stat1 SET stat='9000000 9000000 9000000 9000000 9000000'; ANALYZE sqlite_schema");
            db = world.handle("w", Skew::default());
        }
        let max = if round % 2 == 0 { 1 } else { 10 };
        let got = claim(&mut *db, "q", max, Duration::from_mins(5));
        assert_eq!(got.len(), max);
        if round % 3 == 0 {
            for one in &got {
                assert_eq!(settle(&mut *db, one, Verdict::Release), Settled::Yes);
            }
        }
    }
    for n in ["1", "10"] {
        let ran = world.run(&["claim", "q", "-n", n, "-o", "ndjson"]).is(0);
        assert_eq!(ran.lines().len().to_string(), n);
    }
}
