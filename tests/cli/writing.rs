//! Putting messages in.

use crate::{World, session};
use insta::assert_snapshot;
use std::process::{Command, Stdio};

/// The payloads of a queue as they lie in the store, in the order in which they will run.
fn payloads(world: &World, queue: &str) -> Vec<Vec<u8>> {
    use qops::backend::Page;
    use qops::queue::{Order, QueueName, Selection};
    let what = Selection::of(QueueName::parse(queue).unwrap());
    let peeked = world.store().peek(&what, &Page::first(1000, Order::Run));
    let rows = peeked.unwrap().rows.into_iter();
    rows.map(|message| message.payload).collect()
}

#[test]
fn messages_as_arguments_print_their_ids() {
    let world = World::new();
    assert_snapshot!(session!(
        world,
        ["enqueue", "emails", "{\"to\":\"ana@example.com\"}"],
        ["push", "emails", "a", "", "c"],
        ["send", "emails", "--", "-1"],
        ["enqueue", "emails", "-1"],
        ["enqueue", "emails", "x", "--json"],
        ["enqueue", "emails", "x", "y", "-o", "ndjson"],
        ["enqueue", "emails", "x", "-o", "raw"],
        ["enqueue", "emails", "x", "--lines"],
        ["enqueue", "emails", "x", "--fields", "id"],
    ));
    let expected: [&[u8]; 8] = [
        b"{\"to\":\"ana@example.com\"}",
        b"a",
        b"",
        b"c",
        b"-1",
        b"x",
        b"x",
        b"y",
    ];
    assert_eq!(payloads(&world, "emails"), expected);
}

#[test]
fn an_input_is_one_message_or_says_what_it_is() {
    let world = World::new();
    let text = [
        world.fed(&["enqueue", "q"], "hello\n"),
        world.fed(&["enqueue", "q", "-"], "hello"),
        world.fed(&["enqueue", "q"], "a\nb\n"),
        world.fed(&["enqueue", "q"], ""),
        world.fed(&["enqueue", "q", "--one"], "a\nb\n"),
        world.fed(&["enqueue", "q", "--one"], ""),
        world.fed(&["enqueue", "q", "--lines"], ""),
        world.fed(&["enqueue", "q", "--lines"], "\n1\n\n2"),
        world.fed(&["enqueue", "q", "-0", "-o", "id"], "x\ny\0\0z"),
        world.fed(
            &["enqueue", "q", "--ndjson", "-o", "ndjson"],
            "{\"a\": 1.0}\n[]\n",
        ),
        world.fed(&["enqueue", "q", "--lines", "--ndjson"], "1\n"),
        world.fed(&["enqueue", "q", "--file", "no-such"], ""),
    ]
    .join("\n");
    assert_snapshot!(text);
    let expected: [&[u8]; 10] = [
        b"hello",
        b"hello",
        b"a\nb\n",
        b"1",
        b"2",
        b"x\ny",
        b"",
        b"z",
        b"{\"a\": 1.0}",
        b"[]",
    ];
    assert_eq!(payloads(&world, "q"), expected);
}

