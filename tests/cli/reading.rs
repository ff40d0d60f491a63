//! The verbs that only look.

use crate::{World, session};
use insta::assert_snapshot;
use qops::backend::{Claim, Exchange, Pick, Settle, Verdict};
use qops::queue::{Delivery, End, MessageId, Outcome, QueueName, Reason};
use std::time::Duration;

fn claim(world: &World, queue: &str, max: usize) -> Vec<Delivery> {
    let queue = QueueName::parse(queue).unwrap();
    let claim = Claim {
        queue: &queue,
        max,
        bytes: 1 << 20,
        lease: Duration::from_mins(10),
        start: true,
        max_attempts: 7,
        pick: Pick::Ready,
    };
    let turn = Exchange {
        settle: &[],
        claim: Some(claim),
    };
    world.store().exchange(&turn).unwrap().claimed.unwrap().got
}

/// Makes dead letters of messages that were put in just now.
fn die(world: &World, queue: &str, payloads: &[&[u8]]) -> Vec<MessageId> {
    world.put(queue, payloads);
    let got = claim(world, queue, payloads.len());
    let end = End {
        outcome: Outcome::Permanent,
        exit: Some(65),
        signal: None,
        took: Duration::from_millis(200),
        error: "invalid CNPJ \u{1b}[2J".to_owned(),
        stderr: b"looking it up\ninvalid CNPJ \x1b[2J\n".to_vec(),
    };
    let settle: Vec<Settle<'_>> = got
        .iter()
        .map(|one| Settle {
            receipt: &one.receipt,
            verdict: Verdict::Dead(Reason::Permanent),
            end: Some(&end),
        })
        .collect();
    let turn = Exchange {
        settle: &settle,
        claim: None,
    };
    world.store().exchange(&turn).unwrap();
    got.into_iter().map(|one| one.message.id).collect()
}

#[test]
fn queues_and_stats_of_what_is_there() {
    let world = World::new();
    die(&world, "orders", &[b"{\"order\":7781}", b"x"]);
    world.put("orders", &[b"1", b"2", b"3"]);
    world.put("emails", &[b"{\"to\":\"ana@example.com\"}"]);
    claim(&world, "orders", 1);
    assert_snapshot!(session!(
        world,
        ["queues", "-o", "table"],
        ["ls", "-o", "id"],
        ["ls", "-o", "csv", "--fields", "queue,ready,dead,exact"],
        ["stats", "-o", "table", "orders"],
        [
            "stats",
            "--exact",
            "orders",
            "nope",
            "-o",
            "json",
            "--fields",
            "queue,running,dead"
        ],
        ["stats", "emial"],
        ["queues", "--fields", "redy"],
        ["queues", "-o", "raw"],
    ));
}

#[test]
fn without_a_store_there_is_nothing_and_nothing_is_made() {
    let world = World::new();
    assert_snapshot!(session!(
        world,
        ["queues"],
        ["stats"],
        ["queues", "-o", "json"],
        ["peek", "orders"],
        ["stats", "orders"],
        ["show", "1"],
        ["doctor"],
        [
            "init",
            "--dry-run",
            "-o",
            "json",
            "--fields",
            "verb,from,to,dry_run"
        ],
    ));
    let left = std::fs::read_dir(world.home.path()).unwrap().count();
    assert_eq!(left, 0, "a look made something");
}

