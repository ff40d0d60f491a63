//! Leases, deaths and attempts, with real workers and real commands.

use super::{World, ended, eventually};
use serde_json::Value;
use std::process::Child;
use std::time::{Duration, Instant};

/// The worker below the process that was started.
pub fn inner(outer: &Child) -> u32 {
    let path = format!("/proc/{0}/task/{0}/children", outer.id());
    let mut found = None;
    eventually("the worker is there", || {
        found = std::fs::read_to_string(&path)
            .ok()
            .and_then(|text| text.split_whitespace().next()?.parse().ok());
        found.is_some()
    });
    found.expect("a process")
}

pub fn kill(pid: u32, signal: &str) {
    let status = std::process::Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status()
        .expect("kill");
    assert!(status.success(), "{signal} to {pid}");
}

/// Processes whose command line has this text in it.
pub fn alive(marker: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("processes");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
                line.split(|byte| *byte == 0)
                    .any(|word| word == marker.as_bytes())
            })
        })
        .collect()
}

/// A command three times as long as its lease runs once: the lease is renewed. After the death of its worker it is
/// redelivered when the lease ends.
#[test]
fn r04_a_lease_is_renewed_and_ends_with_its_worker() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let long = "echo start >> runs; sleep 3.2; echo end >> runs";
    let mut first = world
        .qops(&["work", "q", "--lease", "1s", "--", "sh", "-c", long])
        .spawn()
        .expect("a worker");
    eventually("it runs", || world.read("runs") == "start\n");
    let second = world
        .run(&[
            "work", "q", "--wait", "--lease", "1s", "--", "sh", "-c", long,
        ])
        .is(0);
    assert_eq!(second.err, "");
    assert!(first.wait().expect("its end").success());
    assert_eq!(world.read("runs"), "start\nend\n");

    world.run(&["enqueue", "q", "y"]).is(0);
    let mut lost = world
        .qops(&[
            "work",
            "q",
            "--lease",
            "2s",
            "--",
            "sh",
            "-c",
            "echo lost >> runs; sleep 100",
        ])
        .spawn()
        .expect("a worker");
    eventually("it runs", || world.read("runs").ends_with("lost\n"));
    kill(inner(&lost), "KILL");
    let died = Instant::now();
    assert_eq!(lost.wait().expect("its end").code(), Some(137));
    world
        .run(&[
            "work",
            "q",
            "--wait",
            "--",
            "sh",
            "-c",
            "echo \"again $QOPS_ATTEMPT\" >> runs",
        ])
        .is(0);
    // The lease was renewed at the latest when it was a third over.
    assert!(
        died.elapsed() < Duration::from_secs(3),
        "{:?}",
        died.elapsed()
    );
    assert!(world.read("runs").ends_with("lost\nagain 2\n"));
}

#[test]
fn r05_a_timeout_over_the_lease_needs_the_heartbeat() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let line = [
        "--lease",
        "1s",
        "--timeout",
        "4s",
        "--",
        "sh",
        "-c",
        "sleep 1.6; echo ran >> ran",
    ];
    let refused = world
        .run(&[&["work", "q", "--no-heartbeat"], &line[..]].concat())
        .is(2);
    assert!(refused.err.contains("lease"), "{}", refused.err);
    assert_eq!(world.count("q", "ready"), 1);
    assert_eq!(world.show("1")["attempts"], 0);
    world.run(&[&["work", "q"], &line[..]].concat()).is(0);
    assert_eq!(world.read("ran"), "ran\n");
    // By the queue's own lease, too.
    world.run(&["queue", "set", "q", "--lease", "2s"]).is(0);
    world
        .run(&[
            "work",
            "q",
            "--no-heartbeat",
            "--timeout",
            "2s",
            "--",
            "true",
        ])
        .is(2);
    world
        .run(&[
            "work",
            "q",
            "--no-heartbeat",
            "--timeout",
            "1s",
            "--",
            "true",
        ])
        .is(0);
}

