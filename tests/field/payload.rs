//! Bytes, through every verb.

use super::{World, ran};

/// The bytes that a verb hands on, by `-o raw` of one message.
fn raw(world: &World, args: &[&str]) -> Vec<u8> {
    world.run(&[args, &["-o", "raw"]].concat()).is(0).out
}

/// A payload goes in by standard input and comes back the same from every door.
fn goes_round(payload: &[u8]) {
    let world = World::new();
    let id = world.feed(&["enqueue", "q", "--one"], payload).is(0);
    let id = id.text().trim().to_owned();
    assert!(raw(&world, &["peek", "q"]) == payload, "looked at");
    for format in ["json", "ndjson", "csv", "tsv", "table", "id"] {
        world.run(&["peek", "q", "-o", format]).is(0);
        world
            .run(&[
                "show",
                &id,
                "-o",
                if format == "table" { format } else { "json" },
            ])
            .is(0);
    }
    // To a command that fails, then from the dead letters.
    world
        .sh("qops work q --max-attempts 1 -- sh -c 'cat > first; exit 1'")
        .is(1);
    assert!(
        std::fs::read(world.path().join("first")).expect("a file") == payload,
        "worked"
    );
    assert!(raw(&world, &["peek", "q", "--dead"]) == payload, "dead");
    world
        .sh("qops drain q --yes -- sh -c 'cat > drained; exit 1'")
        .is(1);
    assert!(
        std::fs::read(world.path().join("drained")).expect("a file") == payload,
        "drained"
    );
    world.run(&["requeue", "q", &id]).is(0);
    assert!(raw(&world, &["peek", "q"]) == payload, "replayed");
    let claimed = world.run(&["claim", "q", "-o", "json"]).is(0);
    world
        .run(&["nack", receipt(claimed.text()), "--release"])
        .is(0);
    // Its record, put in again as it is.
    let record = world.run(&["peek", "q", "-o", "ndjson"]).is(0).out;
    world
        .feed(&["enqueue", "copy", "--envelope"], &record)
        .is(0);
    assert!(
        raw(&world, &["peek", "copy"]) == payload,
        "rebuilt from its record"
    );
    world.sh("qops work copy -- sh -c 'cat > copied'").is(0);
    assert!(
        std::fs::read(world.path().join("copied")).expect("a file") == payload,
        "copied"
    );
    world.run(&["purge", "q", "--all", "--yes"]).is(0);
}

/// The receipt in a record, found as text: a record may hold JSON that is too deep to be parsed.
fn receipt(record: &str) -> &str {
    let (_, rest) = record.rsplit_once("\"receipt\":\"").expect("a receipt");
    rest.split_once('"').expect("its end").0
}

#[test]
fn r16_a_zero_byte_and_an_escaped_one_come_back() {
    goes_round(b"{\"a\":\"\\u0000\"}");
    goes_round(b"a\0b");
    goes_round(b"\0");
}

#[test]
fn r18_what_is_no_text_comes_back() {
    goes_round(b"\xff\xfe\x00\x80");
    let world = World::new();
    world
        .feed(&["enqueue", "q", "--one"], b"\xff\xfe\x00\x80")
        .is(0);
    let message = &world.peek(&["q"])[0];
    assert_eq!(message["payload_b64"], "//4AgA==");
    assert!(message.get("payload").is_none());
}

#[test]
fn r89_numbers_order_and_twins_are_as_sent() {
    for payload in [
        "12345678901234567890",
        "1.0",
        "1e400",
        "{\"b\":1,\"a\":2}",
        "{\"a\":1,\"a\":2}",
        "{ \"a\" : [ 1 , 2.50 ] }",
    ] {
        goes_round(payload.as_bytes());
    }
    // As JSON they stand in the record as they were sent.
    let world = World::new();
    world
        .run(&[
            "enqueue",
            "q",
            "{\"n\":12345678901234567890,\"x\":1e400,\"x\":1.0}",
        ])
        .is(0);
    let line = world.run(&["peek", "q", "-o", "ndjson"]).is(0);
    let payload = "\"payload\":{\"n\":12345678901234567890,\"x\":1e400,\"x\":1.0}";
    assert!(line.text().contains(payload), "{}", line.text());
}

#[test]
fn r94_nested_a_hundred_thousand_deep() {
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    goes_round(&deep);
    let world = World::new();
    world.feed(&["enqueue", "q", "--ndjson"], &deep).is(0);
    world
        .feed(&["enqueue", "r", "--ndjson", "--key-from", ".a"], &deep)
        .is(9);
    let mut unbalanced = world.qops(&["enqueue", "s", "--ndjson"]);
    unbalanced.stdin(std::process::Stdio::piped());
    let refused = ran(unbalanced, Some(&deep[..150_000])).is(9);
    assert!(refused.err.contains('1'), "the line: {}", refused.err);
    let found = world
        .run(&["peek", "q", "--grep", "[[[", "-o", "ndjson"])
        .is(0);
    assert_eq!(found.lines().len(), 1);
}
