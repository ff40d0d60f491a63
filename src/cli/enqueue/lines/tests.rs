use super::*;
use crate::queue::Due;
use std::io::{Seek, Write};

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

fn reading(framing: Framing) -> Reading {
    Reading {
        framing,
        max_payload: 100,
        key_from: None,
        group_from: None,
        term: Term {
            due: Due::Now,
            ttl: None,
        },
        whole: false,
        rows: 3,
        bytes: 1 << 20,
    }
}

type Numbered = Vec<(u64, Vec<u8>)>;

/// Number and payload of every message, the empty lines, and why it ended.
fn read_all(bytes: &[u8], reading: Reading) -> (Numbered, u64, Option<String>) {
    let (mut all, mut empty, mut bad) = (vec![], 0, None);
    for batch in read(file(bytes), reading).unwrap() {
        assert!(bad.is_none(), "a bad batch is the last");
        assert!(batch.items.len() <= 3);
        all.extend(
            batch
                .items
                .iter()
                .map(|item| (item.number, batch.payload(item).to_vec())),
        );
        empty += batch.empty;
        bad = batch.bad.map(|error| error.to_string());
    }
    (all, empty, bad)
}

fn texts(items: &[(u64, &str)]) -> Numbered {
    let own = |(number, text): &(u64, &str)| (*number, text.as_bytes().to_vec());
    items.iter().map(own).collect()
}

#[test]
fn streams_are_cut_where_they_say() {
    for (framing, input, items, empty) in [
        (Framing::Lines, "", &[][..], 0),
        (Framing::Lines, "a\nb\n", &[(1, "a"), (2, "b")], 0),
        (Framing::Lines, "a\nb", &[(1, "a"), (2, "b")], 0),
        (
            Framing::Lines,
            "\n\na\r\n\n x \n",
            &[(3, "a\r"), (5, " x ")],
            3,
        ),
        (Framing::Lines, "a\0b\n", &[(1, "a\0b")], 0),
        (
            Framing::Null,
            "a\nb\0\0c",
            &[(1, "a\nb"), (2, ""), (3, "c")],
            0,
        ),
        (
            Framing::Lines,
            "1\n2\n3\n4\n5\n6\n7\n",
            &[
                (1, "1"),
                (2, "2"),
                (3, "3"),
                (4, "4"),
                (5, "5"),
                (6, "6"),
                (7, "7"),
            ],
            0,
        ),
        (
            Framing::Ndjson,
            "{\"a\": 1.0}\n\n [1]\r\n\"x\"\n",
            &[(1, "{\"a\": 1.0}"), (3, " [1]\r"), (4, "\"x\"")],
            1,
        ),
        (
            Framing::Envelope,
            "{\"v\":1,\"payload\":{\"a\":1.0},\"id\":\"9\"}\n{\"payload_b64\":\"//4=\"}\n",
            &[(1, "{\"a\":1.0}")],
            0,
        ),
    ] {
        let (mut all, skipped, bad) = read_all(input.as_bytes(), reading(framing));
        if framing == Framing::Envelope {
            assert_eq!(all.pop(), Some((2, vec![0xff, 0xfe])));
        }
        assert_eq!(all, texts(items), "{framing:?} {input:?}");
        assert_eq!((skipped, bad), (empty, None), "{framing:?} {input:?}");
    }
}

#[test]
fn a_bad_line_ends_the_stream_with_its_number() {
    let long = "x".repeat(101);
    for (framing, input, before, why) in [
        (
            Framing::Ndjson,
            "1\n{\n3\n".to_owned(),
            1,
            "line 2: it is no JSON",
        ),
        (
            Framing::Ndjson,
            "1\n\n2\nhello".to_owned(),
            2,
            "line 4: it is no JSON",
        ),
        (
            Framing::Lines,
            format!("a\n{long}\nb\n"),
            1,
            "line 2: it has more than 100 B",
        ),
        (
            Framing::Null,
            format!("a\0{long}"),
            1,
            "item 2: it has more than 100 B",
        ),
        (
            Framing::Envelope,
            "{}\n".to_owned(),
            0,
            "line 1: it is no record",
        ),
        (
            Framing::Envelope,
            "{\"payload\":1,\"priority\":10}".to_owned(),
            0,
            "priority",
        ),
        (
            Framing::Envelope,
            "{\"payload\":1,\"max_attempts\":0}".to_owned(),
            0,
            "max_attempts",
        ),
        (
            Framing::Envelope,
            format!("{{\"payload\":\"{long}\"}}"),
            0,
            "line 1: it has more",
        ),
    ] {
        let (all, _, bad) = read_all(input.as_bytes(), reading(framing));
        assert_eq!(all.len(), before, "{input}");
        let bad = bad.unwrap();
        assert!(bad.contains(why), "{input}: {bad}");
    }
    let just = format!("{}\n", "x".repeat(100));
    assert_eq!(
        read_all(just.as_bytes(), reading(Framing::Lines)).0.len(),
        1
    );
}

