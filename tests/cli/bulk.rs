//! Changing many: requeue and purge.

use crate::{World, session};
use insta::assert_snapshot;
use qops::backend::{Depth, Page};
use qops::queue::{Message, Order, QueueName, Selection, State};

/// Ready and dead messages of a queue; none where there is no such queue.
pub fn counts(world: &World, queue: &str) -> (u64, u64) {
    let all = world.store().stats(None, Depth::Exact).unwrap();
    let found = all
        .into_iter()
        .find(|report| report.queue.as_str() == queue);
    found.map_or((0, 0), |report| (report.counts.ready, report.counts.dead))
}

/// Makes so many dead letters, as a consumer would.
pub fn dead(world: &World, queue: &str, count: usize) {
    let all: Vec<Vec<u8>> = (1..=count)
        .map(|n| format!("letter {n}").into_bytes())
        .collect();
    let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    world.put(queue, &all);
    let line = format!(
        "qops claim {queue} -n {count} | qops nack - --dead --error 'stripe: 429 Too Many Requests'"
    );
    let ran = world.sh(&line);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// The messages of a queue, the oldest first.
pub fn messages(world: &World, queue: &str) -> Vec<Message> {
    let what = Selection::of(QueueName::parse(queue).unwrap());
    let page = Page::first(1000, Order::Oldest);
    world.store().peek(&what, &page).unwrap().rows
}

#[test]
fn a_verb_that_writes_wants_to_know_which() {
    let world = World::new();
    dead(&world, "orders", 2);
    assert_snapshot!(session!(
        world,
        ["requeue", "orders"],
        ["purge", "orders"],
        ["purge", "orders", "-n", "1"],
        ["purge", "orders", "--all", "--"],
        ["requeue", "orders", "--"],
        ["purge", "-u", "sqlite:x.db", "o'brien"],
        ["requeue", "ordres", "1"],
        ["requeue", "orders", "orders"],
        ["purge", "orders", "--dead"],
        ["purge", "orders", "--dead", "--yes", "--expect", "3"],
        ["purge", "orders", "--dead", "--grep", "", "--yes"],
        ["requeue", "orders", "--error", "", "--yes"],
    ));
    assert_eq!(counts(&world, "orders"), (0, 2));
}

#[test]
fn ids_are_changed_one_by_one_and_each_failure_is_named() {
    let world = World::new();
    dead(&world, "orders", 3);
    world.put("orders", &[b"ready"]);
    world.put("other", &[b"elsewhere"]);
    world.run(&["claim", "orders"]);
    assert_snapshot!(session!(
        world,
        ["requeue", "orders", "1", "1", "--json"],
        ["requeue", "orders", "1", "2", "4", "5", "77", "--json"],
        ["purge", "orders", "3", "--yes"],
        ["requeue", "orders", "3"],
        ["requeue", "orders", "4"],
        ["requeue", "orders", "5"],
        ["requeue", "orders", "nope"],
        ["purge", "orders", "4", "--yes", "-o", "ndjson"],
        ["purge", "orders", "--state", "running", "--yes", "--json"],
    ));
}

#[test]
fn a_dead_letter_that_comes_back_begins_anew() {
    let world = World::new();
    world.run(&["enqueue", "q", "x", "--ttl", "1h", "--max-attempts", "1"]);
    for keep in [false, true] {
        world.sh("qops claim q --json | qops nack -");
        let before = messages(&world, "q").remove(0);
        assert_eq!((before.state, before.attempts), (State::Dead, 1));
        let mut args = vec!["requeue", "q", "1", "--delay", "1h"];
        args.extend(keep.then_some("--keep-attempts"));
        assert_eq!(world.run(&args).code, 0);
        let after = messages(&world, "q").remove(0);
        assert_eq!(after.state, State::Delayed);
        assert_eq!(after.attempts, u32::from(keep));
        assert_eq!(after.expires_at, None);
        assert_eq!(after.replays, 1 + u32::from(keep));
        // By its id a waiting message is made due too.
        assert_eq!(world.run(&["requeue", "q", "1"]).code, 0);
        assert_eq!(counts(&world, "q"), (1, 0));
    }
}

#[test]
fn what_expired_comes_back_only_when_it_is_asked_for() {
    let world = World::new();
    world.run(&["enqueue", "q", "x", "--ttl", "1ms"]);
    world.run(&["enqueue", "q", "y"]);
    world.sh("qops claim q --json | qops nack - --dead");
    assert_eq!(counts(&world, "q"), (0, 2));
    assert_snapshot!(session!(
        world,
        ["drain", "q", "--yes", "--json"],
        ["requeue", "q", "--all", "--yes", "--json"],
        ["drain", "q", "--expired", "--dry-run"],
        ["requeue", "q", "--all", "--expired", "--yes", "--json"],
    ));
    assert_eq!(counts(&world, "q"), (2, 0));
}

#[test]
fn filters_select_as_they_say() {
    let world = World::new();
    dead(&world, "q", 12);
    world.run(&["enqueue", "q", "g", "--group", "g", "--key", "k"]);
    for (filter, n) in [
        (&["--dead", "--error", "429"][..], 12),
        (&["--dead", "--error", "500"], 0),
        (&["--dead", "--grep", "letter 1"], 4),
        (&["--dead", "--grep", "letter 1", "-n", "3"], 3),
        (&["--key", "k"], 1),
        (&["--group", "g"], 1),
        (&["--group", "g", "--key", "other"], 0),
        (&["--older-than", "1h"], 0),
        (&["--newer-than", "1h"], 1),
        (&["--since", "2126-01-01T00:00Z"], 0),
        (&["--until", "2126-01-01T00:00Z"], 1),
        (&["--state", "ready,dead"], 13),
        (&["--all"], 1),
    ] {
        let args = [
            &[
                "purge",
                "q",
                "--dry-run",
                "-o",
                "csv",
                "--fields",
                "matched",
            ],
            filter,
        ]
        .concat();
        let ran = world.run(&args);
        assert_eq!(ran.code, 0, "{filter:?}: {}", ran.err);
        assert_eq!(
            ran.out,
            format!("matched\n{n}\n"),
            "{filter:?}: {}",
            ran.err
        );
    }
    // The limit takes from the end that is meant.
    for (reverse, left) in [(false, "2"), (true, "11")] {
        let mut args = vec!["purge", "q", "--dead", "-n", "1", "--yes"];
        args.extend(reverse.then_some("--reverse"));
        assert_eq!(world.run(&args).code, 0);
        let page = if reverse { 10 } else { 0 };
        let ids: Vec<String> = messages(&world, "q")
            .iter()
            .filter(|message| message.state == State::Dead)
            .map(|message| message.id.to_string())
            .collect();
        assert!(ids.contains(&left.to_owned()), "{ids:?} {page}");
        assert_eq!(ids.len(), if reverse { 10 } else { 11 });
    }
}

#[test]
fn a_list_of_ids_may_be_empty_long_and_made_of_records() {
    let world = World::new();
    let put = world.sh("seq 1 3000 | qops enqueue q --lines");
    assert_eq!(put.code, 0, "{}", put.err);
    let text = [
        world.shell("qops peek q --grep nothing -o id | qops purge q - --yes --json"),
        world.shell("qops peek q -o id | qops purge q - --yes --dry-run --json"),
        world.shell("qops peek q -n 2000 -o ndjson | qops purge q - --yes --json --expect 2000"),
        world.shell("qops peek q -n 5 -o id | qops purge q -"),
        world.shell("printf '2001\\n2001\\n\\n2002\\n' | qops requeue q - --delay 1h --json"),
        world.shell("printf '2001\\nnot an id\\n' | qops purge q - --yes"),
        world.shell("qops ls -o csv --fields ready,delayed"),
    ]
    .join("\n");
    assert_snapshot!(text);
}

#[test]
fn keys_are_free_after_a_purge_unless_they_are_kept() {
    let world = World::new();
    let put = ["enqueue", "q", "x", "--key", "k"];
    assert_eq!(world.run(&put).out, "1\n");
    world.run(&["purge", "q", "--all", "--yes", "--keep-keys"]);
    assert_eq!(world.run(&put).out, "1\n");
    assert_eq!(counts(&world, "q"), (0, 0));
    let other = ["enqueue", "q", "x", "--key", "other"];
    assert_eq!(world.run(&other).out, "2\n");
    world.run(&["purge", "q", "--all", "--yes"]);
    assert_eq!(world.run(&other).out, "3\n");
}

#[test]
fn r87_a_name_is_a_name_and_no_pattern() {
    let world = World::new();
    for queue in ["a", "a_b", "a*", "a%", "';drop table qops_message;--"] {
        assert_eq!(world.run(&["enqueue", queue, "x"]).code, 0);
    }
    for queue in ["a_b", "a*", "a%", "';drop table qops_message;--"] {
        assert_eq!(
            world
                .run(&["purge", queue, "--all", "--yes", "--expect", "1"])
                .code,
            0
        );
    }
    assert_eq!(
        world.run(&["ls", "-o", "csv", "--fields", "ready"]).out,
        "ready\n0\n1\n0\n0\n0\n"
    );
    assert_eq!(counts(&world, "a"), (1, 0));
}

#[test]
fn settings_are_set_shown_and_taken_back() {
    let world = World::new();
    assert_snapshot!(session!(
        world,
        [
            "queue",
            "set",
            "q",
            "--max-attempts",
            "3",
            "--backoff",
            "1s,2s",
            "--ttl",
            "1h"
        ],
        ["queue", "show", "q"],
        [
            "queue",
            "set",
            "q",
            "--ttl",
            "default",
            "--dedup-window",
            "forever",
            "--json"
        ],
        ["queue", "show", "q", "--json"],
        ["pause", "q", "nope"],
        ["claim", "q"],
        ["resume", "q", "--json"],
        ["enqueue", "q", "x"],
        ["queue", "rm", "q"],
        ["purge", "q", "--all", "--yes"],
        ["queue", "rm", "q"],
        ["queue", "show", "q"],
        ["queue", "set", "q", "--lease", "0s"],
        ["queue"],
    ));
}

/// There is a number to answer: what is read for it is not kept, however much it is.
#[test]
fn a_count_by_contents_takes_the_memory_of_a_row() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]);
    let script = "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i+1 FROM n WHERE i<20999)
         INSERT INTO qops_dead(id, queue_id, died_at, reason, priority, ready_at, enqueued_at, attempts, deferrals, deliveries,
             replays, last_error, payload)
         SELECT i, 1, 0, 'attempts', 0, 0, 0, 1, 0, 1, 0, 'HTTP 429' || replace(printf('%04000d', i), '0', '.'), 'x' FROM n";
    rusqlite::Connection::open(world.file())
        .and_then(|db| db.execute(script, []))
        .unwrap();
    // 80 MB of errors, and half of that for all that the program writes to.
    let ran = world.sh("ulimit -d 40000; qops requeue q --error 429 --expect 1 --yes");
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("20,000 dead letters"), "{}", ran.err);
}
