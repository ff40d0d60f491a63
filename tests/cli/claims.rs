//! The broker's four moves.

use crate::bulk::messages;
use crate::{World, session};
use insta::assert_snapshot;
use qops::queue::State;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn receipt(world: &World, args: &[&str]) -> String {
    let ran = world.run(&[&["claim", "jobs", "-o", "csv", "--fields", "receipt"], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out.lines().nth(1).unwrap().to_owned()
}

/// Receipts are settled as they come: a million of them are never held.
#[test]
fn a_line_that_is_no_receipt_ends_it_and_what_stood_before_is_settled() {
    let world = World::new();
    world.sh("seq 2500 | qops enqueue q --lines; qops claim q -n 2500 -o ndjson > got");
    let ran = world.sh("{ head -n 1500 got; echo '{\"id\":1}'; tail -n 1000 got; } | qops ack -");
    assert_eq!(ran.code, 9, "{}", ran.err);
    assert!(
        ran.err.contains("line 1501 ") && ran.err.contains("1,500 receipts before it are"),
        "{}",
        ran.err
    );
    let left = world.run(&["stats", "q", "--exact", "--fields", "running"]);
    assert_eq!(left.out, "{\"running\":1000}\n");
    let ran = world.sh("qops ack - -o json < got");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(
        ran.out
            .contains(r#""matched":2500,"done":1000,"failed":1500"#),
        "{}",
        ran.out
    );
    assert_eq!(world.sh("qops ack - < /dev/null").code, 0);
}

#[test]
fn what_no_claim_minted_is_told_from_what_is_done() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]);
    let got = world.run(&["claim", "q", "--fields", "receipt", "-o", "json"]);
    let receipt: serde_json::Value = serde_json::from_str(&got.out).expect("a record");
    let receipt = receipt["receipt"].as_str().expect("a receipt");
    for forged in [
        format!("{receipt}x"),
        format!("0{receipt}"),
        format!("+{receipt}"),
        receipt.to_uppercase().replace("1.1.", "1.2."),
        "1.1.".to_owned(),
    ] {
        let ran = world.run(&["ack", &forged]);
        assert_eq!(ran.code, 7, "{forged}");
        let said = if forged.starts_with(['1', '0', '+']) {
            "is leased by"
        } else {
            "no receipt"
        };
        assert!(ran.err.contains(said), "{forged}: {}", ran.err);
    }
    assert!(world.run(&["ack", "99.1.aa"]).err.contains("never there"));
    assert_eq!(world.run(&["ack", receipt]).code, 0);
}

#[test]
fn a_claim_hands_messages_out_with_receipts() {
    let world = World::new();
    assert_snapshot!(session!(
        world,
        ["claim", "jobs"],
        ["claim", "jobs", "--missing-ok"],
        ["enqueue", "jobs", "{\"n\":1}", "b", "c", "d"],
        ["claim", "jobs", "--json"],
        [
            "claim",
            "jobs",
            "-n",
            "2",
            "--json",
            "--fields",
            "id,attempts,receipt"
        ],
        ["claim", "jobs", "-o", "raw"],
        ["claim", "jobs"],
        ["claim", "jobs", "--json"],
        ["claim", "jobs", "-n", "2", "--json"],
        ["claim", "job"],
        ["claim", "jobs", "-n", "0"],
        ["claim", "jobs", "--lease", "5"],
    ));
}

#[test]
fn a_receipt_is_good_once() {
    let world = World::new();
    world.run(&["enqueue", "jobs", "a", "b", "c"]);
    let first = receipt(&world, &[]);
    let text = [
        world.told("$ qops ack R", &world.run(&["ack", &first])),
        world.told("$ qops ack R", &world.run(&["ack", &first])),
        world.told(
            "$ qops nack R --json",
            &world.run(&["nack", &first, "--json"]),
        ),
        world.told(
            "$ qops extend R",
            &world.run(&["extend", &first, "--lease", "1m"]),
        ),
        world.told("$ qops ack nonsense", &world.run(&["ack", "nonsense"])),
    ]
    .join("\n");
    let (second, third) = (receipt(&world, &[]), receipt(&world, &[]));
    let mixed = world.run(&["ack", &first, &second, "--json"]);
    let dead = world.run(&["nack", &third, "--dead", "--error", "no such customer"]);
    let text = [
        text,
        world.told("$ qops ack R S --json", &mixed),
        world.told("$ qops nack T --dead", &dead),
        world.told("$ qops ack T", &world.run(&["ack", &third])),
        world.told(
            "$ qops ack -",
            &world.run_with(&["ack", "-", "--json"], b""),
        ),
        world.told(
            "$ printf '\\n{}\\n' | qops ack -",
            &world.run_with(&["ack", "-"], b"\n{}\n"),
        ),
    ]
    .join("\n");
    assert_snapshot!(text);
    let letter = messages(&world, "jobs").pop().unwrap();
    assert_eq!(letter.last_error.as_deref(), Some("no such customer"));
}

