//! Emptying the dead letters.

use crate::bulk::{counts, dead, messages};
use crate::{World, session};
use insta::assert_snapshot;
use qops::backend::{Claim, Exchange, Pick};
use qops::queue::{Outcome, QueueName, Selection, State};
use std::time::Duration;

#[test]
fn letters_are_replayed_or_moved() {
    let world = World::new();
    dead(&world, "orders", 3);
    world.run(&["enqueue", "orders", "live"]);
    world.run(&["queue", "set", "later", "--max-attempts", "3"]);
    assert_snapshot!(session!(
        world,
        ["drain", "orders", "--error", "429", "--dry-run"],
        [
            "drain",
            "orders",
            "--grep",
            "letter 2",
            "--dry-run",
            "--json"
        ],
        ["drain", "orders"],
        ["redrive", "orders", "-n", "1", "--yes", "--json"],
        [
            "drain", "orders", "--to", "later", "--delay", "1h", "--yes", "--json"
        ],
        ["drain", "orders", "--yes", "--json"],
        ["ls", "-o", "csv", "--fields", "queue,ready,delayed,dead"],
        ["drain", "orders", "--to", "orders", "--yes"],
        ["drain", "orders", "--to", "x", "--export", "y"],
        ["drain", "orders", "--"],
        ["drain", "orders", "--reverse", "--", "true"],
        ["drain", "orders", "--timeout", "5s"],
        ["drain", "orders", "sh", "-c", "x"],
        ["drain", "orders", "--export", "-", "--json", "--yes"],
        ["drain", "order", "--yes"],
    ));
}

#[test]
fn an_export_that_would_be_lost_is_refused() {
    let world = World::new();
    dead(&world, "orders", 2);
    world.sh("ln -s .local/share/qops/qops.db link");
    let lines = [
        "qops drain orders --export - --yes >&-",
        "qops drain orders --export - --yes >/dev/null",
        "qops drain orders --export /dev/null --yes",
        "qops drain orders --export .local/share/qops/qops.db --yes",
        "qops drain orders --export .local/share/qops/qops.db-wal --yes",
        "qops drain orders --export link --yes",
        "qops drain orders --export /dev/full --yes",
    ];
    for line in lines {
        let ran = world.sh(line);
        let code = if line.contains("full") { 8 } else { 2 };
        assert_eq!(ran.code, code, "{line}: {}", ran.err);
        assert_eq!(counts(&world, "orders"), (0, 2), "{line}");
    }
    assert_snapshot!(lines.map(|line| world.shell(line)).join("\n"));
}

/// A pipe is written to, not kept: a reader that goes away takes no letter with it that it has not been given.
#[test]
fn an_export_goes_into_a_pipe_that_is_read() {
    let world = World::new();
    dead(&world, "orders", 3);
    world.sh("mkfifo pipe");
    let ran =
        world.sh("cat pipe > got & qops drain orders --export pipe --yes; c=$?; wait; exit $c");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(world.sh("wc -l < got").out.trim(), "3");
    dead(&world, "orders", 3);
    let ran = world.sh("qops drain orders --yes --export >(cat > here); c=$?; sleep 0.3; exit $c");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(world.sh("wc -l < here").out.trim(), "3");
}

/// What its reader had no time to read stays, and the end is the same as on stdout.
#[test]
fn an_export_into_a_pipe_whose_reader_has_gone_keeps_what_was_not_written() {
    let world = World::new();
    // Each is a page of its own, and more than a pipe holds.
    let large = vec![b'x'; 5 << 20];
    world.put("orders", &[&large, &large, &large]);
    world.sh("qops claim orders -n 3 | qops nack - --dead");
    assert_eq!(counts(&world, "orders"), (0, 3));
    world.sh("mkfifo pipe");
    for (reader, left) in [("head -c 1 pipe > got", 3), ("head -n 1 pipe > got", 2)] {
        let line = format!("{reader} & qops drain orders --export pipe --yes; c=$?; wait; exit $c");
        let ran = world.sh(&line);
        assert_eq!(ran.code, 3, "{reader}: {}", ran.err);
        let said = format!(
            "nobody reads the export any more: exported {}, the rest is still dead",
            if left == 3 {
                "0 dead letters"
            } else {
                "1 dead letter"
            }
        );
        assert!(ran.err.contains(&said), "{reader}: {}", ran.err);
        assert_eq!(counts(&world, "orders"), (0, left), "{reader}");
    }
    assert_eq!(world.sh("wc -l < got").out.trim(), "1");
}

