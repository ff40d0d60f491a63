//! Waits before retries, and order in a group.

use super::{World, instant};
use qops::queue::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// How long after the end of its last run a message comes back.
fn wait_of(message: &Value, end: Timestamp) -> Duration {
    instant(&message["ready_at"]).since(end)
}

fn last_start(message: &Value) -> Timestamp {
    let history = message["history"].as_array().expect("a history");
    instant(&history.last().expect("a run")["started_at"])
}

/// The waits before attempts 2, 3 and 4 are 1, 5 and 30 s, longer by a fifth at the most.
#[test]
fn r62_the_waits_before_retries() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    for rung in [1, 5, 30, 120] {
        world.run(&["work", "q", "--once", "--", "false"]).is(0);
        let message = world.show("1");
        assert_eq!(message["state"], "delayed");
        let start = last_start(&message);
        let rung = Duration::from_secs(rung);
        let wait = wait_of(&message, start);
        // From its start, so with the time that it ran: half a second is far more than `false` takes.
        let most = rung.mul_f64(1.2) + Duration::from_millis(1_500);
        assert!(wait >= rung && wait <= most, "{wait:?} for {rung:?}");
        // A person makes it due; its attempts stay.
        world.run(&["requeue", "q", "1"]).is(0);
    }
}

/// However many fail in the same second, none comes back sooner than its rung, and they do not come back together.
#[test]
fn r63_many_failures_are_spread_and_never_sooner() {
    let world = World::new();
    let lines = super::lines(200, 1);
    world.feed(&["enqueue", "q", "--lines"], &lines).is(0);
    world
        .run(&["work", "q", "-j8", "--backoff", "1h", "--", "false"])
        .is(0);
    let messages = world.peek(&["q", "--state", "delayed"]);
    assert_eq!(messages.len(), 200);
    let hour = Duration::from_hours(1);
    let mut waits: Vec<Duration> = messages
        .iter()
        .map(|message| {
            let wait = wait_of(message, instant(&message["enqueued_at"]));
            assert!(wait >= hour, "{wait:?}");
            wait
        })
        .collect();
    waits.sort_unstable();
    let (first, last) = (waits[0], waits[199]);
    assert!(
        last <= hour.mul_f64(1.2) + Duration::from_mins(5),
        "{last:?}"
    );
    // 200 of them over 720 s of jitter: a third of that is beyond every doubt.
    assert!(
        last.saturating_sub(first) > Duration::from_mins(4),
        "{first:?} … {last:?}"
    );
}

/// Member 0 fails once: 0, 0, 1, 2, 3, 4.
#[test]
fn r69_a_retry_keeps_the_order_of_its_group() {
    let world = World::new();
    world
        .run(&["enqueue", "q", "--group", "g", "0", "1", "2", "3", "4"])
        .is(0);
    let script = "n=$(cat); echo $n >> ran; [ $n != 0 ] || [ $QOPS_ATTEMPT != 1 ]";
    world
        .run(&[
            "work",
            "q",
            "-j4",
            "--wait",
            "--backoff",
            "50ms",
            "--shell",
            script,
        ])
        .is(0);
    assert_eq!(world.read("ran"), "0\n0\n1\n2\n3\n4\n");
}

#[test]
fn r69_a_dead_head_frees_its_group() {
    let world = World::new();
    world
        .run(&["enqueue", "q", "--group", "g", "0", "1", "2"])
        .is(0);
    let script = "n=$(cat); echo $n >> ran; [ $n != 0 ]";
    let worked = world.run(&["work", "q", "-j4", "--max-attempts", "1", "--shell", script]);
    assert_eq!(worked.code, Some(1), "{}", worked.err);
    assert_eq!(world.read("ran"), "0\n1\n2\n");
    assert_eq!(world.count("q", "dead"), 1);
}
