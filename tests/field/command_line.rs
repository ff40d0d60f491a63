//! What a person sees, and what leaks nowhere.

use super::{World, ended, eventually, ran};
use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

const CANARY: &str = "c4n4ry-s3cret";

/// A secret in the environment or the configuration is in no output, no error, no child.
#[test]
fn r80_r82_a_secret_reaches_nobody() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let url = format!("postgres://user:{CANARY}@127.0.0.1:1/db");
    for args in [
        &["ls"][..],
        &["-v", "ls"],
        &["-v", "work", "q", "--", "true"],
        &["enqueue", "q", "x"],
        &["doctor"],
        &["--help"],
        &["work", "--help"],
        &["-o", "json", "peek", "q"],
    ] {
        for url in [
            url.as_str(),
            &format!("{url}?sslmode=nonsense"),
            &url.replace("postgres", "postgrs"),
        ] {
            let mut by_environment = world.qops(args);
            by_environment.env("QOPS_URL", url);
            let mut by_flag = world.qops(&["--url", url]);
            by_flag.args(args);
            for command in [by_environment, by_flag] {
                let ran = ran(command, None);
                assert!(
                    !ran.lossy().contains(CANARY) && !ran.err.contains(CANARY),
                    "{args:?} {}",
                    ran.err
                );
            }
        }
    }
    // The child of a worker whose store has no password, beside a store that has one.
    let store = format!("sqlite:{}", world.file().display());
    let mut worker = world.qops(&[
        "--url",
        &store,
        "work",
        "q",
        "--shell",
        "env; tr '\\0' '\\n' < /proc/self/cmdline; tr '\\0' '\\n' < /proc/$PPID/cmdline",
    ]);
    worker.env("QOPS_URL", &url);
    let ran = ran(worker, None).is(0);
    assert!(ran.text().contains("QOPS_ID=1"), "{}", ran.text());
    assert!(!ran.text().contains(CANARY) && !ran.err.contains(CANARY));
    assert!(
        ran.text().contains(&format!("QOPS_URL={store}")),
        "a nested call reaches the same store"
    );
}

/// What a producer wrote reaches no human format with its control characters.
#[test]
fn r83_no_control_character_reaches_a_person() {
    let world = World::new();
    let evil = "\u{1b}[2J\u{1b}]52;c;AAAA\u{7}\rx\u{9b}31m\u{202e}";
    world
        .feed(
            &[
                "enqueue",
                "q",
                "--one",
                "--key",
                evil,
                "--group",
                evil,
                "-H",
                &format!("a={evil}"),
            ],
            evil.as_bytes(),
        )
        .is(0);
    world
        .run(&[
            "work",
            "q",
            "--max-attempts",
            "1",
            "--output",
            "discard",
            "--",
            "sh",
            "-c",
            "cat >&2; exit 1",
        ])
        .is(1);
    for args in [
        &["peek", "q", "--dead", "-o", "table"][..],
        &["show", "1"],
        &["requeue", "q", "1", "--dry-run"],
        &["drain", "q", "--dry-run"],
    ] {
        let ran = world.run(args).is(0);
        for text in [ran.text(), &ran.err] {
            let bad = text
                .chars()
                .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(bad, None, "{args:?}: {text:?}");
        }
    }
}

/// A reader that has enough ends a look quietly; a worker whose output is closed settles what it runs.
#[test]
fn r85_a_closed_output_ends_quietly() {
    let world = World::new();
    let lines = super::lines(3_000, 100);
    world.feed(&["enqueue", "q", "--lines"], &lines).is(0);
    let ran = world
        .sh("qops peek q -o ndjson | head -1; echo ${PIPESTATUS[0]}")
        .is(0);
    assert_eq!(ran.lines().len(), 2);
    assert_eq!(ran.lines()[1], "0", "{}", ran.err);
    assert_eq!(ran.err, "");
    let mut worker = world
        .qops(&[
            "work",
            "q",
            "-j2",
            "--",
            "sh",
            "-c",
            "cat; echo; echo ran >> ran",
        ])
        .spawn()
        .expect("a worker");
    let mut first = String::new();
    let mut out = BufReader::new(worker.stdout.take().expect("its output"));
    out.read_line(&mut first).expect("a line");
    drop(out);
    let ended = ended(worker);
    assert_eq!(
        world.count("q", "running"),
        0,
        "{} {:?}",
        ended.err,
        ended.code
    );
    let done =
        3_000 - world.count("q", "ready") - world.count("q", "delayed") - world.count("q", "dead");
    let ran = u64::try_from(world.read("ran").lines().count()).expect("a count");
    assert!(
        ran >= done,
        "nothing is done that did not run: {done} of {ran}"
    );
    assert!(done > 0 && done < 3_000, "it took no more: {done}");
    assert_eq!(world.count("q", "dead"), 0);
}

/// A command that the closed output took with it has not failed: its message is given back, uncharged.
#[test]
fn r85_what_a_closed_output_ends_is_not_charged() {
    let world = World::new();
    for command in [
        "exec cat /dev/zero",
        "cat /dev/zero; exit $?",
        "trap \"\" PIPE; cat /dev/zero; exit 1",
    ] {
        world.run(&["enqueue", "q", "x"]).is(0);
        let line = format!(
            "qops work q --max-attempts 1 -- sh -c '{command}' 2>/dev/null | head -c 1000 | wc -c"
        );
        assert_eq!(world.sh(&line).text().trim(), "1000");
        let seen = world.run(&["peek", "q", "--fields", "state,attempts"]);
        assert_eq!(seen.text().trim(), r#"{"state":"ready","attempts":0}"#);
        world.run(&["purge", "q", "--all", "--yes"]).is(0);
    }
}

/// Without a terminal nobody is asked, and nobody waits for an answer.
#[test]
fn r86_without_a_terminal_it_is_refused_at_once() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    world
        .run(&["work", "q", "--max-attempts", "1", "--", "false"])
        .is(1);
    world.run(&["enqueue", "q", "y"]).is(0);
    for args in [
        &["purge", "q", "--all"][..],
        &["requeue", "q", "--all"],
        &["drain", "q"],
        &["purge", "q", "1"],
    ] {
        let begun = Instant::now();
        let answer = world.feed(args, b"y\ny\ny\n").is(4);
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert!(answer.err.contains("--yes"), "{}", answer.err);
    }
    assert_eq!(
        (world.count("q", "ready"), world.count("q", "dead")),
        (1, 1)
    );
}

/// Nothing ready: `work` is silent and content, `claim` says 1.
#[test]
fn r91_nothing_ready_is_no_failure() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    world.run(&["work", "q", "--", "true"]).is(0);
    for args in [
        &["work", "q", "--", "true"][..],
        &["work", "q", "--wait", "--", "true"],
    ] {
        let ran = world.run(args).is(0);
        assert_eq!((ran.text(), ran.err.as_str()), ("", ""));
    }
    let ran = world.run(&["claim", "q"]).is(1);
    assert_eq!(ran.text(), "");
    world.run(&["enqueue", "q", "later", "--delay", "1h"]).is(0);
    let ran = world.run(&["work", "q", "--", "true"]).is(0);
    assert_eq!(ran.text(), "");
    world.run(&["claim", "q"]).is(1);
    eventually("it is still there", || world.count("q", "delayed") == 1);
}