#[test]
fn r07_a_stale_receipt_never_settles_another_lease() {
    let world = World::new();
    world.run(&["enqueue", "jobs", "a"]);
    let stale = receipt(&world, &["--lease", "1ms"]);
    let fresh = receipt(&world, &["--wait", "10s"]);
    for verb in ["ack", "nack"] {
        let ran = world.run(&[verb, &stale]);
        assert_eq!(ran.code, 7, "{}", ran.err);
        assert!(ran.err.contains("is leased by"), "{}", ran.err);
    }
    assert_eq!(messages(&world, "jobs")[0].state, State::Running);
    assert_eq!(world.run(&["extend", &fresh, "--lease", "10m"]).code, 0);
    assert_eq!(world.run(&["ack", &fresh]).code, 0);
    assert!(messages(&world, "jobs").is_empty());
}

#[test]
fn a_nack_is_a_failed_attempt_unless_it_says_otherwise() {
    let world = World::new();
    world.run(&[
        "queue",
        "set",
        "jobs",
        "--max-attempts",
        "2",
        "--backoff",
        "1h",
    ]);
    world.run(&["enqueue", "jobs", "a"]);
    let one = |world: &World| messages(world, "jobs").remove(0);
    world.run(&["nack", &receipt(&world, &[]), "--release"]);
    assert_eq!((one(&world).state, one(&world).attempts), (State::Ready, 0));
    world.run(&["nack", &receipt(&world, &[]), "--delay", "0s"]);
    assert_eq!((one(&world).state, one(&world).attempts), (State::Ready, 1));
    world.run(&["nack", &receipt(&world, &[]), "--error", "twice"]);
    let letter = one(&world);
    assert_eq!((letter.state, letter.attempts), (State::Dead, 2));
    assert_eq!(letter.reason.unwrap().word(), "attempts");
    assert_eq!(letter.last_error.as_deref(), Some("twice"));
    world.run(&["requeue", "jobs", letter.id.as_str()]);
    world.run(&["nack", &receipt(&world, &[])]);
    let waiting = one(&world);
    assert_eq!(waiting.state, State::Delayed);
    let wait = waiting.ready_at.unwrap().since(waiting.enqueued_at);
    assert!(
        wait >= Duration::from_hours(1) && wait < Duration::from_mins(73),
        "{wait:?}"
    );
}

#[test]
fn a_claim_waits_for_a_first_message() {
    let world = World::new();
    world.run(&["queue", "set", "jobs", "--lease", "1m"]);
    let begun = Instant::now();
    assert_eq!(world.run(&["claim", "jobs", "--wait", "300ms"]).code, 1);
    assert!(begun.elapsed() >= Duration::from_millis(300));
    let mut waiting = Command::new(env!("CARGO_BIN_EXE_qops"));
    waiting.args(["claim", "jobs", "--wait", "60s", "-o", "raw"]);
    world.around(&mut waiting);
    let waiting = waiting.stdout(Stdio::piped()).spawn().unwrap();
    world.run(&["enqueue", "jobs", "hello"]);
    let ran = waiting.wait_with_output().unwrap();
    assert_eq!(
        (ran.status.code(), ran.stdout.as_slice()),
        (Some(0), &b"hello"[..])
    );
    assert!(begun.elapsed() < Duration::from_secs(30), "it was not told");
    // What is delayed rings no bell, and is waited for all the same.
    world.run(&["enqueue", "jobs", "later", "--delay", "200ms"]);
    let ran = world.run(&["claim", "jobs", "--wait", "60s", "-o", "raw"]);
    assert_eq!(ran.out, "later");
}

#[test]
fn receipts_that_reach_nobody_are_given_back() {
    let world = World::new();
    world.run(&["enqueue", "jobs", "a", "b"]);
    let ran = world.sh("qops claim jobs -n 2 > /dev/full");
    assert_eq!(ran.code, 8, "{}", ran.err);
    let states: Vec<(State, u32)> = messages(&world, "jobs")
        .iter()
        .map(|message| (message.state, message.attempts))
        .collect();
    assert_eq!(states, [(State::Ready, 0), (State::Ready, 0)]);
}

#[test]
fn what_waits_for_its_page_is_given_back_and_what_was_read_is_not() {
    let world = World::new();
    // Wide rows: no pipe takes the second page before its reader has gone.
    let wide = "x".repeat(190);
    world.put("jobs", &vec![wide.as_bytes(); 1_500]);
    world.sh("qops claim jobs -n 1500 -o table | head -n 1001 > /dev/null");
    let counts = ["stats", "jobs", "-o", "csv", "--fields", "ready,running"];
    assert_eq!(world.run(&counts).out, "ready,running\n500,1000\n");
    // A payload's line end depends on whether a second comes: until then it is not written.
    world.run(&["enqueue", "alone", "a"]);
    let ran = world.sh("qops claim alone -o raw > /dev/full");
    assert_eq!(ran.code, 8, "{}", ran.err);
    let alone = messages(&world, "alone");
    assert_eq!((alone[0].state, alone[0].attempts), (State::Ready, 0));
}

#[test]
fn a_paused_queue_gives_nothing_and_says_so() {
    let world = World::new();
    world.run(&["enqueue", "jobs", "a"]);
    world.run(&["pause", "jobs"]);
    assert_snapshot!(session!(
        world,
        ["claim", "jobs"],
        ["work", "jobs", "--", "cat"]
    ));
}