#[test]
fn bad_input_is_named_and_what_came_before_it_stands() {
    let world = World::new();
    let text = [
        world.fed(&["enqueue", "a", "--ndjson"], "1\n{\n3\n"),
        world.fed(&["enqueue", "b", "--ndjson", "--atomic"], "1\n{\n3\n"),
        world.fed(
            &["enqueue", "c", "--envelope"],
            "{\"payload\":1}\n{\"id\":\"7\"}\n",
        ),
        world.fed(
            &["enqueue", "d", "--ndjson", "--key-from", ".id"],
            "{\"id\":1}\n{\"key\":2}\n",
        ),
        world.fed(
            &["enqueue", "d", "--ndjson", "--key-from", ".a,.id"],
            "{\"a\":\"x\",\"id\":1}\n{\"a\":\"x\",\"id\":\"\"}\n",
        ),
        world.fed(
            &["enqueue", "d", "--envelope"],
            "{\"payload\":\"a\",\"key\":\"\"}\n",
        ),
        world.fed(
            &["enqueue", "d", "--envelope", "--ttl", "1m"],
            "{\"payload\":\"a\",\"ready_at\":\"2126-01-01T00:00:00Z\"}\n",
        ),
        world.fed(
            &["enqueue", "d", "--envelope", "--at", "2127-01-01T00:00Z"],
            "{\"payload\":\"a\",\"expires_at\":\"2126-01-01T00:00:00Z\"}\n",
        ),
        world.fed(
            &["enqueue", "e", "--lines", "--max-payload", "4"],
            "1234\n12345\n",
        ),
        world.fed(&["enqueue", "f", "--max-payload", "4", "--json"], "12345"),
        world.fed(&["enqueue", "f", "--key-from", ".id", "{}"], ""),
        world.fed(&["ls", "-o", "csv", "--fields", "queue,ready"], ""),
    ]
    .join("\n");
    assert_snapshot!(text);
}

#[test]
fn a_payload_of_17_mib_is_refused_unless_it_is_allowed() {
    let world = World::new();
    let large = vec![b'x'; 17 << 20];
    let ran = world.run_with(&["enqueue", "q"], &large);
    assert_eq!((ran.code, ran.out.as_str()), (9, ""), "{}", ran.err);
    assert!(
        ran.err.contains("16.0 MiB") && ran.err.contains("--max-payload"),
        "{}",
        ran.err
    );
    assert!(
        !world.file().exists(),
        "nothing was enqueued, nothing was made"
    );
    let ran = world.run_with(&["enqueue", "q", "--max-payload", "17MiB"], &large);
    assert_eq!((ran.code, ran.out.as_str()), (0, "1\n"), "{}", ran.err);
    assert!(payloads(&world, "q") == [large]);
}

#[test]
fn what_cannot_be_a_store_or_a_queue_is_refused() {
    let world = World::new();
    world.write(
        "notes.txt",
        "not a database, but long enough to have a header of its own\n",
    );
    assert_snapshot!(session!(
        world,
        ["enqueue", "-u", "sqlite:notes.txt", "q", "x"],
        ["enqueue", "-u", "sqlite:/sys/qops.db", "q", "x"],
        ["enqueue", "-u", "sqlite:no/such/qops.db", "q", "x"],
        ["enqueue", " q", "x"],
        ["enqueue", "a\nb", "x"],
        ["enqueue", "-", "x"],
        ["enqueue"],
        ["enqueue", "q", "x", "--priority", "10"],
        ["enqueue", "q", "x", "--delay", "5"],
        [
            "enqueue",
            "q",
            "x",
            "--delay",
            "5s",
            "--at",
            "2030-01-01T00:00Z"
        ],
        ["enqueue", "q", "x", "-H", "novalue"],
        ["enqueue", "q", "x", "y", "--key", "k"],
        ["enqueue", "q", "x", "--key", ""],
        ["enqueue", "q", "x", "--group", ""],
        ["enqueue", "q", "x", "--delay", "1h", "--ttl", "1m"],
        [
            "enqueue",
            "q",
            "x",
            "--at",
            "2126-01-01T00:00Z",
            "--ttl",
            "1m"
        ],
        ["enqueue", "q", "x", "--ttl", "0s"],
        ["queue", "set", "q", "--ttl", "0s"],
        ["enqueue", "q", "x", "--max-attempts", "0"],
        ["enqueue", "q", "x", "--prioriti", "1"],
        [
            "enqueue",
            "q",
            "x",
            "-u",
            "sqlite:x.db?durability=normal",
            "--require-durable"
        ],
    ));
    assert!(!world.file().exists());
}

