//! What is typed by a slip, and what a script hands over by one: told as what it is, and never at length.

use crate::World;
use crate::bulk::dead;

/// One run's code and what it said; its first line is the error.
fn said(world: &World, line: &str) -> (i32, String) {
    let ran = world.sh(line);
    (ran.code, world.steady(&ran.err))
}

/// Lines for a shell, each with its code and with what it says in parts.
fn lines(world: &World, all: &[(&str, i32, &[&str])]) {
    for (line, wanted, parts) in all {
        let (code, err) = said(world, line);
        assert_eq!(code, *wanted, "{line}: {err}");
        for part in *parts {
            assert!(err.contains(part), "{line}: {err}");
        }
    }
}

#[test]
fn a_flood_of_expired_messages_is_told_in_a_few_lines() {
    let world = World::new();
    world.sh("seq 1 30000 | qops enqueue d --ttl 1ms --lines");
    let ran = world.run(&["claim", "d"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(told.len(), 6, "{}", ran.err);
    assert_eq!(
        told[0],
        "qops: warning: message 1 is a dead letter now (expired); it was not handed out"
    );
    assert_eq!(
        told[5],
        "qops: warning: 29,995 more messages are dead letters now: qops peek --dead d shows them"
    );
    // What is behind them is reached by the same claim.
    world.sh("seq 1 10001 | qops enqueue e --ttl 1ms --lines && qops enqueue e last");
    let ran = world.run(&["claim", "e", "-o", "raw"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "last"), "{}", ran.err);
    // A worker says it the same way.
    world.sh("seq 1 10001 | qops enqueue f --ttl 1ms --lines && qops enqueue f last");
    let ran = world.run(&["work", "f", "--", "true"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let left = world.run(&["stats", "f", "--exact", "--fields", "ready,dead"]);
    assert_eq!(left.out, "{\"ready\":0,\"dead\":10001}\n");
    let told: Vec<&str> = ran.err.lines().collect();
    assert!(told.len() < 20, "{}", ran.err);
    assert!(
        told[0].ends_with("(expired); its command was not run"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("qops peek --dead f shows them"),
        "{}",
        ran.err
    );
    // A few are named, and there is nothing more to count.
    world.sh("seq 1 5 | qops enqueue g --ttl 1ms --lines");
    assert_eq!(world.run(&["claim", "g"]).err.lines().count(), 5);
}

#[test]
fn what_is_quoted_is_cut() {
    let world = World::new();
    dead(&world, "q", 1);
    let long = "head -c 1000000 /dev/zero | tr '\\0' x";
    let name = "$(head -c 70000 /dev/zero | tr '\\0' x)";
    for line in [
        format!("{long} | qops purge q - --yes"),
        format!("{long} | qops requeue q -"),
        format!("{long} | qops requeue q - --json"),
        format!("{long} | qops peek q -"),
        format!("{long} | qops ack -"),
        format!("{long} | qops show -"),
        format!("qops peek {name}"),
        format!("qops enqueue {name} x"),
        format!("qops show {name}"),
        format!("qops show \"{name} y\""),
        format!("qops enqueue q -x{name}"),
        format!("qops {name}"),
        format!("qops ls --fields {name}"),
        format!("qops ls -c {name}"),
        format!("qops ls -u {name}"),
        format!("qops ls -u sqlite://{name}"),
        format!("qops enqueue q x --delay {name}"),
        format!("qops enqueue q x -H {name}"),
    ] {
        let (code, err) = said(&world, &line);
        assert!(code > 1, "{line}: {code}");
        assert!(
            !err.is_empty() && err.len() < 2_000,
            "{line}: {}",
            err.len()
        );
        assert!(
            !err.contains(&"x".repeat(201)) || line.contains("sqlite://"),
            "{line}: {err}"
        );
    }
}

#[test]
fn a_secret_that_is_typed_for_a_url_is_not_repeated() {
    let world = World::new();
    for url in [
        "sqlite://u:hunter2-canary@h/x",
        "sqlite://hunter2-canary@h/x",
        "hunter2-canary",
        "hunter2-canary/more",
        "hunter2-canary:more",
        "u:hunter2-canary@h",
    ] {
        let ran = world.run(&["ls", "-u", url]);
        assert_eq!(ran.code, 2, "{url}: {}", ran.err);
        assert!(!ran.err.contains("canary"), "{url}: {}", ran.err);
        assert!(ran.err.contains("sqlite:PATH"), "{url}: {}", ran.err);
    }
}

#[test]
fn a_broken_context_is_the_affair_of_whoever_chooses_it() {
    let world = World::new();
    let file = "[context.a]\nurl = \"sqlite:a.db\"\n[context.b]\nurl = 5\n";
    let path = world.write(".config/qops/config.toml", file);
    lines(
        &world,
        &[
            ("qops ls", 0, &[]),
            ("qops ls -c a", 0, &[]),
            (
                "qops ls -c aa",
                2,
                &["no context 'aa'", "did you mean 'a'?"],
            ),
            (
                "qops ls -c b",
                2,
                &["[context.b]: 'url' is a text in quotes"],
            ),
            ("qops ls -c ''", 2, &["the context's name is empty"]),
        ],
    );
    std::fs::write(path, format!("{file}[context.c\n")).unwrap();
    lines(&world, &[("qops ls", 2, &["config.toml: line 5"])]);
}

#[test]
fn a_negative_value_is_told_of_its_option() {
    let world = World::new();
    dead(&world, "q", 1);
    lines(
        &world,
        &[
            (
                "qops enqueue q a --max-attempts -1",
                2,
                &["--max-attempts <N>: '-1' is no number of attempts"],
            ),
            (
                "qops work q -j -1 -- true",
                2,
                &["--jobs <N>: '-1' is no number"],
            ),
            ("qops purge q --expect -1", 2, &["--expect <N>: '-1'"]),
            (
                "qops nack --delay -1s x",
                2,
                &["--delay <DURATION>: '-1s' is no duration"],
            ),
            (
                "qops drain q 1",
                2,
                &[
                    "drain takes no '1'",
                    "qops drain q --id 1; a command goes after --",
                ],
            ),
            ("qops drain q -", 2, &["qops requeue q - reads ids"]),
        ],
    );
}

#[test]
fn a_walk_that_would_meet_what_it_revived_is_refused() {
    let world = World::new();
    dead(&world, "q", 1);
    lines(
        &world,
        &[
            (
                "qops requeue q --state dead,ready --reverse --yes",
                2,
                &["dead letters first, and then to them again", "--dead"],
            ),
            ("qops requeue q --dead --reverse --yes", 0, &[]),
        ],
    );
}

#[test]
fn a_dash_is_standard_input_alone_and_a_payload_after_dashes() {
    let world = World::new();
    let hint = "a payload '-' goes after --";
    lines(
        &world,
        &[
            (
                "qops enqueue q a - b < /dev/null",
                2,
                &["'-' beside other payloads", hint],
            ),
            ("qops enqueue q - - < /dev/null", 2, &[hint]),
            ("qops enqueue q - -- b < /dev/null", 2, &[hint]),
        ],
    );
    assert!(!world.file().exists());
    for (line, payload) in [
        ("echo in | qops enqueue q -", "in"),
        ("qops enqueue q --key - -- -", "-"),
        ("qops enqueue q --group - a", "a"),
        ("qops enqueue -- q - | tail -1", "-"),
    ] {
        let ran = world.sh(&format!("qops show \"$({line})\" -o raw"));
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (0, payload),
            "{line}: {}",
            ran.err
        );
    }
}

#[test]
fn a_time_beyond_the_calendar_or_before_all_computers_is_refused() {
    let world = World::new();
    lines(
        &world,
        &[
            (
                "qops enqueue q x --at 9999-12-31T23:59:59Z",
                2,
                &["too far in the future: the last time is 9999-12-30T21:59:59Z"],
            ),
            (
                "qops enqueue q x --at 0000-01-01T00:00:00Z",
                2,
                &["is before 1970"],
            ),
            ("qops enqueue q x --at 9999-12-30T21:59:59Z", 0, &[]),
            ("qops enqueue q x --at 1970-01-01T00:00:00Z", 0, &[]),
            (
                "echo '{\"payload\":1,\"ready_at\":\"9999-12-31T23:59:59Z\"}' | qops enqueue q --envelope",
                9,
                &["line 1: it is no record: '9999-12-31T23:59:59Z' is too far in the future"],
            ),
        ],
    );
}

#[test]
fn headers_that_a_command_could_not_tell_apart_are_refused() {
    let world = World::new();
    lines(
        &world,
        &[
            (
                "qops enqueue q x -H k=v -H k=w -H j=z",
                2,
                &["the header 'k' is given twice"],
            ),
            (
                "qops enqueue q x -H k=v -H K=z",
                2,
                &["the headers 'k' and 'K' are both QOPS_HEADER_K"],
            ),
            (
                "qops enqueue q x -H trace-id=1 --header Trace_Id=2",
                2,
                &["the headers 'trace-id' and 'Trace_Id' are both QOPS_HEADER_TRACE_ID"],
            ),
        ],
    );
    assert!(!world.file().exists());
    // A record's own header beats the flag's.
    world.sh("echo '{\"payload\":1,\"headers\":{\"k\":\"own\"}}' | qops enqueue q --envelope -H K=flag -H j=2");
    let ran = world.run(&["peek", "q", "--fields", "headers"]);
    assert_eq!(
        ran.out, "{\"headers\":{\"k\":\"own\",\"j\":\"2\"}}\n",
        "{}",
        ran.err
    );
}

#[test]
fn a_record_that_is_none_is_told_without_a_parsers_words() {
    let world = World::new();
    let no = "line 1: it is no record: ";
    for (input, why) in [
        ("[]", "it is no JSON object; nothing"),
        ("null", "it is no JSON object; nothing"),
        (
            "[1,null,null,null,null,null,null,null,null]",
            "it is no JSON object; nothing",
        ),
        (
            "{\"payload_b64\":\"!\"}",
            "payload_b64 is no base64: what stands at column 1 of it does not belong there; nothing",
        ),
        (
            "{\"payload_b64\":\"YW\"}",
            "payload_b64 is no base64: its length is wrong; nothing",
        ),
        ("{\"payload\":", "it ends too soon, at column 11; nothing"),
    ] {
        let ran = world.run_with(&["enqueue", "q", "--envelope"], input.as_bytes());
        assert_eq!(ran.code, 9, "{input}: {}", ran.err);
        assert!(
            ran.err.contains(&format!("{no}{why}")),
            "{input}: {}",
            ran.err
        );
    }
}

#[test]
fn show_reads_ids_and_says_where_they_are_found() {
    let world = World::new();
    dead(&world, "q", 2);
    lines(
        &world,
        &[
            (
                "qops show 99999",
                6,
                &[
                    "there is no message '99999'\nhint: qops queues lists the queues, qops peek QUEUE",
                ],
            ),
            (
                "qops ls --fields ''",
                2,
                &["--fields has an empty name in it\nhint: the fields are v, queue"],
            ),
            (
                "qops ls --fields queue,,dead",
                2,
                &["--fields has an empty name in it"],
            ),
        ],
    );
    let ran = world.sh("qops peek q --dead -o id | qops show - -o id");
    assert_eq!((ran.code, ran.out.as_str()), (0, "2\n1\n"), "{}", ran.err);
    let ran = world.sh("qops peek q --dead | qops show - 1 -o json | grep -c '\"id\"'");
    assert_eq!(ran.out, "2\n", "{}", ran.err);
    let ran = world.sh("qops show - -o json < /dev/null");
    assert_eq!((ran.code, ran.out.as_str()), (0, "[]\n"), "{}", ran.err);
    let ran = world.sh("qops show - < /dev/null");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}