#[test]
fn peek_shows_what_will_run_and_what_is_dead() {
    let world = World::new();
    let dead = die(&world, "orders", &[b"gone \x1b]52;c;aGk=\x07"]);
    assert_snapshot!(
        "peek_dead_alone",
        session!(
            world,
            ["peek", "orders"],
            ["peek", "orders", "-e"],
            [
                "peek",
                "orders",
                "--dead",
                "-o",
                "table",
                "--fields",
                "id,reason,last_error,payload"
            ],
            ["peek", "orders", "--dead", "--error", "429", "-e"],
        )
    );
    world.put("orders", &[b"{\"n\":1}", b"two\nlines", b"\xff\x00"]);
    let id = dead[0].as_str();
    assert_snapshot!(
        "peek",
        session!(
            world,
            ["peek", "orders", "--fields", "id,state,payload"],
            ["peek", "orders", "-o", "csv", "--fields", "id,payload"],
            ["peek", "orders", "-o", "id", "--reverse", "-n", "2"],
            ["peek", "orders", "--grep", "lines", "-o", "raw"],
            ["peek", "orders", id, "99", "orders", "-o", "id"],
            ["peek", "ordres"],
            ["peek", id],
            [
                "peek",
                "orders",
                "--state",
                "dead,ready",
                "-n",
                "0",
                "-o",
                "id"
            ],
            ["peek", "orders", "--older-than", "5"],
            ["peek", "orders", "--since", "tomorrow"],
        )
    );
}

#[test]
fn ids_come_from_standard_input() {
    let world = World::new();
    world.put("orders", &[b"a", b"b", b"c"]);
    let mut text = String::new();
    for input in [
        &b"1\n{\"v\":1,\"id\":\"3\"}\n"[..],
        b"",
        b"\n",
        b"1\nnot an id\n",
        b"{\"x\":1}\n",
    ] {
        let ran = world.run_with(&["peek", "orders", "-", "-o", "id"], input);
        let line = format!(
            "$ {:?} | qops peek orders - -o id",
            String::from_utf8_lossy(input)
        );
        text += &world.told(&line, &ran);
    }
    assert_snapshot!(text);
}

#[test]
fn show_tells_why_and_what_comes_next() {
    let world = World::new();
    let dead = die(&world, "orders", &[b"{\"order\":7781}"]);
    let dead = dead[0].as_str();
    world.put("orders", &[b"later"]);
    assert_snapshot!(session!(
        world,
        ["show", dead],
        ["show", dead, "2", "77"],
        ["show", "orders"],
        ["show", dead, "-o", "raw"],
        ["show", "2", "-o", "json", "--fields", "id,state,payload"],
        ["show", dead, "--fields", "id"],
        ["show", "77", "-o", "json"],
        ["show"],
    ));
    let purge = world.run(&["-u", "sqlite:.local/share/qops/qops.db", "show", "2"]);
    let next = purge.out.lines().last().unwrap();
    let url = format!("qops -u sqlite:{} purge orders 2", world.file().display());
    assert!(next.ends_with(&url), "{next}");
}

#[test]
fn show_keeps_the_order_of_many_ids_and_names_each_that_is_missing() {
    let world = World::new();
    // Larger than a page of the store's: three of them are more than it brings at once.
    let large = vec![b'x'; 3 << 20];
    let payloads: Vec<&[u8]> = (0..450)
        .map(|n| {
            if n % 150 < 3 {
                large.as_slice()
            } else {
                b"small"
            }
        })
        .collect();
    world.put("orders", &payloads);
    // From the last to the first, and every second is not there.
    let asked = (1..=450).rev().flat_map(|n| [n, 10_000 + n]);
    let input = asked
        .map(|id| id.to_string())
        .collect::<Vec<_>>()
        .join("\n");
    let ran = world.run_with(&["show", "-", "-o", "id"], input.as_bytes());
    let shown: Vec<u64> = ran.out.lines().map(|id| id.parse().unwrap()).collect();
    assert_eq!(shown, (1..=450).rev().collect::<Vec<_>>());
    let missing = ran.err.lines().filter(|line| line.contains("no message"));
    assert_eq!(missing.count(), 450);
    assert_eq!(ran.code, 3);
}