#[test]
fn a_key_is_taken_once() {
    let world = World::new();
    let lines = "{\"id\":1}\n{\"id\":2}\n{\"id\":1}\n";
    let keyed = ["enqueue", "q", "--ndjson", "--key-from", ".id"];
    let text = [
        world.snapshot(&["enqueue", "q", "x", "--key", "payment.approved:42"]),
        world.snapshot(&["enqueue", "q", "y", "--key", "payment.approved:42"]),
        world.snapshot(&[
            "enqueue",
            "q",
            "y",
            "--key",
            "payment.approved:42",
            "--json",
        ]),
        world.snapshot(&[
            "enqueue",
            "q",
            "y",
            "--key",
            "payment.approved:42",
            "--on-conflict",
            "error",
        ]),
        world.fed(&[&keyed[..], &["-o", "ndjson"]].concat(), lines),
        world.fed(
            &[&keyed[..], &["--on-conflict", "error"]].concat(),
            "{\"id\":2}\n{\"id\":3}\n",
        ),
        world.fed(
            &[&keyed[..], &["--on-conflict", "error", "--atomic"]].concat(),
            "{\"id\":4}\n{\"id\":2}\n",
        ),
        world.fed(
            &[&keyed[..], &["--atomic", "-o", "id"]].concat(),
            "{\"id\":4}\n{\"id\":2}\n",
        ),
        world.snapshot(&["ls", "-o", "csv", "--fields", "queue,ready"]),
    ]
    .join("\n");
    assert_snapshot!(text);
}