#[test]
fn nothing_is_moved_into_a_queue_that_was_never_there() {
    let world = World::new();
    dead(&world, "orders", 2);
    world.run(&["enqueue", "orders-retry", "x"]);
    assert_snapshot!(session!(
        world,
        ["drain", "orders", "--to", "orders-rety", "--yes"],
        ["drain", "orders", "--to", "elsewhere", "--dry-run"],
        ["queue", "set", "elsewhere", "--max-attempts", "3"],
        ["drain", "orders", "--to", "elsewhere", "--yes"],
    ));
    assert_eq!(counts(&world, "elsewhere"), (2, 0));
}

#[test]
fn letters_that_expired_are_passed_over_and_told() {
    let world = World::new();
    dead(&world, "orders", 1);
    for _ in 0..2 {
        world.run(&["enqueue", "orders", "late", "--ttl", "1ms"]);
    }
    // A claim is what finds them.
    world.run(&["claim", "orders"]);
    assert_snapshot!(session!(
        world,
        ["drain", "orders", "--dry-run"],
        ["drain", "orders", "-n", "1", "--yes"],
        ["drain", "orders", "--yes"],
        ["requeue", "orders", "--all", "--dead", "--yes"],
        ["drain", "orders", "--expired", "--yes"],
    ));
}

#[test]
fn a_key_that_the_other_queue_holds_is_passed_over() {
    let world = World::new();
    for queue in ["a", "b"] {
        world.run(&[
            "enqueue", queue, "x", "--key", "k", "--group", "g", "-H", "h=1",
        ]);
    }
    world.run(&["enqueue", "a", "y", "--key", "l", "--priority", "3"]);
    world.sh("qops claim a -n 2 | qops nack - --dead");
    let ran = world.run(&["drain", "a", "--to", "b", "--yes", "--json"]);
    assert_snapshot!(world.told("$ qops drain a --to b --yes --json", &ran));
    let moved = messages(&world, "b").pop().unwrap();
    assert_eq!(
        (moved.key.as_deref(), moved.priority, moved.replays),
        (Some("l"), 3, 1)
    );
    assert_eq!(counts(&world, "a"), (0, 1));
}

