//! Bytes are sacred, and names are values.

use crate::cases;
use crate::desk::{ALL_FREE, Desk, REPLAY, dead_of, end, ids, keyed, plain, q};
use qops::backend::{Features as F, Page, Verdict};
use qops::queue::{Group, NewMessage, Order, Outcome, Reason, Selection};

cases! {
    F::PEEK => [payloads_come_back, one_of_sixteen_mebibytes, looks_like_json_is_bytes],
    F::PEEK.and(F::START).and(F::REQUEUE) => [payloads_outlive_death_and_replay],
    F::PEEK.and(F::PURGE) => [r36_names_are_values, r35_long_names_are_told_apart],
    F::PEEK.and(F::KEYS).and(F::GROUPS).and(F::START) => [texts_are_values],
}

fn payloads() -> Vec<Vec<u8>> {
    vec![
        vec![],
        vec![0],
        b"a\0b".to_vec(),
        vec![0xff, 0xfe, 0x00, 0x80],
        (0..=255).collect(),
        b"{\"a\":\"\\u0000\"}".to_vec(),
        b"12345678901234567890".to_vec(),
        b"1.0".to_vec(),
        b"1e400".to_vec(),
        b"{\"b\":1,\"a\":2,\"b\":3}".to_vec(),
        b"\"a JSON string\"".to_vec(),
        b" 1 ".to_vec(),
        b"line\r\nline\n".to_vec(),
        "Ação \u{1F980} \u{202E}".as_bytes().to_vec(),
        b"'; DROP TABLE qops_message; --".to_vec(),
        b"\x1b[2J\x1b]52;c;AAAA\x07".to_vec(),
        [vec![b'['; 100_000], vec![b']'; 100_000]].concat(),
        vec![b'['; 100_000],
    ]
}

fn payloads_come_back(d: &mut Desk<'_>) {
    let all = payloads();
    let batch: Vec<NewMessage<'_>> = all
        .iter()
        .map(|payload| NewMessage::new(q("q"), payload.as_slice()))
        .collect();
    d.put_all(&batch);
    let looked: Vec<Vec<u8>> = d
        .list(&Selection::of(q("q")), Order::Oldest)
        .into_iter()
        .map(|message| message.payload)
        .collect();
    assert!(looked == all, "looked at");
    let claimed: Vec<Vec<u8>> = d
        .claim_all("q")
        .into_iter()
        .map(|got| got.message.payload)
        .collect();
    assert!(claimed == all, "claimed");
}

fn payloads_outlive_death_and_replay(d: &mut Desk<'_>) {
    let all = payloads();
    for payload in &all {
        d.put(NewMessage::new(q("q"), payload.as_slice()));
    }
    for got in d.claim_as("q", |claim| claim.start = true).got {
        let failed = end(Outcome::Failed, "no");
        d.sure_end(&got, Verdict::Dead(Reason::Permanent), &failed);
    }
    let letters = d.list(&dead_of("q"), Order::Oldest);
    assert!(letters.iter().map(|letter| &letter.payload).eq(&all));
    d.change(&dead_of("q"), &REPLAY);
    let claimed = d.claim_all("q");
    assert!(claimed.iter().map(|got| &got.message.payload).eq(&all));
}

fn one_of_sixteen_mebibytes(d: &mut Desk<'_>) {
    let large: Vec<u8> = (0..=250).cycle().take(16 << 20).collect();
    d.put(plain("q", "before"));
    let id = d.put(NewMessage::new(q("q"), large.as_slice()));
    d.put(plain("q", "after"));
    assert!(d.get(&id).payload == large, "looked at");
    let page = Page {
        bytes: 1 << 20,
        ..Page::first(100, Order::Run)
    };
    let walked = d.walk(&Selection::of(q("q")), page).rows;
    assert_eq!(walked.len(), 3);
    let first = d.claim_as("q", |claim| claim.bytes = 1 << 20).got;
    assert_eq!(first.len(), 1, "the large one does not fit beside it");
    let got = d.claim_as("q", |claim| claim.bytes = 1 << 20).got;
    assert_eq!(got.len(), 1);
    assert!(got[0].message.payload == large, "claimed");
    d.sure(&got[0], Verdict::Done);
}