#[test]
fn everything_that_a_message_can_have_comes_back_in_its_record() {
    let world = World::new();
    let record = "{\"v\":1,\"id\":\"99\",\"payload\":{\"n\":12345678901234567890},\"key\":\"k\",\"group\":\"g\",\
        \"priority\":3,\"headers\":{\"b\":\"1\",\"a\":\"2\"},\"max_attempts\":4,\
        \"ready_at\":\"2126-01-01T00:00:00.000001Z\",\"expires_at\":\"2127-01-01T00:00:00Z\"}\n";
    let put = [
        "enqueue",
        "q",
        "--envelope",
        "-H",
        "c=3",
        "--priority",
        "-9",
        "--group",
        "other",
    ];
    let ran = world.run_with(&put, record.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    world.run(&[
        "enqueue",
        "q",
        "plain",
        "--group",
        "h",
        "--priority",
        "-9",
        "-H",
        "k=v=w",
        "-H",
        "e=",
        "--max-attempts",
        "2",
        "--at",
        "2126-01-01T00:00:00+01:00",
    ]);
    let fields = "payload,key,group,priority,headers,max_attempts,ready_at,expires_at,state";
    let ran = world.run(&["peek", "q", "--fields", fields]);
    // Not steadied: the instants are the ones that were given.
    assert_snapshot!(ran.out);
}

#[test]
fn r60_a_local_time_has_one_meaning_or_none() {
    let world = World::new().var("TZ", "America/New_York");
    assert_snapshot!(session!(
        world,
        ["enqueue", "q", "x", "--at", "2127-03-09T02:30:00"],
        ["enqueue", "q", "x", "--at", "2127-11-02T01:30:00"],
        ["enqueue", "q", "x", "--at", "tomorrow"],
    ));
    for (at, ready) in [
        ("2127-07-01T12:00:00", "2127-07-01T16:00:00.000000Z"),
        ("2127-11-02T01:30:00-04:00", "2127-11-02T05:30:00.000000Z"),
        ("2127-11-02T01:30:00-05:00", "2127-11-02T06:30:00.000000Z"),
    ] {
        let ran = world.run(&["enqueue", "at", "x", "--at", at]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(
            ran.err.contains("America/New_York"),
            !at.ends_with("00-04:00") && !at.ends_with("00-05:00"),
            "{}",
            ran.err
        );
        let id = ran.out.trim();
        let ran = world.run(&["show", id, "-o", "csv", "--fields", "ready_at"]);
        assert_eq!(ran.out, format!("ready_at\n{ready}\n"), "{at}");
    }
}

#[test]
fn r18_r89_r94_bytes_come_back_as_they_went_in() {
    let world = World::new();
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let sent: Vec<Vec<u8>> = vec![
        b"\xff\xfe\x00\x80".to_vec(),
        b"{\"a\":\"\\u0000\"}".to_vec(),
        b"\0".to_vec(),
        b"{\"b\":1.0,\"a\":1e400,\"a\":12345678901234567890}".to_vec(),
        b" {\"a\":\n1}\r".to_vec(),
        b"\"text\"".to_vec(),
        b"line\r\nbreak\x1b[2J".to_vec(),
        deep.into_bytes(),
    ];
    for payload in &sent {
        let ran = world.run_with(&["enqueue", "one", "--one"], payload);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    assert!(payloads(&world, "one") == sent);
    // Through records into another queue, and out of it again.
    let records = world.run(&["peek", "one", "-o", "ndjson"]).out;
    let ran = world.run_with(&["enqueue", "two", "--envelope"], records.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(payloads(&world, "two") == sent);
}

/// A retry may be due after its message's time to live, and an expired letter's is over: both are records of ours.
#[test]
fn a_record_keeps_its_own_times_whatever_they_are() {
    let world = World::new();
    for (ready, expires) in [("2126", "2125"), ("2001", "2000")] {
        let record = format!(
            "{{\"payload\":\"a\",\"ready_at\":\"{ready}-01-01T00:00:00Z\",\
            \"expires_at\":\"{expires}-01-01T00:00:00Z\"}}\n"
        );
        for flags in [&["--ttl", "1m"][..], &["--delay", "1h"]] {
            let args = [&["enqueue", "q", "--envelope"], flags].concat();
            let ran = world.run_with(&args, record.as_bytes());
            assert_eq!(ran.code, 0, "{record}: {}", ran.err);
        }
    }
    let past = "{\"payload\":\"a\",\"expires_at\":\"2000-01-01T00:00:00Z\"}\n";
    let args = ["enqueue", "q", "--envelope", "--delay", "1h"];
    assert_eq!(world.run_with(&args, past.as_bytes()).code, 0);
}

#[test]
fn a_reader_that_leaves_takes_no_message_with_it() {
    let world = World::new();
    let ran = world.sh("seq 1 20000 | qops enqueue q --lines -o id | head -1");
    assert_eq!((ran.out.as_str(), ran.code), ("1\n", 0), "{}", ran.err);
    let ran = world.run(&["ls", "-o", "csv", "--fields", "ready"]);
    assert_eq!(ran.out, "ready\n20000\n");
}

#[test]
fn a_full_disk_behind_the_ids_is_said_and_the_message_stands() {
    let world = World::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_qops"));
    command.args(["enqueue", "q", "x"]);
    world.around(&mut command);
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let ran = command.stdin(Stdio::null()).stdout(full).output().unwrap();
    let err = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(8), "{err}");
    assert!(err.contains("standard output cannot be written"), "{err}");
    assert!(err.contains("1 message stands"), "{err}");
    assert_eq!(payloads(&world, "q").len(), 1);
}

#[test]
fn a_stream_says_on_a_terminal_what_it_did() {
    let world = World::new();
    let line = "printf '{\"id\":1}\\n\\n{\"id\":2}\\n{\"id\":1}\\n' | qops enqueue q --ndjson --key-from .id";
    let (shown, code) = world.typing(80, "bash", &["-c", line], "", b"");
    assert_eq!(code, 0, "{shown}");
    let summary =
        "enqueued 2, duplicates 1, empty lines skipped 1 (sqlite ~/.local/share/qops/qops.db)";
    assert!(shown.contains(summary), "{shown}");
    let ran = world.sh(line);
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), ("", "", 0));
}