#[test]
fn letters_are_exported_and_come_back_from_their_lines() {
    let world = World::new();
    dead(&world, "orders", 250);
    let text = [
        world.shell("qops drain orders -n 2 --export out.ndjson --json"),
        world.shell("qops drain orders -n 2 --export out.ndjson --yes --json"),
        world.shell("qops drain orders --export out.ndjson --yes --json; wc -l < out.ndjson"),
        world.shell("qops drain orders --export out.ndjson --yes; wc -l < out.ndjson"),
        world.shell("qops enqueue again --envelope --file out.ndjson; qops ls -o csv --fields queue,ready,dead"),
        world.shell("qops drain orders --export no/such/out.ndjson --yes"),
    ]
    .join("\n");
    assert_snapshot!(text);
    let mode = std::os::unix::fs::MetadataExt::mode(
        &std::fs::metadata(world.home.path().join("out.ndjson")).unwrap(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let first: Vec<Vec<u8>> = messages(&world, "again")
        .into_iter()
        .map(|m| m.payload)
        .collect();
    assert_eq!(first.len(), 250);
    assert_eq!(
        (first[0].as_slice(), first[249].as_slice()),
        (&b"letter 1"[..], &b"letter 250"[..])
    );
}

#[test]
fn an_export_that_cannot_be_written_loses_nothing() {
    let world = World::new();
    dead(&world, "orders", 3);
    let ran = world.sh("qops drain orders --export - --yes > /dev/full");
    assert_eq!(ran.code, 8, "{}", ran.err);
    assert!(ran.err.contains("the rest is still dead"), "{}", ran.err);
    let ran = world.run(&["drain", "orders", "--export", "/dev/full", "--yes"]);
    assert_eq!(ran.code, 8, "{}", ran.err);
    assert_eq!(counts(&world, "orders"), (0, 3));
    // Nobody reads: it is no success, and nothing more is taken.
    let ran = world
        .sh("set -o pipefail; exec 3> >(true); wait $!; qops drain orders --export - --yes >&3");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(counts(&world, "orders"), (0, 3));
    let ran = world.sh("qops drain orders --export - --yes");
    assert_eq!((ran.out.lines().count(), ran.code), (3, 0), "{}", ran.err);
    assert_eq!(counts(&world, "orders"), (0, 0));
}

#[test]
fn a_command_for_each_letter_removes_what_it_finishes() {
    let world = World::new();
    dead(&world, "orders", 4);
    let ran = world.run(&[
        "drain",
        "orders",
        "--yes",
        "--json",
        "--",
        "sh",
        "-c",
        "test \"$(cat)\" != 'letter 2' || { echo 'not two' >&2; exit 7; }",
    ]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(
        ran.out,
        "{\"v\":1,\"verb\":\"drain\",\"queue\":\"orders\",\"matched\":4,\"done\":3,\"failed\":1,\"skipped\":0}\n"
    );
    let left = messages(&world, "orders");
    assert_eq!(left.len(), 1);
    let letter = &left[0];
    assert_eq!(
        (letter.state, letter.attempts, letter.replays),
        (State::Dead, 1, 0)
    );
    let run = world.run(&["show", letter.id.as_str(), "--json"]).out;
    assert!(
        run.contains("\"exit\":7") && run.contains("not two"),
        "{run}"
    );
    assert_eq!(Outcome::Failed.word(), "failed");
    for (args, code) in [
        (&["drain", "orders", "--", "false"][..], 4),
        (
            &["drain", "orders", "--yes", "--expect", "2", "--", "false"],
            4,
        ),
        (&["drain", "orders", "--yes", "--", "false"], 1),
        (&["drain", "orders", "--yes", "--", "no-such-command"], 2),
        (&["drain", "orders", "--dry-run", "--", "true"], 0),
        (
            &[
                "drain", "orders", "--grep", "nothing", "--yes", "--", "false",
            ],
            0,
        ),
        (
            &["drain", "orders", "--yes", "--", "sh", "-c", "exit 99"],
            0,
        ),
    ] {
        let before = counts(&world, "orders");
        let ran = world.run(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        let removed = args.contains(&"exit 99");
        let after = if removed { (0, 0) } else { before };
        assert_eq!(counts(&world, "orders"), after, "{args:?}");
    }
}

#[test]
fn a_command_for_letters_is_asked_for_on_a_terminal() {
    let world = World::new();
    dead(&world, "orders", 2);
    let drain = ["drain", "orders", "--", "sh", "-c", "cat; echo"];
    let (shown, code) = world.answering(100, &drain, "[y/N]", b"n\r");
    assert_eq!(code, 4, "{shown}");
    assert_eq!(counts(&world, "orders"), (0, 2));
    let (shown, code) = world.answering(100, &drain, "[y/N]", b"y\r");
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("Run the command for 2 dead letters of orders"),
        "{shown}"
    );
    assert!(
        shown.contains("letter 1\n") && shown.contains("2 dead letters removed"),
        "{shown}"
    );
    assert_eq!(counts(&world, "orders"), (0, 0));
}

/// Whoever agreed to two letters has not agreed to a third, which died while the question stood there.
#[test]
fn a_command_runs_for_what_was_agreed_to_and_no_more() {
    for expect in [&[][..], &["--expect", "2"]] {
        let world = World::new();
        dead(&world, "orders", 2);
        let command = ["--", "sh", "-c", "cat; echo"];
        let args = [&["drain", "orders"], expect, &command].concat();
        let later = || dead(&world, "orders", 1);
        let program = env!("CARGO_BIN_EXE_qops");
        let (shown, code) = world.after(100, program, &args, ("[y/N]", later, b"y\r"));
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("2 dead letters removed"), "{shown}");
        assert_eq!(counts(&world, "orders"), (0, 1), "{shown}");
    }
}

/// A drain that was killed leaves its letters under its leases for a while.
#[test]
fn letters_that_an_earlier_command_holds_are_passed_over_and_said() {
    let world = World::new();
    dead(&world, "orders", 3);
    let queue = QueueName::parse("orders").unwrap();
    let what = Selection {
        ids: Some(vec!["2".into()]),
        ..Selection::of(queue.clone())
    };
    let claim = Claim {
        queue: &queue,
        max: 1,
        bytes: 1 << 20,
        lease: Duration::from_hours(1),
        start: false,
        max_attempts: 1,
        pick: Pick::Dead {
            what: &what,
            after: None,
        },
    };
    let turn = Exchange {
        settle: &[],
        claim: Some(claim),
    };
    assert!(world.store().exchange(&turn).unwrap().claimed.is_ok());
    let drain = ["drain", "orders", "--yes", "--json", "--", "true"];
    let text = [world.snapshot(&drain), world.snapshot(&drain)];
    assert_snapshot!(text.join("\n"));
    assert_eq!(counts(&world, "orders"), (0, 1));
    // Whoever asks for what failed has both in the code.
    dead(&world, "orders", 1);
    let ran = world.run(&["drain", "orders", "--yes", "--", "false"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let (shown, code) = world.terminal(120, &["drain", "orders", "--yes", "-n", "1", "--", "true"]);
    assert_eq!(code, 3, "{shown}");
    assert!(
        shown.contains("1 dead letter removed, 0 still dead, 1 passed over"),
        "{shown}"
    );
}

#[test]
fn a_command_for_a_letter_is_told_of_no_limit() {
    let world = World::new();
    dead(&world, "orders", 1);
    let ran = world.sh("qops drain orders --yes -- env");
    assert!(ran.out.contains("QOPS_ATTEMPT=1\n"), "{}", ran.out);
    assert!(!ran.out.contains("QOPS_MAX_ATTEMPTS"), "{}", ran.out);
}

#[test]
fn a_run_of_a_drain_is_told_from_what_killed_the_letter() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]);
    world.run(&["work", "q", "--shell", "echo no >&2; exit 65"]);
    let ran = world.sh("qops drain q --yes -- sh -c 'echo later >&2; exit 3'");
    assert!(
        ran.err
            .contains("message 1 of q is still a dead letter: later\n"),
        "{}",
        ran.err
    );
    let shown = world.run(&["show", "1"]).out;
    assert!(shown.contains("DEAD (exit 65: permanent)"), "{shown}");
    let line = |label: &str| {
        let mut lines = shown.lines().filter(|line| line.starts_with(label));
        (lines.next().map(str::to_owned), lines.count())
    };
    let (attempt, more) = line("attempt 1 ");
    assert!(
        attempt.unwrap().ends_with("exit 65  no") && more == 0,
        "{shown}"
    );
    let (drained, more) = line("drain ");
    assert!(
        drained.unwrap().ends_with("exit 3   later") && more == 0,
        "{shown}"
    );
}