/// A store must not make a number, or another text, of what looks like one.
fn looks_like_json_is_bytes(d: &mut Desk<'_>) {
    for payload in ["007", "1e3", "0x10", "null", "true", "NaN", " ", "1_000"] {
        let id = d.put(plain("q", payload));
        assert_eq!(d.get(&id).payload, payload.as_bytes());
    }
}

fn r36_names_are_values(d: &mut Desk<'_>) {
    let long = "x".repeat(200);
    let names = [
        "a-b",
        "Ação",
        "a\"b",
        "o'brien",
        "a$$b",
        "x.job",
        "';drop table message;--",
        "../x",
        "*",
        "%",
        "_",
        "--",
        "a b",
        "A-B",
        "a",
        "a_b",
        "a%",
        "a*",
        "[a]",
        "?",
        "\\",
        "{}",
        "$1",
        ":q",
        "@q",
        "1",
        "01",
        "c\u{327}",
        "\u{e7}",
        &long,
    ];
    for name in names {
        d.put(plain(name, name));
    }
    for name in names {
        let all = d.all(name);
        assert_eq!(all.len(), 1, "{name}");
        assert_eq!(all[0].payload, name.as_bytes());
        assert_eq!(all[0].queue.as_str(), name);
        assert_eq!(d.counts(name).ready, 1);
    }
    let reports = d.db.stats(None, qops::backend::Depth::Names).unwrap();
    assert_eq!(reports.len(), names.len());
    for (n, name) in names.iter().enumerate() {
        let got = d.take(name);
        assert_eq!(got.message.payload, name.as_bytes());
        d.sure(&got, Verdict::Release);
        assert_eq!(d.change(&Selection::of(q(name)), &ALL_FREE).done.len(), 1);
        let left = d.db.stats(None, qops::backend::Depth::Exact).unwrap();
        let ready: u64 = left.iter().map(|report| report.counts.ready).sum();
        assert_eq!(ready, u64::try_from(names.len() - n - 1).unwrap(), "{name}");
    }
}

fn r35_long_names_are_told_apart(d: &mut Desk<'_>) {
    let names: Vec<String> = [(74, "a"), (74, "b"), (199, "a"), (199, "b")]
        .map(|(n, last)| "n".repeat(n) + last)
        .to_vec();
    for name in &names {
        d.put(plain(name, name));
    }
    for name in &names {
        let got = d.claim_all(name);
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].message.payload, name.as_bytes());
    }
}

fn texts_are_values(d: &mut Desk<'_>) {
    let texts = [
        "'",
        "\"",
        "%",
        "_",
        "\\",
        "', NULL); --",
        "é",
        "$1",
        "?1",
        "\n",
    ];
    for text in texts {
        d.put(NewMessage {
            group: Some(Group::from(text)),
            ..keyed("q", text, text)
        });
    }
    for text in texts {
        let by_key = Selection {
            key: Some(text.into()),
            ..Selection::of(q("q"))
        };
        let by_group = Selection {
            group: Some(Group::from(text)),
            ..Selection::of(q("q"))
        };
        for what in [by_key, by_group] {
            let found = d.list(&what, Order::Run);
            assert_eq!(found.len(), 1, "{text:?}");
            assert_eq!(found[0].payload, text.as_bytes());
            assert_eq!(ids(&found).len(), 1);
        }
    }
    for got in d.claim_as("q", |claim| claim.start = true).got {
        let text = got.message.key.clone().unwrap();
        let failed = end(Outcome::Failed, &text);
        d.sure_end(&got, Verdict::Dead(Reason::Permanent), &failed);
        assert_eq!(d.get(&got.message.id).last_error, Some(text));
    }
}