/// Fifty messages are fetched at once and take longer than the lease in all: none runs twice, and what is fetched by a
/// worker that dies costs nothing but for those that were marked.
#[test]
fn r06_what_is_fetched_runs_once_and_costs_nothing() {
    let world = World::new();
    let lines: Vec<String> = (0..30).map(|n| n.to_string()).collect();
    world
        .feed(&["enqueue", "q", "--lines"], lines.join("\n").as_bytes())
        .is(0);
    let work = [
        "work",
        "q",
        "--wait",
        "--prefetch",
        "50",
        "--lease",
        "1s",
        "--",
    ];
    let line = ["sh", "-c", "sleep 0.1; printf '%s\\n' \"$(cat)\" >> runs"];
    let args = [&work[..], &line[..]].concat();
    let mut other = world.qops(&args).spawn().expect("a worker");
    world.run(&args).is(0);
    assert!(other.wait().expect("its end").success());
    let runs = world.read("runs");
    let mut ran: Vec<&str> = runs.lines().collect();
    ran.sort_unstable();
    let mut all: Vec<&str> = lines.iter().map(String::as_str).collect();
    all.sort_unstable();
    assert_eq!(ran, all, "each once");

    world
        .feed(&["enqueue", "d", "--lines"], lines.join("\n").as_bytes())
        .is(0);
    let work = [
        "work",
        "d",
        "-j2",
        "--prefetch",
        "50",
        "--lease",
        "1s",
        "--",
    ];
    let line = [
        "sh",
        "-c",
        "echo >> started; test $(wc -l < started) -lt 8 || { echo >> hanging; sleep 100; }",
    ];
    let mut dies = world
        .qops(&[&work[..], &line[..]].concat())
        .spawn()
        .expect("a worker");
    eventually("both slots hang", || {
        world.read("hanging").lines().count() == 2
    });
    // What ended before is acked, so that only what hangs and what is marked is lost.
    eventually("what ended is acked", || {
        let ended = world.read("started").lines().count() - 2;
        world.sql("SELECT count(*) FROM qops_message") == (30 - ended).to_string()
    });
    kill(inner(&dies), "KILL");
    dies.wait().expect("its end");
    // A claim that holds each for a minute takes them over as their leases end.
    let held = "SELECT count(*) FROM qops_message \
        WHERE lease_until > (julianday('now') - 2440587.5) * 86400000000 + 20000000";
    eventually("all are claimed", || {
        world.run(&["claim", "d", "-n", "1000", "--lease", "1m"]);
        world.sql(held) == world.sql("SELECT count(*) FROM qops_message")
    });
    // One attempt is this claim's; at most the two that ran and twice the slots have another.
    let charged = world.sql("SELECT count(*) FROM qops_message WHERE attempts > 1");
    let charged: u32 = charged.parse().expect("a count");
    assert!((2..=6).contains(&charged), "{charged}");
}

/// A message whose command kills the worker is started three times in all, then it is dead; the others are done, though
/// all of them were fetched at once.
#[test]
fn r10_a_message_that_kills_its_worker_dies_alone() {
    let world = World::new();
    let lines: Vec<String> = (0..40)
        .map(|n| {
            if n == 7 {
                "poison".to_owned()
            } else {
                n.to_string()
            }
        })
        .collect();
    world
        .feed(&["enqueue", "q", "--lines"], lines.join("\n").as_bytes())
        .is(0);
    let work = [
        "work",
        "q",
        "-j2",
        "--wait",
        "--prefetch",
        "100",
        "--lease",
        "1s",
        "--max-attempts",
        "3",
        "--",
    ];
    // Its parent is the worker itself.
    let line = [
        "sh",
        "-c",
        "m=$(cat); echo $m >> runs; test $m != poison || kill -9 $PPID",
    ];
    let mut killed = 0;
    loop {
        let ran = world.run(&[&work[..], &line[..]].concat());
        match ran.code {
            Some(137) => killed += 1,
            code => {
                assert_eq!(code, Some(1), "a message ended dead: {}", ran.err);
                break;
            }
        }
        assert!(killed <= 3, "{}", world.read("runs"));
    }
    assert_eq!(killed, 3);
    let runs = world.read("runs");
    assert_eq!(runs.lines().filter(|line| *line == "poison").count(), 3);
    for n in (0..40).filter(|n| *n != 7) {
        assert!(runs.lines().any(|line| line == n.to_string()), "{n} ran");
    }
    assert_eq!(world.count("q", "dead"), 1);
    let dead: Vec<Value> = world.peek(&["q", "--dead"]);
    assert_eq!(dead[0]["payload"], "poison");
    assert_eq!(dead[0]["reason"], "worker_lost");
    assert_eq!(dead[0]["attempts"], 3);
    for state in ["ready", "delayed", "running"] {
        assert_eq!(world.count("q", state), 0, "{state}");
    }
}

/// The pid that was started dies: the worker under it ends its commands and settles nothing.
#[test]
fn r75_r78_the_death_of_the_outer_process_ends_all() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let marker = format!("7{}", std::process::id());
    let line = format!("sleep {marker} & setsid sleep {marker} & echo up >> up; wait");
    let outer = world
        .qops(&["work", "q", "--lease", "1s", "--", "sh", "-c", &line])
        .spawn()
        .expect("a worker");
    let worker = inner(&outer);
    eventually("it runs", || {
        world.read("up") == "up\n" && alive(&marker).len() == 2
    });
    kill(outer.id(), "KILL");
    eventually("nothing is left", || {
        alive(&marker).is_empty() && !std::path::Path::new(&format!("/proc/{worker}")).exists()
    });
    drop(ended(outer));
    assert_eq!(world.sql("SELECT count(*) FROM qops_dead"), "0");
    world
        .run(&["work", "q", "--wait", "--", "sh", "-c", "echo again >> up"])
        .is(0);
    assert_eq!(world.read("up"), "up\nagain\n");
}