#[test]
fn a_whole_is_one_batch_or_refused() {
    let whole = |input: &str| {
        let reading = Reading {
            whole: true,
            ..reading(Framing::Lines)
        };
        let batches: Vec<Batch> = read(file(input.as_bytes()), reading)
            .unwrap()
            .iter()
            .collect();
        assert_eq!(batches.len(), 1);
        batches.into_iter().next().unwrap()
    };
    let batch = whole("1\n2\n3\n");
    assert!(batch.items.len() == 3 && batch.bad.is_none());
    let batch = whole("1\n2\n3\n4\n5\n");
    assert!(
        batch
            .bad
            .unwrap()
            .to_string()
            .contains("--atomic takes at most 3")
    );
}

#[test]
fn fields_of_each_line_are_its_own() {
    let reading = Reading {
        key_from: Some(".id".parse().unwrap()),
        group_from: Some(".g".parse().unwrap()),
        ..reading(Framing::Ndjson)
    };
    let input = b"{\"id\":1,\"g\":\"a\"}\n{\"g\":\"b\"}\n";
    let batches: Vec<Batch> = read(file(input), reading).unwrap().iter().collect();
    let own = batches[0].items[0].own.as_ref().unwrap();
    assert_eq!(
        (own.key.as_deref(), own.group.as_deref()),
        (Some("1"), Some("a"))
    );
    let bad = batches[0].bad.as_ref().unwrap().to_string();
    assert_eq!(bad, "line 2: it has no field .id");
}

#[test]
fn what_has_come_is_handed_on_before_more_is_waited_for() {
    let (read_end, write_end) = rustix::pipe::pipe().unwrap();
    let batches = read(File::from(read_end), reading(Framing::Lines)).unwrap();
    let mut producer = File::from(write_end);
    for line in ["a\n", "b\n"] {
        producer.write_all(line.as_bytes()).unwrap();
        let batch = batches.recv().unwrap();
        assert_eq!(batch.items.len(), 1);
    }
    drop(producer);
    assert!(batches.recv().unwrap().items.is_empty());
    assert!(batches.recv().is_err());
}

#[test]
fn one_message_is_all_or_a_line() {
    let one = |input: &[u8], whole| read_one(file(input), whole, 10);
    for (input, line, all) in [
        (&b""[..], Ok(None), Ok(None)),
        (b"\n", Ok(Some(&b""[..])), Ok(Some(&b"\n"[..]))),
        (b"hi\n", Ok(Some(b"hi")), Ok(Some(b"hi\n"))),
        (b"hi", Ok(Some(b"hi")), Ok(Some(b"hi"))),
        (b"hi\r\n", Ok(Some(b"hi\r")), Ok(Some(b"hi\r\n"))),
        (b"a\nb", Err("lines"), Ok(Some(b"a\nb"))),
        (b"a\n\n", Err("lines"), Ok(Some(b"a\n\n"))),
        (b"0123456789\n", Ok(Some(b"0123456789")), Err("large")),
        (b"0123456789x", Err("large"), Err("large")),
        (b"0123456789xyz\nmore", Err("large"), Err("large")),
        (b"a\n0123456789xyz", Err("lines"), Err("large")),
    ] {
        let told = |answer: Result<Option<Vec<u8>>, One>| match answer {
            Ok(bytes) => Ok(bytes),
            Err(One::Lines) => Err("lines"),
            Err(One::TooLarge) => Err("large"),
            Err(One::Unreadable(error)) => panic!("{error}"),
        };
        let owned =
            |want: Result<Option<&[u8]>, &'static str>| want.map(|bytes| bytes.map(<[u8]>::to_vec));
        assert_eq!(told(one(input, false)), owned(line), "{input:?}");
        assert_eq!(told(one(input, true)), owned(all), "{input:?}");
    }
}