#[test]
fn doctor_init_and_help() {
    let world = World::new();
    world.put("orders", &[b"a"]);
    std::fs::create_dir(world.home.path().join("data")).unwrap();
    assert_snapshot!(session!(
        world,
        ["doctor"],
        ["doctor", "-o", "json"],
        ["init"],
        ["init", "-o", "json"],
        ["init", "-u", "sqlite:data/new.db"],
        ["doctor", "-u", "sqlite:data/new.db"],
        ["init", "--grants"],
        ["help", "exit-codes"],
        ["help", "exit-code"],
        ["help", "queue", "st"],
        ["completions", "tcsh"],
    ));
    for (args, part) in [
        (&["help"][..], "Verbs"),
        (&["help", "peek"], "--older-than"),
        (&["help", "queue", "set"], "--max-attempts"),
        (&["help", "worker"], "at least once"),
        (&["help", "producers"], "qops_enqueue"),
        (&["help", "schema"], "qops_messages"),
        (&["help", "records"], "payload_b64"),
        (&["help", "topics"], "qops help records"),
        (&["help"], "qops help exit-codes"),
        (&["completions", "bash"], "complete"),
    ] {
        let ran = world.run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        assert!(ran.out.contains(part), "{args:?}: {}", ran.out);
    }
    for words in [
        &[][..],
        &["work"],
        &["peek"],
        &["ls"],
        &["queue"],
        &["queue", "set"],
    ] {
        let asked = [&["help"], words].concat();
        let flagged = [words, &["--help"]].concat();
        assert_eq!(world.run(&asked).out, world.run(&flagged).out, "{words:?}");
    }
    for name in ["bash", "zsh", "fish", "powershell", "elvish", "nushell"] {
        let ran = world.run(&["completions", name]);
        assert!(ran.code == 0 && ran.out.contains("peek"), "{name}");
    }
}

#[test]
fn r85_a_reader_that_has_enough_ends_a_look_quietly() {
    let world = World::new();
    let payload = vec![b'x'; 1000];
    world.put("many", &vec![&payload[..]; 3000]);
    let line = format!(
        "'{}' peek many | head -n 1 | wc -l; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_qops")
    );
    let out = std::process::Command::new("bash")
        .args(["-c", &line])
        .env("HOME", world.home.path())
        .env_remove("QOPS_URL")
        .env_remove("QOPS_CONTEXT")
        .env_remove("XDG_DATA_HOME")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "1\n0\n");
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
}

#[test]
fn an_error_is_a_record_where_the_output_is_json() {
    let world = World::new();
    world.put("orders", &[b"a"]);
    for args in [
        &["peek", "ordres", "-o", "json"][..],
        &["peek", "ordres", "--json"],
        &["show", "9", "-o", "ndjson"],
        &["peek", "-o", "json"],
        &["frobnicate", "--json"],
    ] {
        let ran = world.run(args);
        let record: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
        assert_eq!(record["v"], 1, "{args:?}");
        assert_eq!(record["error"]["code"], ran.code, "{args:?}");
        assert!(record["error"]["message"].is_string(), "{args:?}");
        assert!(record["error"]["kind"].is_string(), "{args:?}");
    }
}

#[test]
fn what_is_wrong_with_a_value_is_said_in_our_words() {
    let world = World::new();
    world.put("q", &[b"x"]);
    for (line, said) in [
        (
            "qops purge q --all --expect two",
            "'two': it is no number from 0 on",
        ),
        ("qops peek q -n 99999999999999999999", "it is too large"),
        (
            "qops enqueue q --file /no/such",
            "No such file or directory\n",
        ),
        ("qops enqueue q --file /tmp", "Is a directory\n"),
        (
            "echo '{bad' | qops enqueue q --ndjson",
            "what stands at column 2 does not belong there",
        ),
        (
            "echo '{\"a\":' | qops enqueue q --ndjson",
            "it ends too soon, at column 5",
        ),
        (
            "echo '{\"x\":1}' | qops requeue q -",
            "no record: 'id' is missing",
        ),
        (
            "echo '{\"x\":1}' | qops ack -",
            "no record of claim: 'receipt' is missing",
        ),
        ("qops show ''", "hint: the id is empty"),
        (
            "qops show \"$(printf '1\\n2')\"",
            "hint: ids are words of their own; -n1",
        ),
        (
            "qops pause q; qops doctor",
            "'q' is paused, and 1 message waits in it",
        ),
    ] {
        let ran = world.sh(line);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(all.contains(said), "{line}: {all}");
        for foreign in ["os error", "EOF", "invalid digit", " at line "] {
            assert!(!all.contains(foreign), "{line}: {all}");
        }
    }
}
